internal import MobileExecution

/// Writes records of several levels into the log of a package, from where they can be submitted to the server. Records below ``level`` are
/// not written, and their messages not made. SMP 2.3: `SUPLogger`, from `getLogger` of the database class.
///
///     crm.logger.level = .debug
///     try crm.logger.debug("visited \(customer.name)")
///     try crm.logger.submitLogRecords()
public struct PackageLogger: Sendable {
    private let database: PackageDatabase

    init(_ database: PackageDatabase) { self.database = database }

    /// The least severe records that are written; default ``LogLevel/info``, ``LogLevel/off`` for none. All loggers of a database object
    /// share it; it is not stored. SMP 2.3: `setLogLevel:`, `getLogLevel`.
    public var level: LogLevel {
        get { database.loggerLevel.value.withLock { $0 } }
        nonmutating set { database.loggerLevel.value.withLock { $0 = newValue } }
    }

    /// Writes a record of this level about the package.
    /// - Returns: the record as written; nil when the level excludes it. Records of the level ``LogLevel/off`` are always excluded.
    /// - Throws: ``ObjectError/Code/store``, as all of these.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    @discardableResult
    public func log(_ level: LogLevel, _ message: @autoclosure () -> String) throws -> LogRecord? {
        guard level != .off, level >= self.level else { return nil }
        var record = database.newLogRecord(level: level, message: message())
        try record.save()
        return record
    }

    /// The same without blocking a cooperative thread.
    @discardableResult
    public func log(_ level: LogLevel, _ message: @autoclosure () -> String) async throws -> LogRecord? {
        guard level != .off, level >= self.level else { return nil }
        var record = database.newLogRecord(level: level, message: message())
        try await record.save()
        return record
    }

    /// Writes a record of the level ``LogLevel/trace``; nil where the logger's level excludes it.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    @discardableResult
    public func trace(_ message: @autoclosure () -> String) throws -> LogRecord? { try log(.trace, message()) }
    /// The same without blocking a cooperative thread.
    @discardableResult
    public func trace(_ message: @autoclosure () -> String) async throws -> LogRecord? { try await log(.trace, message()) }
    /// Does the same for ``LogLevel/debug``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    @discardableResult
    public func debug(_ message: @autoclosure () -> String) throws -> LogRecord? { try log(.debug, message()) }
    /// The same without blocking a cooperative thread.
    @discardableResult
    public func debug(_ message: @autoclosure () -> String) async throws -> LogRecord? { try await log(.debug, message()) }
    /// Does the same for ``LogLevel/info``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    @discardableResult
    public func info(_ message: @autoclosure () -> String) throws -> LogRecord? { try log(.info, message()) }
    /// The same without blocking a cooperative thread.
    @discardableResult
    public func info(_ message: @autoclosure () -> String) async throws -> LogRecord? { try await log(.info, message()) }
    /// Does the same for ``LogLevel/warn``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    @discardableResult
    public func warn(_ message: @autoclosure () -> String) throws -> LogRecord? { try log(.warn, message()) }
    /// The same without blocking a cooperative thread.
    @discardableResult
    public func warn(_ message: @autoclosure () -> String) async throws -> LogRecord? { try await log(.warn, message()) }
    /// Does the same for ``LogLevel/error``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    @discardableResult
    public func error(_ message: @autoclosure () -> String) throws -> LogRecord? { try log(.error, message()) }
    /// The same without blocking a cooperative thread.
    @discardableResult
    public func error(_ message: @autoclosure () -> String) async throws -> LogRecord? { try await log(.error, message()) }
    /// Does the same for ``LogLevel/fatal``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    @discardableResult
    public func fatal(_ message: @autoclosure () -> String) throws -> LogRecord? { try log(.fatal, message()) }
    /// The same without blocking a cooperative thread.
    @discardableResult
    public func fatal(_ message: @autoclosure () -> String) async throws -> LogRecord? { try await log(.fatal, message()) }

    /// Makes all records of this client that were not submitted yet ready for upload. SMP 2.3: `submitLogRecords`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func submitLogRecords() throws { try database.submitLogRecords() }

    /// The same without blocking a cooperative thread.
    public func submitLogRecords() async throws { try await database.submitLogRecords() }
}

/// The least severe records that the loggers of one database write.
private final class LoggerLevel: Sendable {
    let value = SystemLock(LogLevel.info)
}

extension PackageDatabase {
    /// The logger of the package. SMP 2.3: `getLogger`.
    public final var logger: PackageLogger { PackageLogger(self) }

    fileprivate final var loggerLevel: LoggerLevel { attachment { LoggerLevel() } }
}
