import FaultInjection
import MobileSQLite
import Testing

/// The journal of a statement or a savepoint: it stays in memory while it is small, and is correct if it is not.
@Suite struct StatementJournalTests {
    private static let contents = "SELECT count(*), total(length(x)), total(id), min(hex(substr(x, 1, 10))), max(hex(substr(x, 1, 10))) FROM u"

    /// Makes a table whose constraints may refuse a row, so that SQLite keeps a journal for each statement.
    private func makeTable(_ database: LayeredDatabase, rows: Int) throws {
        try database.handle.run("CREATE TABLE u (id INTEGER PRIMARY KEY, x NOT NULL CHECK (length(x) < 2000))")
        try insert(database, rows: rows)
    }

    private func insert(_ database: LayeredDatabase, rows: Int) throws {
        try database.handle.run(
            """
            INSERT INTO u (x) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
            SELECT CAST(printf('%0*d', 900, i) AS BLOB) FROM n
            """)
    }

    /// Returns whether files without a name, such as journals of statements, were written.
    private func writesJournal(_ database: LayeredDatabase, _ body: () throws -> Void) throws -> Bool {
        fault_storage_clear_counts(database.storage)
        let named = try database.writes(to: "", during: body).count
        return fault_storage_counts(database.storage).writes > named
    }

    @Test("batches at the end of a table write no journal, whatever the size of a page", arguments: [1024, 4096, 16384, 65536])
    func batches(pageSize: Int) throws {
        for isCoalesced in [false, true] {
            let database = try LayeredDatabase(isCoalesced: isCoalesced, pageSize: pageSize)
            try makeTable(database, rows: 100)
            let writes = try writesJournal(database) {
                try database.handle.run("BEGIN; SAVEPOINT a")
                for _ in 0..<20 { try insert(database, rows: 100) }
                try database.handle.run("RELEASE a; COMMIT")
            }
            if isCoalesced || pageSize >= 16384 { #expect(writes == !isCoalesced) }
            #expect(try database.handle.first("SELECT count(*) FROM u") == ["2100"])
        }
    }

    @Test("a savepoint of many pages goes to a file, and is taken back from there", arguments: [1024, 4096, 16384, 65536])
    func savepoints(pageSize: Int) throws {
        let database = try LayeredDatabase(pageSize: pageSize, cachePages: 20)
        try makeTable(database, rows: 4000)
        try database.handle.run("BEGIN; UPDATE u SET x = x'01' || x WHERE id % 100 = 0")
        let before = try database.handle.first(Self.contents)
        let writes = try writesJournal(database) {
            try database.handle.run("SAVEPOINT a; UPDATE u SET x = x'02' || x; SAVEPOINT b; DELETE FROM u WHERE id > 1000; ROLLBACK TO b")
            #expect(throws: SQLiteFailure.self) { try database.handle.run("UPDATE u SET x = zeroblob(id)") }
            try insert(database, rows: 500)
            try database.handle.run("ROLLBACK TO a")
        }
        #expect(writes)
        #expect(try database.handle.first(Self.contents) == before)
        try database.handle.run("COMMIT")
        #expect(try database.handle.first(Self.contents) == before)
        #expect(try database.handle.first("PRAGMA integrity_check") == ["ok"])
    }

    @Test("a journal that cannot be written or has no memory fails the statement, and the rest holds", arguments: [false, true])
    func faults(failsMemory: Bool) throws {
        let database = try LayeredDatabase(pageSize: 16384)
        // 42 pages: the journal leaves the memory at 32, and some pages follow in the file.
        try makeTable(database, rows: 700)
        let before = try database.handle.first(Self.contents)
        let writes = try writesJournal(database) { try database.handle.run("BEGIN; SAVEPOINT a; UPDATE u SET x = x'02' || x; ROLLBACK") }
        #expect(writes)
        var failures = 0
        for count: Int64 in 0... {
            var hasThrown = false
            let body = {
                do { try database.handle.run("BEGIN; SAVEPOINT a; UPDATE u SET x = x'02' || x") } catch { hasThrown = true }
            }
            let hasFailed: Bool
            if failsMemory {
                fault_memory_fail_after(count, false)
                body()
                hasFailed = fault_memory_has_failed()
                fault_memory_fail_after(-1, false)
            } else {
                hasFailed = database.failing(after: count, code: SQLITE_IOERR, body)
            }
            #expect(hasFailed || !hasThrown)
            failures += hasThrown ? 1 : 0
            try? database.handle.run("ROLLBACK")
            #expect(try database.handle.first(Self.contents) == before, "operation \(count)")
            if !hasFailed { break }
        }
        #expect(failures > 10)
        #expect(try database.handle.first("PRAGMA integrity_check") == ["ok"])
    }
}
