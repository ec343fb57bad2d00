import Foundation
import MobileModel
import MobileStore
import RhoConnectClient
import SampleStore
import TestSupport
import Testing

@testable import mobile

/// `mobile demo --rhoconnect` and `mobile serve --rhoconnect`.
@Suite struct RhoConnectToolTests {
    @Test func `the demonstration shows the store of the documents, each of its promises holds, and the tutorial has what it prints`() throws {
        let (status, output) = try Tool.run(["demo", "--rhoconnect"])
        #expect(status == 0, "\(output)")
        #expect(output.components(separatedBy: "checked: ").count - 1 == 12)
        let article = try String(contentsOf: Repository.file("Sources/RhoConnectClient/RhoConnectClient.docc/StoreTutorial.md"), encoding: .utf8)
        let lines = output.split(separator: "\n").filter { !$0.hasPrefix("Done in ") && !$0.contains("127.0.0.1") }
        let missing = lines.filter { !article.contains($0) }
        #expect(missing.isEmpty && lines.count > 30)
        #expect(try Tool.run(["demo", "--rhoconnect", "perhaps"]).status == 64)
    }

    @Test func `a face next to the server has the package's objects as sources, and a killed process loses neither session nor changes`() throws {
        let folder = try TemporaryDirectory()
        try StoreBackEnd.create(at: folder.file("store.db"))
        try StoreBackEnd.package().json.write(toFile: folder.file("store.mbo.json"), atomically: true, encoding: .utf8)
        let serving = ServeProcess(
            [
                "--model", folder.file("store.mbo.json"), "--cache", folder.file("cache.db"), "--backend", "store=\(folder.file("store.db"))",
                "--rhoconnect", "yes", "--user", "kim", "--drain-notice", "0",
            ], face: "--rhoconnect-port", password: "p4ss")
        try serving.start()
        #expect(serving.text.contains("Customer (app), Product (app), Order (app)"))
        let store = try StoreApplication(path: folder.file("client.db"), server: "http://127.0.0.1:\(serving.ports[1])/")
        try #require(store.client.login(user: "kim", password: "p4ss").errorCode == .none)
        let first = store.client.syncAll()
        #expect(first.errorCode == .none && first.serverErrors.isEmpty, "\(first)")
        #expect(try store.product.count() == 6)
        try store.product.create(["name": "Hammer", "brand": "Castle", "price": "19.5"])
        serving.stop(SIGKILL)
        store.client.syncAll()
        #expect(try store.product.isChanged())
        try serving.start()
        let second = store.client.syncAll()
        #expect(second.errorCode == .none && second.serverErrors.isEmpty, "\(second)")
        #expect(try !store.product.isChanged() && store.product.findFirst(["name": "Hammer"])?["object"] == "7")
        #expect(serving.stop(SIGTERM) == 0)
    }

    @Test func `the tutorial's command is complete, and serves its address`() throws {
        let article = try String(contentsOf: Repository.file("Sources/RhoConnectClient/RhoConnectClient.docc/StoreTutorial.md"), encoding: .utf8)
        let command = try #require(article.split(separator: "\n").first { $0.hasPrefix("mobile serve ") })
        let arguments = try ServeArguments(command.split(separator: " ").dropFirst(2).map(String.init))
        #expect(arguments.isRhoConnect && article.contains("setSyncServer(\"http://localhost:\(arguments.rhoConnectPort)/\")"))
        let folder = try TemporaryDirectory()
        try StoreBackEnd.create(at: folder.file("store.db"))
        try StoreBackEnd.package().json.write(toFile: folder.file("store.mbo.json"), atomically: true, encoding: .utf8)
        // With the files in this folder, and on free ports.
        let here = command.replacing(" --rhoconnect-port 9292", with: "").split(separator: " ").dropFirst(2).map { word in
            word == "store=store.db" ? "store=" + folder.file("store.db") : word.contains(".") ? folder.file(String(word)) : String(word)
        }
        let serving = ServeProcess(here + ["--drain-notice", "0"], face: "--rhoconnect-port", password: "p4ss")
        try serving.start()
        let store = try StoreApplication(path: folder.file("client.db"), server: "http://127.0.0.1:\(serving.ports[1])/")
        #expect(store.client.login(user: "kim", password: "p4ss").errorCode == .none)
        #expect(store.client.syncAll().status == .complete)
        #expect(try store.product.count() == 6)
        #expect(serving.stop(SIGTERM) == 0)
    }

    @Test func `wrong values of the options are told`() throws {
        #expect(throws: UsageError.self) { try ServeArguments(["--model", "m", "--cache", "c", "--rhoconnect", "maybe"]) }
        #expect(throws: UsageError.self) { try ServeArguments(["--model", "m", "--cache", "c", "--rhoconnect-port", "70000"]) }
        for values in [[], ["yes"]] {
            let arguments = try ServeArguments(["--model", "m", "--cache", "c", "--rhoconnect"] + values + ["--rhoconnect-port", "8080"])
            #expect(arguments.isRhoConnect && arguments.rhoConnectPort == 8080)
        }
        #expect(try !ServeArguments(["--model", "m", "--cache", "c", "--rhoconnect", "no"]).isRhoConnect)
    }
}
