import MobileModel
import TestSupport
import Testing

/// Rules that only several changes break.
@Suite struct RelationshipRuleTests {
    /// Returns the problems of a package of objects A, B and C with a key `id` and a reference `ref`; `relationships` are given by object.
    private func problems(_ relationships: [String: [RelationshipModel]]) -> [String] {
        let objects = ["A", "B", "C"].map { name in
            ObjectModel(
                name: name, attributes: [AttributeModel(name: "id", type: .long), AttributeModel(name: "ref", type: .long)], primaryKey: ["id"],
                relationships: relationships[name] ?? [], binding: BackEndBinding(backEnd: "erp", table: name))
        }
        let model = PackageModel(name: "Shop", backEnds: [BackEndModel(name: "erp")], objects: objects)
        do {
            try model.validate()
            return []
        } catch {
            return error.problems.map { "\($0.path): \($0.message)" }
        }
    }

    private func toParent(_ name: String, _ target: String, inverse: String? = nil) -> RelationshipModel {
        RelationshipModel(name: name, target: target, cardinality: .manyToOne, inverse: inverse, mapping: [.init(source: "ref", target: "id")])
    }

    private func toChildren(_ name: String, _ target: String, inverse: String? = nil, composite: Bool = true) -> RelationshipModel {
        RelationshipModel(
            name: name, target: target, cardinality: .oneToMany, isComposite: composite, inverse: inverse,
            mapping: [.init(source: "id", target: "ref")])
    }

    @Test("REL-01: one-way and bidirectional relationships of each kind are accepted")
    func kinds() {
        let toOne = RelationshipModel(name: "one", target: "B", cardinality: .oneToOne, mapping: [.init(source: "ref", target: "id")])
        let owning = RelationshipModel(
            name: "owns", target: "C", cardinality: .oneToOne, isComposite: true, inverse: "owner", mapping: [.init(source: "id", target: "ref")])
        let owned = RelationshipModel(name: "owner", target: "B", cardinality: .oneToOne, inverse: "owns")
        #expect(problems(["A": [toOne, toParent("up", "C")], "B": [owning], "C": [owned]]) == [])
        #expect(
            problems([
                "A": [toChildren("list", "B", inverse: "back"), toChildren("loose", "C", composite: false)],
                "B": [toParent("back", "A", inverse: "list")],
            ]) == [])
    }

    @Test func `an object that refers to itself is accepted, if it does not own itself`() {
        let up = toParent("boss", "A", inverse: "staff")
        #expect(problems(["A": [up, toChildren("staff", "A", inverse: "boss", composite: false)]]) == [])
        #expect(
            problems(["A": [up, toChildren("staff", "A", inverse: "boss")]])
                == ["objects[0].relationships[1].composite: \"A\" would be a part of itself: A > A"])
    }

    @Test func `a cycle of composite relationships is reported once, with its way`() {
        let relationships = [
            "A": [toChildren("list", "B", inverse: "up"), toParent("up", "C", inverse: "list")],
            "B": [toChildren("list", "C", inverse: "up"), toParent("up", "A", inverse: "list")],
            "C": [toChildren("list", "A", inverse: "up"), toParent("up", "B", inverse: "list")],
        ]
        #expect(problems(relationships) == ["objects[0].relationships[0].composite: \"A\" would be a part of itself: A > B > C > A"])
    }

    @Test func `a composite relationship needs the way back`() {
        #expect(
            problems(["A": [toChildren("list", "B")]]) == [
                "objects[0].relationships[0].composite: a composite relationship needs an inverse: the child's reference to its parent; add one to \"B\" and name it under \"inverse\""
            ])
    }

    @Test func `two ends that contradict each other are reported once`() {
        let list = toChildren("list", "B", inverse: "back")
        let toTheWrongObject = ["A": [list], "B": [toParent("back", "C", inverse: "list")], "C": [toChildren("list", "B", inverse: "back")]]
        #expect(problems(toTheWrongObject) == ["objects[0].relationships[0].inverse: \"B.back\" leads to \"C\", not to \"A\""])
        #expect(
            problems(["A": [list], "B": [toParent("back", "A")]])
                == ["objects[0].relationships[0].inverse: \"B.back\" names no inverse; write \"inverse\": \"list\" there"])
        #expect(
            problems(["A": [list], "B": [toChildren("back", "A", inverse: "list", composite: false)]])
                == ["objects[0].relationships[0].cardinality: the inverse of a oneToMany relationship is manyToOne; \"B.back\" is oneToMany"])
    }

    @Test func `mappings written at both ends must agree`() {
        var back = toParent("back", "A", inverse: "list")
        back.mapping = [.init(source: "id", target: "id")]
        #expect(
            problems(["A": [toChildren("list", "B", inverse: "back")], "B": [back]])
                == ["objects[0].relationships[0].mapping: the mapping and that of \"B.back\" differ; write it at one end only"])
    }

    @Test func `a relationship does not lead from a local object to one that is not`() throws {
        let json = try ShopModelText.json(
            replacing: "{\"name\": \"text\", \"type\": \"string\"}]",
            with: """
                {"name": "text", "type": "string"}, {"name": "customer", "type": "long"}],
                "relationships": [{"name": "about", "target": "Customer", "cardinality": "manyToOne", "mapping": {"customer": "id"}}]
                """)
        let error = #expect(throws: ModelError.self) { try PackageModel(json: json) }
        #expect(error?.message == "\"Note\" is local and \"Customer\" is not; a relationship does not cross this border")
        #expect(error?.path.description == "objects[2].relationships[0].target")
    }

    @Test func `the mapping that one end leaves out is filled in from the other`() throws {
        let model = try PackageModel(json: ShopModelText.json)
        #expect(model.object(named: "Order")?.relationship(named: "customer")?.mapping == [.init(source: "customerId", target: "id")])
    }
}
