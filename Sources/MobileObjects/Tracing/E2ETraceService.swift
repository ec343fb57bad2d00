public import Foundation
internal import MobileExecution

/// The amount of detail that a traced request makes the servers on its way record. SMP 2.3: `SUPE2ETraceLevel`.
public enum E2ETraceLevel: Int, Sendable, Hashable, CaseIterable {
    /// Not supported: ``E2ETraceService/setTraceLevel(_:)`` refuses it.
    case none = 0
    /// Response times and their distribution.
    case low = 1
    /// Performance, with traces of the server's work.
    case medium = 2
    /// Everything, function by function.
    case high = 3
}

/// Traces the requests of an application from the client through the server to the back end. Between start and stop every request carries
/// its own ``E2EPassport``, and is recorded with its answer and its figures. The stop returns all records as one XML document.
///
///     try application.traceService.setTraceLevel(.medium)
///     try application.traceService.startTrace()
///     try await crm.synchronize()
///     let transaction = try application.traceService.stopTrace()        // keep it: the service forgets it
///     try await application.traceService.uploadTrace(transaction)       // of MobileSync
///
/// Any thread may use it. SMP 2.3: `SUPE2ETraceService`, `SUPE2ETraceServiceImpl`.
public final class E2ETraceService: Sendable {
    private struct State {
        var level = E2ETraceLevel.low
        var transaction: BusinessTransaction?
        var uploader: Uploader?
    }

    private let state = SystemLock(State())
    private let environment: Environment

    /// - Parameter environment: the source of time and chance.
    public init(environment: Environment = Environment()) { self.environment = environment }

    /// The level of the next passports; default ``E2ETraceLevel/low``.
    public var traceLevel: E2ETraceLevel { state.withLock { $0.level } }

    /// Sets the level, also while a trace runs. It applies from the next request on. SMP 2.3: `setTraceLevel:`.
    /// - Throws: ``ObjectError/Code/misuse`` for ``E2ETraceLevel/none``; the level then stays.
    public func setTraceLevel(_ level: E2ETraceLevel) throws {
        guard level != .none else {
            throw ObjectError(.misuse, "trace level none: it is not supported; use low, medium or high, or stop the trace")
        }
        state.withLock { $0.level = level }
    }

    /// Whether a trace runs.
    public var isStarted: Bool { state.withLock { $0.transaction != nil } }

    /// Opens a business transaction. SMP 2.3: `startTrace`.
    /// - Parameter name: the name of the transaction.
    /// - Throws: ``ObjectError/Code/misuse`` while a trace runs. That one continues.
    public func startTrace(_ name: String = "MobileObjects") throws {
        let id = identifier(), started = environment.now()
        try state.withLock { state in
            guard state.transaction == nil else { throw ObjectError(.misuse, "start of a trace: one is running; stop it first") }
            state.transaction = BusinessTransaction(id: id, name: name, started: started)
        }
    }

    /// Ends the business transaction, returns it as an XML document in UTF-8, and discards it. Requests without an answer are included as they
    /// are. SMP 2.3: `stopTrace`.
    /// - Throws: ``ObjectError/Code/misuse`` when no trace runs.
    public func stopTrace() throws -> [UInt8] {
        let ended = environment.now()
        let (transaction, level) = state.withLock { state in
            defer { state.transaction = nil }
            return (state.transaction, state.level)
        }
        guard let transaction else { throw ObjectError(.misuse, "stop of a trace: none is running; start one first") }
        return Array(transaction.xml(level: level, ended: ended).utf8)
    }

    // MARK: Upload

    /// Sends a document, and throws the failure. Before it sends, it passes what ends the request to `whenBegun`.
    package typealias Uploader =
        @Sendable (_ document: [UInt8], _ whenBegun: (_ end: @escaping @Sendable () -> Void) -> Void) throws -> Void

    /// The upload of documents; nil where no application uses the service. With several applications, the one that was made last counts.
    package var uploader: Uploader? {
        get { state.withLock { $0.uploader } }
        set { state.withLock { $0.uploader = newValue } }
    }

    // MARK: Requests

    /// Records a request that is about to be sent. Returns its record with a new passport, or nil while no trace runs. For senders of requests.
    /// - Parameters:
    ///   - request: the first line of the request, such as `POST /synchronize`.
    ///   - component: the sender.
    ///   - sentBytes: the length of the body in bytes, as far as known.
    public func begin(request: String, component: String, sentBytes: Int64 = 0) -> E2ETraceMessage? {
        guard isStarted else { return nil }
        let connection = identifier(), now = environment.now()
        return state.withLock { state in
            guard let id = state.transaction?.id else { return nil }
            state.transaction?.requests += 1
            let passport = E2EPassport(
                level: state.level, rootContextID: id, connectionID: connection, counter: UInt32(state.transaction?.requests ?? 0),
                component: component, action: request)
            let message = E2ETraceMessage(passport: passport, request: request, sent: now, sentBytes: sentBytes)
            state.transaction?.messages.append(message)
            return message
        }
    }

    /// Completes the record of a request after its answer or failure. No effect when its trace has been stopped.
    public func end(_ message: E2ETraceMessage?, status: Int?, sentBytes: Int64? = nil, receivedBytes: Int64 = 0, failure: String? = nil) {
        guard var message else { return }
        message.received = environment.now()
        message.status = status
        message.receivedBytes = receivedBytes
        message.sentBytes = sentBytes ?? message.sentBytes
        message.failure = failure
        state.withLock { state in
            guard let index = state.transaction?.messages.firstIndex(where: { $0.passport == message.passport }) else { return }
            state.transaction?.messages[index] = message
        }
    }

    /// Returns 16 random bytes.
    private func identifier() -> [UInt8] {
        [environment.random(), environment.random()].flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * (7 - $0))) } }
    }
}

/// The record of one traced request. SMP 2.3: `SUPE2ETraceMessage`.
public struct E2ETraceMessage: Sendable, Hashable {
    /// The passport of the request.
    public let passport: E2EPassport
    /// The first line of the request.
    public let request: String
    /// The time of sending.
    public let sent: Date
    /// The length of the request's body in bytes.
    public internal(set) var sentBytes: Int64
    /// The time when the answer was complete; nil until then.
    public internal(set) var received: Date?
    /// The answer's HTTP status; nil without an answer.
    public internal(set) var status: Int?
    /// The length of the answer's body in bytes.
    public internal(set) var receivedBytes: Int64 = 0
    /// The reason of the failure; nil for an answer.
    public internal(set) var failure: String?

    init(passport: E2EPassport, request: String, sent: Date, sentBytes: Int64) {
        (self.passport, self.request, self.sent, self.sentBytes) = (passport, request, sent, sentBytes)
    }
}

/// The records between the start and the stop of a trace.
private struct BusinessTransaction {
    let id: [UInt8]
    let name: String
    let started: Date
    var requests = 0
    var messages: [E2ETraceMessage] = []

    /// Returns one element per request, in the order of sending, without the attributes whose values are not known.
    func xml(level: E2ETraceLevel, ended: Date) -> String {
        var xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        xml += Self.element(
            "BusinessTransaction",
            [
                ("id", E2EPassport.hexadecimal(id)), ("name", name), ("started", ISO8601Text.text(started)), ("ended", ISO8601Text.text(ended)),
                ("traceLevel", String(level.rawValue)),
            ], isEmpty: false)
        for message in messages {
            xml += "  "
            xml += Self.element(
                "Message",
                [
                    ("number", String(message.passport.counter)), ("id", message.passport.requestID),
                    ("traceLevel", String(message.passport.level.rawValue)),
                    ("component", message.passport.component), ("request", message.request), ("sent", ISO8601Text.text(message.sent)),
                    ("received", message.received.map { ISO8601Text.text($0) }),
                    ("duration", message.received.map { milliseconds(message.sent, $0) }),
                    ("sentBytes", String(message.sentBytes)), ("receivedBytes", String(message.receivedBytes)),
                    ("status", message.status.map(String.init)), ("failure", message.failure), ("passport", message.passport.headerValue),
                ], isEmpty: true)
        }
        return xml + "</BusinessTransaction>\n"
    }

    private func milliseconds(_ begin: Date, _ end: Date) -> String { String(Int((end.timeIntervalSince(begin) * 1000).rounded())) }

    private static func element(_ name: String, _ attributes: [(name: String, value: String?)], isEmpty: Bool) -> String {
        let list = attributes.compactMap { attribute in attribute.value.map { "\(attribute.name)=\"\(escaped($0))\"" } }
        return "<\(name) \(list.joined(separator: " "))\(isEmpty ? "/" : "")>\n"
    }

    /// Returns text that is valid in an attribute. A character that XML cannot hold becomes a question mark.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\t", "\n", "\r": result += "&#\(scalar.value);"
            case "\u{0}"..<" ", "\u{FFFE}", "\u{FFFF}": result += "?"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
