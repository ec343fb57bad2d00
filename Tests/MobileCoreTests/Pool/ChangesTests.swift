import Foundation
import MobileCore
import MobileExecution
import Synchronization
import Testing

/// The notifications of observers about commits.
@Suite struct ChangesTests {
    private let core: CorePool

    init() throws {
        core = try CorePool()
        try core.with(writer: true) {
            try exec(
                $0,
                "CREATE TABLE a (id INTEGER PRIMARY KEY, x UNIQUE); CREATE TABLE b (id INTEGER PRIMARY KEY, x); CREATE TABLE w (k PRIMARY KEY) WITHOUT ROWID"
            )
        }
    }

    /// An observer, and its notifications: a line for each commit.
    private final class Listener: Sendable {
        let lines = SystemLock<[String]>([])
        let during: @Sendable (String) -> Void
        private let core: CorePool
        private let handle = SystemLock<UInt>(0)

        init(_ core: CorePool, _ tables: [String] = [], during: @escaping @Sendable (String) -> Void = { _ in }) throws {
            self.core = core
            self.during = during
            var observer: OpaquePointer?
            let names = tables.map { strdup($0)! }
            defer { names.forEach { free($0) } }
            try names.map { UnsafePointer($0) }.withUnsafeBufferPointer { names in
                var observation = mc_observation(
                    tables: names.baseAddress, table_count: names.count, changed: Self.callback, context: Unmanaged.passUnretained(self).toOpaque())
                try CoreError.check { mc_pool_observe(core.pool, &observation, &observer, $0) }
            }
            handle.withLock { $0 = UInt(bitPattern: observer) }
        }

        deinit { end() }

        func end() {
            let observer = handle.withLock { handle in
                defer { handle = 0 }
                return OpaquePointer(bitPattern: handle)
            }
            mc_pool_unobserve(core.pool, observer)
        }

        var told: [String] { lines.withLock { $0 } }

        private static let callback: mc_changed = { context, changes in
            let listener = Unmanaged<Listener>.fromOpaque(context!).takeUnretainedValue()
            let changes = changes.pointee
            var parts = UnsafeBufferPointer(start: changes.tables, count: changes.table_count).map { table in
                let keys = UnsafeBufferPointer(start: table.keys, count: table.key_count).map { String($0) }
                return String(cString: table.table) + (table.any_key ? " *" : " " + keys.joined(separator: ","))
            }
            if changes.any_table { parts.append("any") }
            let line = parts.joined(separator: "; ")
            listener.lines.withLock { $0.append(line) }
            listener.during(line)
        }
    }

    /// Runs the statements in one transaction, and commits it.
    private func commit(_ statements: String...) throws {
        try core.with(writer: true) { (writer) throws in
            try CoreError.check { mc_connection_begin(writer, $0) }
            for sql in statements { try exec(writer, sql) }
            try CoreError.check { mc_connection_commit(writer, $0) }
        }
    }

    @Test func `one transaction is one call, with each key once and in order`() throws {
        let listener = try Listener(core)
        try commit(
            "INSERT INTO a VALUES (7, 1), (3, 2)", "UPDATE a SET x = 5 WHERE id = 7", "INSERT INTO b VALUES (1, 1)", "DELETE FROM b WHERE id = 1")
        try commit("SELECT 1")
        try commit("UPDATE b SET x = 1 WHERE id = 99")
        #expect(listener.told == ["a 3,7; b 1"])
    }

    @Test func `changes in a pause are not reported, and those before and after it are`() throws {
        let listener = try Listener(core)
        try core.with(writer: true) { (writer) throws in
            func paused(_ sql: String) throws {
                mc_changes_pause(writer)
                defer { mc_changes_resume(writer) }
                try exec(writer, sql)
            }
            try CoreError.check { mc_connection_begin(writer, $0) }
            try exec(writer, "INSERT INTO a VALUES (1, 1)")
            // SQLite names none of these rows.
            try paused("INSERT INTO w VALUES (1), (2); INSERT INTO b VALUES (1, 1); DELETE FROM b")
            // A pause in a pause ends with the outer one.
            mc_changes_pause(writer)
            try exec(writer, "INSERT INTO w VALUES (7)")
            try paused("INSERT INTO w VALUES (8)")
            try exec(writer, "INSERT INTO b VALUES (9, 9)")
            mc_changes_resume(writer)
            try exec(writer, "INSERT INTO a VALUES (2, 2)")
            try CoreError.check { mc_connection_commit(writer, $0) }
            #expect(listener.told == ["a 1,2"])
            try CoreError.check { mc_connection_begin(writer, $0) }
            try paused("INSERT INTO b VALUES (2, 2)")
            try CoreError.check { mc_connection_commit(writer, $0) }
            // A rollback within a pause, and a resumption without one.
            try CoreError.check { mc_connection_begin(writer, $0) }
            mc_changes_pause(writer)
            try exec(writer, "INSERT INTO w VALUES (3)")
            mc_connection_rollback(writer)
            mc_changes_resume(writer)
            mc_changes_resume(writer)
            try exec(writer, "INSERT INTO a VALUES (3, 3)")
            #expect(listener.told == ["a 1,2", "a 3"])
            mc_changes_pause(writer)
        }
        // The end of the check-out is the end of the pause.
        try commit("INSERT INTO a VALUES (4, 4)")
        #expect(listener.told == ["a 1,2", "a 3", "a 4"])
    }

    @Test func `who is told of a commit may read what it wrote, and is told once`() throws {
        let seen = SystemLock<[Int64]>([])
        let listener = try Listener(core) { [core] _ in
            let count = try? core.integer("SELECT count(*) FROM a")
            seen.withLock { $0.append(count ?? -1) }
        }
        try commit("INSERT INTO a VALUES (1, 1)")
        try commit("INSERT INTO a VALUES (2, 2)")
        #expect(listener.told == ["a 1", "a 2"])
        #expect(seen.withLock { $0 } == [1, 2])
    }

    @Test func `who asks for tables hears of no others`() throws {
        let one = try Listener(core, ["A"]), other = try Listener(core, ["b", "w"])
        try commit("INSERT INTO a VALUES (1, 1)")
        try commit("INSERT INTO b VALUES (2, 1)", "INSERT INTO a VALUES (2, 2)")
        #expect(one.told == ["a 1", "a 2"])
        #expect(other.told == ["b 2"])
    }

    @Test func `what was rolled back is not told`() throws {
        let listener = try Listener(core)
        try core.with(writer: true) { (writer) throws in
            try CoreError.check { mc_connection_begin(writer, $0) }
            try exec(writer, "INSERT INTO a VALUES (1, 1)")
            mc_connection_rollback(writer)
            try CoreError.check { mc_connection_begin(writer, $0) }
            try exec(writer, "INSERT INTO a VALUES (2, 2)")
        }  // and a transaction that its holder did not end
        try commit("INSERT INTO a VALUES (3, 3)")
        #expect(listener.told == ["a 3"])
    }

    @Test func `statements outside of a transaction are told one by one`() throws {
        let listener = try Listener(core)
        try core.with(writer: true) { (writer) throws in
            try exec(writer, "INSERT INTO a VALUES (1, 1); INSERT INTO a VALUES (2, 2)")
            try withStatement(writer, "INSERT INTO a VALUES (3, 3) RETURNING id") { (statement) throws in
                var hasRow = true
                while hasRow { try CoreError.check { mc_statement_step(statement, &hasRow, $0) } }
            }
        }
        #expect(listener.told == ["a 1", "a 2", "a 3"])
    }

    @Test(
        "rows that SQLite does not name make any table suspect",
        arguments: [
            ("INSERT INTO w VALUES ('k')", "any"),
            ("DELETE FROM a WHERE id > 0", "a 1,2"),
            ("INSERT INTO b VALUES (5, 5); INSERT INTO w VALUES ('k')", "b 5; any"),
        ])
    func unnamedRows(sql: String, told: String) throws {
        try commit("INSERT INTO a VALUES (1, 1), (2, 2)")
        let listener = try Listener(core), other = try Listener(core, ["b"])
        try commit(sql)
        #expect(listener.told == [told])
        #expect(other.told == (told.hasSuffix("any") ? [told] : []))
    }

    @Test(
        "a row is reported under its old rowid and its new one, also one that is replaced",
        arguments: [
            ("DELETE FROM a", "a 1,2"),
            ("UPDATE a SET id = 9 WHERE id = 1", "a 1,9"),
            ("UPDATE a SET rowid = rowid + 10", "a 1,2,11,12"),
            ("UPDATE a SET id = 1 WHERE id = 1", "a 1"),
            ("REPLACE INTO a VALUES (5, 2)", "a 2,5"),
            ("UPDATE OR REPLACE a SET x = 2 WHERE id = 1", "a 1,2"),
            ("INSERT INTO a VALUES (1, 7) ON CONFLICT (id) DO UPDATE SET id = 8", "a 1,8"),
        ])
    func oldRows(sql: String, told: String) throws {
        try commit("INSERT INTO a VALUES (1, 1), (2, 2)")
        let listener = try Listener(core)
        try commit(sql)
        #expect(listener.told == [told])
    }

    @Test func `more keys than a page of a screen needs are not listed`() throws {
        let listener = try Listener(core)
        let many = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %) INSERT INTO b SELECT i, i FROM n"
        try commit(many.replacing("%", with: "4096"))
        try commit("DELETE FROM b WHERE id > 0", "INSERT INTO b VALUES (9999, 0)")
        try commit("DELETE FROM b WHERE id > 0", many.replacing("%", with: "9000"))
        #expect(listener.told[0] == "b " + (1...4096).map { String($0) }.joined(separator: ","))
        #expect(listener.told[1...] == ["b *", "b *"])
    }

    @Test func `an observer hears of the transaction under way that it was, and of its tables from the next one on`() throws {
        let held = SystemLock<Listener?>(nil), other = SystemLock<Listener?>(nil)
        try core.with(writer: true) { (writer) throws in
            try CoreError.check { mc_connection_begin(writer, $0) }
            try exec(writer, "INSERT INTO a VALUES (1, 1)")
            held.withLock { $0 = try? Listener(core) }
            try exec(writer, "INSERT INTO a VALUES (2, 2)")
            other.withLock { $0 = try? Listener(core, ["b"]) }
            try CoreError.check { mc_connection_commit(writer, $0) }
        }
        let listener = try #require(held.withLock { $0 }), second = try #require(other.withLock { $0 })
        #expect(listener.told == ["any"] && second.told == ["any"])
        try commit("INSERT INTO a VALUES (3, 3)")
        #expect(listener.told == ["any", "a 3"] && second.told == ["any"])
        try core.with(writer: true) { (writer) throws in
            try CoreError.check { mc_connection_begin(writer, $0) }
            try exec(writer, "SELECT 1")
            held.withLock { $0 = try? Listener(core) }
            try CoreError.check { mc_connection_commit(writer, $0) }
        }
        #expect(held.withLock { $0 }?.told == [], "nothing was changed")
        held.withLock { $0 = nil }
        other.withLock { $0 = nil }
    }

    @Test func `an observer that comes during a transaction hears nothing of it when it is rolled back`() throws {
        let held = SystemLock<Listener?>(nil)
        try core.with(writer: true) { (writer) throws in
            try CoreError.check { mc_connection_begin(writer, $0) }
            try exec(writer, "INSERT INTO a VALUES (1, 1)")
            held.withLock { $0 = try? Listener(core) }
            try exec(writer, "INSERT INTO a VALUES (2, 2)")
            mc_connection_rollback(writer)
        }
        let listener = try #require(held.withLock { $0 })
        #expect(listener.told == [])
        try commit("INSERT INTO a VALUES (3, 3)")
        #expect(listener.told == ["a 3"])
        held.withLock { $0 = nil }
    }

    @Test func `an observer may end within its own call`() throws {
        let held = SystemLock<Listener?>(nil)
        let listener = try Listener(core, during: { _ in held.withLock { $0 }?.end() })
        held.withLock { $0 = listener }
        try commit("INSERT INTO a VALUES (3, 3)")
        try commit("INSERT INTO a VALUES (4, 4)")
        #expect(listener.told == ["a 3"])
        held.withLock { $0 = nil }
    }

    @Test func `observers that come and go are taken into account by tables that were written before`() throws {
        try commit("INSERT INTO a VALUES (1, 1)", "INSERT INTO b VALUES (1, 1)")
        let one = try Listener(core, ["a"])
        try commit("INSERT INTO b VALUES (2, 2)")
        let other = try Listener(core, ["b"])
        try commit("INSERT INTO b VALUES (3, 3)", "INSERT INTO a VALUES (3, 3)")
        one.end()
        try commit("INSERT INTO b VALUES (4, 4)", "INSERT INTO a VALUES (4, 4)")
        #expect(one.told == ["a 3"] && other.told == ["b 3", "b 4"])
    }

    @Test func `ending an observer waits for its call on another thread`() throws {
        let isCalled = DispatchSemaphore(value: 0), mayGoOn = DispatchSemaphore(value: 0)
        let listener = try Listener(core) { _ in
            isCalled.signal()
            mayGoOn.wait()
        }
        let writing = TestThread { try self.commit("INSERT INTO a VALUES (1, 1)") }
        isCalled.wait()
        let hasEnded = Atomic(false)
        let ending = TestThread {
            listener.end()
            hasEnded.store(true, ordering: .releasing)
        }
        let endedEarly = hasEnded.load(ordering: .acquiring)
        mayGoOn.signal()
        try writing.value()
        try ending.value()
        #expect(!endedEarly && listener.told == ["a 1"])
    }

    @Test func `an observer may read what was committed`() throws {
        let counts = SystemLock<[Int64]>([])
        let core = core
        let listener = try Listener(core) { _ in
            if let count = try? core.integer("SELECT count(*) FROM a") { counts.withLock { $0.append(count) } }
        }
        try commit("INSERT INTO a VALUES (1, 1)")
        try commit("INSERT INTO a VALUES (2, 2)")
        #expect(counts.withLock { $0 } == [1, 2])
        listener.end()
    }
}
