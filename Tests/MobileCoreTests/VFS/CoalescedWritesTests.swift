import FaultInjection
import MobileCore
import MobileSQLite
import Testing

/// The hazards of delayed writes of the log: the writes that reach the storage, and the database after their failure.
@Suite struct CoalescedWritesTests {
    private static let contents = "SELECT count(*), total(length(x)), total(id) FROM t"

    @Test func `a commit has everything in the file when it returns, in runs of 64 KB`() throws {
        let database = try LayeredDatabase()
        let writes = try database.writes(to: "-wal") { try database.insert(300, bytes: 4000) }
        let bytes = writes.reduce(0) { $0 + $1.length }
        #expect(bytes > 300 * 4000 && writes.count <= 2 + Int(bytes) / 65536 + 1)
        #expect(zip(writes, writes.dropFirst()).allSatisfy { $0.place + $0.length == $1.place }, "one behind the other, without a gap")
        let (row, integrity) = try database.recovered(Self.contents)
        #expect(try row == database.handle.first(Self.contents) && integrity == ["ok"])
    }

    @Test("no single write reaches 128 KB, where the unix VFS would cut it", arguments: [1024, 4096, 65536])
    func writeMask(pageSize: Int) throws {
        let database = try LayeredDatabase(pageSize: pageSize)
        let writes = try database.writes(to: "-wal") { try database.insert(20, bytes: 300_000) }
        #expect(writes.map(\.length).max() == 65536)
        #expect(try database.recovered(Self.contents).row == ["20", "6000000.0", "210.0"])
    }

    @Test("pages that spilled and changed again: checksums are rewritten in place, and hold", arguments: [1024, 4096, 65536])
    func rewrittenChecksums(pageSize: Int) throws {
        let database = try LayeredDatabase(pageSize: pageSize, cachePages: 10)
        try database.insert(400, bytes: pageSize / 3)
        let writes = try database.writes(to: "-wal") {
            try database.handle.run("BEGIN")
            for round in 1...4 { try database.handle.run("UPDATE t SET x = zeroblob(\(pageSize / 3 - round)) WHERE id % 3 = \(round % 3)") }
            try database.handle.run("COMMIT")
        }
        let goesBack = zip(writes, writes.dropFirst()).contains { $1.place < $0.place }
        #expect(goesBack && writes.contains { $0.length == 24 }, "headers of earlier frames must have been written again, or it shows nothing")
        let (row, integrity) = try database.recovered(Self.contents)
        #expect(try row == database.handle.first(Self.contents) && integrity == ["ok"])
    }

    @Test func `a log that starts over is written from its header on, and the old frames behind it count for nothing`() throws {
        let database = try LayeredDatabase()
        try database.insert(200, bytes: 4000)
        try database.handle.run("PRAGMA wal_checkpoint(RESTART)")
        let writes = try database.writes(to: "-wal") { try database.insert(3, bytes: 10) }
        #expect(writes.first == LayeredDatabase.Write(place: 0, length: 32))
        let (row, integrity) = try database.recovered(Self.contents)
        #expect(row == ["203", "800030.0", "\(203 * 204 / 2).0"] && integrity == ["ok"])
        let again = try database.writes(to: "-wal") { try database.insert(3, bytes: 10) }
        #expect(again.first.map { $0.place > 32 } == true)
    }

    @Test("a checkpoint writes the database as it does without the layer", arguments: [1024, 16384])
    func checkpoints(pageSize: Int) throws {
        let logs = try [true, false].map { isCoalesced in
            let database = try LayeredDatabase(isCoalesced: isCoalesced, pageSize: pageSize)
            return try database.writes(to: "layered.db") {
                try database.insert(300, bytes: 1000)
                try database.handle.run("PRAGMA wal_checkpoint(PASSIVE)")
            }
        }
        #expect(logs[0] == logs[1] && logs[0].count > 10)
        #expect(logs[0].allSatisfy { $0.length == Int64(pageSize) })
    }

    @Test func `a sector that is filled up behind a commit belongs to it`() throws {
        let database = try LayeredDatabase(pageSize: 1024, sectorSize: 4096)
        try database.handle.run("PRAGMA synchronous = full")
        for rows in 1...5 {
            try database.insert(rows, bytes: 700)
            #expect(try database.recovered("SELECT count(*) FROM t") == (["\((1...rows).reduce(0, +))"], ["ok"]))
        }
    }

    @Test func `with exclusive locking, where no lock tells the end of a transaction, what was rolled back stays gone`() throws {
        let database = try LayeredDatabase(pageSize: 1024, cachePages: 10, settings: "PRAGMA locking_mode = exclusive")
        for round in 1...6 {
            try database.handle.run("BEGIN")
            try database.insert(50, bytes: 700)
            try database.handle.run(round % 2 == 0 ? "ROLLBACK" : "COMMIT")
            let (row, integrity) = try database.recovered("SELECT count(*) FROM t")
            #expect(row == ["\((round + 1) / 2 * 50)"] && integrity == ["ok"])
        }
    }

    @Test("a disk that is full at any write of a transaction, its commit frame included, leaves the one before", arguments: [false, true])
    func fullDisk(stays: Bool) throws {
        var operations: Int64 = 0, commitsFailed = 0
        while true {
            // Hundreds of databases: without syncs, which are irrelevant here.
            let database = try LayeredDatabase(pageSize: 1024, cachePages: 10, synchronous: "off")
            try database.insert(10, bytes: 700)
            var isCommitted = false, wasInserted = false
            let hasFailed = database.failing(after: operations, stays: stays) {
                do {
                    try database.handle.run("BEGIN")
                    try database.insert(100, bytes: 700)
                    try database.handle.run("UPDATE t SET x = zeroblob(699) WHERE id % 50 = 0")
                    wasInserted = true
                    try database.handle.run("COMMIT")
                    isCommitted = true
                } catch {
                    try? database.handle.run("ROLLBACK")  // SQLite may have done so
                }
            }
            guard hasFailed else { break }
            #expect(!isCommitted, "operation \(operations) failed, and nobody was told")
            commitsFailed += wasInserted ? 1 : 0
            #expect(try database.handle.first("SELECT count(*) FROM t") == ["10"])
            #expect(try database.recovered("SELECT count(*) FROM t") == (["10"], ["ok"]))
            try database.insert(1, bytes: 700)
            #expect(try database.recovered("SELECT count(*) FROM t") == (["11"], ["ok"]))
            operations += 1
        }
        #expect(operations > 3 && commitsFailed > 0)
    }

    @Test("what fails in the middle of a transaction that goes on is missing there, and nothing else", arguments: [SQLITE_FULL, SQLITE_IOERR])
    func partFails(code: Int32) throws {
        var operations: Int64 = 0
        while true {
            let database = try LayeredDatabase(pageSize: 1024, cachePages: 10, synchronous: "off")
            try database.insert(10, bytes: 700)
            var isInserted = false, isUpdated = false, isCommitted = false
            let hasFailed = database.failing(after: operations, code: code) {
                // Some failures make SQLite roll back the whole transaction at once. A further statement would not belong to it.
                func isOpen() -> Bool { sqlite3_get_autocommit(database.handle.handle) == 0 }
                guard (try? database.handle.run("BEGIN")) != nil else { return }
                isInserted = (try? database.insert(60, bytes: 700)) != nil
                isUpdated = isOpen() && (try? database.handle.run("UPDATE t SET x = zeroblob(699) WHERE id % 2 = 0")) != nil
                isCommitted = isOpen() && (try? database.handle.run("COMMIT")) != nil
            }
            if !isCommitted { try? database.handle.run("ROLLBACK") }
            guard hasFailed else { break }
            let rows = isCommitted && isInserted ? 70 : 10
            let expected = ["\(rows)", "\(isCommitted && isUpdated ? rows / 2 : 0)"]
            let contents = "SELECT count(*), count(nullif(length(x), 700)) FROM t"
            #expect(try database.handle.first(contents) == expected, "operation \(operations)")
            #expect(try database.recovered(contents) == (expected, ["ok"]), "operation \(operations)")
            operations += 1
        }
        #expect(operations > 3)
    }

    /// The methods of a file other than reading and writing, each called while frames are held back.
    enum Method: String, CaseIterable, Sendable {
        case size, truncate, sync, lock, unlock, control

        func call(_ file: UnsafeMutablePointer<sqlite3_file>, logSize: sqlite3_int64) -> Int32 {
            let methods = file.pointee.pMethods.pointee
            var size: sqlite3_int64 = 0, hint: sqlite3_int64 = 0
            return switch self {
            case .size: methods.xFileSize(file, &size)
            case .truncate: methods.xTruncate(file, logSize)
            case .sync: methods.xSync(file, SQLITE_SYNC_NORMAL)
            case .lock: methods.xLock(file, SQLITE_LOCK_SHARED)
            case .unlock: methods.xUnlock(file, SQLITE_LOCK_NONE)
            case .control: methods.xFileControl(file, SQLITE_FCNTL_SIZE_HINT, &hint)
            }
        }
    }

    @Test("whoever asks the file for anything finds what was held back, or is told why not", arguments: Method.allCases, [SQLITE_OK, SQLITE_FULL])
    func otherMethods(method: Method, code: Int32) throws {
        let database = try LayeredDatabase(pageSize: 1024, cachePages: 10)
        try database.handle.run("BEGIN")
        try database.insert(40, bytes: 700)  // some pages have spilled
        let log = try database.log
        // Reads without the layer's own methods, from the file itself.
        let before = fault_storage_counts(database.storage).writes
        let held = try Self.end(of: database)
        var result: Int32 = -1
        let hasFailed = database.failing(after: code == SQLITE_OK ? -1 : 0, code: code) { result = method.call(log, logSize: held) }
        #expect(result == code)
        #expect(hasFailed == (code == SQLITE_FULL))
        #expect(fault_storage_counts(database.storage).writes == before + (code == SQLITE_OK ? 1 : 0))
        try? database.handle.run("ROLLBACK")
        try database.insert(2, bytes: 10)
        #expect(try database.recovered("SELECT count(*) FROM t") == (["2"], ["ok"]))
    }

    @Test func `a read writes nothing, and finds what is held back, what is in the file and what lies on both sides`() throws {
        let database = try LayeredDatabase(pageSize: 1024, cachePages: 10)
        try database.handle.run("BEGIN")
        try database.insert(100, bytes: 700)  // more than one run
        let log = try database.log, end = try Self.end(of: database, rows: 100), methods = log.pointee.pMethods.pointee
        func read(_ place: sqlite3_int64, _ length: Int) -> [UInt8] {
            var bytes = [UInt8](repeating: 0xEE, count: length)
            return methods.xRead(log, &bytes, Int32(length), place) == SQLITE_OK ? bytes : []
        }
        let places = stride(from: 0, to: end - 3000, by: 501).flatMap { place in [1, 8, 24, 1024, 3000].map { (place, $0) } }
        let written = fault_storage_counts(database.storage).writes
        var held: [[UInt8]] = []
        _ = database.failing(after: -1) { held = places.map(read) + [read(0, Int(end))] }
        #expect(fault_storage_counts(database.storage).writes == written)
        var size: sqlite3_int64 = 0
        #expect(methods.xFileSize(log, &size) == SQLITE_OK && size == end)
        #expect(fault_storage_counts(database.storage).writes == written + 1, "something must have been held back, or it shows nothing")
        #expect(places.map(read) + [read(0, Int(end))] == held && held.allSatisfy { !$0.isEmpty })
    }

    @Test func `what a savepoint has left behind when it was rolled back is not written`() throws {
        let database = try LayeredDatabase(pageSize: 1024, cachePages: 10)
        try database.insert(5, bytes: 700)
        let writes = try database.writes(to: "-wal") {
            try database.handle.run("BEGIN; SAVEPOINT part")
            try database.insert(40, bytes: 700)
            try database.handle.run("ROLLBACK TO part")
            try database.insert(1, bytes: 10)
            try database.handle.run("COMMIT")
        }
        #expect(writes.reduce(0) { $0 + $1.length } < 8 * 1048, "\(writes)")
        #expect(try database.recovered("SELECT count(*) FROM t") == (["6"], ["ok"]))
    }

    @Test func `with exclusive locking that ends, frames of another connection are not written over with what was rolled back`() throws {
        let database = try LayeredDatabase(pageSize: 1024, cachePages: 10)
        try database.insert(5, bytes: 700)
        try database.handle.run("PRAGMA locking_mode = exclusive; BEGIN")
        try database.insert(40, bytes: 700)
        try database.handle.run("ROLLBACK; PRAGMA locking_mode = normal; SELECT count(*) FROM t")
        let other = try SQLiteHandle(database.path)
        defer { other.close() }
        try other.run("INSERT INTO t (x) VALUES (zeroblob(5000)), (zeroblob(20000))")
        #expect(try database.handle.first(Self.contents) == ["7", "28500.0", "28.0"])
        #expect(try database.recovered(Self.contents) == (["7", "28500.0", "28.0"], ["ok"]))
    }

    /// Returns the end of the frames that were made so far, held back or not.
    private static func end(of database: LayeredDatabase, rows: Int = 40) throws -> sqlite3_int64 {
        // Two frames of the tables, and the frames that a plain database writes in the same steps.
        let plain = try LayeredDatabase(isCoalesced: false, pageSize: 1024, cachePages: 10)
        try plain.handle.run("BEGIN")
        try plain.insert(rows, bytes: 700)
        var size: sqlite3_int64 = 0
        let log = try plain.log
        guard log.pointee.pMethods.pointee.xFileSize(log, &size) == SQLITE_OK else { throw SQLiteFailure(message: "no size") }
        return size
    }

    @Test func `closing in the middle of a transaction loses that transaction alone`() throws {
        let database = try LayeredDatabase(pageSize: 1024, cachePages: 10)
        try database.insert(5, bytes: 700)
        try database.handle.run("BEGIN")
        try database.insert(90, bytes: 700)
        database.handle.close()
        #expect(try database.recovered("SELECT count(*) FROM t") == (["5"], ["ok"]))
    }

    @Test func `a base that is the layer already stays as it is, one that does not exist is refused`() throws {
        var once = [CChar](repeating: 0, count: Int(MC_VFS_NAME_SIZE)), twice = once
        try CoreError.check { mc_vfs_coalescing(nil, &once, $0) }
        try CoreError.check { mc_vfs_coalescing(once, &twice, $0) }
        #expect(once == twice)
        let error = #expect(throws: CoreError.self) { try CoreError.check { mc_vfs_coalescing("nowhere", &once, $0) } }
        #expect(error?.code == MC_ERROR_NOT_FOUND)
        #expect(error?.message == "storage layer \"nowhere\": there is none of this name")
    }

    @Test("a pool writes in runs unless it is told not to", arguments: [true, false])
    func pool(isCoalesced: Bool) throws {
        let storage = try #require(fault_storage_create(nil))
        defer { fault_storage_free(storage) }
        let core = try CorePool {
            $0.coalesces_log_writes = isCoalesced
            $0.page_size = 4096
            $0.vfs = fault_storage_name(storage)
        }
        defer { core.close() }
        var settings = mc_pool_settings()
        mc_pool_get_settings(core.pool, &settings)
        #expect(settings.coalesces_log_writes == isCoalesced)
        try core.with(writer: true) { try exec($0, "CREATE TABLE t (x)") }
        let before = fault_storage_counts(storage)
        try core.with(writer: true) {
            try exec($0, "INSERT INTO t WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) SELECT zeroblob(4000) FROM n")
        }
        let after = fault_storage_counts(storage)
        let mean = (after.bytes_written - before.bytes_written) / (after.writes - before.writes)
        #expect(isCoalesced ? mean > 30_000 : mean < 4100)
        #expect(try core.integer("SELECT count(*) FROM t") == 100)
    }
}
