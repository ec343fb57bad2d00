import Foundation
import MobileModel
import MobileObjects
import MobileStore
import SampleCRM
import TestSupport
import Testing
import WorklightClient

@testable import mobile

/// `mobile demo --worklight` and `mobile serve --worklight`.
@Suite struct WorklightToolTests {
    @Test func `the demonstration shows the examples of the document, and each of its promises holds`() throws {
        let (status, output) = try Tool.run(["demo", "--worklight", "yes"])
        #expect(status == 0, "\(output)")
        #expect(output.components(separatedBy: "checked: ").count - 1 == 7)
        for part in ["Example 1", "Example 2", "there was one login", "Please upgrade", "the order arrived once"] { #expect(output.contains(part)) }
        #expect(try Tool.run(["demo", "--worklight", "perhaps"]).status == 64)
    }

    /// A server process with the sample's package and a face.
    private final class Serving {
        let folder: TemporaryDirectory
        private(set) var process = Process()
        private(set) var ports: [UInt16] = []

        init() throws {
            folder = try TemporaryDirectory()
            _ = try SampleBackEnd.create(at: folder.file("enterprise.db"), scale: 0.0001)
            try CRM.metadata.model.json.write(toFile: folder.file("crm.mbo.json"), atomically: true, encoding: .utf8)
            let configuration = """
                {"context": "/Demo", "applications": [{"id": "Demo"}], "realms": ["users"],
                 "adapters": [{"name": "Shop", "procedures": {
                    "add": {"sql": "SELECT ? + ? AS sum", "backEnd": "enterprise"},
                    "mine": {"sql": "SELECT 1 AS one", "backEnd": "enterprise", "realm": "users"}}}]}
                """
            try configuration.write(toFile: folder.file("worklight.json"), atomically: true, encoding: .utf8)
        }

        deinit {
            if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        }

        func start() throws {
            process = Process()
            let output = Pipe(), input = Pipe()
            process.executableURL = Tool.executable
            process.arguments = [
                "serve", "--model", folder.file("crm.mbo.json"), "--cache", folder.file("cache.db"), "--backend",
                "enterprise=\(folder.file("enterprise.db"))", "--worklight", folder.file("worklight.json"), "--port", String(ports.first ?? 0),
                "--worklight-port", String(ports.last ?? 0), "--user", "ada", "--password-fd", "0",
            ]
            process.standardInput = input
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            try input.fileHandleForWriting.write(contentsOf: Data("lovelace\n".utf8))
            try process.run()
            try input.fileHandleForWriting.close()
            var text = ""
            while text.filter({ $0 == "\n" }).count < 2, case let piece = output.fileHandleForReading.availableData, !piece.isEmpty {
                text += String(decoding: piece, as: UTF8.self)
            }
            ports = text.split(separator: "\n").compactMap { $0.split(separator: ":").last.flatMap { UInt16($0) } }
            try #require(ports.count == 2, "\(text)")
        }

        func stop(_ signal: Int32) {
            kill(process.processIdentifier, signal)
            process.waitUntilExit()
        }
    }

    @Test func `a face next to the server runs SQL on its back end, and a killed process loses no session`() async throws {
        let serving = try Serving()
        try serving.start()
        let client = try WLClient(
            WLConfiguration(
                host: "127.0.0.1", port: String(try #require(serving.ports.last)), serverContext: "/Demo", applicationID: "Demo",
                applicationVersion: "1.0"))
        let logins = RecordedLines()
        client.registerChallengeHandler(
            AsyncChallengeHandler(realm: "users", isCustomResponse: { $0.responseText.contains("j_security_check") }) { handler, _ in
                logins.add("login")
                try await handler.loginForm("j_security_check", parameters: ["j_username": "ada", "j_password": "lovelace"])
            })
        try await client.connect()
        let add = WLProcedureInvocationData(adapter: "Shop", procedure: "add", parameters: [20, 22])
        let mine = WLProcedureInvocationData(adapter: "Shop", procedure: "mine")
        #expect(try await client.invokeProcedure(add).invocationResult?.response["resultSet"] == [["sum": 42]])
        try await client.invokeProcedure(mine)
        serving.stop(SIGKILL)
        let failure = await #expect(throws: WLFailResponse.self) { try await client.invokeProcedure(mine) }
        #expect(failure?.errorCode == .unresponsiveHost)
        try serving.start()
        try await client.invokeProcedure(mine)
        #expect(logins.all == ["login"])
        serving.stop(SIGTERM)
        #expect(serving.process.terminationStatus == 0)
    }
}
