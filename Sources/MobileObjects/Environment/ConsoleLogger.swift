import Foundation
import Synchronization

/// The level of detail that a ``ConsoleLogger`` writes, in ascending order. It differs from ``LogLevel``, which ranges from trace to
/// off by the severity of a record. SMP 2.3: the levels of `MBOLogger`, `LOG_OFF` to `LOG_DEBUG`.
public enum ConsoleLogLevel: Int, Sendable, Hashable, CaseIterable, Comparable {
    /// No messages at all: for production.
    case off = 0
    case fatal, error, warn, info, debug

    public static func < (left: ConsoleLogLevel, right: ConsoleLogLevel) -> Bool { left.rawValue < right.rawValue }

    /// The documented name, `LOG_OFF` to `LOG_DEBUG`.
    public var name: String { "LOG_" + String(describing: self).uppercased() }
}

/// Writes messages for developers to the console, or to any other sink. Messages of more detail than ``level`` are dropped without
/// being made: an expression in a call is evaluated only for a message that is written.
///
///     console.level = .warn
///     console.info("found \(try list.count) customers")      // dropped, nobody counts
///     console.error("no such customer")                      // ERROR: no such customer
///
/// Any thread may use it and change its level while others write. SMP 2.3: `MBOLogger` and the macros `MBOLogError`, `MBOLogWarn`,
/// `MBOLogInfo`, `MBOLogDebug`; `MBOLog` is ``callAsFunction(_:)``.
public final class ConsoleLogger: Sendable {
    private let threshold: Atomic<Int>
    private let sink: @Sendable (String) -> Void

    /// - Parameters:
    ///   - level: the level of the most detailed messages that are written; default ``ConsoleLogLevel/info``.
    ///   - sink: takes one message at a time, without a line break at its end, on the thread that wrote it; default: the standard error.
    public init(level: ConsoleLogLevel = .info, sink: @escaping @Sendable (String) -> Void = { ConsoleLogger.writeToStandardError($0) }) {
        threshold = Atomic(level.rawValue)
        self.sink = sink
    }

    /// The level of the most detailed messages that are written. A change takes effect at once. SMP 2.3: `setLogLevel:`.
    public var level: ConsoleLogLevel {
        get { ConsoleLogLevel(rawValue: threshold.load(ordering: .relaxed)) ?? .off }
        set { threshold.store(newValue.rawValue, ordering: .relaxed) }
    }

    /// Writes a message of this level; never writes one of level ``ConsoleLogLevel/off``.
    public func log(_ level: ConsoleLogLevel, _ message: @autoclosure () -> String) {
        guard level != .off, level.rawValue <= threshold.load(ordering: .relaxed) else { return }
        sink(String(describing: level).uppercased() + ": " + message())
    }

    /// Reports a failure from which the application does not recover.
    public func fatal(_ message: @autoclosure () -> String) { log(.fatal, message()) }
    /// Reports a failure. SMP 2.3: `MBOLogError`.
    public func error(_ message: @autoclosure () -> String) { log(.error, message()) }
    /// Reports a possible failure. SMP 2.3: `MBOLogWarn`.
    public func warn(_ message: @autoclosure () -> String) { log(.warn, message()) }
    /// Reports an action of the application. SMP 2.3: `MBOLogInfo`.
    public func info(_ message: @autoclosure () -> String) { log(.info, message()) }
    /// Reports the details of an action. SMP 2.3: `MBOLogDebug`.
    public func debug(_ message: @autoclosure () -> String) { log(.debug, message()) }
    /// Does the same as ``info(_:)``. SMP 2.3: `MBOLog`.
    public func callAsFunction(_ message: @autoclosure () -> String) { log(.info, message()) }

    /// Writes the output of a separate switch, such as the trace of statements, at any level except off.
    package func trace(_ kind: String, _ text: @autoclosure () -> String) {
        guard level != .off else { return }
        sink(kind + ": " + text())
    }

    /// Writes a line to the standard error: the default sink.
    public static func writeToStandardError(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
}
