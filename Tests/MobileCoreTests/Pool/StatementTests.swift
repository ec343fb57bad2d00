import MobileCore
import MobileExecution
import Testing

@Suite struct StatementTests {
    @Test func `a statement is found by its text, and the least recently used one is dropped`() throws {
        let core = try CorePool { $0.statement_cache = 2 }
        try core.with { (connection) throws in
            for sql in ["SELECT 1", "SELECT 2", "SELECT 1", "SELECT 3", "SELECT 1", "SELECT 2"] { _ = try integer(connection, sql) }
            let statistics = mc_connection_statement_statistics(connection)
            #expect(statistics.hits == 2)
            #expect(statistics.misses == 4)
            #expect(statistics.evictions == 2)
            #expect(statistics.cached == 2)
        }
    }

    @Test func `without a cache nothing is kept`() throws {
        let core = try CorePool { $0.statement_cache = 0 }
        try core.with { (connection) throws in
            for _ in 0..<3 { _ = try integer(connection, "SELECT 1") }
            #expect(mc_connection_statement_statistics(connection).cached == 0)
            #expect(mc_connection_statement_statistics(connection).misses == 3)
        }
    }

    @Test func `a text that is in use is prepared a second time`() throws {
        let core = try CorePool()
        try core.with { (connection) throws in
            try withStatement(connection, "SELECT ?") { first in
                try CoreError.check { mc_statement_bind_integer(first, 1, 7, $0) }
                try withStatement(connection, "SELECT ?") { second in
                    #expect(first != second)
                    var hasRow = false
                    try CoreError.check { mc_statement_step(second, &hasRow, $0) }
                    #expect(mc_statement_column_type(second, 0) == MC_TYPE_NULL)
                }
            }
        }
    }

    @Test func `a statement from the cache has forgotten its values and its row`() throws {
        let core = try CorePool()
        try core.with { (connection) throws in
            for expected in [MC_TYPE_INTEGER, MC_TYPE_NULL] {
                try withStatement(connection, "SELECT ? UNION ALL SELECT 2") { (statement) throws in
                    if expected == MC_TYPE_INTEGER { try CoreError.check { mc_statement_bind_integer(statement, 1, 7, $0) } }
                    #expect(!mc_statement_is_on_row(statement))
                    var hasRow = false
                    try CoreError.check { mc_statement_step(statement, &hasRow, $0) }
                    #expect(mc_statement_column_type(statement, 0) == expected)
                }
            }
        }
    }

    @Test(
        "texts that are not one statement are refused",
        arguments: [
            ("", MC_ERROR_MISUSE, "\"\": there is no statement"),
            ("  -- nothing", MC_ERROR_MISUSE, "\"  -- nothing\": there is no statement"),
            ("SELECT 1; SELECT 2", MC_ERROR_MISUSE, "\"SELECT 1; SELECT 2\": one statement is expected, more follow"),
            ("SELEC 1", MC_ERROR_SQLITE, "\"SELEC 1\": near \"SELEC\": syntax error"),
            ("SELECT \"nothing\"", MC_ERROR_SQLITE, "\"SELECT \"nothing\"\": no such column: nothing"),
        ])
    func badText(sql: String, code: mc_status, message: String) throws {
        let core = try CorePool()
        try core.with { (connection) throws in
            let error = #expect(throws: CoreError.self) { try withStatement(connection, sql) { _ in } }
            #expect(error?.code == code)
            #expect(error?.message == message)
        }
    }

    @Test func `what follows a statement may be space, a comment or a semicolon`() throws {
        let core = try CorePool()
        #expect(try core.integer("SELECT 5; -- five\n ;") == 5)
    }

    @Test func `values and parameters are checked, and long texts cut in messages`() throws {
        let core = try CorePool()
        try core.with { (connection) throws in
            let sql = "SELECT ?, '" + String(repeating: "é", count: 100) + "'"
            try withStatement(connection, sql) { (statement) throws in
                let error = #expect(throws: CoreError.self) { try CoreError.check { mc_statement_bind_null(statement, 2, $0) } }
                #expect(error?.code == MC_ERROR_MISUSE)
                #expect(error?.message == "\"SELECT ?, '" + String(repeating: "é", count: 34) + "...\": there is no parameter 2, only 1")
            }
        }
    }

    @Test func `changes are those of the statements, and errors keep SQLite's code`() throws {
        let core = try CorePool()
        try core.with(writer: true) { (connection) throws in
            var changes: Int64 = -1
            let script = "CREATE TABLE t(a UNIQUE); INSERT INTO t VALUES (1), (2); UPDATE t SET a = a + 10; SELECT * FROM t;"
            try CoreError.check { mc_connection_exec(connection, script, script.utf8.count, &changes, $0) }
            #expect(changes == 4)
            let error = #expect(throws: CoreError.self) { try exec(connection, "INSERT INTO t VALUES (11)") }
            #expect(error?.code == MC_ERROR_CONSTRAINT)
            #expect(error?.sqliteCode == 2067)
            #expect(error?.message == "\"INSERT INTO t VALUES (11)\": UNIQUE constraint failed: t.a")
            try CoreError.check { mc_connection_exec(connection, "CREATE TABLE u(a)", 17, &changes, $0) }
            #expect(changes == 0)
        }
    }

    @Test func `a reader cannot write`() throws {
        let core = try CorePool()
        try core.with { (reader) throws in
            let error = #expect(throws: CoreError.self) { try exec(reader, "CREATE TABLE t(a)") }
            #expect(error?.code == MC_ERROR_READ_ONLY)
        }
    }

    @Test func `savepoints nest, and a rolled back transaction cannot be committed`() throws {
        let core = try CorePool()
        try core.with(writer: true) { (writer) throws in
            try exec(writer, "CREATE TABLE t(a)")
            try CoreError.check { mc_connection_begin(writer, $0) }
            try CoreError.check { mc_connection_savepoint(writer, $0) }
            try exec(writer, "INSERT INTO t VALUES (1)")
            try CoreError.check { mc_connection_savepoint(writer, $0) }
            try exec(writer, "INSERT INTO t VALUES (2)")
            mc_connection_rollback_savepoint(writer)
            try CoreError.check { mc_connection_release_savepoint(writer, $0) }
            try CoreError.check { mc_connection_commit(writer, $0) }
            #expect(try integer(writer, "SELECT sum(a) FROM t") == 1)
            try CoreError.check { mc_connection_begin(writer, $0) }
            try exec(writer, "ROLLBACK")
            let error = #expect(throws: CoreError.self) { try CoreError.check { mc_connection_commit(writer, $0) } }
            #expect(error?.code == MC_ERROR_MISUSE)
        }
    }

    @Test func `what a holder leaves behind is gone for the next one`() throws {
        let core = try CorePool()
        let writer = try core.checkOut(writer: true)
        try exec(writer, "CREATE TABLE t(a); INSERT INTO t VALUES (1), (2)")
        try CoreError.check { mc_connection_begin(writer, $0) }
        try exec(writer, "DELETE FROM t")
        var statement: OpaquePointer?, hasRow = false
        try CoreError.check { mc_statement_prepare(writer, "SELECT a FROM t UNION SELECT 3", 30, &statement, $0) }
        try CoreError.check { mc_statement_step(statement!, &hasRow, $0) }
        core.giveBack(writer)
        try core.with(writer: true) { again throws in
            let count = try integer(again, "SELECT count(*) FROM t")
            #expect(count == 2)
            #expect(mc_connection_statement_statistics(again).cached > 0)
        }
    }

    @Test("the trace gets each statement, with values only on demand", arguments: [false, true])
    func trace(withValues: Bool) throws {
        let log = TraceLog()
        let core = try CorePool {
            $0.trace = TraceLog.callback
            $0.trace_context = Unmanaged.passUnretained(log).toOpaque()
            $0.trace_values = withValues
        }
        try core.with { (connection) throws in
            try withStatement(connection, "SELECT ?, 'a'") { (statement) throws in
                try CoreError.check { mc_statement_bind_text(statement, 1, "secret", 6, $0) }
                var hasRow = false
                try CoreError.check { mc_statement_step(statement, &hasRow, $0) }
            }
        }
        #expect(log.lines.withLock { $0 } == [withValues ? "SELECT 'secret', 'a'" : "SELECT ?, 'a'"])
    }

    @Test func `the trace is switched while the pool is open, for what is checked out next`() throws {
        let log = TraceLog()
        let core = try CorePool {
            $0.trace = TraceLog.callback
            $0.trace_context = Unmanaged.passUnretained(log).toOpaque()
            $0.trace_waits = true
        }
        func traced(_ text: String) throws -> [String] {
            log.lines.withLock { $0 = [] }
            try core.with { (connection) throws in
                try withStatement(connection, "SELECT ?") { (statement) throws in
                    try CoreError.check { mc_statement_bind_text(statement, 1, text, text.utf8.count, $0) }
                    var hasRow = false
                    try CoreError.check { mc_statement_step(statement, &hasRow, $0) }
                }
            }
            return log.lines.withLock { $0 }
        }
        #expect(try traced("a").isEmpty)
        mc_pool_set_trace(core.pool, MC_TRACE_VALUES)
        #expect(try traced("b") == ["SELECT 'b'"])
        mc_pool_set_trace(core.pool, MC_TRACE_STATEMENTS)
        #expect(try traced("c") == ["SELECT ?"])
        try core.with { (connection) throws in
            mc_pool_set_trace(core.pool, MC_TRACE_OFF)
            log.lines.withLock { $0 = [] }
            try withStatement(connection, "SELECT 1") { (statement) throws in
                var hasRow = false
                try CoreError.check { mc_statement_step(statement, &hasRow, $0) }
            }
        }
        #expect(log.lines.withLock { $0 } == ["SELECT 1"])
        #expect(try traced("d").isEmpty)
    }

    @Test func `a pool without a trace has nothing to switch`() throws {
        let core = try CorePool()
        mc_pool_set_trace(core.pool, MC_TRACE_STATEMENTS)
        try core.with { (connection) throws in
            let one = try integer(connection, "SELECT 1")
            #expect(one == 1)
        }
    }
}

private final class TraceLog: Sendable {
    let lines = SystemLock<[String]>([])

    static let callback: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>, Int) -> Void = { context, sql, length in
        let log = Unmanaged<TraceLog>.fromOpaque(context!).takeUnretainedValue()
        log.lines.withLock { $0.append(String(decoding: UnsafeRawBufferPointer(start: sql, count: length), as: UTF8.self)) }
    }
}
