internal import Foundation
internal import MobileStore
internal import MobileTransport
internal import RhoConnectClient

/// Answers requests with the parts of an input; logins and new clients succeed.
private final class AnsweringTransport: Transport, @unchecked Sendable {
    private let lock = NSLock()
    private var answers: [[UInt8]] = []
    /// Whether an upload was accepted.
    private(set) var isAccepted = false
    /// Whether any page arrived.
    private(set) var isAnswered = false

    func begin(_ input: [UInt8]) {
        lock.withLock {
            answers = input.split(separator: 0xFE, omittingEmptySubsequences: false).map(Array.init).reversed()
            (isAccepted, isAnswered) = (false, false)
        }
    }

    private static let statuses = [200, 200, 200, 200, 401, 500, 404, 302]

    func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
        let session = (name: "Set-Cookie", value: "rhoconnect_session=1; path=/")
        if request.url.hasSuffix("/app/login") { return TransportResponse(status: 200, headers: [session]) }
        if request.url.hasSuffix("/rc/v1/clients") {
            try receive(Array(#"{"client":{"client_id":"c1"}}"#.utf8).span.bytes)
            return TransportResponse(status: 200)
        }
        guard let answer = lock.withLock({ answers.popLast() }) else { throw TransportError(.cannotConnect, "no further answer") }
        let status = Self.statuses[Int(answer.first ?? 0) & 7]
        lock.withLock {
            if request.method == "POST", status == 200 { isAccepted = true }
            if request.method == "GET", status == 200 { isAnswered = true }
        }
        let body = Array(answer.dropFirst())
        if !body.isEmpty { try receive(body.span.bytes) }
        return TransportResponse(status: status, headers: (answer.first ?? 0) & 8 == 0 ? [] : [session])
    }
}

/// The client of all inputs; its data is removed before each.
private final class FuzzedClient: @unchecked Sendable {
    let transport = AnsweringTransport()
    private let client: RhoConnectClient
    private let item = RhomModel("Item", associations: ["owner": "Fixed"])
    private let fixed = RhomModel("Fixed", modelType: .fixedSchema(RhomSchema(version: "1", "a", "b")))

    init() throws {
        let folder = ProcessInfo.processInfo.environment["SERVER_FUZZ_FOLDER"] ?? NSTemporaryDirectory() + "rhoconnect-fuzz-\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let database = try RhoConnectClient.initDatabase(ConnectionProfile(path: folder + "/client-\(getpid()).db", synchronous: .off))
        client = RhoConnectClient(database, transport: transport)
        try client.addModels([item, fixed])
        try client.setSyncServer("http://h/")
    }

    func run(_ input: [UInt8]) throws {
        try client.databaseFullClientResetAndLogout()
        transport.begin([])
        guard client.login(user: "u", password: "p").errorCode == .none else { fatalError("the login failed") }
        let new = try prepare()
        transport.begin(input)
        let result = client.syncAll()
        switch result.status {
        case .complete, .schemaChanged: break
        // The message is the server's text, which may be empty.
        case .error where result.errorCode != .none: break
        default: fatalError("a synchronization ended with \(result)")
        }
        if !transport.isAccepted && !transport.isAnswered { try checkChanges(new) }
        for model in [item, fixed] { try check(model) }
        _ = client.search([item, fixed], parameters: "search[a]=b")
        for model in [item, fixed] { try check(model) }
        if result.hasCreateErrors { try client.onCreateError(result, action: .recreate) }
        if result.hasUpdateErrors { try client.onUpdateError(result, action: .rollback) }
        if result.hasDeleteErrors { try client.onDeleteError(result, action: .retry) }
        for model in [item, fixed] { try check(model) }
    }

    /// Loads three objects, then makes a new one, changes one and removes one.
    private func prepare() throws -> String {
        let page = #"0[{"version":3},{"token":"1"},{"count":3},{"insert":{"1":{"a":"x","b":"y"},"2":{"a":"x"},"3":{"a":"z"}}}]"#
        let end = #"0[{"version":3},{"token":""},{"count":0},{}]"#
        let text = [page, end, end].map { Array($0.utf8) }.joined(separator: [0xFE])
        transport.begin(Array(text))
        // Fixed comes first: the bag refers to it.
        _ = client.syncAll()
        guard try fixed.count() == 3 || item.count() == 3 else { fatalError("the objects are not there") }
        let model = try fixed.count() == 3 ? fixed : item
        try model.save(["object": "1", "a": "changed"])
        try model.destroy(["object": "2"])
        return try item.create(["a": "new", "owner": "1"])
    }

    private func checkChanges(_ new: String) throws {
        guard try item.find(new)?["a"] == "new" else { fatalError("the new object is lost") }
        let model = try fixed.find("1") != nil ? fixed : item
        guard try model.find("1")?["a"] == "changed", try model.find("2") == nil, try model.isChanged() else { fatalError("a change is lost") }
    }

    private func check(_ model: RhomModel) throws {
        let objects = try model.findAll()
        guard try model.count() == objects.count else { fatalError("count and objects differ") }
        for object in objects.prefix(20) {
            guard let id = object["object"], try model.find(id) == object else { fatalError("an object is not found by its id") }
            let attributes = object.filter { $0.key != "object" && $0.key != "source_id" }
            guard !attributes.isEmpty else { fatalError("an object without attributes") }
            if attributes.keys.contains(where: { ["update_type", "attrib_type", "set_notification", "clear_notification"].contains($0) }) {
                fatalError("a reserved attribute")
            }
            for (name, value) in attributes.prefix(5) {
                guard try model.findAll([name: value]).contains(where: { $0["object"] == id }) else {
                    fatalError("a condition does not find an object")
                }
            }
        }
    }
}

private let fuzzed = Result { try FuzzedClient() }

/// Runs one input; libFuzzer calls it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do { try fuzzed.get().run(Array(UnsafeBufferPointer(start: start, count: count))) } catch { fatalError("the client failed: \(error)") }
    return 0
}
