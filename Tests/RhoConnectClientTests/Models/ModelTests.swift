import MobileStore
import RhoConnectClient
import TestSupport
import Testing

@Suite struct ModelTests {
    @Test("RC-147: models synchronize by priority and declaration, each one after those that it refers to")
    func order() throws {
        var late = RhomModel.Options(), early = RhomModel.Options()
        (late.priority, early.priority) = (2000, 1)
        let bench = try Bench(
            item: RhomModel("Line", associations: ["order": "Order"]),
            others: [
                RhomModel("Order", associations: ["customer": "Customer"]), RhomModel("Customer", options: late), RhomModel("First", options: early),
                RhomModel("Other"),
            ])
        bench.client.syncAll()
        #expect(bench.server.queries.map(\.source) == ["First", "Customer", "Order", "Line", "Other"])
        bench.server.forgetRequests()
        #expect(bench.item.sync().status == .ok)
        #expect(bench.server.queries.map(\.source) == ["Customer", "Order", "Line"])
    }

    @Test(
        "RC-148 RC-166: bulk-only models, in both spellings, and local ones are never queried or uploaded",
        arguments: ["bulk_only", "bulk_sync_only"])
    func bulkOnly(spelling: String) throws {
        let bulk = RhomModel("Bulk", syncType: .init(rawValue: spelling)), local = RhomModel("Local", partition: .local),
            none = RhomModel("None", syncType: .none)
        let bench = try Bench(others: [bulk, local, none])
        #expect(bulk.syncType == .bulkOnly)
        for model in [bulk, local, none] { try model.create(["a": "x"]) }
        #expect(try !local.isChanged())
        bench.client.syncAll()
        #expect(Set(bench.server.requests.compactMap(\.source)) == ["Item"])
        #expect(local.sourceID == 40_003)
    }

    @Test("RC-149: attributes of an insert that the model does not list are skipped")
    func freezed() throws {
        var options = RhomModel.Options()
        options.allowedAttributes = ["title"]
        let bench = try Bench(item: RhomModel("Item", options: options))
        bench.server.add("Item", #"{"insert":{"1":{"title":"Saw","extra":"x"},"2":{"extra":"y"}}}"#, token: "1", count: 2)
        bench.client.syncAll()
        #expect(try bench.item.findAll().map(\.attributes) == [["title": "Saw"]])
    }

    @Test("RC-150: columns that the schema does not have are skipped, and an object whose columns are all empty is removed")
    func fixedSchema() throws {
        let item = RhomModel("Item", modelType: .fixedSchema(RhomSchema(version: "1", "title", "price")))
        let bench = try Bench(item: item)
        bench.server.add(
            "Item", #"{"insert":{"1":{"title":"Saw","extra":"x"},"2":{"title":"Axe","price":"1"},"3":{"extra":"y"}}}"#, token: "1", count: 3)
        bench.client.syncAll()
        #expect(try item.findAll().map(\.attributes) == [["title": "Saw"], ["title": "Axe", "price": "1"]])
        bench.server.add("Item", #"{"delete":{"1":{"title":"Saw","extra":"x"},"2":{"title":"Axe"}}}"#, token: "2", count: 2)
        bench.client.syncAll()
        #expect(try item.findAll().map(\.attributes) == [["price": "1"]])
    }

    @Test func `a schema of another version keeps the common columns, and has the server send that model again`() throws {
        let item = RhomModel(
            "Item", modelType: .fixedSchema(RhomSchema(version: "1", properties: [.init("title"), .init("old")], indexes: ["by": ["title"]])))
        let bench = try Bench(item: item)
        bench.server.add("Item", #"{"insert":{"1":{"title":"Saw","old":"x"},"2":{"old":"y"}}}"#, token: "1", count: 2)
        bench.client.syncAll()
        bench.server.forgetRequests()
        let next = RhomModel(
            "Item", modelType: .fixedSchema(RhomSchema(version: "2", properties: [.init("title"), .init("new")], indexes: ["by": ["new"]])))
        let (client, _) = try bench.reopened(item: next)
        #expect(try next.findAll().map(\.attributes) == [["title": "Saw"]])
        client.syncAll()
        #expect(bench.server.requests.first?.path == "/rc/v1/clients/client1/reset")
        #expect(bench.server.requests.first?.json == ["sources": [["name": "Item"]]])
        #expect(bench.server.queries.count == 1)
        bench.check()
    }

    @Test func `the schema of an adapter is read from its JSON`() throws {
        let schema = try RhomSchema(
            json: JSONValue(
                parsing:
                    #"{"version":"1.3","property":{"title":"string","photo":"blob","thumb":"blob,overwrite"},"index":{"by_title":"title"},"unique_index":{"by":"title, photo"}}"#
            ))
        #expect(schema.version == "1.3" && schema.properties.map(\.name) == ["title", "photo", "thumb"])
        #expect(schema.indexes == ["by_title": ["title"]] && schema.uniqueIndexes == ["by": ["title", "photo"]])
        #expect(throws: RhoConnectError.self) { try RhomSchema(json: ["property": [:]]) }
    }

    @Test func `models with names of the framework, unknown references or reserved columns are refused`() throws {
        let bench = try Bench(isLoggedIn: false)
        let wrong = [
            RhomModel("Item"), RhomModel(""), RhomModel("sources", modelType: .fixedSchema(RhomSchema(version: "1", "a"))),
            RhomModel("A", associations: ["b": "Missing"]), RhomModel("B", modelType: .fixedSchema(RhomSchema(version: "1", "object"))),
            RhomModel("C", modelType: .fixedSchema(RhomSchema(version: "1"))),
            RhomModel("D", modelType: .fixedSchema(RhomSchema(version: "1", properties: [.init("a")], indexes: ["x": ["b"]]))),
        ]
        for model in wrong { #expect(throws: RhoConnectError.self, "\(model.name)") { try bench.client.addModels([model]) } }
        let unattached = RhomModel("X")
        #expect(throws: RhoConnectError.self) { try unattached.findAll() }
        #expect(unattached.sync().errorCode == .runtime)
    }

    @Test func `a client ends with its last use, and closes its database, also where its models were used`() throws {
        let directory = try TemporaryDirectory()
        weak var database: RhomDatabase?
        weak var model: RhomModel?
        do {
            let opened = try RhoConnectClient.initDatabase(ConnectionProfile(path: directory.file("store.db")))
            let client = RhoConnectClient(opened), order = RhomModel("Order"), line = RhomModel("Line", associations: ["order": "Order"])
            try client.addModels([order, line])
            let id = try order.create(["number": "1"])
            try line.create(["order": id])
            #expect(try line.count() == 1)
            (database, model) = (opened, order)
        }
        #expect(model == nil)
        #expect(database == nil)
    }

    @Test func `a model is used on while the application keeps nothing else of its client`() throws {
        let directory = try TemporaryDirectory()
        let item = RhomModel("Item")
        do {
            let client = RhoConnectClient(try RhoConnectClient.initDatabase(ConnectionProfile(path: directory.file("store.db"))))
            try client.addModels([item])
        }
        try item.create(["name": "lamp"])
        #expect(try item.findAll(["name": "lamp"]).count == 1)
    }
}
