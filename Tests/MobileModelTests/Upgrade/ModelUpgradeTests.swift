import MobileModel
import Testing

/// The upgrade of a database when the model changes: one line per kind of change.
@Suite struct ModelUpgradeTests {
    static let model = PackageModel(
        name: "Shop", version: "1.2",
        structures: [StructureModel(name: "Address", attributes: [AttributeModel(name: "street", type: .string)])],
        personalizationKeys: [PersonalizationKeyModel(name: "region", type: .string)],
        synchronizationGroups: [SynchronizationGroupModel(name: "default"), SynchronizationGroupModel(name: "catalog")],
        objects: [
            ObjectModel(
                name: "Customer",
                attributes: [
                    AttributeModel(name: "id", type: .int), AttributeModel(name: "name", type: .string, length: 80),
                    AttributeModel(name: "credit", type: .decimal, precision: 12, scale: 2),
                    AttributeModel(name: "city", type: .string, isNullable: true), AttributeModel(name: "photo", type: .bigBinary, isNullable: true),
                    AttributeModel(name: "address", type: .structure("Address"), isNullable: true),
                ],
                primaryKey: ["id"], synchronizationParameters: [ParameterModel(name: "region", type: .string)],
                operations: [OperationModel(name: "rate", kind: .update, parameters: [ParameterModel(name: "points", type: .int)])]),
            ObjectModel(
                name: "SalesOrder", attributes: [AttributeModel(name: "id", type: .int), AttributeModel(name: "customer", type: .int)],
                primaryKey: ["id"],
                relationships: [
                    RelationshipModel(
                        name: "buyer", target: "Customer", cardinality: .manyToOne, mapping: [.init(source: "customer", target: "id")])
                ]),
            ObjectModel(name: "Note", isLocal: true, attributes: [AttributeModel(name: "text", type: .string)]),
        ])

    struct Edit: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let changes: [String]
        /// The groups whose rows must be downloaded again.
        let incomplete: Set<String>
        let edit: @Sendable (inout PackageModel) -> Void

        init(_ name: String, _ changes: [String], incomplete: Set<String> = [], _ edit: @escaping @Sendable (inout PackageModel) -> Void) {
            (testDescription, self.changes, self.incomplete, self.edit) = (name, changes, incomplete, edit)
        }
    }

    static let edits: [Edit] = [
        Edit("nothing", []) { _ in },
        Edit("documentation and queries of no consequence", ["safe Customer.query findRich"]) {
            $0.documentation = "A shop"
            $0.objects[0].queries = [QueryModel(name: "findRich", sql: "SELECT x.* FROM Customer x")]
        },
        Edit("a nullable attribute added", ["migration Customer.phone"], incomplete: ["default"]) {
            $0.objects[0].attributes.append(AttributeModel(name: "phone", type: .string, isNullable: true))
        },
        Edit("one with a default", ["migration Customer.rank"], incomplete: ["default"]) {
            $0.objects[0].attributes.append(AttributeModel(name: "rank", type: .int, defaultValue: "1"))
        },
        Edit("a required one", ["impossible Customer.rank"], incomplete: ["default"]) {
            $0.objects[0].attributes.append(AttributeModel(name: "rank", type: .int))
        },
        Edit("one of a local object", ["migration Note.due"]) {
            $0.objects[2].attributes.append(AttributeModel(name: "due", type: .date, isNullable: true))
        },
        Edit("an attribute removed", ["losesData Customer.city"]) { $0.objects[0].attributes.remove(at: 3) },
        Edit("renamed", ["migration Customer.title"]) { ($0.objects[0].attributes[1].name, $0.objects[0].attributes[1].was) = ("title", "name") },
        Edit("renamed in case alone", ["migration Customer.Name"]) { $0.objects[0].attributes[1].name = "Name" },
        Edit("moved", ["migration Customer"]) { $0.objects[0].attributes.swapAt(1, 2) },
        Edit("made nullable", ["safe Customer.name"]) { $0.objects[0].attributes[1].isNullable = true },
        Edit("made required", ["migration Customer.city"]) { $0.objects[0].attributes[3].isNullable = false },
        Edit("lengthened", ["safe Customer.name"]) { $0.objects[0].attributes[1].length = 100 },
        Edit("shortened", ["migration Customer.name"]) { $0.objects[0].attributes[1].length = 40 },
        Edit("an integer widened", ["safe SalesOrder.customer"]) { $0.objects[1].attributes[1].type = .long },
        Edit("an integer narrowed", ["impossible SalesOrder.customer"]) { $0.objects[1].attributes[1].type = .short },
        Edit("an integer made a boolean", ["impossible SalesOrder.customer"]) { $0.objects[1].attributes[1].type = .boolean },
        Edit("a decimal with more digits in front", ["safe Customer.credit"]) { $0.objects[0].attributes[2].precision = 14 },
        Edit("a decimal with more digits behind", ["migration Customer.credit"]) {
            ($0.objects[0].attributes[2].precision, $0.objects[0].attributes[2].scale) = (14, 4)
        },
        Edit("a decimal with fewer digits in front", ["impossible Customer.credit"]) { $0.objects[0].attributes[2].scale = 4 },
        Edit("a decimal that becomes a text", ["migration Customer.credit"]) { $0.objects[0].attributes[2].precision = 30 },
        Edit("a string that leaves its row", ["migration Customer.city"]) { $0.objects[0].attributes[3].type = .bigString },
        Edit("a large value that comes into its row", ["migration Customer.photo"]) { $0.objects[0].attributes[4].type = .binary },
        Edit("a large binary made a large text", ["impossible Customer.photo"]) { $0.objects[0].attributes[4].type = .bigString },
        Edit("a structure with a new nullable part", []) {
            $0.structures[0].attributes.append(AttributeModel(name: "zip", type: .string, isNullable: true))
        },
        Edit("a structure with a new required part", ["impossible Customer.address"]) {
            $0.structures[0].attributes.append(AttributeModel(name: "zip", type: .string))
        },
        Edit("a structure with a part less", ["impossible Customer.address"]) {
            $0.structures[0].attributes = [AttributeModel(name: "zip", type: .string, isNullable: true)]
        },
        Edit("another key", ["impossible Customer"]) { $0.objects[0].primaryKey = ["name"] },
        Edit("a key renamed and widened", ["migration Customer.number", "safe Customer.number"]) {
            ($0.objects[0].attributes[0].name, $0.objects[0].attributes[0].was) = ("number", "id")
            ($0.objects[0].attributes[0].type, $0.objects[0].primaryKey) = (.long, ["number"])
            $0.objects[1].relationships[0].mapping[0].target = "number"
        },
        Edit("an object added", ["safe Region"], incomplete: ["catalog"]) {
            $0.objects.append(
                ObjectModel(
                    name: "Region", attributes: [AttributeModel(name: "id", type: .int)], primaryKey: ["id"], synchronizationGroup: "catalog"))
        },
        Edit("an object removed", ["losesData Note"]) { $0.objects.removeLast() },
        Edit("an object renamed", ["migration Client"]) {
            ($0.objects[0].name, $0.objects[0].was, $0.objects[1].relationships[0].target) = ("Client", "Customer", "Client")
        },
        Edit("an object made local", ["impossible SalesOrder"]) { $0.objects[1].isLocal = true },
        Edit("an object in another group", ["migration Customer"], incomplete: ["catalog"]) { $0.objects[0].synchronizationGroup = "catalog" },
        Edit("a relationship added", ["migration SalesOrder.payer"], incomplete: ["default"]) {
            $0.objects[1].relationships.append(RelationshipModel(name: "payer", target: "Customer", cardinality: .manyToOne))
        },
        Edit("a relationship removed", ["losesData SalesOrder.buyer"]) { $0.objects[1].relationships = [] },
        Edit("a relationship to another object", ["migration SalesOrder.buyer", "losesData SalesOrder.buyer"], incomplete: ["default"]) {
            $0.objects[1].relationships[0].target = "Note"
        },
        Edit(
            "parameters", ["safe Customer.synchronization parameter year", "losesData Customer.synchronization parameter region"],
            incomplete: ["default"]
        ) { $0.objects[0].synchronizationParameters = [ParameterModel(name: "year", type: .int)] },
        Edit("an operation with other parameters", ["migration Customer.operation rate"]) { $0.objects[0].operations[0].parameters = [] },
        Edit("operations", ["safe Customer.operation praise", "migration Customer.operation rate"]) {
            $0.objects[0].operations = [OperationModel(name: "praise", kind: .update)]
        },
        Edit("personalization keys", ["safe personalization key color", "losesData personalization key region"]) {
            $0.personalizationKeys = [PersonalizationKeyModel(name: "color", type: .string)]
        },
        Edit("a personalization key of another type", ["impossible personalization key region"]) { $0.personalizationKeys[0].type = .date },
        Edit("a newer version", ["migration package"], incomplete: ["default"]) { $0.version = "1.10" },
        Edit("an older version", ["impossible package"]) { $0.version = "1.1" },
        Edit("another package", ["impossible package"]) { $0.name = "Store" },
    ]

    @Test("each change is of its kind, at its place", arguments: edits)
    func kinds(edit: Edit) {
        var new = Self.model
        edit.edit(&new)
        let upgrade = ModelUpgrade(from: Self.model, to: new)
        #expect(upgrade.changes.map { "\($0.kind.rawValue) \($0.place)" } == edit.changes)
        #expect(upgrade.isPossible == !edit.changes.contains { $0.hasPrefix("impossible") })
        #expect(upgrade.incompleteGroups == edit.incomplete)
    }

    @Test("an object that is a value is read by the names of its attributes, as a structure is")
    func objectsAsValues() {
        var old = Self.model
        old.objects[0].attributes.append(AttributeModel(name: "memo", type: .list(.structure("Note")), isNullable: true))
        var new = old
        new.objects[2].attributes.append(AttributeModel(name: "due", type: .date, isNullable: true))
        #expect(ModelUpgrade(from: old, to: new).isPossible)
        new.objects[2].attributes[0] = AttributeModel(name: "body", type: .string, isNullable: true, was: "text")
        let impossible = ModelUpgrade(from: old, to: new).changes.filter { $0.kind == .impossible }
        #expect(impossible.map(\.place) == ["Customer.memo"])
    }

    @Test("a hint of an older model does no harm: a name that is in both models belongs to itself")
    func oldHint() {
        var old = Self.model
        (old.objects[0].attributes[1].name, old.objects[0].attributes[1].was) = ("title", "name")
        var new = old
        new.objects[0].attributes.append(AttributeModel(name: "name", type: .string, isNullable: true))
        #expect(
            ModelUpgrade(from: old, to: new).changes.map(\.description) == [
                "Customer.name: added; existing rows have no value until the server's values arrive"
            ])
    }

    @Test("the hint of an object is read, written and checked")
    func objectHint() throws {
        var model = Self.model
        (model.objects[2].name, model.objects[2].was) = ("Memo", "Note")
        #expect(try PackageModel(storedJSON: model.json) == model && model.json.contains("\"was\": \"Note\""))
        model.objects[2].was = "Customer"
        #expect(#expect(throws: ModelError.self) { try model.validate() }?.problems.contains { $0.path.description == "objects[2].was" } == true)
    }

    @Test("a model is kept as it is, whatever the rules about lengths say")
    func storedModel() throws {
        var model = Self.model
        model.objects[0].attributes[1].length = 20_000
        #expect(try PackageModel(storedJSON: model.json) == model)
        #expect(throws: ModelError.self) { try PackageModel(storedJSON: "{\"format\": 1") }
    }
}
