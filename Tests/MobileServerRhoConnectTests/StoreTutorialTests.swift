import Foundation
import MobileCrypto
import MobileExecution
import MobileServer
import MobileServerRhoConnect
import MobileStore
import MobileTransport
import RhoConnectClient
import SampleStore
import TestSupport
import Testing

/// Runs the code of the article StoreTutorial, which is the code between the marks below.
@Suite struct StoreTutorialTests {
    @Test("the tutorial runs against a face with the store, and leaves what it says")
    func tutorial() async throws {
        let directory = try TemporaryDirectory()
        let folder = directory.path
        try StoreBackEnd.create(at: directory.file("back-end.db"))
        let package = PackageDeployment(try StoreBackEnd.package(), backEnds: ["store": directory.file("back-end.db")])
        var configuration = ServerConfiguration(cachePath: directory.file("state.db"), packages: [package], users: ["kim": "p4ss"])
        configuration.passwordParameters = .init(n: 16)
        let server = try MobileServer(configuration)
        var sources = try RhoConnectServer.sources(of: server)
        for index in sources.indices { sources[index].pollInterval = 0 }
        let face = try RhoConnectServer(server, sources: sources)
        let network = SimulatedTransport(server: { request in
            let response = face.respond(to: request)
            face.waitForBulkFiles()
            return response
        })
        let printed = SystemLock<[String]>([])
        @Sendable func print(_ texts: String...) { printed.withLock { $0.append(texts.joined(separator: " ")) } }
        @Sendable func print(_ text: String, _ count: Int) { print(text, String(count)) }

        // Tutorial: open
        let database = try RhoConnectClient.initDatabase(ConnectionProfile(path: folder + "/store.db"))
        let client = RhoConnectClient(database, transport: network)
        let customer = RhomModel("Customer", partition: .app), product = RhomModel("Product", partition: .app)
        let order = RhomModel("Order", associations: ["customer": "Customer", "product": "Product"], partition: .app)
        try client.addModels([customer, product, order])
        try client.setSyncServer("http://localhost:9292/")
        // Tutorial: end

        func logIn() throws {
            // Tutorial: log in
            guard client.login(user: "kim", password: "p4ss").errorCode == .none else { return }
            let result = client.syncAll()
            print(result.status?.rawValue ?? "", try product.count())
            // Tutorial: end
        }
        try logIn()
        #expect(printed.withLock { $0 } == ["complete 6"])

        func threaded(_ finished: @escaping @Sendable () -> Void) {
            let recover: @Sendable (RhoConnectNotify) -> Void = { _ in }
            // Tutorial: threaded
            client.threadedMode = true
            client.setNotification { notify in
                switch notify.status {
                case .complete: finished()
                case .error: recover(notify)
                default: break
                }
            }
            client.syncAll()
            // Tutorial: end
        }
        await withCheckedContinuation { continuation in threaded { continuation.resume() } }
        client.clearNotification()
        client.threadedMode = false
        printed.withLock { $0 = [] }

        // Tutorial: sequence
        for await notify in client.syncAllNotifications() { print(notify.sourceName ?? "all", notify.status?.rawValue ?? "") }
        // Tutorial: end
        #expect(printed.withLock { $0 } == ["Customer ok", "Product ok", "Order ok", "all complete"])
        printed.withLock { $0 = [] }

        @Sendable func work() throws {
            // Tutorial: objects
            for item in try product.findAll(["brand": "Northwood"]) { print(item["name"] ?? "") }
            let id = try product.create(["name": "Hammer", "brand": "Castle", "price": "19.5"])
            try order.create(["customer": "1", "product": id, "quantity": "2"])
            try product.save(["object": "1", "price": "11"])
            try product.destroy(["object": "4"])
            let page = try product.findAll(RhomQuery(limit: 100, after: "2"))
            // Tutorial: end
            #expect(printed.withLock { $0 } == ["Saw", "Axe"])
            #expect(page.contains { $0["name"] == "Lamp" } && !page.contains { $0["name"] == "Axe" })
            let result = client.syncAll()
            #expect(result.serverErrors.isEmpty, "\(result)")
            let hammer = try #require(try product.findFirst(["name": "Hammer"])?["object"])
            #expect(hammer == "7")
            #expect(try order.findFirst(["product": hammer])?["quantity"] == "2")
            #expect(try product.find("4") == nil)

            func showLogin() {}
            // Tutorial: errors
            func recover(_ notify: RhoConnectNotify) throws {
                if notify.isUnknownClientError {
                    try client.databaseClientReset()
                    client.syncAll()
                } else if notify.errorCode == .clientIsNotLoggedIn || notify.errorCode == .unauthorized {
                    showLogin()
                } else {
                    if notify.hasCreateErrors { try client.onCreateError(notify, action: .delete) }  // mandatory
                    if notify.hasUpdateErrors { try client.onUpdateError(notify, action: .rollback) }
                    if notify.hasDeleteErrors { try client.onDeleteError(notify, action: .retry) }
                }
            }
            // Tutorial: end
            try product.create(["name": "Ghost", "brand": "Castle", "price": "-1"])
            try recover(client.syncAll())
            #expect(try product.findFirst(["name": "Ghost"]) == nil)

            // Tutorial: bulk
            try client.setBulkSyncState(.notSynchronized)
            client.syncAll()  // the server's database file first, then the differences
            // Tutorial: end
            #expect(try client.bulkSyncState() == .done)
            #expect(try product.count() == 6)
        }
        try await BlockingWork.run(work)
    }

    @Test("the article shows the code that runs here, part by part")
    func article() throws {
        let article = try String(contentsOf: Repository.file("Sources/RhoConnectClient/RhoConnectClient.docc/StoreTutorial.md"), encoding: .utf8)
        var part: [Substring]?
        var parts = 0
        for line in try String(contentsOf: URL(filePath: #filePath), encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false) {
            let text = line.drop { $0 == " " }
            if text == "// Tutorial: end", let code = part {
                let margin = code.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
                #expect(article.contains("```swift\n\(code.map { $0.dropFirst(margin) }.joined(separator: "\n"))\n```"))
                part = nil
                parts += 1
            } else if text.hasPrefix("// Tutorial: ") {
                part = []
            } else {
                part?.append(line)
            }
        }
        #expect(parts == 7)
        #expect(article.components(separatedBy: "```swift\n").count - 1 == parts)
    }
}
