import Foundation
import MobileExecution
import MobileServer
import MobileStore
import TestSupport
import WorklightClient

/// The answer of a scripted server.
struct Reply: Sendable {
    var status = 200
    var headers: [(name: String, value: String)] = []
    var body: [UInt8] = []

    /// A body in the form of the platform.
    static func json(_ value: JSONValue, status: Int = 200) -> Reply {
        Reply(
            status: status, headers: [("Content-Type", "application/json; charset=UTF-8"), ("Cache-Control", "no-cache, no-store, must-revalidate")],
            body: Array("/*-secure-\n".utf8) + value.bytes + Array("*/".utf8))
    }

    /// A body of any text.
    static func text(_ text: String, status: Int = 200) -> Reply {
        Reply(status: status, headers: [("Content-Type", "text/html; charset=UTF-8")], body: Array(text.utf8))
    }

    /// A challenge for one or several realms.
    static func challenge(_ challenges: JSONObject, accepted: JSONObject = [:]) -> Reply {
        var object: JSONObject = ["challenges": .object(challenges)]
        if !accepted.isEmpty { object["WL-Authentication-Success"] = .object(accepted) }
        return json(.object(object), status: 401).with("WWW-Authenticate", "WL-Composite-Challenge")
    }

    /// The answer to a satisfied `init`.
    static let connected = json(["userInfo": [:], "gadgetProps": ["ENVIRONMENT": "iOSnative"], "userPrefs": ["colour": "blue"]])
    /// The answer of a procedure.
    static let success = json(["isSuccessful": true, "total": 3])
    /// A login page.
    static let page = text("<html><form action=\"j_security_check\"><input name=\"j_username\"/></form><script>if (a) { b(); }</script></html>")

    func with(_ name: String, _ value: String) -> Reply {
        var reply = self
        reply.headers.append((name, value))
        return reply
    }

    func compressed() throws -> Reply {
        var reply = with("Content-Encoding", "gzip")
        reply.body = try Gzip.compress(body)
        return reply
    }
}

/// A server over real HTTP that answers by a script, keeps all requests, and notes everything that the protocol does not allow.
final class StrictServer: Sendable {
    typealias Script = @Sendable (_ request: StrictRequest, _ number: Int) throws -> Reply

    private struct State {
        var requests: [StrictRequest] = []
        /// The number of requests by their names.
        var counts: [String: Int] = [:]
        var randoms: Set<String> = []
        var violations: [String] = []
    }
    private let state: SystemLock<State>
    private let http: HTTPServer
    let directory: TemporaryDirectory
    let port: UInt16

    /// - Parameter script: makes the answer to each request; `number` counts the requests of the same name from 0. Requests to `init` are answered with
    ///   success if the script throws ``Unscripted``.
    init(_ script: @escaping Script) throws {
        let state = SystemLock(State())
        self.state = state
        directory = try TemporaryDirectory()
        http = try HTTPServer { request in
            let request = StrictRequest(request)
            let number = state.withLock { state in
                state.requests.append(request)
                state.violations += request.violations
                if let random = request.field("x"), !state.randoms.insert(random).inserted { state.violations.append("x was sent twice") }
                defer { state.counts[request.name, default: 0] += 1 }
                return state.counts[request.name, default: 0]
            }
            let reply = (try? script(request, number)) ?? (request.name == "init" ? .connected : .text("not in the script", status: 404))
            return ServerResponse(status: reply.status, headers: reply.headers, body: .bytes(reply.body))
        }
        port = http.port
    }

    struct Unscripted: Error {}

    /// All requests in the order of their arrival.
    var requests: [StrictRequest] { state.withLock { $0.requests } }
    /// The requests of one name.
    func requests(_ name: String) -> [StrictRequest] { requests.filter { $0.name == name } }
    /// Everything that the protocol does not allow.
    var violations: [String] { state.withLock { $0.violations } }

    func stop() { http.stop() }

    /// The configuration of an application of this server.
    func configuration(_ change: (inout WLConfiguration) -> Void = { _ in }) -> WLConfiguration {
        var configuration = WLConfiguration(
            host: "127.0.0.1", port: String(port), serverContext: "/Demo/", applicationID: "Demo", applicationVersion: "1.0")
        // Machines under load need more than the default.
        configuration.defaultTimeout = .seconds(600)
        // A heartbeat is a request: tests of it set the interval.
        configuration.heartbeatInterval = .zero
        configuration.device = WLDevice(os: "8.1.2", model: "iPhone7,2")
        change(&configuration)
        return configuration
    }

    /// A store in the server's directory; the same name gives the same file.
    func store(_ name: String = "client.db") throws -> Database { try Database(ConnectionProfile(path: directory.file(name))) }

    /// A client, not yet connected.
    func client(store: Database? = nil, _ change: (inout WLConfiguration) -> Void = { _ in }) throws -> WLClient {
        try WLClient(configuration(change), store: store)
    }

    /// A connected client.
    @discardableResult
    func connectedClient(store: Database? = nil, _ change: (inout WLConfiguration) -> Void = { _ in }) async throws -> WLClient {
        let client = try client(store: store, change)
        try await client.connect()
        return client
    }
}

extension WLProcedureInvocationData {
    /// A procedure for tests that do not care which.
    static let total = WLProcedureInvocationData(adapter: "Stock", procedure: "total")
}

/// Runs `body`, which must fail.
func failure(_ body: () async throws -> Any) async -> WLFailResponse? {
    do {
        _ = try await body()
        return nil
    } catch { return error as? WLFailResponse }
}
