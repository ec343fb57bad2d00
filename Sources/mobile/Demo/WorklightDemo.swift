import Foundation
import MobileExecution
import MobileServer
import MobileServerWorklight
import MobileStore
import WorklightClient

/// `mobile demo --worklight`: the two examples of the Worklight 5.0.6 document, between the client and the server face of this package, and the work
/// without a network that the original lacks.
struct WorklightDemo {
    private let folder: DemoFolder
    private var narrator = Narrator()

    init(folder: DemoFolder) { self.folder = folder }

    /// - Throws: ``DemoFailure`` for a promise that was not kept.
    mutating func run() async throws {
        let server = try WorklightServer(Self.configuration(backEnd()), state: state())
        var http = try HTTPServer { server.respond(to: $0) }
        let port = http.port
        narrator.begin("A server face for Worklight clients")
        narrator.say("adapters demoAdapter and orders, a realm with a form, state in one file; listening on port \(port)")
        let store = try Database(ConnectionProfile(path: path("client.db")))
        let client = try WLClient(
            WLConfiguration(
                host: "127.0.0.1", port: String(port), serverContext: "/Demo", applicationID: "Demo", applicationVersion: "1.0"), store: store)
        client.logs.printer = { _ in }
        try await callProcedures(client)
        try await showMessages(client, server)

        narrator.begin("Without a network: a stored result, and a call that waits")
        let account = Self.account, cached = WLProcedureOptions(cache: .ifUnreachable())
        try await client.invokeProcedure(account, options: cached)
        http.stop()
        let stored = try await client.invokeProcedure(account, options: cached)
        try narrator.check("the stored result answers while the server is away", stored.cachedAt != nil)
        let order = WLProcedureInvocationData(adapter: "orders", procedure: "add", parameters: ["harbour lamp"])
        let waiting = Task { try await client.invokeProcedure(order, options: WLProcedureOptions(replay: .ifNotSent)) }
        try await BlockingWork.run { while client.waitingCalls == 0 {} }
        narrator.say("the order waits in the outbox")
        var configuration = HTTPServer.Configuration()
        configuration.port = port
        http = try HTTPServer(configuration) { server.respond(to: $0) }
        client.replayWaitingCalls()
        _ = try await waiting.value
        let orders = try await client.invokeProcedure(WLProcedureInvocationData(adapter: "orders", procedure: "list"))
        try narrator.check("the order arrived once", orders.invocationResult?.response["resultSet"] == [["item": "harbour lamp"]])

        narrator.begin("The device sends its log, the administrator reads it")
        client.logs.logger(package: "demo").warn("balance is low", metadata: ["account": "123-456-789"])
        let sent = try await client.logs.send()
        try narrator.check("the server has the line", try server.administration.logEntries().count == sent && sent == 1)
        http.stop()
        try server.close()
        Terminal.say("\nDone in \(Format.time(narrator.elapsed)).")
    }

    private static let account = WLProcedureInvocationData(
        adapter: "demoAdapter", procedure: "getDemoAccount", parameters: ["123-456-789", "california"])

    private mutating func callProcedures(_ client: WLClient) async throws {
        narrator.begin("Example 1: a procedure without a login")
        try await client.connect()
        let response = try await client.invokeProcedure(Self.account)
        narrator.say("status \(response.status): \(JSONValue.object(response.invocationResult?.response ?? [:]))")
        try narrator.check("the procedure succeeded", response.invocationResult?.isSuccessful == true)

        narrator.begin("Example 2: a procedure with a login; ten calls at a time, one login")
        let log = SharedCount()
        client.registerChallengeHandler(
            AsyncChallengeHandler(realm: "users", isCustomResponse: { $0.responseText.contains("j_security_check") }) { handler, _ in
                log.add()
                try await handler.loginForm("j_security_check", parameters: ["j_username": "ada", "j_password": "lovelace"])
            })
        let mine = WLProcedureInvocationData(adapter: "demoAdapter", procedure: "getMyAccount")
        let users = try await withThrowingTaskGroup(of: JSONValue?.self) { group in
            for _ in 0..<10 { group.addTask { try await client.invokeProcedure(mine).invocationResult?.response["user"] } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        try narrator.check("all ten calls know the user", users.count == 10 && users.allSatisfy { $0 == "ada" })
        try narrator.check("there was one login", log.count == 1)
    }

    private mutating func showMessages(_ client: WLClient, _ server: WorklightServer) async throws {
        narrator.begin("An administrator disables this version, and enables it again")
        try server.administration.set(
            .disabled(message: "Please upgrade", link: "https://example.org"), application: "Demo", environment: "iOSnative", version: "1.0")
        do {
            try await client.invokeProcedure(Self.account)
            throw DemoFailure("a disabled version still works")
        } catch let failure as WLFailResponse {
            narrator.say("\(failure)")
            try narrator.check("the version is denied", failure.errorCode == .applicationVersionDenied)
        }
        try server.administration.set(.active, application: "Demo", environment: "iOSnative", version: "1.0")
    }

    // MARK: The server

    private func path(_ name: String) -> String { folder.url.appendingPathComponent(name).path }

    private func state() -> ServerConfiguration { ServerConfiguration(cachePath: path("state.db"), users: ["ada": "lovelace"]) }

    private func backEnd() throws -> Database {
        let database = try Database(ConnectionProfile(path: path("backend.db")))
        try database.write { try $0.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, item TEXT NOT NULL)") }
        return database
    }

    private static func configuration(_ backEnd: Database) -> WorklightConfiguration {
        let demo = WorklightAdapter(
            "demoAdapter",
            procedures: [
                "getDemoAccount": WorklightProcedure { ["number": $0.parameters[0], "state": $0.parameters[1], "balance": .number("12.50")] },
                "getMyAccount": WorklightProcedure(realm: "users") { ["user": .string($0.user(in: "users") ?? "")] },
            ])
        let orders = WorklightAdapter(
            "orders",
            procedures: [
                "add": .sql("INSERT INTO orders (item) VALUES (?)", on: backEnd), "list": .sql("SELECT item FROM orders ORDER BY id", on: backEnd),
            ])
        return WorklightConfiguration(
            context: "/Demo", applications: [WorklightApplication(id: "Demo")], adapters: [demo, orders], realms: [.form("users")])
    }
}

/// A number that several tasks raise.
private final class SharedCount: @unchecked Sendable {
    private let lock = NSLock()
    private var value = 0

    var count: Int { lock.withLock { value } }
    func add() { lock.withLock { value += 1 } }
}
