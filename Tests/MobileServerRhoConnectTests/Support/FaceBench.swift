import Foundation
import MobileCrypto
import MobileExecution
import MobileProtocol
import MobileServer
import MobileServerRhoConnect
import MobileStore
import PostgreSQLClient
import PostgreSQLTestSupport
import TestSupport
import Testing

/// A back end in memory, whose behaviour a test sets.
final class MemoryAdapter: RhoConnectAdapter {
    struct State {
        var objects: [String: [String: String]] = [:]
        var queries = 0, searches = 0, created = 0
        var loginError: String?, queryError: String?, metadata: String?
        /// Refuses a change: kind, object or attributes.
        var refusal: @Sendable (String, String, [String: String]) -> String? = { _, _, _ in nil }
        var givesIDs = true
        /// Runs before a query, outside of the lock.
        var beforeQuery: (@Sendable () -> Void)?
        /// Runs between the reading of a query's objects and their return.
        var afterReading: (@Sendable () -> Void)?
        var log: [String] = []
    }
    let state = SystemLock(State())

    init(_ objects: [String: [String: String]] = [:]) { state.withLock { $0.objects = objects } }

    var objects: [String: [String: String]] {
        get { state.withLock { $0.objects } }
        set { state.withLock { $0.objects = newValue } }
    }

    func login(user: String) throws { if let error = state.withLock({ $0.loginError }) { throw RhoConnectAdapterError(error) } }

    func query(user: String, parameters: [String: String]) throws -> [String: [String: String]] {
        state.withLock { $0.beforeQuery }?()
        let (objects, error, afterReading) = state.withLock { state in
            state.queries += 1
            return (state.objects, state.queryError, state.afterReading)
        }
        afterReading?()
        if let error { throw RhoConnectAdapterError(error) }
        return objects
    }

    func search(user: String, parameters: [String: String]) throws -> [String: [String: String]] {
        state.withLock { $0.searches += 1 }
        if parameters["fail"] != nil { throw RhoConnectAdapterError("search failed") }
        return objects.filter { object in parameters.allSatisfy { object.value[$0.key] == $0.value } }
    }

    func create(user: String, attributes: [String: String]) throws -> String? {
        try state.withLock { state in
            state.log.append("create \(attributes["title"] ?? "")")
            if let text = state.refusal("create", "", attributes) { throw RhoConnectAdapterError(text) }
            guard state.givesIDs else { return nil }
            state.created += 1
            state.objects["b\(state.created)"] = attributes
            return "b\(state.created)"
        }
    }

    func update(user: String, object: String, attributes: [String: String]) throws {
        try state.withLock { state in
            state.log.append("update \(object)")
            if let text = state.refusal("update", object, attributes) { throw RhoConnectAdapterError(text) }
            state.objects[object]?.merge(attributes) { $1 }
        }
    }

    func delete(user: String, object: String, attributes: [String: String]) throws {
        try state.withLock { state in
            state.log.append("delete \(object)")
            if let text = state.refusal("delete", object, attributes) { throw RhoConnectAdapterError(text) }
            state.objects[object] = nil
        }
    }

    func storeBlob(user: String, attribute: String, object: String, content: [UInt8]) throws -> String {
        "http://files/\(attribute)/\(content.count)"
    }
    func metadata(user: String) throws -> String? { state.withLock { $0.metadata } }
}

/// The engine of the faces' state in these tests: SQLite, or PostgreSQL with `SERVER_STORE=postgresql` in the environment.
enum StoreUnderTest {
    static let isPostgreSQL = ProcessInfo.processInfo.environment["SERVER_STORE"] == "postgresql"
}

/// A face with a source `Item` and others, called as a function.
final class FaceBench: Sendable {
    let directory: TemporaryDirectory
    let server: MobileServer
    let face: RhoConnectServer
    let adapter: MemoryAdapter
    let time = SystemLock<Int64>(1_795_000_000_000)
    let sources: [RhoConnectSource]
    /// The database of the state in PostgreSQL.
    let stateDatabase: PostgreSQLTestDatabase?
    private let settings: RhoConnectServer.Configuration

    init(
        _ objects: [String: [String: String]] = [:], others: [RhoConnectSource] = [],
        configure: (inout RhoConnectSource) -> Void = { $0.pollInterval = 0 },
        isPostgreSQL: Bool = StoreUnderTest.isPostgreSQL, face configureFace: (inout RhoConnectServer.Configuration) -> Void = { _ in }
    ) throws {
        directory = try TemporaryDirectory()
        stateDatabase = try isPostgreSQL ? .ofState() : nil
        server = try MobileServer(Self.configuration(directory, stateDatabase, time))
        adapter = MemoryAdapter(objects)
        var source = RhoConnectSource("Item", adapter: adapter)
        configure(&source)
        sources = [source] + others
        var settings = RhoConnectServer.Configuration()
        let time = time
        settings.clock = { time.withLock { $0 } }
        settings.administrationToken = "admin-token"
        configureFace(&settings)
        self.settings = settings
        face = try RhoConnectServer(server, sources: sources, configuration: settings)
    }

    private static func configuration(_ directory: TemporaryDirectory, _ state: PostgreSQLTestDatabase?, _ time: SystemLock<Int64>)
        -> ServerConfiguration
    {
        var configuration = ServerConfiguration(cachePath: directory.file("state.db"), packages: [], users: ["kim": "p4ss", "lee": "p4ss"])
        configuration.passwordParameters = .init(n: 16)
        configuration.storeAddress = state?.configuration.address
        configuration.clock = { time.withLock { $0 } }
        return configuration
    }

    /// Another face on the same state, with the same or other sources: on PostgreSQL with a server of its own, like that of another process.
    func another(_ sources: [RhoConnectSource]? = nil) throws -> RhoConnectServer {
        let server = stateDatabase == nil ? server : try MobileServer(Self.configuration(directory, stateDatabase, time))
        return try RhoConnectServer(server, sources: sources ?? self.sources, configuration: settings)
    }

    /// An answer.
    struct Answer {
        let status: Int
        let headers: [(name: String, value: String)]
        let body: [UInt8]
        var text: String { String(decoding: body, as: UTF8.self) }
        var json: JSONValue? { try? JSONValue(parsing: body) }
        func header(_ name: String) -> String? { headers.first { $0.name.lowercased() == name.lowercased() }?.value }
        var cookie: String? { header("Set-Cookie").map { String($0.prefix { $0 != ";" }) } }

        /// An element of a page.
        subscript(name: String) -> JSONValue? {
            guard case .array(let elements)? = json else { return nil }
            return elements.compactMap { $0[name] }.first
        }
        var token: String { self["token"]?.string ?? "-" }
        var commands: JSONValue? { if case .array(let elements)? = json, elements.count == 6 { elements[5] } else { nil } }
    }

    func call(
        _ method: String, _ path: String, _ query: [String: String] = [:], headers: [String: String] = [:], body: String = "",
        type: String? = "application/json", on other: RhoConnectServer? = nil
    ) throws -> Answer {
        var all = headers
        if !body.isEmpty, let type { all["content-type"] = type }
        let response = (other ?? face).respond(
            to: ServerRequest(method: method, path: path, query: query, headers: all, body: Spool([UInt8](body.utf8))))
        var bytes: [UInt8] = []
        switch response.body {
        case .bytes(let body): bytes = body
        case .stream(_, let next): while let piece = try next() { bytes += piece }
        default: break
        }
        return Answer(status: response.status, headers: response.headers, body: bytes)
    }

    /// One client of the face.
    struct Client {
        let bench: FaceBench
        var cookie: String
        var id: String

        /// The face that answers; nil for that of the bench.
        var face: RhoConnectServer?

        func call(_ method: String, _ path: String, _ query: [String: String] = [:], body: String = "") throws -> Answer {
            try bench.call(method, path, query, headers: ["cookie": cookie, "x-rhoconnect-client-id": id], body: body, on: face)
        }
        func query(_ source: String = "Item", token: String? = "1", size: Int? = nil) throws -> Answer {
            var query = ["version": "3"]
            if let token { query["token"] = token }
            if let size { query["p_size"] = String(size) }
            return try call("GET", "/app/v1/" + source, query)
        }
        func upload(_ json: JSONValue) throws -> Answer { try call("POST", "/app/v1/Item", body: json.description) }
        /// The same client, answered by another face.
        func on(_ face: RhoConnectServer) -> Client {
            var client = self
            client.face = face
            return client
        }
        func search(_ json: JSONValue, _ query: [String: String] = [:]) throws -> Answer {
            try call("POST", "/rc/v1/app/search", query, body: json.description)
        }
        /// Receives everything, and acknowledges it.
        func drain(_ source: String = "Item") throws {
            var token = "1"
            for _ in 0..<100 where token != "" { token = try query(source, token: token).token }
        }
    }

    func client(_ user: String = "kim") throws -> Client {
        let login = try call("POST", "/rc/v1/app/login", body: "{\"login\":\"\(user)\",\"password\":\"p4ss\"}")
        let cookie = try #require(login.cookie)
        let created = try call("POST", "/rc/v1/clients", headers: ["cookie": cookie])
        return Client(bench: self, cookie: cookie, id: try #require(created.json?["client"]?["client_id"]?.string))
    }
}
