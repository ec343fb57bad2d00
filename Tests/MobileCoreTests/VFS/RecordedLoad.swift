import FaultInjection
import Foundation
import MobileCore
import MobileSQLite
import TestSupport

/// A database that is written through the coalescing layer over storage that records every change: transactions of many
/// sizes, some of them rolled back, with a cache so small that pages spill into the log before the commit.
///
/// The row of `counter` has the expected contents of the other table, so that a state within a transaction is noticed.
final class RecordedLoad {
    let storage: OpaquePointer
    private let temporary: TemporaryDirectory
    private(set) var isCoalesced = false
    /// The committed transactions; 0 is the transaction that made the tables.
    private(set) var committed: Set<Int64> = [0]

    init(synchronous: String, transactions: Int) throws {
        temporary = try TemporaryDirectory(in: quickDirectory)
        guard let storage = fault_storage_create(nil) else { throw SQLiteFailure(message: "no memory for fault storage") }
        self.storage = storage
        var name = [CChar](repeating: 0, count: Int(MC_VFS_NAME_SIZE))
        var error = mc_error()
        guard mc_vfs_coalescing(fault_storage_name(storage), &name, &error) == MC_OK else {
            throw SQLiteFailure(message: "the coalescing layer was not registered")
        }
        fault_storage_record(storage, true)
        let database = try SQLiteHandle(temporary.file("load.db"), layer: name)
        try database.run(
            """
            PRAGMA page_size = 1024; PRAGMA journal_mode = wal; PRAGMA cache_size = 10; PRAGMA synchronous = \(synchronous);
            PRAGMA wal_autocheckpoint = 60;
            CREATE TABLE item (id INTEGER PRIMARY KEY, batch, payload); CREATE INDEX item_batch ON item (batch);
            CREATE TABLE counter (batch, rows, bytes); INSERT INTO counter VALUES (0, 0, 0);
            """)
        fault_storage_mark(storage, 1)
        var random = SeededGenerator(seed: 5)
        for batch in 1...Int64(transactions) where try database.write(batch: batch, &random) {
            committed.insert(batch)
            fault_storage_mark(storage, batch + 1)
        }
        database.close()
        fault_storage_record(storage, false)
        let counts = fault_storage_counts(storage)
        isCoalesced = counts.bytes_written > 900 * counts.writes  // one by one, header and page are 524 on average
    }

    /// Returns the last transaction that is safe after this change of the record, because it ends a checkpoint; otherwise -1. The database's
    /// file is synced only there, within the COMMIT of a transaction that the checkpoint includes, or at the end of the load.
    func checkpointed(by change: Int) -> Int64 {
        let recorded = fault_storage_change(storage, Int64(change))
        guard recorded.kind == FAULT_SYNC, String(cString: recorded.file) == "load.db", isMade(before: change) else { return -1 }
        for number in Int64(change)..<fault_storage_recorded(storage) {
            let later = fault_storage_change(storage, number)
            if later.kind == FAULT_MARK { return later.place - 1 }
        }
        return committed.max() ?? -1
    }

    /// Returns whether the tables have been made: the switch to WAL syncs the file before.
    private func isMade(before change: Int) -> Bool {
        (0..<Int64(change)).contains { fault_storage_change(storage, $0).kind == FAULT_MARK }
    }

    deinit { fault_storage_free(storage) }

    var directory: URL { temporary.url }
}

struct SQLiteFailure: Error { let message: String }

/// A bare SQLite connection.
final class SQLiteHandle {
    private(set) var handle: OpaquePointer?

    init(_ path: String, layer: [CChar]? = nil) throws {
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        guard sqlite3_open_v2(path, &handle, flags, layer) == SQLITE_OK else { throw failure() }
    }

    deinit { close() }

    func close() {
        sqlite3_close_v2(handle)
        handle = nil
    }

    func run(_ sql: String) throws {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure() }
    }

    /// Returns the first row as texts, `""` for NULL.
    func first(_ sql: String) throws -> [String] {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { throw failure() }
        defer { sqlite3_finalize(statement) }
        let code = sqlite3_step(statement)
        guard code == SQLITE_ROW else {
            if code == SQLITE_DONE { return [] }
            throw failure()
        }
        return (0..<sqlite3_column_count(statement)).map { sqlite3_column_text(statement, $0).map { String(cString: $0) } ?? "" }
    }

    /// Runs one transaction of the load. Returns whether it was committed.
    fileprivate func write(batch: Int64, _ random: inout SeededGenerator) throws -> Bool {
        try run(
            """
            BEGIN IMMEDIATE;
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(Int.random(in: 1...40, using: &random)))
            INSERT INTO item (batch, payload) SELECT \(batch), randomblob(abs(random()) % 900) FROM n;
            """)
        if Int.random(in: 0..<3, using: &random) == 0 {
            let end = Bool.random(using: &random) ? "ROLLBACK TO part;" : ""
            try run("SAVEPOINT part; UPDATE item SET payload = randomblob(500) WHERE id % 7 = 0; \(end) RELEASE part;")
        }
        try run(
            """
            DELETE FROM item WHERE batch < \(batch - 6);
            UPDATE counter SET batch = \(batch), rows = (SELECT count(*) FROM item), bytes = (SELECT sum(length(payload)) FROM item);
            """)
        let isKept = Int.random(in: 0..<6, using: &random) > 0
        try run(isKept ? "COMMIT" : "ROLLBACK")
        return isKept
    }

    private func failure() -> SQLiteFailure { SQLiteFailure(message: String(cString: sqlite3_errmsg(handle))) }
}
