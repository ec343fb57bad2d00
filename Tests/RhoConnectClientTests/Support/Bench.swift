import MobileExecution
import MobileStore
import MobileTransport
import RhoConnectClient
import TestSupport
import Testing

/// A strict server and a client with models, in a directory of their own.
final class Bench: Sendable {
    let directory: TemporaryDirectory
    let server: StrictServer
    let database: RhomDatabase
    let client: RhoConnectClient
    let item: RhomModel
    let notes = Notes()

    /// - Parameters:
    ///   - item: the model; default: a property bag `Item`.
    ///   - others: further models.
    ///   - isLoggedIn: whether the client has a session.
    init(
        style: RhoConnectClient.ProtocolStyle = .version4, item: RhomModel = RhomModel("Item"), others: [RhomModel] = [], isLoggedIn: Bool = true,
        transport: any Transport = HTTPTransport(), configure: (inout RhoConnectClient.Settings) -> Void = { _ in }
    ) throws {
        directory = try TemporaryDirectory()
        server = try StrictServer(style: style.rawValue)
        database = try RhoConnectClient.initDatabase(ConnectionProfile(path: directory.file("store.db")))
        var settings = RhoConnectClient.Settings()
        settings.bulkInterval = .zero
        configure(&settings)
        client = RhoConnectClient(database, transport: transport, settings: settings)
        self.item = item
        try client.addModels([item] + others)
        try client.setSyncServer(server.url, style: style)
        if isLoggedIn {
            let notify = client.login(user: "kim", password: "p4ss")
            try #require(notify.errorCode == .none, "\(notify)")
            server.forgetRequests()
        }
    }

    /// A bench whose server has given the client some objects.
    static func filled(
        _ objects: [String: [String: String]] = ["77": ["title": "Saw", "price": "12"]], others: [RhomModel] = [],
        item: RhomModel = RhomModel("Item"),
        transport: any Transport = HTTPTransport()
    ) throws -> Bench {
        let bench = try Bench(item: item, others: others, transport: transport)
        let insert = JSONValue.object(
            JSONObject(
                uniqueKeys: objects.map { id, attributes in
                    (id, .object(JSONObject(uniqueKeys: attributes.map { ($0.key, JSONValue.string($0.value)) })))
                }))
        bench.server.add(item.name, "{\"insert\":\(insert.description)}", token: "10", count: objects.count)
        bench.client.syncAll()
        bench.server.forgetRequests()
        return bench
    }

    deinit { server.stop() }

    /// Opens the database again, as the next process does.
    func reopened(item: RhomModel = RhomModel("Item"), others: [RhomModel] = [], transport: any Transport = HTTPTransport()) throws -> (
        RhoConnectClient, RhomModel
    ) {
        let database = try RhoConnectClient.initDatabase(ConnectionProfile(path: directory.file("store.db")))
        let client = RhoConnectClient(database, transport: transport)
        try client.addModels([item] + others)
        try client.setSyncServer(server.url, style: server.style == 3 ? .version3 : .version4)
        return (client, item)
    }

    /// Reads a value of the database.
    func value(_ sql: String) throws -> Value? {
        let store = try Database(ConnectionProfile(path: directory.file("store.db")))
        defer { try? store.close() }
        return try store.read { try $0.first(sql)?.first }
    }

    /// The body of the n-th upload.
    func upload(_ number: Int) throws -> JSONValue { try #require(server.uploads.count > number ? server.uploads[number].json : nil) }

    /// Checks that the client sent nothing that the protocol does not allow.
    func check(sourceLocation: SourceLocation = #_sourceLocation) { #expect(server.violations == [], sourceLocation: sourceLocation) }
}

/// Notifications in the order in which they came.
final class Notes: Sendable {
    private let list = SystemLock<[RhoConnectNotify]>([])
    var all: [RhoConnectNotify] { list.withLock { $0 } }
    func add(_ notify: RhoConnectNotify) { list.withLock { $0.append(notify) } }

    /// One word per notification: `Item:in_progress`, `complete`.
    var words: [String] { all.map { ($0.sourceName.map { $0 + ":" } ?? "") + ($0.status?.rawValue ?? "") } }
}

extension RhoConnectClient {
    /// Synchronizes all models, and returns all notifications.
    func notifications() async -> [RhoConnectNotify] {
        var all: [RhoConnectNotify] = []
        for await notify in syncAllNotifications() { all.append(notify) }
        return all
    }
}

extension JSONValue {
    /// The value of an object's only member.
    var onlyValue: JSONValue? { object.flatMap { $0.count == 1 ? $0.map(\.value)[0] : nil } }
}

extension [RhoConnectNotify] {
    var words: [String] { map { ($0.sourceName.map { $0 + ":" } ?? "") + ($0.status?.rawValue ?? "") } }
}

extension [String: String] {
    /// The attributes without id and source.
    var attributes: [String: String] { filter { $0.key != "object" && $0.key != "source_id" } }
}

/// A transport that can cut, hold or refuse requests to the real network.
final class CuttingTransport: Transport {
    /// The fate of a request.
    enum Fate: Sendable {
        case pass
        /// It never arrives.
        case refuse
        /// It is answered, and the function runs before the client has the answer.
        case passThen(@Sendable () -> Void)
        /// It is answered, but the answer is lost.
        case loseAnswer
        /// The answer ends after this number of bytes.
        case cut(after: Int)
    }
    private let inner = HTTPTransport()
    private let fate = SystemLock<@Sendable (TransportRequest) -> Fate>({ _ in .pass })

    func setFate(_ new: @escaping @Sendable (TransportRequest) -> Fate) { fate.withLock { $0 = new } }

    func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
        let decide = fate.withLock { $0 }
        switch decide(request) {
        case .pass: return try inner.send(request, receive: receive)
        case .passThen(let body):
            let response = try inner.send(request, receive: receive)
            body()
            return response
        case .refuse: throw TransportError(.cannotConnect, "refused by the test")
        case .loseAnswer:
            _ = try inner.send(request) { _ in }
            throw TransportError(.interrupted, "the answer was lost")
        case .cut(let limit):
            var left = limit
            _ = try inner.send(request) { chunk in
                let count = Swift.min(left, chunk.byteCount)
                left -= count
                let bytes = chunk.withUnsafeBytes { Array($0.prefix(count)) }
                if count > 0 { try receive(bytes.span.bytes) }
            }
            throw TransportError(.interrupted, "cut after \(limit) bytes")
        }
    }
}
