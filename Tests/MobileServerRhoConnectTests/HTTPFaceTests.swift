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
}
