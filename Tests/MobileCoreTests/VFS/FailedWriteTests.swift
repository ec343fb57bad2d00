import FaultInjection
import Foundation
import MobileSQLite
import TestSupport
import Testing

/// A failure of one write of the storage in the middle of a load whose pages spill, and which continues afterwards.
@Suite struct FailedWriteTests {
    /// `make soak` makes each write of the long load fail (`FAULT_STEP=1` in the environment), the suite a sample.
    private static var step: Int64 { TestSetting.number("FAULT_STEP") ?? 29 }

    enum Fault: CaseIterable {
        case full, error, short

        var code: Int32 { self == .error ? SQLITE_IOERR | 3 << 8 : SQLITE_FULL }  // SQLITE_IOERR_WRITE
    }

    /// The statements of transactions. The order of the rows differs from the order of their keys, so pages that have just spilled are read again.
    private struct Script {
        let pageSize: Int

        /// A row takes a quarter of a page. It is a blob, because SQLite counts the letters of a text whenever it is indexed or measured.
        private func padded(_ number: String) -> String { "CAST(printf('%0*d', \(pageSize / 4), \(number)) AS BLOB)" }

        func change(_ seed: Int, _ condition: String = "TRUE") -> String {
            "UPDATE t SET x = \(padded("id * 3 + \(seed)")) WHERE \(condition)"
        }

        /// Makes some rows; half of them with the largest pages, where a few fill the cache as well, and each costs most.
        func insert(_ rows: Int) -> String {
            """
            INSERT INTO t (id, k, x) WITH RECURSIVE n (k, rest) AS (
                SELECT ifnull(max(k), 0) + 1, \(pageSize == 65536 ? rows / 2 : rows) FROM t UNION ALL SELECT k + 1, rest - 1 FROM n WHERE rest > 1)
            SELECT k * 7919 % 10007, k, \(padded("k")) FROM n
            """
        }

        /// Statements that spill one by one. Some fail: SQLite undoes such a statement with its journal's pages, and its transaction continues.
        var undone: [[String]] {
            let fails = "UPDATE t SET x = CAST(x || '0' AS BLOB), k = CASE WHEN id > 9000 THEN 1 ELSE -k END"
            return [
                [insert(120)],
                [
                    insert(30), change(1), fails, change(2, "id % 2 = 0"), "SAVEPOINT a", change(3), insert(40), "ROLLBACK TO a",
                    change(4, "id % 3 = 0"), "INSERT INTO t (k, x) SELECT -k, CASE WHEN id < 9000 THEN x END FROM t", "RELEASE a", change(5),
                ],
                [change(6, "id < 900"), "SAVEPOINT b", "DELETE FROM t WHERE id % 4 = 1", fails, "RELEASE b", insert(20), change(7)],
                [change(8, "id % 10 = 0")],
            ]
        }

        /// Small statements that leave no page in the cache. New frames, pages of the last statement, and earlier pages alternate.
        var pressed: [String] {
            [change(1, "id < 5000")]
                + (0..<4).flatMap { part in
                    [
                        change(20 + part, "id BETWEEN \(5000 + part * 1200) AND \(5900 + part * 1200)"),
                        change(30 + part, "id BETWEEN \(5000 + part * 1200) AND \(5500 + part * 1200)"),
                        change(40 + part, "id BETWEEN \(part * 1000) AND \(part * 1000 + 800)"),
                    ]
                }
        }
    }

    private static let contents = "SELECT count(*), total(id), total(k), total(length(x)), total(substr(x, -9) * (id % 97)) FROM t"

    /// A load, and a model of it without failures: a database in memory. Statements that the writer has not done are not done there.
    private final class Load {
        let database: LayeredDatabase
        private let model: SQLiteHandle
        private(set) var committed: [String] = []
        /// The contents after a failed COMMIT, had it succeeded: a crash may leave them, because its frames were not removed.
        private var possible: [String] = []

        init(pageSize: Int, cachePages: Int) throws {
            database = try LayeredDatabase(pageSize: pageSize, cachePages: cachePages, synchronous: "off")
            model = try SQLiteHandle(":memory:")
            let schema = "CREATE TABLE t (id INTEGER PRIMARY KEY, k INTEGER UNIQUE, x NOT NULL); CREATE INDEX ends ON t (substr(x, -9))"
            try database.handle.run("DROP TABLE t; \(schema)")
            try model.run(schema)
            committed = try model.first(contents)
        }

        private var connection: OpaquePointer? { database.handle.handle }
        private var isOpen: Bool { sqlite3_get_autocommit(connection) == 0 }

        /// Runs the statement, twice if necessary, as after freeing space. Returns whether it was done; `nil`: it cannot be done.
        private func isDone(_ sql: String) -> Bool? {
            for _ in 0..<2 {
                if (try? database.handle.run(sql)) != nil { return true }
                if sqlite3_errcode(connection) == SQLITE_CONSTRAINT { return nil }
                if !isOpen { break }
            }
            return false
        }

        func run(_ statements: [String], isPressed: Bool = false) throws {
            try database.handle.run("BEGIN")
            try model.run("BEGIN")
            for sql in statements {
                let isDone = isDone(sql)
                guard isOpen else { return try model.run("ROLLBACK") }
                if isDone != false { #expect(((try? model.run(sql)) != nil) == (isDone == true), "\(sql)") }
                if isPressed {
                    _ = sqlite3_db_cacheflush(connection)
                    _ = sqlite3_db_release_memory(connection)
                }
            }
            possible = try model.first(contents)
            guard (try? database.handle.run("COMMIT")) != nil else { return try model.run("ROLLBACK") }
            try model.run("COMMIT")
            committed = possible
        }

        /// Checks the contents in the connection, and in another process after a crash.
        func check(_ comment: Comment) throws {
            #expect(try database.handle.first(contents) == committed, comment)
            let (row, integrity) = try database.recovered(contents)
            #expect(integrity == ["ok"], comment)
            #expect(row == committed || row == possible, comment)
        }
    }

    @Test(
        "each acknowledged commit survives a write that fails once, whichever it is", arguments: [(1024, 10), (4096, 10), (4096, 40), (65536, 10)],
        Fault.allCases)
    func longLoad(sizes: (page: Int, cache: Int), fault: Fault) throws {
        let transactions = Script(pageSize: sizes.page).undone
        var write: Int64 = 0, hasFailed = true
        while hasFailed {
            let load = try Load(pageSize: sizes.page, cachePages: sizes.cache)
            let storage = load.database.storage
            fault_storage_fail_write(storage, write, fault.code, fault == .short)
            for transaction in transactions {
                let hadFailed = fault_storage_has_failed(storage)
                try load.run(transaction)
                if fault_storage_has_failed(storage) != hadFailed { try load.check("write \(write)") }
            }
            hasFailed = fault_storage_has_failed(storage)
            fault_storage_fail_after(storage, -1, 0, false)
            try load.check("write \(write)")
            #expect(try load.database.reopened(Self.contents) == (load.committed, ["ok"]), "write \(write)")
            write += Self.step
        }
        #expect(write > 2 * Self.step, "two writes of the load have failed")
    }

    @Test(
        "a transaction that has lost frames of an earlier statement commits no hole, however it goes on", arguments: [(1024, 10), (4096, 10)],
        Fault.allCases)
    func pressed(sizes: (page: Int, cache: Int), fault: Fault) throws {
        let script = Script(pageSize: sizes.page)
        var write: Int64 = 0, hasFailed = true, commits = 0
        while hasFailed {
            let load = try Load(pageSize: sizes.page, cachePages: sizes.cache)
            let storage = load.database.storage
            try load.run([script.insert(120)])
            let before = load.committed
            fault_storage_fail_write(storage, write, fault.code, fault == .short)
            try load.run(script.pressed, isPressed: true)
            hasFailed = fault_storage_has_failed(storage)
            fault_storage_fail_after(storage, -1, 0, false)
            commits += load.committed != before ? 1 : 0
            try load.check("write \(write)")
            try load.run([script.change(50), script.insert(10)])
            try load.check("behind write \(write)")
            #expect(try load.database.reopened(Self.contents) == (load.committed, ["ok"]), "write \(write)")
            write += 1
        }
        #expect(write > 20 && commits > 0)
    }
}
