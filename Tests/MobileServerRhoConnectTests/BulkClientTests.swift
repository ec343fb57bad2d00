import MobileExecution
import MobileServer
import MobileServerRhoConnect
import MobileStore
import MobileTransport
import RhoConnectClient
import TestSupport
import Testing

/// The client takes bulk files from the face.
@Suite struct BulkClientTests {
    @Test("a client loads bags, tables and shared data by bulk files, keeps its own changes, and then gets the differences")
    func wholeWay() throws {
        let bench = try BulkFaceTests.bench()
        let face = bench.face
        // The file is made by the time of the second question.
        let transport = SimulatedTransport(server: { request in
            let response = face.respond(to: request)
            face.waitForBulkFiles()
            return response
        })
        var settings = RhoConnectClient.Settings()
        (settings.bulkInterval, settings.bulkAttempts) = (.zero, 3)
        let database = try RhoConnectClient.initDatabase(ConnectionProfile(path: bench.directory.file("client.db")))
        let client = RhoConnectClient(database, transport: transport, settings: settings)
        let item = RhomModel("Item"), shared = RhomModel("Shared", partition: .app)
        let schema = RhomSchema(version: "1.3", properties: [.init("street"), .init("city"), .init("map", type: "blob,overwrite")])
        let address = RhomModel("Address", modelType: .fixedSchema(schema))
        try client.addModels([shared, item, address])
        try client.setSyncServer("http://memory/")
        try #require(client.login(user: "kim", password: "p4ss").errorCode == .none)
        try client.setBulkSyncState(.notSynchronized)
        let new = try item.create(["title": "Hammer"])

        let result = client.syncAll()
        #expect(result.errorCode == .none && result.status == .complete, "\(result)")
        #expect(try client.bulkSyncState() == .done)
        let items = try item.findAll().map { $0.filter { $0.key != "source_id" } }
        #expect(items.count == 3 && items.contains(["object": "1", "title": "Saw", "price": "3"]), "\(items)")
        #expect(try address.findAll().map { $0["street"] } == ["High Street", "Low Road"])
        #expect(try shared.findAll().map { $0["a"] } == ["b"])
        // The new object was uploaded after the bulk synchronization, and its link came with the incremental one.
        #expect(try item.find(new) == nil)
        #expect(bench.adapter.objects.values.contains(["title": "Hammer"]))

        let requests = transport.requestCount
        bench.adapter.objects["2"] = ["title": "Big Axe"]
        let next = client.syncAll()
        #expect(next.errorCode == .none)
        #expect(try item.find("2")?["title"] == "Big Axe")
        // Three queries, and one for the end of the changed source's data.
        #expect(transport.requestCount - requests == 4)

        // A further file, into a database with data.
        try client.setBulkSyncState(.notSynchronized)
        let again = client.syncAll()
        #expect(again.errorCode == .none && again.status == .complete, "\(again)")
        #expect(try item.count() == 3 && item.find("2")?["title"] == "Big Axe" && address.count() == 2)
    }
}
