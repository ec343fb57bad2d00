import Foundation
import MobileServer
import MobileServerRhoConnect
import MobileStore
import RhoConnectClient
import SampleStore

/// `mobile demo --rhoconnect`: the store of the RhoConnect documents, between the client and the server face of this package.
struct RhoConnectDemo {
    private let folder: DemoFolder
    private var narrator = Narrator()

    init(folder: DemoFolder) { self.folder = folder }

    /// - Throws: ``DemoFailure`` for a promise that was not kept.
    mutating func run() throws {
        narrator.begin("A server face for RhoConnect clients")
        try StoreBackEnd.create(at: folder.path("store.db"))
        let package = PackageDeployment(try StoreBackEnd.package(), backEnds: [StoreBackEnd.name: folder.path("store.db")])
        let server = try MobileServer(
            ServerConfiguration(cachePath: folder.path("state.db"), packages: [package], users: ["kim": "p4ss", "lee": "p4ss"]))
        var sources = try RhoConnectServer.sources(of: server)
        // The back end is asked at every query, so that each device sees the others' changes at once.
        for index in sources.indices { sources[index].pollInterval = 0 }
        let face = try RhoConnectServer(server, sources: sources)
        var http = try HTTPServer { face.respond(to: $0) }
        let port = http.port, address = "http://127.0.0.1:\(port)/"
        narrator.say("the objects of the package Store are its sources: \(sources.map(\.name).joined(separator: ", "))")

        narrator.begin("Login and the first synchronization")
        let store = try StoreApplication(path: folder.path("kim.db"), server: address)
        let refused = store.client.login(user: "kim", password: "wrong")
        narrator.say("a wrong password: error \(refused.errorCode.rawValue), \(refused.errorMessage)")
        try narrator.check("the right one is accepted", store.client.login(user: "kim", password: "p4ss").errorCode == .none)
        let client = store.client, reporter = narrator
        try Demo.runBlocking {
            for await notify in client.syncAllNotifications() { reporter.say(Self.line(notify)) }
        }
        try narrator.check("3 customers, 6 products and 2 orders are on the device", try store.counts == [3, 6, 2])

        narrator.begin("Find: by a condition, with an index, without a network")
        for item in try store.product.findAll(["brand": "Northwood"]) { narrator.say("\(item["name"] ?? "") costs \(item["price"] ?? "")") }

        narrator.begin("Create, update and order while the server is away")
        http.stop()
        let hammer = try store.product.create(["name": "Hammer", "brand": "Castle", "price": "19.5", "quantity": "3"])
        let order = try store.order.create(["customer": "1", "product": hammer, "quantity": "1"])
        try store.product.save(["object": "1", "price": "11"])
        try narrator.check("a synchronization meanwhile ends with error 1, the network", store.product.sync().errorCode == .network)
        try narrator.check("all three changes wait", try store.product.isChanged() && store.order.isChanged())
        var listening = HTTPServer.Configuration()
        listening.port = port
        http = try HTTPServer(listening) { face.respond(to: $0) }
        try narrator.check("the next synchronization sends them", store.client.syncAll().errorCode == .none)
        let sent = try store.product.findFirst(["name": "Hammer"]), sold = try store.order.findFirst(["customer": "1", "quantity": "1"])
        narrator.say("the server's ids took the place of temporary ones: product \(sent?["object"] ?? "?"), ordered as \(sold?["product"] ?? "?")")
        try narrator.check("no object has a temporary id", try store.product.find(hammer) == nil && store.order.find(order) == nil)
        try narrator.check("the order refers to the new product", sent?["object"] == sold?["product"] && sent != nil)

        try handleErrors(store)
        try bulkSynchronize(address)
        http.stop()
        try server.close()
        Terminal.say("\nDone in \(Format.time(narrator.elapsed)).")
    }

    private mutating func handleErrors(_ store: StoreApplication) throws {
        narrator.begin("The server refuses: a price below zero")
        try store.product.create(["name": "Ghost", "brand": "Castle", "price": "-1"])
        try store.product.save(["object": "2", "price": "-5"])
        let result = store.client.syncAll()
        for refusal in result.serverErrors.create + result.serverErrors.update {
            narrator.say("\(refusal.attributes["name"] ?? "product " + refusal.object): \(refusal.message)")
        }
        try narrator.check("one create and one update were refused", result.hasCreateErrors && result.hasUpdateErrors)
        try store.client.onCreateError(result, action: .delete)
        try store.client.onUpdateError(result, action: .rollback)
        try narrator.check("after delete and rollback the device has the server's data", try store.product.findAll(["brand": "Castle"]).count == 3)
        try narrator.check("the axe has its price again", try store.product.find("2")?["price"] == "31")
    }

    private mutating func bulkSynchronize(_ address: String) throws {
        narrator.begin("A second device loads everything as one database file")
        var settings = RhoConnectClient.Settings()
        settings.bulkInterval = .milliseconds(20)
        let store = try StoreApplication(path: folder.path("lee.db"), server: address, settings: settings)
        guard store.client.login(user: "lee", password: "p4ss").errorCode == .none else { throw DemoFailure("the second login failed") }
        try store.client.setBulkSyncState(.notSynchronized)
        let result = store.client.syncAll()
        try narrator.check("the bulk synchronization is done", try store.client.bulkSyncState() == .done && result.errorCode == .none)
        try narrator.check("3 customers, 7 products and 3 orders are on the device", try store.counts == [3, 7, 3])
    }

    /// One notification as a line.
    private static func line(_ notify: RhoConnectNotify) -> String {
        let rest = notify.status == .inProgress ? "\(notify.cumulativeCount) objects" : notify.errorMessage
        return [notify.sourceName ?? "all models", notify.status?.rawValue ?? "", rest]
            .filter { !$0.isEmpty }.joined(separator: ", ")
    }
}

extension StoreApplication {
    /// The numbers of customers, products and orders.
    var counts: [Int] { get throws { [try customer.count(), try product.count(), try order.count()] } }
}
