public import Foundation
internal import MobileExecution
public import MobileProtocol
internal import MobileStore

/// The administration of a server's users, devices, log records, logs and traces. It works on a server in this process, or on a cache alone, also
/// while another process serves from it. SMP 2.3: the functions of SAP Control Center in the tabs *Client Log* and *General* of a package, and *Get
/// Trace*.
public struct ServerAdministration: Sendable {
    let stateStore: any StateStore
    let configuration: ServerConfiguration
    private let clock: @Sendable () -> Int64
    private let portion: Int

    init(_ stateStore: any StateStore, _ configuration: ServerConfiguration) {
        (self.stateStore, self.configuration) = (stateStore, configuration)
        (clock, portion) = (configuration.clock, configuration.cleaningPortion)
    }

    /// Opens the existing cache of a server.
    /// - Parameter configuration: a server's configuration. Only the path of the cache, the connection timeout, the clock, the random source, the
    ///   cleaning portion and the password parameters are used.
    /// - Throws: ``ServerError/Code/cache``; ``ServerError/Code/configuration`` for a cleaning portion out of range.
    public init(cacheOf configuration: ServerConfiguration) throws {
        try configuration.checkCleaning()
        self.init(try configuration.openStateStore(createsFile: false), configuration)
    }

    /// Closes the cache. Only for a cache that ``init(cacheOf:)`` has opened, not for that of a running server.
    public func close() throws { try stateStore.close() }

    var directory: UserDirectory { UserDirectory(stateStore: stateStore) }

    // MARK: Log records

    /// A table of log records.
    public struct LogTableSize: Sendable, Hashable {
        /// Name and version of its package, such as `CRM:1.0`.
        public let package: String
        /// Its name in the cache: domain, package and version, `logr`, a number.
        public let name: String
        /// The number of its rows, including deleted ones that wait for their devices.
        public let rows: Int
    }

    /// A log record on the server.
    public struct LogRecord: Sendable, Hashable {
        /// The record itself.
        public let entry: LogRecordEntry
        /// The id of the client that it belongs to.
        public let client: String
        /// The name of the client's user.
        public let user: String
        /// Whether the client created it; otherwise the server did, about an operation of the client.
        public let isFromClient: Bool
        /// The time at which the server stored it, in milliseconds since 1970.
        public let stored: Int64
        /// Whether it is deleted, and waits for the client to follow. SMP 2.3: `LOGICAL_DEL`.
        public let isDeleted: Bool

        /// The line of the record on the client: level, code, eisCode, message, component, entityKey, operation, requestId, timestamp.
        public var line: String {
            [
                String(describing: entry.level).uppercased(), String(entry.code), entry.eisCode, entry.message, entry.component, entry.entityKey,
                entry.operation, entry.requestId, entry.timestamp,
            ].joined(separator: ", ")
        }
    }

    /// Returns the tables of all packages that were ever deployed.
    public func logTables() throws -> [LogTableSize] {
        try stateStore.read { connection in
            try connection.rows(
                "SELECT p.name, t.name, t.row_count FROM _log_table AS t JOIN _package AS p ON p.id = t.package ORDER BY t.name"
            ).map { values in
                let row = StoredRow<LogTableListColumn>([.packageName, .name, .rows], values)
                return LogTableSize(package: try row.text(.packageName), name: try row.text(.name), rows: try row.int(.rows))
            }
        }
    }

    /// Returns the records of a package, the newest first, including deleted ones.
    /// - Parameters:
    ///   - package: name and version.
    ///   - limit: the maximum number of records; default 1000.
    /// - Throws: ``ServerError/Code/notFound`` for an unknown package. The other methods that take a package throw it as well.
    public func logRecords(ofPackage package: String, limit: Int = 1000) throws -> [LogRecord] {
        try stateStore.read { connection in
            try tables(of: package, connection).flatMap { try $0.records(limit: limit, in: connection) }.prefix(max(0, limit)).map { $0 }
        }
    }

    /// Marks the records as deleted that the server stored in a period, those of clients and its own. Devices drop them at their next
    /// synchronization; after that, the records can be removed. Works in short transactions. SMP 2.3: *Clean* of the client log.
    /// - Parameters:
    ///   - package: name and version.
    ///   - from: the first moment.
    ///   - to: the last moment.
    ///   - between: called after each transaction with the number of records so far. An error that it throws ends the work there.
    /// - Returns: the number of marked records.
    @discardableResult
    public func cleanLogRecords(
        ofPackage package: String, from: Date, to: Date, between: (Int) throws -> Void = { _ in }
    ) throws -> Int {
        guard from <= to else { throw ServerError(.configuration, "clean the log records of \"\(package)\": the time ends before it begins") }
        let range = Self.milliseconds(from)...Self.milliseconds(to)
        return try cleanings(of: package).reduce(0) { total, cleaning in
            total + (try cleaning.mark(.stored(range)) { try between(total + $0) })
        }
    }

    /// Does the same without blocking a cooperative thread.
    @discardableResult
    public func cleanLogRecords(
        ofPackage package: String, from: Date, to: Date, between: @escaping @Sendable (Int) throws -> Void = { _ in }
    ) async throws -> Int {
        try await inBackground { try $0.cleanLogRecords(ofPackage: package, from: from, to: to, between: between) }
    }

    /// Marks the records as deleted that clients have uploaded and that no application needs any longer. Each synchronization does this for its own
    /// client anyway. See ``PackageDeployment/logRetention``.
    /// - Parameters:
    ///   - package: name and version.
    ///   - between: called after each transaction with the number of records so far. An error that it throws ends the work there.
    /// - Returns: the number of marked records.
    @discardableResult
    public func applyLogRetention(ofPackage package: String, between: (Int) throws -> Void = { _ in }) throws -> Int {
        let now = clock()
        return try cleanings(of: package).reduce(0) { total, cleaning in
            guard let retention = try stateStore.read({ try cleaning.table.retention(in: $0) }) else { return total }
            return total + (try cleaning.mark(.uploaded(before: now - retention, client: nil)) { try between(total + $0) })
        }
    }

    /// Does the same without blocking a cooperative thread.
    @discardableResult
    public func applyLogRetention(
        ofPackage package: String, between: @escaping @Sendable (Int) throws -> Void = { _ in }
    ) async throws -> Int {
        try await inBackground { try $0.applyLogRetention(ofPackage: package, between: between) }
    }

    /// Removes the deleted records whose device has dropped them or is no longer subscribed. Works in short transactions.
    /// SMP 2.3: *Error Cleanup*.
    /// - Parameters:
    ///   - package: name and version.
    ///   - between: called after each transaction with the number of records so far. An error that it throws ends the work there.
    /// - Returns: the number of removed records.
    @discardableResult
    public func removeDeletedLogRecords(ofPackage package: String, between: (Int) throws -> Void = { _ in }) throws -> Int {
        try cleanings(of: package).reduce(0) { total, cleaning in
            total + (try cleaning.removeMarked { try between(total + $0) })
        }
    }

    /// Does the same without blocking a cooperative thread.
    @discardableResult
    public func removeDeletedLogRecords(
        ofPackage package: String, between: @escaping @Sendable (Int) throws -> Void = { _ in }
    ) async throws -> Int {
        try await inBackground { try $0.removeDeletedLogRecords(ofPackage: package, between: between) }
    }

    private func cleanings(of package: String) throws -> [LogCleaning] {
        try stateStore.read { try tables(of: package, $0) }.map { LogCleaning(table: $0, stateStore: stateStore, portion: portion) }
    }

    /// Returns one table per domain in which the package was ever deployed.
    private func tables(of package: String, _ connection: any StateConnection) throws -> [LogTable] {
        let rows = try connection.rows(
            "SELECT t.name, t.package FROM _log_table AS t JOIN _package AS p ON p.id = t.package WHERE p.name = ?1 ORDER BY t.name", [.text(package)]
        )
        guard !rows.isEmpty else { throw ServerError(.notFound, "there is no package \"\(package.prefix(80))\"") }
        return try rows.map { values in
            let row = StoredRow<LogTableListColumn>([.name, .package], values)
            return LogTable(name: try row.text(.name), package: try row.integer(.package))
        }
    }

    // MARK: Logs and traces of devices

    /// Asks a device for the summaries of its interactions. After its next synchronization they are in ``domainLog(ofDevice:)``. SMP 2.3: *Get
    /// Trace*.
    /// - Parameters:
    ///   - device: the device's id.
    ///   - application: the id of its application.
    /// - Throws: ``ServerError/Code/notFound`` for a device that is not registered.
    public func requestPerformanceLog(ofDevice device: String, application: String) throws {
        try DomainLog(stateStore: stateStore, clock: clock).ask(.performanceLog, device: device, application: application)
    }

    /// Returns the texts that devices have sent, the oldest first. The newest 1000 texts per device are kept.
    /// - Parameter device: the device's id; nil (default) for all.
    public func domainLog(ofDevice device: String? = nil) throws -> [DomainLogEntry] {
        try DomainLog(stateStore: stateStore, clock: clock).entries(device: device)
    }

    /// Returns the end-to-end traces that devices have uploaded, the oldest first. The newest 100 traces per device are kept.
    /// - Parameter transaction: the id of a business transaction; nil (default) for all.
    public func traces(transaction: String? = nil) throws -> [UploadedTrace] {
        try TraceStore(stateStore: stateStore, clock: clock).traces(transaction: transaction?.uppercased())
    }

    // MARK: Working

    private func inBackground<R: Sendable>(_ body: @escaping @Sendable (ServerAdministration) throws -> R) async throws -> R {
        try await BlockingWork.run { try body(self) }
    }

    /// Converts a date. A moment outside the range of the clock counts as the first or the last one.
    private static func milliseconds(_ date: Date) -> Int64 {
        Int64(exactly: (date.timeIntervalSince1970 * 1000).rounded(.down)) ?? (date.timeIntervalSince1970 < 0 ? .min : .max)
    }
}
