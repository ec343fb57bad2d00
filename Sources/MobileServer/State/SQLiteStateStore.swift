internal import Foundation
internal import MobileExecution
internal import MobileStore

/// The server's state in an SQLite file. One writer at a time; readers are not blocked.
struct SQLiteStateStore: StateStore {
    let database: Database
    private let profile: ConnectionProfile
    /// The connection of drafts, open from the first one on. Its commits do not wait for the disk.
    private let drafts = SystemLock<Database?>(nil)

    /// Opens the file, and brings its tables to the present version.
    /// - Parameter configuration: provides the path of the file, the connection timeout, and the clock.
    /// - Throws: ``ServerError/Code/cache``.
    init(_ configuration: ServerConfiguration, createsFile: Bool) throws {
        let path = configuration.cachePath
        var profile = ConnectionProfile(path: path, pageSize: 8192)
        profile.cacheSize = .megabytes(32)
        profile.maxConnections = 8
        profile.createsFile = createsFile
        profile.connectionTimeout = configuration.connectionTimeout
        // Grants and sessions are promises: they are on the disk before they are answered.
        profile.synchronous = .full
        // A first load does not wait for the disk again and again.
        profile.checkpointPages = Self.checkpointPages
        do {
            try Self.check(profile)
            let database = try Database(profile)
            do { try SQLiteStateSchema.prepare(database, now: configuration.clock()) } catch {
                try database.close()
                throw error
            }
            (self.database, self.profile) = (database, profile)
        } catch let error as StoreError {
            throw ServerError(.cache, "cache \(path): \(error.message)", cause: error)
        }
    }

    /// Looks at a file that is there without changing it: it may belong to another system.
    private static func check(_ profile: ConnectionProfile) throws {
        guard FileManager.default.fileExists(atPath: profile.path) else { return }
        var profile = profile
        (profile.journal, profile.createsFile, profile.maxConnections) = (.unchanged, false, 1)
        let database = try Database(profile)
        do { try SQLiteStateSchema.check(database) } catch {
            try database.close()
            throw error
        }
        try database.close()
    }

    /// 128 MB: a first load of some 100,000 rows is written without the wait of a copy in its middle.
    private static let checkpointPages = 16_384

    var name: String { database.path }
    var dialect: StateDialect { .sqlite }

    func read<R>(_ body: (any StateConnection) throws -> R) throws -> R {
        try database.read { try body(SQLiteStateConnection(connection: $0)) }
    }

    func write<R>(label: String, isolation: StateIsolation, _ body: (any StateConnection) throws -> R) throws -> R {
        try database.write(label: label) { try body(SQLiteStateConnection(connection: $0)) }
    }

    func draft<R>(label: String, _ body: (any StateConnection) throws -> R) throws -> R {
        let drafts = try self.drafts.withLock { present in
            let drafts = try present ?? openDrafts()
            present = drafts
            return drafts
        }
        return try drafts.write(label: label) { try body(SQLiteStateConnection(connection: $0)) }
    }

    /// The drafts are in SQLite's log, next to the file that a link names.
    func flushDrafts() {
        try? FileHandle(forReadingAtPath: (database.path as NSString).resolvingSymlinksInPath + "-wal")?.synchronize()
    }

    private func openDrafts() throws -> Database {
        var profile = profile
        profile.maxConnections = 1
        profile.cacheSize = .megabytes(8)
        profile.createsFile = false
        profile.synchronous = .normal
        return try Database(profile)
    }

    func staging<R>(_ body: (any StagingConnection) throws -> R) throws -> R {
        var profile = profile
        profile.maxConnections = 1
        profile.createsFile = false
        let staging = try Database(profile)
        defer { try? staging.close() }
        return try body(SQLiteStagingConnection(database: staging))
    }

    func close() throws {
        try drafts.withLock { $0.take() }?.close()
        try database.close()
    }
}

/// A transaction on the state in an SQLite file.
struct SQLiteStateConnection: ListReadingConnection {
    let connection: Connection

    var dialect: StateDialect { .sqlite }

    func historyID() -> String { "" }

    func execute(_ sql: String, _ values: [Value]) throws -> Int { try connection.execute(sql, values) }

    func rows(_ sql: String, _ values: [Value]) throws -> [[Value]] { try connection.rows(sql, values) }

    func forEachRow(_ sql: String, _ values: [Value], _ visit: (any StateRow) throws -> Void) throws {
        let statement = try connection.statement(sql)
        try statement.bind(values)
        let row = SQLiteStateRow(statement: statement)
        while try statement.step() { try visit(row) }
    }

    func execute(_ sql: String, _ values: [Value], reading list: TextList) throws -> Int {
        let statement = try connection.statement(sql)
        return try statement.with(list, at: values.count + 1) { try statement.run(values) }
    }

    func forEachRow(_ sql: String, _ values: [Value], reading list: TextList, _ visit: (any StateRow) throws -> Void) throws {
        let statement = try connection.statement(sql)
        try statement.with(list, at: values.count + 1) {
            try statement.bind(values)
            let row = SQLiteStateRow(statement: statement)
            while try statement.step() { try visit(row) }
        }
    }

    func stage(_ table: String, _ columns: [(name: String, type: String)], _ fill: (_ add: ([Value]) throws -> Void) throws -> Void) throws {
        _ = try connection.execute("CREATE TEMP TABLE \(table) (\(columns.map { "\($0.name) \($0.type)" }.joined(separator: ", ")))")
        let insert = try connection.statement(
            "INSERT INTO temp.\(table) VALUES (\(columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")))")
        try fill { _ = try insert.run($0) }
        try countRows(of: [table])
    }

    func unstage(_ table: String) throws { _ = try connection.execute("DROP TABLE temp.\(table)") }
}

private struct SQLiteStateRow: StateRow {
    let statement: Statement

    func value(_ column: Int) -> Value { statement.value(column) }
    func integer(_ column: Int) -> Int64 { statement.integer(column) }
    func bytes(_ column: Int) -> [UInt8] { statement.blob(column) ?? [] }
}
