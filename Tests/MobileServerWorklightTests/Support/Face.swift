import Foundation
import MobileExecution
import MobileServer
import MobileServerWorklight
import MobileStore
import PostgreSQLClient
import PostgreSQLTestSupport
import TestSupport

/// A face with its state in a file of the test, or, with `SERVER_STORE=postgresql` in the environment, in a PostgreSQL database.
final class Face {
    let directory: TemporaryDirectory
    /// The database of the state; nil for a file.
    let stateDatabase: PostgreSQLTestDatabase?
    let server: WorklightServer
    /// The time of the face, in milliseconds since 1970.
    let time: SystemLock<Int64>
    let lines: RecordedLines
    private let change: (inout WorklightConfiguration) -> Void

    static let page: @Sendable (String) -> String = { "<html>page \($0) <form action=\"j_security_check\"></form></html>" }

    /// - Parameter other: a face whose state and back end this one shares, as a second process does; nil (default) for none.
    ///   Its configuration, its time and its lines are the same.
    init(sharing other: Face? = nil, _ change: @escaping (inout WorklightConfiguration) -> Void = { _ in }) throws {
        let change = other?.change ?? change
        self.change = change
        time = other?.time ?? SystemLock(1_700_000_000_000)
        lines = other?.lines ?? RecordedLines()
        let directory = try other?.directory ?? TemporaryDirectory()
        self.directory = directory
        stateDatabase = try other.map(\.stateDatabase) ?? Self.newDatabase()
        let backEnd = try Database(ConnectionProfile(path: directory.file("backend.db")))
        try backEnd.write { connection in
            try connection.execute("CREATE TABLE IF NOT EXISTS quote (id INTEGER PRIMARY KEY, name TEXT, price REAL)")
            try connection.execute("INSERT OR IGNORE INTO quote VALUES (1, 'IBM', 65.5), (2, 'X', NULL)")
        }
        var configuration = WorklightConfiguration(
            context: "/Demo",
            applications: [
                WorklightApplication(id: "Demo", properties: ["colour": "blue"]), WorklightApplication(id: "Open", requiresDevice: false),
                WorklightApplication(id: "Closed", environments: ["iOSnative"], requiresDevice: false, userRealm: "form"),
            ], adapters: [Self.stock(backEnd), Self.login],
            realms: [
                WorklightRealm("form", login: .form(page: Self.page) { $1 == "right" ? ["role": .string("r-" + $0)] : nil }),
                WorklightRealm("adapter", login: .adapter { ["authRequired": true, "isSuccessful": true] }),
            ])
        change(&configuration)
        var state = ServerConfiguration(cachePath: directory.file("state.db"))
        state.storeAddress = stateDatabase?.configuration.address
        let time = time, lines = lines
        state.clock = { time.withLock { $0 } }
        state.log = { lines.add($0) }
        server = try WorklightServer(configuration, state: state)
    }

    deinit { try? server.close() }

    /// A database for the state; nil where it is in a file.
    static func newDatabase() throws -> PostgreSQLTestDatabase? {
        try ProcessInfo.processInfo.environment["SERVER_STORE"] == "postgresql" ? .ofState() : nil
    }

    private static func stock(_ backEnd: Database) -> WorklightAdapter {
        WorklightAdapter(
            "Stock",
            procedures: [
                "quotes": .sql("SELECT id, name, price FROM quote WHERE id >= ? ORDER BY id", on: backEnd),
                "rename": .sql("UPDATE quote SET name = ? WHERE id = ?", on: backEnd),
                "echo": WorklightProcedure { ["isSuccessful": true, "parameters": .array($0.parameters)] },
                "text": WorklightProcedure { _ in "plain" },
                "fails": WorklightProcedure { _ in throw WorklightProcedureError("out of stock") },
                "backEnd": WorklightProcedure { _ in
                    [
                        "isSuccessful": true, "statusCode": 200, "responseHeaders": ["A": "b"],
                        "resultSet": [["n": 12345678901234567, "d": .number("1.50")]],
                    ]
                },
                "mine": WorklightProcedure(realm: "form") {
                    ["user": .string($0.user(in: "form") ?? ""), "role": $0.identities["form"]?["attributes"]?["role"] ?? .null]
                },
                "adapterMine": WorklightProcedure(realm: "adapter") { ["user": .string($0.user(in: "adapter") ?? "")] },
                "long": WorklightProcedure { _ in ["isSuccessful": true, "text": .string(String(repeating: "x", count: 5000))] },
            ], eventSources: ["prices"])
    }

    private static var login: WorklightAdapter {
        WorklightAdapter(
            "Login",
            procedures: [
                "submit": WorklightProcedure { invocation in
                    guard invocation.parameters.last == "right", let user = invocation.parameters.first?.string else {
                        return ["authRequired": true, "errorMessage": "wrong", "isSuccessful": true]
                    }
                    invocation.setUser(user, realm: "adapter")
                    return ["authRequired": false, "isSuccessful": true]
                },
                "leave": WorklightProcedure { invocation in
                    invocation.removeUser(realm: "adapter")
                    return ["isSuccessful": true]
                },
            ])
    }

    func client() -> StrictClient { StrictClient(server) }

    /// A client whose `init` is satisfied.
    func connectedClient(device: String = "D-1") throws -> StrictClient {
        let client = client()
        try client.connect(device: device)
        return client
    }
}
