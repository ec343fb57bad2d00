import MobileStore
import MobileTransport
import RhoConnectClient
import TestSupport
import Testing

@Suite struct ClientIdentityTests {
    @Test("RC-006 RC-025: the first synchronization makes one client id, which all source requests carry and later synchronizations use again")
    func oneClientID() throws {
        let bench = try Bench()
        #expect(bench.client.syncAll().status == .complete)
        try bench.item.create(["title": "Saw"])
        bench.client.syncAll()
        bench.client.search([bench.item])
        #expect(bench.server.requests.filter { $0.path == "/rc/v1/clients" }.count == 1)
        let calls = bench.server.requests.filter { $0.path.hasPrefix("/app/v1/") || $0.path.hasPrefix("/rc/v1/app/") }
        #expect(calls.count >= 4)
        #expect(calls.allSatisfy { $0.headers["x-rhoconnect-client-id"] == "client1" })
        bench.check()
    }

    @Test func `a client id that is empty in a 200 answer is error 4`() throws {
        let bench = try Bench()
        bench.server.answer("POST /rc/v1/clients", .json(#"{"client":{"client_id":""}}"#))
        #expect(bench.client.syncAll().errorCode == .unexpectedServerResponse)
    }

    @Test(
        "RC-027: the text about an unknown client is recognized in any case of letters",
        arguments: ["Unknown client", "unknown client", "UNKNOWN CLIENT"])
    func unknownClient(text: String) throws {
        let bench = try Bench()
        bench.server.add("Item", .init(status: 500, contentType: "application/json", body: [UInt8](text.utf8)))
        let notify = bench.client.syncAll()
        #expect(notify.errorCode == .remoteServer && notify.isUnknownClientError)
        #expect(notify.status == .error)
    }

    @Test("RC-028: after a client reset the next synchronization makes a new client and loads all data")
    func clientReset() throws {
        let bench = try Bench()
        bench.server.add("Item", #"{"insert":{"77":{"title":"Saw"}}}"#, token: "11")
        bench.client.syncAll()
        #expect(try bench.item.count() == 1)
        try bench.client.databaseClientReset()
        #expect(try bench.item.count() == 0)
        #expect(bench.client.isLoggedIn)
        bench.server.forgetRequests()
        bench.server.add("Item", #"{"insert":{"77":{"title":"Saw"}}}"#, token: "12")
        bench.client.syncAll()
        #expect(bench.server.requests.first?.path == "/rc/v1/clients")
        #expect(bench.server.queries.first?.headers["x-rhoconnect-client-id"] == "client2")
        #expect(bench.server.queries.first?.query["token"] == "1")
        #expect(try bench.item.find("77")?.attributes == ["title": "Saw"])
        bench.check()
    }

    @Test("RC-031: the device is registered once per pin, and again after a login")
    func register() throws {
        let bench = try Bench()
        bench.client.setDevice(
            .init(pin: "a1b2", pushType: "apple", type: "APPLE", port: "100", phoneID: "ph-7", applicationID: "com.acme", applicationVersion: "1.2"))
        func count() -> Int { bench.server.requests.filter { $0.path.hasSuffix("/register") }.count }
        bench.client.syncAll()
        bench.client.syncAll()
        #expect(count() == 1)
        let body = bench.server.requests.first { $0.path.hasSuffix("/register") }?.json
        #expect(
            body?["device_pin"] == "a1b2" && body?["device_push_type"] == "apple" && body?["phone_id"] == "ph-7"
                && body?["device_app_id"] == "com.acme")
        bench.client.setDevice(.init(pin: "c3d4", pushType: "apple"))
        bench.client.syncAll()
        #expect(count() == 2)
        bench.client.login(user: "kim", password: "p")
        #expect(count() == 3)
        bench.check()
    }

    @Test(
        "a session or client that the server refuses in the middle is an error of each further model, without a request for it",
        arguments: [(401, "Not authenticated"), (500, "Unknown client")])
    func refusedInTheMiddle(status: Int, text: String) async throws {
        let bench = try Bench(others: [RhomModel("Second"), RhomModel("Third")])
        await bench.client.syncAll()
        bench.server.forgetRequests()
        bench.server.answer("GET /app/v1/Second", .text(status, text))
        let notes = await bench.client.notifications()
        #expect(notes.words == ["Item:ok", "Second:error", "Third:error"])
        let code: RhoConnectErrorCode = status == 401 ? .unauthorized : .remoteServer
        #expect(notes.map(\.errorCode) == [.none, code, code])
        #expect(notes[2].errorMessage == text && notes[2].isUnknownClientError == (status == 500))
        #expect(bench.server.queries.map(\.source) == ["Item", "Second"])
        bench.check()
    }

    @Test("RC-034: a wanted reset is sent before the first model, and forgotten after a 200 only")
    func reset() throws {
        let bench = try Bench()
        bench.client.syncAll()
        try bench.client.databaseFullReset()
        bench.server.forgetRequests()
        let place = "POST /rc/v1/clients/client1/reset"
        bench.server.answer(place, .text(500, "boom"))
        bench.server.answer(place, .empty)
        #expect(bench.client.syncAll().errorCode == .remoteServer)
        #expect(bench.server.requests.map(\.path) == ["/rc/v1/clients/client1/reset"])
        #expect(try bench.value("SELECT reset FROM client_info") == 1)
        bench.client.syncAll()
        #expect(bench.server.requests.map(\.path).suffix(2) == ["/rc/v1/clients/client1/reset", "/app/v1/Item"])
        #expect(try bench.value("SELECT reset FROM client_info") == 0)
        bench.client.syncAll()
        #expect(bench.server.requests.filter { $0.path.hasSuffix("/reset") }.count == 2)
        bench.check()
    }

    @Test(
        "every reset destroys the objects of property bags and of fixed schemas with their changes, and keeps those of the partition local",
        arguments: [
            RhoConnectClient.databaseClientReset, RhoConnectClient.databaseFullReset, RhoConnectClient.databaseFullResetAndLogout,
            RhoConnectClient.databaseFullClientResetAndLogout,
        ] as [@Sendable (RhoConnectClient) -> () throws(RhoConnectError) -> Void])
    func resetData(reset: @Sendable (RhoConnectClient) -> () throws(RhoConnectError) -> Void) throws {
        let schema = RhomModel.ModelType.fixedSchema(RhomSchema(version: "1", "title"))
        let fixed = RhomModel("Fixed", modelType: schema)
        let kept = [RhomModel("LocalBag", partition: .local), RhomModel("LocalFixed", modelType: schema, partition: .local)]
        let bench = try Bench(others: [fixed] + kept)
        for model in [bench.item, fixed] + kept { _ = try model.create(["title": "private"]) }
        try reset(bench.client)()
        for model in [bench.item, fixed] {
            #expect(try model.count() == 0, "\(model.name)")
            #expect(try !model.isChanged(), "\(model.name)")
        }
        for model in kept { #expect(try model.findAll().map { $0["title"] } == ["private"], "\(model.name)") }
        #expect(try bench.value("SELECT count(*) FROM object_values WHERE value = 'private'") == 1)
    }

    @Test(
        "after every reset a bulk synchronization is wanted again, if there was one",
        arguments: [nil, .notSynchronized, .done, .loadingBlobs] as [RhoConnectClient.BulkSyncState?],
        [
            RhoConnectClient.databaseClientReset, RhoConnectClient.databaseFullReset, RhoConnectClient.databaseFullResetAndLogout,
            RhoConnectClient.databaseFullClientResetAndLogout,
        ] as [@Sendable (RhoConnectClient) -> () throws(RhoConnectError) -> Void])
    func resetBulkState(state: RhoConnectClient.BulkSyncState?, reset: @Sendable (RhoConnectClient) -> () throws(RhoConnectError) -> Void) throws {
        let bench = try Bench()
        if let state { try bench.client.setBulkSyncState(state) }
        try reset(bench.client)()
        #expect(try bench.client.bulkSyncState() == (state == nil ? nil : .notSynchronized))
    }

    @Test func `models whose tables were made anew are named in one reset, which has its mark until a 200`() throws {
        func model(_ name: String, _ version: String) -> RhomModel {
            RhomModel(name, modelType: .fixedSchema(RhomSchema(version: version, properties: [.init("title")])))
        }
        let bench = try Bench(item: model("Item", "1"), others: [model("Second", "1"), model("Third", "1")])
        for name in ["Item", "Second", "Third"] { bench.server.add(name, #"{"insert":{"1":{"title":"Saw"}}}"#, token: "5") }
        bench.client.syncAll()
        bench.server.forgetRequests()
        let place = "POST /rc/v1/clients/client1/reset"
        bench.server.answer(place, .text(500, "boom"))
        bench.server.answer(place, .empty)
        let (client, _) = try bench.reopened(item: model("Item", "2"), others: [model("Second", "2"), model("Third", "1")])
        #expect(client.syncAll().errorCode == .remoteServer)
        #expect(bench.server.queries.isEmpty)
        #expect(client.syncAll().errorCode == .none)
        #expect(client.syncAll().errorCode == .none)
        let resets = bench.server.requests.filter { $0.path.hasSuffix("/reset") }
        #expect(resets.map(\.json) == Array(repeating: ["sources": [["name": "Item"], ["name": "Second"]]] as JSONValue, count: 2))
        #expect(bench.server.queries.prefix(3).map { $0.query["token"] } == ["1", "1", "1"])
        bench.check()
    }

    @Test("RC-036: another server address ends the session and forgets the client id; the data stays")
    func otherServer() throws {
        let bench = try Bench()
        bench.client.syncAll()
        try bench.item.create(["title": "Saw"])
        try bench.client.setSyncServer(bench.server.url)
        #expect(bench.client.isLoggedIn)
        try bench.client.setSyncServer("http://127.0.0.1:1/")
        #expect(!bench.client.isLoggedIn)
        #expect(try bench.value("SELECT client_id FROM client_info") == "")
        #expect(try bench.item.count() == 1)
    }

    @Test func `a new client id has neither a page nor a wanted reset of the one before`() throws {
        func model(_ version: String) -> RhomModel { RhomModel("Fixed", modelType: .fixedSchema(RhomSchema(version: version, "title"))) }
        let transport = CuttingTransport()
        let bench = try Bench(others: [model("1")], transport: transport)
        bench.server.add("Item", #"{"insert":{"77":{"title":"Saw"}}}"#, token: "11")
        transport.setFate { $0.url.contains("token=11") ? .refuse : .pass }
        #expect(bench.client.syncAll().errorCode == .network)
        transport.setFate { _ in .pass }
        #expect(try bench.value("SELECT token FROM sources WHERE name = 'Item'") == "11")
        // Another schema wants a reset of its model.
        let (client, item) = try bench.reopened(others: [model("2")])
        #expect(try bench.value("SELECT reset FROM sources WHERE name = 'Fixed'") == 1)
        let second = try StrictServer()
        defer { second.stop() }
        try client.setSyncServer(second.url)
        #expect(client.login(user: "kim", password: "p4ss").errorCode == .none)
        try item.destroy(["object": "77"])
        second.forgetRequests()
        for _ in 0..<2 { #expect(client.syncAll().errorCode == .none) }
        // The deletion does not wait for a page of the other server.
        #expect(second.requests.prefix(3).map { $0.method + " " + $0.path } == ["POST /rc/v1/clients", "POST /app/v1/Item", "GET /app/v1/Item"])
        #expect(second.queries.allSatisfy { $0.query["token"] == "1" })
        #expect(!second.requests.contains { $0.path.hasSuffix("/reset") })
        #expect(second.violations == [])
    }

    @Test func `a reset that another server did not get is not wanted of a new client`() throws {
        let bench = try Bench()
        bench.client.syncAll()
        try bench.client.databaseFullReset()
        let second = try StrictServer()
        defer { second.stop() }
        try bench.client.setSyncServer(second.url)
        #expect(bench.client.login(user: "kim", password: "p4ss").errorCode == .none)
        second.forgetRequests()
        for _ in 0..<2 { #expect(bench.client.syncAll().errorCode == .none) }
        #expect(second.requests.map(\.path) == ["/rc/v1/clients", "/app/v1/Item", "/app/v1/Item"])
    }

    @Test func `a database of the first version is taken over, one of an unknown version is refused`() throws {
        let bench = try Bench.filled()
        #expect(try bench.value("SELECT last_sync_success FROM sources WHERE name = 'Item'") == 1)
        try bench.database.close()
        func change(_ statements: String...) throws {
            let store = try Database(ConnectionProfile(path: bench.directory.file("store.db")))
            try store.write { connection in for statement in statements { try connection.execute(statement) } }
            try store.close()
        }
        try change("ALTER TABLE sources DROP COLUMN awaits_page", "ALTER TABLE sources DROP COLUMN last_search", "PRAGMA user_version = 1")
        let (client, item) = try bench.reopened()
        // The answer to the last query of the earlier release may be lost: a process that was killed has not noted it.
        try item.destroy(["object": "77"])
        #expect(client.syncAll().errorCode == .none)
        #expect(bench.server.requests.map(\.method) == ["GET", "POST", "GET"])
        #expect(try bench.upload(0)["delete"] == ["77": ["title": "Saw", "price": "12"]])
        #expect(try bench.value("SELECT awaits_page FROM sources WHERE name = 'Item'") == 0)
        try change("PRAGMA user_version = 3")
        let error = #expect(throws: RhoConnectError.self) { _ = try bench.reopened() }
        #expect(error?.message == "the database has version 3 of its tables; this release reads the versions 1 and 2")
    }

    @Test(arguments: [true, false])
    func `full resets keep the client id, and log out where their name says so`(logsOut: Bool) throws {
        let bench = try Bench()
        bench.client.syncAll()
        try bench.item.create(["title": "Saw"])
        if logsOut { try bench.client.databaseFullResetAndLogout() } else { try bench.client.databaseFullReset() }
        #expect(bench.client.isLoggedIn == !logsOut)
        #expect(try bench.item.count() == 0)
        #expect(try !bench.item.isChanged())
        #expect(try bench.value("SELECT client_id FROM client_info") == "client1")
        #expect(try bench.value("SELECT reset FROM client_info") == 1)
        try bench.client.databaseFullClientResetAndLogout()
        #expect(try bench.value("SELECT client_id FROM client_info") == "")
    }

    @Test func `the older style makes, resets and queries a client by its own addresses`() throws {
        let bench = try Bench(style: .version3)
        try bench.item.create(["title": "Saw"])
        #expect(bench.client.syncAll().status == .complete)
        try bench.client.databaseFullReset()
        bench.client.syncAll()
        #expect(
            bench.server.requests.map { $0.method + " " + $0.path } == [
                "GET /application/clientcreate", "POST /application", "GET /application", "GET /application/clientreset", "GET /application",
            ])
        bench.check()
    }
}
