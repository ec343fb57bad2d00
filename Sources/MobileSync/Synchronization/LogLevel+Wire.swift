internal import MobileObjects
internal import MobileProtocol

extension LogLevel {
    /// The level in the form of the protocol.
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
        // Each level of the protocol is one of these.
        self = LogLevel.allCases.first { $0.onWire == level } ?? .error
    }
}
