public import MobileStore

/// The severity of a log line. Worklight 5.0.6: `OCLogType`; the numbers are those of later versions of the SDK. A smaller number is more severe.
public enum OCLogType: Int, Sendable, CaseIterable, Comparable {
    /// `OCLogger_ERROR`.
    case error = 100
    /// `OCLogger_WARN`.
    case warn = 200
    /// `OCLogger_INFO`.
    case info = 300
    /// `OCLogger_LOG`.
    case log = 400
    /// `OCLogger_DEBUG`.
    case debug = 500

    /// The name in log lines, such as `ERROR`.
    public var name: String {
        switch self {
        case .error: "ERROR"
        case .warn: "WARN"
        case .info: "INFO"
        case .log: "LOG"
        case .debug: "DEBUG"
        }
    }

    /// Orders by number: the more severe level comes first.
    public static func < (left: OCLogType, right: OCLogType) -> Bool { left.rawValue < right.rawValue }
}

/// Writes log lines of one package. Settings are global to a client: ``OCLogCenter``. Worklight 5.0.6: class `OCLogger`.
///
///     let logger = client.logs.logger(package: "accounts")
///     logger.warn("balance is negative", metadata: ["account": "123-456-789"])
public final class OCLogger: Sendable {
    /// The name in each line.
    public let package: String
    private let center: OCLogCenter

    init(_ package: String, _ center: OCLogCenter) {
        self.package = package
        self.center = center
    }

    /// Gets or creates the logger of a package of the shared client. Worklight 5.0.6: `getInstanceWithPackage:`.
    public static func getInstance(package: String) -> OCLogger { WLClient.shared.logs.logger(package: package) }

    /// Logs at level DEBUG. Worklight 5.0.6: `debug:`, `metadata:debug:`.
    public func debug(_ message: String, metadata: JSONObject = [:]) { center.add(.debug, package, message, metadata) }

    /// Logs at level LOG. Worklight 5.0.6: `log:`, `metadata:log:`.
    public func log(_ message: String, metadata: JSONObject = [:]) { center.add(.log, package, message, metadata) }

    /// Logs at level INFO. Worklight 5.0.6: `info:`, `metadata:info:`.
    public func info(_ message: String, metadata: JSONObject = [:]) { center.add(.info, package, message, metadata) }

    /// Logs at level WARN. Worklight 5.0.6: `warn:`, `metadata:warn:`.
    public func warn(_ message: String, metadata: JSONObject = [:]) { center.add(.warn, package, message, metadata) }

    /// Logs at level ERROR. Worklight 5.0.6: `error:`, `metadata:error:`.
    public func error(_ message: String, metadata: JSONObject = [:]) { center.add(.error, package, message, metadata) }
}
