import MobileServer
import MobileServerRhoConnect
import MobileStore
import MobileTransport
import RhoConnectClient
import TestSupport
import Testing

/// Pages that a server sends again because the client lost them, when the client's data has changed since in another way.
@Suite struct ResentPageTests {
    /// A client with the object `1`, on a network that can lose answers.
    private final class Device {
        let bench: FaceBench
        let network: SimulatedTransport
        private(set) var database: RhomDatabase
        private(set) var client: RhoConnectClient
        private(set) var item = RhomModel("Item")

        init() throws {
            let bench = try FaceBench(["1": ["title": "Saw", "v": "0"]])
            let face = bench.face
            self.bench = bench
            network = SimulatedTransport(server: { face.respond(to: $0) })
            (database, client) = try Self.open(bench, network)
            try client.addModels([item])
            try client.setSyncServer("http://memory/")
            try #require(client.login(user: "kim", password: "p4ss").errorCode == .none)
            try #require(client.syncAll().errorCode == .none)
        }

        private static func open(_ bench: FaceBench, _ network: SimulatedTransport) throws -> (RhomDatabase, RhoConnectClient) {
            let database = try RhoConnectClient.initDatabase(ConnectionProfile(path: bench.directory.file("client.db")))
            return (database, RhoConnectClient(database, transport: network))
        }

        /// Opens the database again, as the next process does.
        func restart() throws {
            try database.close()
            (database, client) = try Self.open(bench, network)
            item = RhomModel("Item")
            try client.addModels([item])
            try client.setSyncServer("http://memory/")
        }

        /// Runs `body` on a network that loses the answer to its request of this number, from 0, or does as `fault` says.
        func losing(_ number: Int, by fault: NetworkFault = .cutResponse, _ body: () throws -> RhoConnectNotify) throws {
            let lost = network.requestCount + number
            network.conditions.fault = { request, _ in request == lost ? fault : nil }
            #expect(try body().errorCode == .network)
            network.conditions = NetworkConditions()
        }

        var values: [[String: String]] { get throws { try item.findAll().map { $0.filter { $0.key != "source_id" } } } }
    }

    @Test("a value in a page that was lost does not come back after its object was destroyed", arguments: [false, true])
    func destroyed(isRestarted: Bool) throws {
        let device = try Device()
        // The server's page has the client's own value: the deletion then names all that the server holds, which has no reason to take anything back.
        try device.item.save(["object": "1", "v": "5"])
        try device.losing(1) { device.client.syncAll() }
        if isRestarted { try device.restart() }
        try device.item.destroy(["object": "1"])
        for _ in 0..<2 {
            #expect(device.client.syncAll().errorCode == .none)
            #expect(try device.values == [])
        }
        #expect(device.bench.adapter.objects == [:])
        #expect(try !device.item.isChanged())
    }

    @Test("a page that was lost does not put its values over newer ones of a search")
    func search() throws {
        let device = try Device()
        device.bench.adapter.objects["1"]?["v"] = "2"
        try device.losing(0) { device.client.syncAll() }
        device.bench.adapter.objects["1"]?["v"] = "3"
        #expect(device.client.search([device.item], parameters: "search%5Btitle%5D=Saw").errorCode == .none)
        #expect(try device.values == [["object": "1", "title": "Saw", "v": "3"]])
        device.client.syncAll()
        #expect(try device.values == [["object": "1", "title": "Saw", "v": "3"]])
    }

    @Test("when a search did not arrive, the results of the one before do not come back")
    func earlierSearch() throws {
        let device = try Device()
        device.bench.adapter.objects["2"] = ["title": "Axe"]
        // Its end is not requested: the server keeps its page.
        try device.losing(1, by: .refuse) { device.client.search([device.item], parameters: "search%5Btitle%5D=Axe") }
        #expect(device.client.syncAll().errorCode == .none)
        #expect(try device.values.map { $0["object"] } == ["1", "2"])
        device.bench.adapter.objects["2"] = nil
        #expect(device.client.syncAll().errorCode == .none)
        try device.losing(0, by: .refuse) { device.client.search([device.item], parameters: "search%5Btitle%5D=Saw") }
        #expect(device.client.syncAll().errorCode == .none)
        #expect(try device.values.map { $0["object"] } == ["1"])
    }

    @Test("the results of a search that were lost do not come back after their objects have gone")
    func lostResults() throws {
        let device = try Device()
        device.bench.adapter.objects["2"] = ["title": "Axe"]
        try device.losing(0) { device.client.search([device.item], parameters: "search%5Btitle%5D=Axe") }
        device.bench.adapter.objects["2"] = nil
        #expect(device.client.syncAll().errorCode == .none)
        #expect(device.client.search([device.item], parameters: "search%5Btitle%5D=none").errorCode == .none)
        #expect(try device.values.map { $0["object"] } == ["1"])
    }
}
