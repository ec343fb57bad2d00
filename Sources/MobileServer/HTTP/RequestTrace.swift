internal import MobileExecution

/// The requests that leave a line in the server's log: none, those of some devices, or all. It can be changed while the server runs. Switch it off
/// again soon, because a busy server writes many lines. A request with a passport of an end-to-end trace always leaves its line, because its user
/// requested the trace. SMP 2.3: the server's log level DEBUG, and the trace level of an application connection.
public final class RequestTrace: Sendable {
    private struct State {
        var tracesAll: Bool
        var devices: Set<String>
    }
    private let state: SystemLock<State>

    /// - Parameters:
    ///   - all: whether every request is traced. Default false.
    ///   - devices: ids of devices whose requests are traced. Default none.
    public init(all: Bool = false, devices: Set<String> = []) { state = SystemLock(State(tracesAll: all, devices: devices)) }

    /// Whether every request is traced.
    public var tracesAll: Bool {
        get { state.withLock { $0.tracesAll } }
        set { state.withLock { $0.tracesAll = newValue } }
    }

    /// The ids of devices whose requests are traced.
    public var devices: Set<String> {
        get { state.withLock { $0.devices } }
        set { state.withLock { $0.devices = newValue } }
    }

    /// Whether requests of any device are traced.
    var isOn: Bool { state.withLock { $0.tracesAll || !$0.devices.isEmpty } }

    func traces(_ device: String) -> Bool { state.withLock { $0.tracesAll || $0.devices.contains(device) } }
}

/// The ids of a request that is traced from end to end, from its header field `SAP-PASSPORT`.
struct PassportIDs: Equatable {
    /// The business transaction, as 32 hexadecimal digits.
    let transaction: String
    /// The request, as 32 hexadecimal digits.
    let request: String

    /// Reads the ids from a header field; nil for anything but a passport of version 3: 230 bytes as hexadecimal digits, between the marks `*TH*`.
    init?(_ field: String?) {
        guard let digits = field?.uppercased(), digits.utf8.count == 460, digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "F") ~= $0 }),
            digits.hasPrefix("2A54482A03"), digits.hasSuffix("2A54482A"), digits.allSatisfy(\.isHexDigit)
        else { return nil }
        let bytes = Array(digits.utf8)
        transaction = String(decoding: bytes[372..<404], as: UTF8.self)
        request = String(decoding: bytes[404..<436], as: UTF8.self)
    }
}

/// One line about one request.
struct RequestLine {
    var device = ""
    var user = ""
    var application = ""
    var client = ""
    /// The requested actions with their outcomes, such as `suspend of CRM:1.0: done`.
    var events: [String] = []
    let passport: PassportIDs?

    init(_ request: ServerRequest) { passport = PassportIDs(request.headers["sap-passport"]) }

    /// Takes device, user and application from a session.
    mutating func take(_ session: Accounts.Session) {
        (device, user, application) = (session.device, session.user, session.application)
    }

    /// Returns the line. Names are cut, but not escaped.
    func text(_ request: ServerRequest, status: Int, milliseconds: Int64) -> String {
        let (device, user) = (device.isEmpty ? "?" : LogSanitizer.name(device), user.isEmpty ? "?" : LogSanitizer.name(user))
        var text = "trace: \(request.method) \(LogSanitizer.name(request.path)) of device \(device), user \(user): "
        text += (events + ["status \(status)", "\(milliseconds) ms"]).joined(separator: ", ")
        if let passport { text += ", transaction \(passport.transaction), request \(passport.request)" }
        return text
    }

    /// Returns the line as an entry of the server's log.
    func entry(_ request: ServerRequest, status: Int, milliseconds: Int64) -> LogEntry {
        let fields: [(name: String, value: LogEntry.Value)] = [
            ("method", .text(request.method)), ("path", .text(request.path)), ("status", .number(Int64(status))),
            ("milliseconds", .number(milliseconds)), ("application", .text(application)), ("device", .text(device)), ("user", .text(user)),
            ("client", .text(client)), ("passport", .text(passport?.transaction ?? "")),
        ]
        let level: LogEntry.Level = status >= 500 ? (status == 503 ? .warning : .error) : .info
        return LogEntry(
            level, text(request, status: status, milliseconds: milliseconds), brief: events.isEmpty ? "request" : events.joined(separator: ", "),
            fields: fields)
    }
}
