internal import MobileObjects
internal import MobileProtocol

extension LogLevel {
    /// The level on the wire.
    var onWire: LogRecordEntry.Level {
        switch self {
        case .trace: .trace
        case .debug: .debug
        case .info: .info
        case .warn: .warn
        case .error: .error
        case .fatal: .fatal
        case .off: .off
        }
    }

    init(_ level: LogRecordEntry.Level) {
        // Each level of the wire is one of these.
        self = LogLevel.allCases.first { $0.onWire == level } ?? .error
    }
}
