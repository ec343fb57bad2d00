import MobileStore
import RhoConnectClient
import TestSupport
import Testing

@Suite struct FindingTests {
    static let schema = RhomSchema(version: "1", "brand", "name", "price", "note")
    static let objects = [
        ["object": "a", "brand": "Acme", "name": "Saw", "price": "9"], ["object": "b", "brand": "Acme", "name": "Axe", "price": "12", "note": ""],
        ["object": "c", "brand": "Bolt", "name": "Bow", "price": "100"], ["object": "d", "name": "Rope 50%", "price": "3", "note": "x"],
    ]

    static func models() throws -> (Bench, [RhomModel]) {
        let bag = RhomModel("Item"), fixed = RhomModel("Fixed", modelType: .fixedSchema(schema))
        let bench = try Bench(item: bag, others: [fixed], isLoggedIn: false)
        for object in objects {
            try bag.create(object)
            try fixed.create(object)
        }
        return (bench, [bag, fixed])
    }

    @Test(
        "RC-151: property bag and fixed schema give equal results for equal data",
        arguments: [
            (RhomQuery(), "abcd"), (RhomQuery(where: [.init("brand", .equal("Acme"))]), "ab"),
            (RhomQuery(where: [.init("brand", .notEqual("Acme"))]), "c"),
            (RhomQuery(where: [.init("brand", .equal("Acme")), .init("name", .equal("Axe"))]), "b"),
            (RhomQuery(where: [.init("price", .less("10"))]), ""),
            (RhomQuery(where: [.init("price", .less("10"), isNumeric: true)]), "ad"),
            (RhomQuery(where: [.init("price", .greaterOrEqual("12"), isNumeric: true)]), "bc"),
            (RhomQuery(where: [.init("name", .oneOf(["Saw", "Bow", "Saw"]))]), "ac"), (RhomQuery(where: [.init("name", .contains("50%"))]), "d"),
            (RhomQuery(where: [.init("name", .beginsWith("A"))]), "b"), (RhomQuery(where: [.init("note", .exists)]), "bd"),
            (RhomQuery(where: [.init("note", .isAbsent)]), "ac"), (RhomQuery(where: [.init("nothing", .isAbsent)]), "abcd"),
            (RhomQuery(where: [.init("nothing", .exists)]), ""),
            (RhomQuery(order: [.init("price", isNumeric: true)]), "dabc"), (RhomQuery(order: [.init("price", descending: true)]), "adbc"),
            (RhomQuery(order: [.init("brand"), .init("name")]), "dbac"), (RhomQuery(limit: 2), "ab"), (RhomQuery(limit: 2, offset: 1), "bc"),
            (RhomQuery(limit: 2, after: "b"), "cd"), (RhomQuery(where: [.init("brand", .equal("Acme"))], after: "a"), "b"),
            (RhomQuery(where: [.init("price", .exists)], limit: 1, after: "b"), "c"), (RhomQuery(where: [.init("object", .greater("b"))]), "cd"),
            (RhomQuery(where: [.init("object", .equal("b"))]), "b"), (RhomQuery(limit: 0), ""),
        ])
    func queries(query: RhomQuery, expected: String) throws {
        let (bench, models) = try Self.models()
        for model in models {
            let found = try model.findAll(query)
            #expect(found.compactMap { $0["object"] }.joined() == expected, "\(model.name)")
            for object in found { #expect(object.attributes == Self.objects.first { $0["object"] == object["object"] }?.attributes) }
            var counted = query
            (counted.limit, counted.offset) = (nil, 0)
            let all = try model.findAll(counted).count
            #expect(try model.count(query) == all)
        }
        withExtendedLifetime(bench) {}
    }

    @Test func `find, findFirst and findAll return attributes with id and source`() throws {
        let (bench, models) = try Self.models()
        for model in models {
            let id = try #require(model.sourceID)
            #expect(try model.find("a") == ["object": "a", "source_id": String(id), "brand": "Acme", "name": "Saw", "price": "9"])
            #expect(try model.find("zz") == nil)
            #expect(try model.findFirst(["brand": "Acme"])?["object"] == "a")
            #expect(try model.findFirst(["brand": "None"]) == nil)
            #expect(try model.findAll(["brand": "Acme", "price": "12"]).map { $0["object"] } == ["b"])
            #expect(try model.findAll(RhomQuery(limit: 1, attributes: ["name"])) == [["object": "a", "source_id": String(id), "name": "Saw"]])
        }
        withExtendedLifetime(bench) {}
    }

    @Test func `a condition of a property bag is found by an index, and a page after an id reads no earlier object`() throws {
        let (bench, models) = try Self.models()
        let store = try Database(ConnectionProfile(path: bench.directory.file("store.db")))
        let traced = try store.read { connection in
            try connection.rows(
                "EXPLAIN QUERY PLAN SELECT o.object FROM object_values o WHERE o.source_id = 1 AND o.attrib = 'brand' AND o.value = 'Acme' ORDER BY o.object"
            )
            .compactMap { $0.last?.text }.joined(separator: "\n")
        }
        #expect(traced.contains("object_values_value") && !traced.contains("SCAN") && !traced.contains("TEMP B-TREE"))
        #expect(try models[0].findAll(["brand": "Acme"]).count == 2)
        let paged = try store.read { connection in
            try connection.rows(
                "EXPLAIN QUERY PLAN SELECT object, attrib, value FROM object_values WHERE source_id = 1 AND object > 'a' ORDER BY object, attrib"
            )
            .compactMap { $0.last?.text }.joined(separator: "\n")
        }
        #expect(paged.contains("PRIMARY KEY (source_id=? AND object>?)") && !paged.contains("TEMP B-TREE"))
    }

    @Test func `destroy removes an object by its id, or all objects with given attributes`() throws {
        let (bench, models) = try Self.models()
        for model in models {
            #expect(try model.destroy(["object": "a"]) == 1)
            #expect(try model.destroy(["object": "a"]) == 0)
            #expect(try model.destroy(["brand": "Acme"]) == 1)
            #expect(throws: RhoConnectError.self) { try model.destroy([:]) }
            #expect(try model.findAll().compactMap { $0["object"] }.joined() == "cd")
        }
        withExtendedLifetime(bench) {}
    }

    struct Product: Codable, Equatable {
        enum Kind: String, Codable { case tool, toy }
        var object: String?
        var name: String
        var price: Double
        var count: Int
        var isSold: Bool
        var kind: Kind
        var note: String?
    }

    @Test func `objects are values of Codable types, both ways`() throws {
        let (bench, models) = try Self.models()
        for model in [RhomModel("Typed")] {
            try bench.client.addModels([model])
            var saw = Product(name: "Saw", price: 12.5, count: 3, isSold: true, kind: .tool, note: nil)
            let id = try model.create(saw)
            saw.object = id
            #expect(try model.find(id)?.attributes == ["name": "Saw", "price": "12.5", "count": "3", "isSold": "true", "kind": "tool"])
            #expect(try model.find(id, as: Product.self) == saw)
            saw.count = 4
            try model.save(saw)
            #expect(try model.findAll(as: Product.self) == [saw])
            try model.save(["object": id, "count": "many"])
            let error = #expect(throws: RhoConnectError.self) { try model.find(id, as: Product.self) }
            #expect(error?.message.contains("attribute \"count\": expected a number of type Int, found \"many\"") == true)
            #expect(throws: RhoConnectError.self) { try model.create(["list": [1, 2]]) }
        }
        withExtendedLifetime(models) {}
    }

    @Test func `a bulk update is visible at once, and stored as one transaction`() throws {
        let (bench, models) = try Self.models()
        let bag = models[0]
        try bag.startBulkUpdate()
        #expect(throws: RhoConnectError.self) { try bag.startBulkUpdate() }
        for number in 0..<50 { try bag.create(["name": "n\(number)", "brand": "Bulk"]) }
        #expect(throws: RhoConnectError.self) { try bag.create([:]) }
        #expect(try bag.count(RhomQuery(where: [.init("brand", .equal("Bulk"))])) == 50)
        #expect(try bench.value("SELECT count(*) FROM object_values WHERE value = 'Bulk'") == 0)
        try bag.stopBulkUpdate()
        #expect(try bench.value("SELECT count(*) FROM object_values WHERE value = 'Bulk'") == 50)
        #expect(throws: RhoConnectError.self) { try bag.stopBulkUpdate() }
    }

    @Test func `the asynchronous forms do the same`() async throws {
        let (bench, models) = try Self.models()
        let bag = models[0]
        let id = try await bag.create(["name": "late"])
        try await bag.save(["object": id, "name": "later"])
        #expect(try await bag.find(id)?["name"] == "later")
        #expect(try await bag.findFirst(["name": "later"])?["object"] == id)
        #expect(try await bag.findAll(["name": "later"]).count == 1)
        #expect(try await bag.destroy(["object": id]) == 1)
        withExtendedLifetime(bench) {}
    }
}
