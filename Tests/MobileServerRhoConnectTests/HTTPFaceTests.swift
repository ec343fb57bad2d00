import MobileExecution
import MobileProtocol
import MobileServer
import MobileServerRhoConnect
import MobileStore
import MobileTransport
import RhoConnectClient
import TestSupport
import Testing

/// The face with the HTTP server.
@Suite struct HTTPFaceTests {
    @Test("pages arrive over HTTP, also the last one, whose token is empty in body and header")
    func pages() throws {
        let bench = try FaceBench(["1": ["title": "Saw"]])
        let face = bench.face, transport = HTTPTransport()
        let http = try HTTPServer { face.respond(to: $0) }
        defer { http.stop() }
        let client = try bench.client()
        for _ in 0..<2 { try client.drain() }
        var request = TransportRequest(url: "http://127.0.0.1:\(http.port)/app/v1/Item?token=1&version=3")
        request.headers = [("Cookie", client.cookie), ("X-RhoConnect-CLIENT-ID", client.id)]
        var body: [UInt8] = []
        let answer = try transport.send(request) { piece in body += piece.withUnsafeBytes { Array($0) } }
        #expect(answer.status == 200)
        #expect(answer.headers.first { $0.name.lowercased() == "x-rhoconnect-page-token" }?.value == "")
        #expect(try JSONValue(parsing: body)[1] == ["token": ""])
    }

    @Test("a client synchronizes over HTTP, in both styles of addresses, and loads a bulk file", arguments: [3, 4])
    func client(style: Int) throws {
        let bench = try FaceBench(["1": ["title": "Saw"]])
        let face = bench.face
        let http = try HTTPServer { request in
            let response = face.respond(to: request)
            face.waitForBulkFiles()
            return response
        }
        defer { http.stop() }
        var settings = RhoConnectClient.Settings()
        settings.bulkInterval = .zero
        let database = try RhoConnectClient.initDatabase(ConnectionProfile(path: bench.directory.file("client.db")))
        let client = RhoConnectClient(database, settings: settings), item = RhomModel("Item")
        try client.addModels([item])
        if style == 3 {
            try client.setSyncServer("http://127.0.0.1:\(http.port)/application", style: .version3)
        } else {
            try client.setSyncServer("http://127.0.0.1:\(http.port)/")
        }
        try #require(client.login(user: "kim", password: "p4ss").errorCode == .none)
        try item.create(["title": "Axe"])
        let first = client.syncAll()
        #expect(first.errorCode == .none && first.serverErrors.isEmpty, "\(first)")
        #expect(try Set(item.findAll().map { $0["title"] }) == ["Saw", "Axe"])
        try client.setBulkSyncState(.notSynchronized)
        let second = client.syncAll()
        #expect(second.errorCode == .none && second.serverErrors.isEmpty, "\(second)")
        #expect(try client.bulkSyncState() == .done)
        #expect(try Set(item.findAll().map { $0["title"] }) == ["Saw", "Axe"])
    }

    @Test("RC-032: models whose tables were made anew are reset by name, in one request, and come again; others stay", arguments: [3, 4])
    func resetOfSeveral(style: Int) throws {
        let stored = ["1": ["title": "Saw", "price": "3"]]
        let others = ["Second", "Third"].map { name in
            var source = RhoConnectSource(name, adapter: MemoryAdapter(stored))
            source.pollInterval = 0
            return source
        }
        let bench = try FaceBench(stored, others: others)
        let face = bench.face, resets = SystemLock<[[String]]>([])
        let http = try HTTPServer { request in
            if request.path.hasSuffix("reset") {
                // Only the older style has the names in the address.
                resets.withLock { $0.append(request.queryItems.filter { $0.name == "sources[][name]" }.map(\.value)) }
            }
            return face.respond(to: request)
        }
        defer { http.stop() }
        let isOlder = style == 3
        func synchronize(_ version: String, _ columns: [RhomSchema.Property]) throws -> [String: [String]] {
            let database = try RhoConnectClient.initDatabase(ConnectionProfile(path: bench.directory.file("client.db")))
            defer { try? database.close() }
            let client = RhoConnectClient(database)
            let models =
                ["Item", "Second"].map { RhomModel($0, modelType: .fixedSchema(RhomSchema(version: version, properties: columns))) }
                + [RhomModel("Third", modelType: .fixedSchema(RhomSchema(version: "1", properties: [.init("title")])))]
            try client.addModels(models)
            try client.setSyncServer("http://127.0.0.1:\(http.port)/" + (isOlder ? "application" : ""), style: isOlder ? .version3 : .version4)
            if !client.isLoggedIn { client.login(user: "kim", password: "p4ss") }
            let result = client.syncAll()
            #expect(result.errorCode == .none && result.serverErrors.isEmpty, "\(result)")
            return Dictionary(
                uniqueKeysWithValues: try models.map { ($0.name, try $0.findAll().flatMap { [$0["title"] ?? "-", $0["price"] ?? "-"] }) })
        }
        #expect(try synchronize("1", [.init("title")]) == ["Item": ["Saw", "-"], "Second": ["Saw", "-"], "Third": ["Saw", "-"]])
        #expect(try synchronize("2", [.init("title"), .init("price")]) == ["Item": ["Saw", "3"], "Second": ["Saw", "3"], "Third": ["Saw", "-"]])
        #expect(try synchronize("2", [.init("title"), .init("price")])["Item"] == ["Saw", "3"])
        #expect(resets.withLock { $0 } == [isOlder ? ["Item", "Second"] : []])
    }
}
