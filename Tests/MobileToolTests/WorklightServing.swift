import Foundation
import MobileStore
import PostgreSQLClient
import PostgreSQLTestSupport
import TestSupport
import Testing
import WorklightClient

@testable import mobile

/// A server process with a package and a face, whose procedures note numbers in a table of the back end.
final class WorklightServing {
    let folder: TemporaryDirectory
    let server: ServeProcess
    /// The options with which commands find the server's own database.
    let state: [String]
    private let database: PostgreSQLTestDatabase?

    private static let model = """
        {"format": 1, "name": "Notes", "version": "1.0", "backEnds": [{"name": "enterprise"}],
         "objects": [{"name": "Noted", "attributes": [{"name": "number", "type": "long"}], "primaryKey": ["number"],
                      "binding": {"backEnd": "enterprise", "table": "noted"}}]}
        """
    private static let configuration = """
        {"context": "/Demo", "applications": [{"id": "Demo"}], "realms": ["users"],
         "adapters": [{"name": "Shop", "procedures": {
            "add": {"sql": "SELECT CAST(?1 AS BIGINT) + CAST(?2 AS BIGINT) AS sum", "backEnd": "enterprise"},
            "mine": {"sql": "SELECT 1 AS one", "backEnd": "enterprise", "realm": "users"},
            "note": {"sql": "INSERT INTO noted (number) VALUES (?1)", "backEnd": "enterprise"},
            "noteMine": {"sql": "INSERT INTO noted (number) VALUES (?1)", "backEnd": "enterprise", "realm": "users"}}}]}
        """
    private static let table = "CREATE TABLE noted (number BIGINT NOT NULL)"

    /// - Parameter isPostgreSQL: whether the back end and the server's own state are in PostgreSQL.
    init(isPostgreSQL: Bool = false) throws {
        folder = try TemporaryDirectory()
        try Self.model.write(toFile: folder.file("notes.mbo.json"), atomically: true, encoding: .utf8)
        try Self.configuration.write(toFile: folder.file("worklight.json"), atomically: true, encoding: .utf8)
        database = isPostgreSQL ? try PostgreSQLTestDatabase() : nil
        let backEnd: String
        if let database {
            try database.connect().execute(Self.table)
            // The tool knows addresses by their scheme.
            backEnd = "postgresql:///?" + database.configuration.address.replacing(" ", with: "&")
            state = ["--store", backEnd]
        } else {
            backEnd = folder.file("enterprise.db")
            state = ["--cache", folder.file("cache.db")]
            let new = try Database(ConnectionProfile(path: backEnd))
            try new.write { _ = try $0.execute(Self.table) }
            try new.close()
        }
        server = ServeProcess(
            ["--model", folder.file("notes.mbo.json"), "--backend", "enterprise=\(backEnd)", "--worklight", folder.file("worklight.json")] + state
                + ["--user", "ada"], face: "--worklight-port", password: "lovelace")
    }

    /// How often each number was noted by the procedures `note` and `noteMine`.
    func noted() throws -> [Int64: Int64] {
        let query = "SELECT number, count(*) FROM noted GROUP BY number"
        if let database {
            let rows = try database.connect().rows(query)
            return Dictionary(uniqueKeysWithValues: rows.map { ($0[0].integer ?? -1, $0[1].integer ?? 0) })
        }
        let backEnd = try Database(ConnectionProfile(path: folder.file("enterprise.db"), journal: .unchanged))
        defer { try? backEnd.close() }
        let rows = try backEnd.read { try $0.rows(query) }
        return Dictionary(uniqueKeysWithValues: rows.map { ($0[0].integer ?? -1, $0[1].integer ?? 0) })
    }

    /// The configuration of a client of the face.
    func configuration() -> WLConfiguration {
        var configuration = WLConfiguration(
            host: "127.0.0.1", port: String(server.ports.last ?? 0), serverContext: "/Demo", applicationID: "Demo", applicationVersion: "1.0")
        configuration.heartbeatInterval = .zero
        configuration.defaultTimeout = .seconds(600)
        return configuration
    }

    /// A client of the face whose user logs in with the form.
    func client(_ logins: RecordedLines = RecordedLines()) throws -> WLClient {
        let client = try WLClient(configuration())
        client.registerChallengeHandler(
            AsyncChallengeHandler(realm: "users", isCustomResponse: { $0.responseText.contains("j_security_check") }) { handler, _ in
                logins.add("login")
                try await handler.loginForm("j_security_check", parameters: ["j_username": "ada", "j_password": "lovelace"])
            })
        return client
    }
}
