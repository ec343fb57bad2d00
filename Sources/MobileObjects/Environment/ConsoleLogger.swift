import Foundation
import Synchronization

/// How much of what is told a ``ConsoleLogger`` writes, in ascending order of detail. Other than ``LogLevel``, which goes from trace to
/// off by severity of a record. SMP 2.3: the levels of `MBOLogger`, `LOG_OFF` to `LOG_DEBUG`.
public enum ConsoleLogLevel: Int, Sendable, Hashable, CaseIterable, Comparable {
    /// Nothing at all: for production.
    case off = 0
    case fatal, error, warn, info, debug

    public static func < (left: ConsoleLogLevel, right: ConsoleLogLevel) -> Bool { left.rawValue < right.rawValue }

    /// `LOG_OFF` to `LOG_DEBUG`, the documented names.
    public var name: String { "LOG_" + String(describing: self).uppercased() }
}

/// Writes messages for developers to the console, or wherever its sink leads. Messages of more detail than ``level`` are dropped, and
/// not even made: an expression in a call is evaluated only for a message that is written.
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
    ///   - level: the most detailed messages that are written; default ``ConsoleLogLevel/info``.
    ///   - sink: takes one message at a time, without a line break at its end, on the thread that wrote it; default the standard error.
    public init(level: ConsoleLogLevel = .info, sink: @escaping @Sendable (String) -> Void = { ConsoleLogger.writeToStandardError($0) }) {
        threshold = Atomic(level.rawValue)
        self.sink = sink
    }

    /// The most detailed messages that are written; takes effect at once. SMP 2.3: `setLogLevel:`.
    public var level: ConsoleLogLevel {
        get { ConsoleLogLevel(rawValue: threshold.load(ordering: .relaxed)) ?? .off }
        set { threshold.store(newValue.rawValue, ordering: .relaxed) }
    }

    /// Writes a message of this level; one of level ``ConsoleLogLevel/off`` is never written.
    public func log(_ level: ConsoleLogLevel, _ message: @autoclosure () -> String) {
        guard level != .off, level.rawValue <= threshold.load(ordering: .relaxed) else { return }
        sink(String(describing: level).uppercased() + ": " + message())
    }

    /// Something from which the application does not recover.
    public func fatal(_ message: @autoclosure () -> String) { log(.fatal, message()) }
    /// Something went wrong. SMP 2.3: `MBOLogError`.
    public func error(_ message: @autoclosure () -> String) { log(.error, message()) }
    /// Something may go wrong. SMP 2.3: `MBOLogWarn`.
    public func warn(_ message: @autoclosure () -> String) { log(.warn, message()) }
    /// What the application does. SMP 2.3: `MBOLogInfo`.
    public func info(_ message: @autoclosure () -> String) { log(.info, message()) }
    /// How it does that. SMP 2.3: `MBOLogDebug`.
    public func debug(_ message: @autoclosure () -> String) { log(.debug, message()) }
    /// The same as ``info(_:)``. SMP 2.3: `MBOLog`.
    public func callAsFunction(_ message: @autoclosure () -> String) { log(.info, message()) }

    /// What somebody asked for by a switch of its own, such as the trace of statements: written at any level but off.
    package func trace(_ kind: String, _ text: @autoclosure () -> String) {
        guard level != .off else { return }
        sink(kind + ": " + text())
    }

    /// The default sink.
    public static func writeToStandardError(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
}
