import FaultInjection
import Foundation
import MobileCore
import MobileSQLite
import TestSupport

/// A bare SQLite connection, in WAL mode, through the coalescing layer (or without it) over storage that counts, fails and records.
final class LayeredDatabase {
    /// One write that reached the storage.
    struct Write: Hashable {
        let place: Int64
        let length: Int64
    }

    let storage: OpaquePointer
    let handle: SQLiteHandle
    private let directory: TemporaryDirectory

    /// - Parameter settings: run before the switch to WAL.
    init(
        isCoalesced: Bool = true, pageSize: Int = 4096, cachePages: Int = 2000, sectorSize: Int32 = 0, synchronous: String = "normal",
        settings: String = ""
    ) throws {
        directory = try TemporaryDirectory(in: quickDirectory)
        guard let storage = fault_storage_create(nil) else { throw SQLiteFailure(message: "no memory for fault storage") }
        self.storage = storage
        fault_storage_set_sector_size(storage, sectorSize)
        var name = [CChar](repeating: 0, count: Int(MC_VFS_NAME_SIZE))
        if isCoalesced {
            try CoreError.check { mc_vfs_coalescing(fault_storage_name(storage), &name, $0) }
        } else {
            name = Array(String(cString: fault_storage_name(storage)).utf8CString)
        }
        handle = try SQLiteHandle(directory.file("layered.db"), layer: name)
        try handle.run(
            """
            \(settings); PRAGMA page_size = \(pageSize); PRAGMA journal_mode = wal; PRAGMA cache_size = \(cachePages);
            PRAGMA synchronous = \(synchronous); PRAGMA wal_autocheckpoint = 0;
            CREATE TABLE t (id INTEGER PRIMARY KEY, x);
            """)
    }

    deinit {
        handle.close()
        fault_storage_free(storage)
    }

    func insert(_ rows: Int, bytes: Int) throws {
        try handle.run(
            "INSERT INTO t (x) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows)) SELECT zeroblob(\(bytes)) FROM n")
    }

    /// Returns the writes to files whose names have the suffix, in their order, while `body` runs.
    func writes(to suffix: String, during body: () throws -> Void) throws -> [Write] {
        fault_storage_record(storage, true)
        defer { fault_storage_record(storage, false) }
        try body()
        return (0..<fault_storage_recorded(storage)).compactMap { number in
            let change = fault_storage_change(storage, number)
            guard change.kind == FAULT_WRITE, String(cString: change.file).hasSuffix(suffix) else { return nil }
            return Write(place: change.place, length: change.length)
        }
    }

    /// Makes the storage fail after `count` operations, during `body` only. Returns whether it failed.
    func failing(after count: Int64, code: Int32 = SQLITE_FULL, stays: Bool = false, _ body: () -> Void) -> Bool {
        fault_storage_fail_after(storage, count, code, stays)
        body()
        let hasFailed = fault_storage_has_failed(storage)
        fault_storage_fail_after(storage, -1, SQLITE_OK, false)
        return hasFailed
    }

    /// Reads the database as another process would after a kill of this one: from a copy of the files without the shared memory, opened
    /// without the layer. Returns the values of `sql`'s first row, and the result of the integrity check.
    func recovered(_ sql: String) throws -> (row: [String], integrity: [String]) {
        let copy = try TemporaryDirectory(in: quickDirectory)
        for name in ["layered.db", "layered.db-wal"] {
            let from = directory.file(name)
            if FileManager.default.fileExists(atPath: from) { try FileManager.default.copyItem(atPath: from, toPath: copy.file(name)) }
        }
        let database = try SQLiteHandle(copy.file("layered.db"))
        defer { database.close() }
        return (try database.first(sql), try database.first("PRAGMA integrity_check"))
    }

    /// Closes this connection, and reads the database without the layer.
    func reopened(_ sql: String) throws -> (row: [String], integrity: [String]) {
        handle.close()
        let database = try SQLiteHandle(path)
        defer { database.close() }
        return (try database.first(sql), try database.first("PRAGMA integrity_check"))
    }

    var path: String { directory.file("layered.db") }

    /// The open log of SQLite's connection: the wrapper of the layer.
    var log: UnsafeMutablePointer<sqlite3_file> {
        get throws {
            var file: UnsafeMutablePointer<sqlite3_file>?
            sqlite3_file_control(handle.handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file)
            guard let file else { throw SQLiteFailure(message: "there is no log") }
            return file
        }
    }
}
