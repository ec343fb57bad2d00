internal import Foundation
internal import MobileExecution
internal import MobileStore

/// The log of one client: its settings, the captured lines, and their way to the server. Worklight 5.0.6: the class methods of `OCLogger`.
///
/// Captured lines are rows of the client's store, each committed on its own: a program that ends in the middle loses none of them.
public final class OCLogCenter: Sendable {
    /// The smallest value of ``maxFileSize``, in bytes.
    public static let minimumFileSize = 10_000
    /// The first value of ``maxFileSize``, in bytes.
    public static let initialFileSize = 100_000

    private let engine: WLEngine
    /// A logger keeps its client's log, and not the other way round: both would stay forever.
    private struct WeakLogger {
        weak var logger: OCLogger?
    }
    private struct State {
        var level = OCLogType.debug
        var isCapturing = true
        var maxFileSize = initialFileSize
        var loggers: [String: WeakLogger] = [:]
        /// The bytes of lines that wait; nil: not counted yet.
        var size: Int?
        var isSending = false
        var printer: (@Sendable (String) -> Void)?
    }
    private let state = SystemLock(State())
    /// Held while lines are written, so that the size is right.
    private let writing = SystemLock(())

    /// The parts of the log: lines that are added, and lines that are being sent.
    private enum Part: Int64 {
        case current = 0
        case sent = 1
    }

    init(_ engine: WLEngine) { self.engine = engine }

    // MARK: Settings

    /// The least severe level that is printed and captured; default DEBUG. Worklight 5.0.6: `setLevel:`, `getLevel`.
    public var level: OCLogType {
        get { state.withLock { $0.level } }
        set { state.withLock { $0.level = newValue } }
    }

    /// Whether lines are kept on the device; default true. Worklight 5.0.6: `setCapture:`, `getCapture`.
    public var capture: Bool {
        get { state.withLock { $0.isCapturing } }
        set { state.withLock { $0.isCapturing = newValue } }
    }

    /// The bytes of lines after which nothing more is kept until the log was sent; default 100,000. Less than 10,000 is refused: the value stays, and
    /// the client's log gets a line. Worklight 5.0.6: `setMaxFileSize:`, `getMaxFileSize`.
    public var maxFileSize: Int {
        get { state.withLock { $0.maxFileSize } }
        set {
            guard newValue >= Self.minimumFileSize else {
                return engine.configuration.log("a log of \(newValue) bytes at most is refused: at least \(Self.minimumFileSize) are needed")
            }
            state.withLock { $0.maxFileSize = newValue }
        }
    }

    /// Receives each line as text; nil (default) for the standard error.
    public var printer: (@Sendable (String) -> Void)? {
        get { state.withLock { $0.printer } }
        set { state.withLock { $0.printer = newValue } }
    }

    /// Gets or creates the logger of a package; a blank name counts as `NONE`. Worklight 5.0.6: `getInstanceWithPackage:`.
    public func logger(package: String) -> OCLogger {
        let name = package.allSatisfy(\.isWhitespace) ? "NONE" : package
        return state.withLock { state in
            if let logger = state.loggers[name]?.logger { return logger }
            let logger = OCLogger(name, self)
            state.loggers = state.loggers.filter { $0.value.logger != nil }
            state.loggers[name] = WeakLogger(logger: logger)
            return logger
        }
    }

    // MARK: Lines

    func add(_ level: OCLogType, _ package: String, _ message: String, _ metadata: JSONObject) {
        let (allowed, isCapturing, printer) = state.withLock { ($0.level, $0.isCapturing, $0.printer) }
        guard level <= allowed else { return }
        let line = "[\(level.name)] [\(package)] \(message)\(metadata.isEmpty ? "" : " \(JSONValue.object(metadata))")"
        if let printer { printer(line) } else { FileHandle.standardError.write(Data((line + "\n").utf8)) }
        guard isCapturing, let store = engine.store else { return }
        let entry: JSONValue = [
            "timestamp": .string(Self.timestamp(engine.configuration.clock())), "level": .string(level.name), "pkg": .string(package),
            "msg": .string(message), "metadata": .object(metadata),
        ]
        engine.keep(or: ()) { try writing.withLock { _ in try capture(entry.description, store) } }
    }

    /// Appends an entry, unless the log is full.
    private func capture(_ entry: String, _ store: ClientStore) throws {
        let maximum = maxFileSize
        if try size(store) >= maximum {
            guard engine.configuration.rotatesFullLog, !state.withLock({ $0.isSending }) else { return }
            try store.database.write(label: "full log") { connection in
                try connection.execute("DELETE FROM wl_log WHERE part = ?", [.integer(Part.sent.rawValue)])
                try connection.execute("UPDATE wl_log SET part = ?", [.integer(Part.sent.rawValue)])
            }
            state.withLock { $0.size = 0 }
        }
        try store.database.write(label: "log line") {
            try $0.execute("INSERT INTO wl_log (part, entry) VALUES (?, ?)", [.integer(Part.current.rawValue), .text(entry)])
        }
        state.withLock { $0.size = ($0.size ?? 0) + entry.utf8.count + 1 }
    }

    /// The bytes of the current lines, each with its comma.
    private func size(_ store: ClientStore) throws -> Int {
        if let size = state.withLock({ $0.size }) { return size }
        let size = try store.database.read {
            Int(
                try $0.number(
                    "SELECT coalesce(sum(length(CAST(entry AS BLOB)) + 1), 0) FROM wl_log WHERE part = ?", [.integer(Part.current.rawValue)]))
        }
        state.withLock { $0.size = size }
        return size
    }

    /// The captured lines that wait for `send()`, as JSON text, the oldest first.
    /// - Throws: `StoreError`.
    public func captured() throws -> [String] {
        try engine.store?.database.read { try $0.texts("SELECT entry FROM wl_log ORDER BY id") } ?? []
    }

    /// Returns a time in GMT, such as `17-02-2013 13:54:27:123`.
    static func timestamp(_ seconds: Double) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "dd-MM-yyyy HH:mm:ss:SSS"
        return formatter.string(from: Date(timeIntervalSince1970: seconds))
    }

    // MARK: Sending

    /// Sends the captured lines to the server, if there are any; while a sending is in progress, nothing happens. Lines stay until the server has
    /// confirmed them. Worklight 5.0.6: `send`.
    public func send() { start { _ in } }

    /// Sends the captured lines to the server.
    /// - Returns: the number of lines that the server confirmed; 0 if there are none, or while another sending is in progress.
    /// - Throws: ``WLFailResponse``: the server did not confirm; the lines stay for the next sending.
    @discardableResult
    public func send() async throws -> Int {
        let promise = Promise<Int, WLFailResponse>()
        start { promise.resolve($0) }
        return try await promise.value
    }

    private func start(_ completion: @escaping @Sendable (Result<Int, WLFailResponse>) -> Void) {
        let isFirst = state.withLock { state in
            defer { state.isSending = true }
            return !state.isSending
        }
        guard isFirst else { return completion(.success(0)) }
        let engine = engine
        engine.threads.start {
            let lines = engine.keep(or: []) { try self.takeLines() }
            guard !lines.isEmpty, let body = engine.keep(or: nil, { try Self.upload(of: lines.map(\.entry)) }) else {
                self.state.withLock { $0.isSending = false }
                return completion(.success(0))
            }
            let request = WLRequest(
                .plain, to: RequestAddress(engine.configuration.servicesURL + "loguploader"), headers: self.headers, body: body,
                timeout: engine.configuration.defaultTimeout
            ) { completion(self.end(lines, $0)) }
            engine.mailbox.later { engine.send(request) }
        }
    }

    /// Moves the current lines to the part that is sent, unless an earlier sending failed: then its lines come first.
    private func takeLines() throws -> [(id: Int64, entry: String)] {
        guard let store = engine.store else { return [] }
        return try writing.withLock { _ in
            let rows = try store.database.write(label: "log to send") { connection in
                let sent = try connection.number("SELECT count(*) FROM wl_log WHERE part = ?", [.integer(Part.sent.rawValue)])
                if sent == 0 { try connection.execute("UPDATE wl_log SET part = ?", [.integer(Part.sent.rawValue)]) }
                return try connection.rows("SELECT id, entry FROM wl_log WHERE part = ? ORDER BY id", [.integer(Part.sent.rawValue)])
            }
            state.withLock { $0.size = nil }
            return rows.compactMap { row in row[0].integer.flatMap { id in row[1].text.map { (id, $0) } } }
        }
    }

    private static func upload(of entries: [String]) throws -> [UInt8] {
        var cacheBuster = CacheBuster()
        let body: JSONValue = [
            "__logdata": .string(entries.map { $0 + "," }.joined()), "isAjaxRequest": "true", "x": .string(cacheBuster.next()),
        ]
        return try Gzip.compress(body.bytes)
    }

    private var headers: [(name: String, value: String)] {
        let configuration = engine.configuration
        let description = [
            ("deviceId", engine.deviceID), ("appname", configuration.applicationID), ("appversion", configuration.applicationVersion),
            ("osversion", configuration.device.os), ("env", configuration.environment), ("model", configuration.device.model),
        ]
        return [("Content-Type", "application/json"), ("Content-Encoding", "gzip"), ("x-wl-compressed", "true")]
            + description.map { ("x-wl-clientlog-\($0.0)", $0.1) }
    }

    private func end(_ lines: [(id: Int64, entry: String)], _ outcome: WLRequest.Outcome) -> Result<Int, WLFailResponse> {
        defer { state.withLock { $0.isSending = false } }
        switch outcome {
        case .failure(let failure): return .failure(failure)
        case .success(let response) where [200, 201, 204].contains(response.httpStatus):
            engine.keep(or: ()) {
                try engine.store?.database.write(label: "sent log") {
                    try $0.execute("DELETE FROM wl_log WHERE part = ?", [.integer(Part.sent.rawValue)])
                }
            }
            return .success(lines.count)
        case .success(let response): return .failure(WLFailResponse(of: response))
        }
    }
}
