import Foundation
import MobileModel
import MobileObjects
import MobileStore
import SampleCRM
import TestSupport
import Testing
import WorklightClient

@testable import mobile

/// A server process with the sample's package and a face.
final class WorklightServing {
    let folder: TemporaryDirectory
    private(set) var process = Process()
    private(set) var ports: [UInt16] = []

    init() throws {
        folder = try TemporaryDirectory()
        _ = try SampleBackEnd.create(at: folder.file("enterprise.db"), scale: 0.0001)
        let backEnd = try Database(ConnectionProfile(path: folder.file("enterprise.db"), journal: .unchanged))
        try backEnd.write { _ = try $0.execute("CREATE TABLE noted (number INTEGER NOT NULL)") }
        try backEnd.close()
        try CRM.metadata.model.json.write(toFile: folder.file("crm.mbo.json"), atomically: true, encoding: .utf8)
        let configuration = """
            {"context": "/Demo", "applications": [{"id": "Demo"}], "realms": ["users"],
             "adapters": [{"name": "Shop", "procedures": {
                "add": {"sql": "SELECT ? + ? AS sum", "backEnd": "enterprise"},
                "mine": {"sql": "SELECT 1 AS one", "backEnd": "enterprise", "realm": "users"},
                    "note": {"sql": "INSERT INTO noted (number) VALUES (?1)", "backEnd": "enterprise"},
                    "noteMine": {"sql": "INSERT INTO noted (number) VALUES (?1)", "backEnd": "enterprise", "realm": "users"}}}]}
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

    /// How often each number was noted by the procedures `note` and `noteMine`.
    func noted() throws -> [Int64: Int64] {
        let backEnd = try Database(ConnectionProfile(path: folder.file("enterprise.db"), journal: .unchanged))
        defer { try? backEnd.close() }
        let rows = try backEnd.read { try $0.rows("SELECT number, count(*) FROM noted GROUP BY number") }
        return Dictionary(uniqueKeysWithValues: rows.map { ($0[0].integer ?? -1, $0[1].integer ?? 0) })
    }

    /// A client of the face whose user logs in with the form.
    func client(_ logins: RecordedLines = RecordedLines()) throws -> WLClient {
        var configuration = WLConfiguration(
            host: "127.0.0.1", port: String(try #require(ports.last)), serverContext: "/Demo", applicationID: "Demo", applicationVersion: "1.0")
        configuration.heartbeatInterval = .zero
        configuration.defaultTimeout = .seconds(600)
        let client = try WLClient(configuration)
        client.registerChallengeHandler(
            AsyncChallengeHandler(realm: "users", isCustomResponse: { $0.responseText.contains("j_security_check") }) { handler, _ in
                logins.add("login")
                try await handler.loginForm("j_security_check", parameters: ["j_username": "ada", "j_password": "lovelace"])
            })
        return client
    }
}
