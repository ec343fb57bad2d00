import FaultInjection
import MobileCore
import MobileSQLite
import Testing

/// The calls that an import accepts in each state, and the use of its table and its function by other code.
@Suite struct ImportStateTests {
    private let core: CorePool

    init() throws {
        core = try CorePool()
        try core.prepareBlobs()
        try core.with(writer: true) { try exec($0, "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT NOT NULL ON CONFLICT ROLLBACK)") }
    }

    private static let columns = [("id", MC_COLUMN_INTEGER), ("name", MC_COLUMN_ANY)]

    private func failure(_ body: () throws -> Void) -> CoreError? { #expect(throws: CoreError.self, performing: body) }

    @Test func `an import that has ended takes nothing more`() throws {
        try core.with(writer: true) { connection in
            let finished = try CoreImport(connection, into: "t", Self.columns)
            try finished.push(#"[[1,"a"],[2,"b"]]"#)
            #expect(mc_import_finish(finished.handle, nil, nil) == MC_OK)
            let failed = try CoreImport(connection, into: "t", Self.columns)
            #expect(failure { try failed.push(#"[[3,"c"],[}"# + String(repeating: " ", count: 20_000)) }?.code == MC_ERROR_JSON)
            for (ended, how) in [(finished, "finished"), (failed, "rolled back after an error")] {
                let push = failure { try ended.push("[]") }
                #expect(push == failure { _ = try ended.finish() })
                #expect(push?.code == MC_ERROR_MISUSE && push?.message == "import of \"t\": it is \(how)")
            }
            #expect(try texts(connection, "SELECT id || name FROM t") == ["1a", "2b"])
        }
    }

    @Test func `a sink takes the bytes, and keeps why it takes no more`() throws {
        try core.with(writer: true) { connection in
            let rows = try CoreImport(connection, into: "t", Self.columns), sink = UnsafeMutableRawPointer(rows.handle)
            for byte in #"[[1,"a"]]"#.utf8 { #expect(withUnsafeBytes(of: byte) { mc_import_sink(sink, $0.baseAddress, 1) }) }
            #expect(mc_import_failure(rows.handle).pointee.code == MC_OK)
            #expect(try rows.finish().inserted == 1)

            let refusing = try CoreImport(connection, into: "t", Self.columns), refused = UnsafeMutableRawPointer(refusing.handle)
            let wrong = Array(("[[2,x" + String(repeating: " ", count: 20_000)).utf8)
            for _ in 0..<2 { #expect(!mc_import_sink(refused, wrong, wrong.count)) }
            let failure = mc_import_failure(refusing.handle).pointee
            #expect(failure.code == MC_ERROR_JSON && failure.byte_offset == 4)
            #expect(try texts(connection, "SELECT id || name FROM t") == ["1a"])
        }
    }

    @Test func `two tables are an object, whether it is said or not`() throws {
        try core.with(writer: true) { connection in
            let rows = try CoreImport(connection, into: "t", Self.columns, tableCount: 2)
            try rows.push(#"{"t":[[1,"a"]],"again":[[2,"b"],[1,"c"]]}"#)
            let counts = try rows.finish()
            #expect(counts.inserted == 2 && counts.updated == 1)
        }
    }

    @Test func `work goes on in no transaction that SQLite has rolled back`() throws {
        try core.with(writer: true) { connection in
            try CoreError.check { mc_connection_begin(connection, $0) }
            try exec(connection, "INSERT INTO t VALUES (7, 'x')")
            let rows = try CoreImport(connection, into: "t", Self.columns)
            #expect(failure { try rows.push("[[1,\"a\"],[2,null]]" + String(repeating: " ", count: 20_000)) }?.code == MC_ERROR_CONSTRAINT)
            mc_connection_rollback(connection)
            #expect(try integer(connection, "SELECT count(*) FROM t") == 0)

            let second = try CoreImport(connection, into: "t", Self.columns)
            try exec(connection, "ROLLBACK")
            let error = failure { try second.push("[[1,\"a\"]]" + String(repeating: " ", count: 20_000)) }
            #expect(
                error?.sqliteCode == SQLITE_ABORT | 2 << 8
                    && error?.message.hasPrefix("import of \"t\": its transaction was rolled back after 0 rows") == true)
            #expect(try integer(connection, "SELECT count(*) FROM t") == 0)
        }
    }

    @Test func `the table of what comes in, and the function that counts, are of no use to other SQL`() throws {
        try core.with(writer: true) { connection in
            _ = try CoreImport(connection, into: "t", Self.columns)
            for sql in [
                "SELECT * FROM mc_incoming_8", "SELECT c0 FROM mc_incoming_8 WHERE c0 = 1", "SELECT c0 FROM mc_incoming_8 WHERE incoming > 1",
                "SELECT c0 FROM mc_incoming_8(NULL)", "SELECT c0 FROM t, mc_incoming_8 WHERE incoming = t.id",
                "SELECT mc_incoming_updated()", "SELECT mc_incoming_updated(NULL)", "SELECT mc_incoming_updated(1, 2)",
            ] {
                try exec(connection, "INSERT OR REPLACE INTO t VALUES (1, 'a')")
                #expect(failure { try exec(connection, sql) }?.code == MC_ERROR_SQLITE, "\(sql)")
            }
        }
    }

    @Test func `large columns need a connection, and have a limit`() throws {
        try core.with(writer: true) { connection in
            try exec(connection, "CREATE TABLE doc(id INTEGER PRIMARY KEY, body)")
            let columns = [("id", MC_COLUMN_INTEGER), ("body", MC_COLUMN_LARGE_TEXT)]
            let error = failure { _ = try CoreImport(connection, into: "doc", columns) { options, _ in options.connection = nil } }
            #expect(error?.code == MC_ERROR_MISUSE && error?.message == "import of \"doc\": large columns, but no connection of a pool")
            let many = [("id", MC_COLUMN_INTEGER)] + (0..<127).map { ("c\($0)", MC_COLUMN_LARGE_TEXT) }
            #expect(failure { _ = try CoreImport(connection, into: "doc", many) }?.message == "import of \"doc\": more than 126 large columns")
            let removal = failure {
                _ = try CoreImport(connection, into: "doc", [("id", MC_COLUMN_INTEGER)]) { _, table in
                    (table.mode, table.large_count) = (MC_IMPORT_DELETE, 127)
                }
            }
            #expect(removal?.message == "import of \"doc\": more than 126 large columns")
        }
    }

    @Test("without an error to fill, the status says the same", arguments: [MC_IMPORT_THREADS_OFF, MC_IMPORT_THREADS_ON])
    func statusAlone(threads: mc_import_threads) throws {
        let chunk = String(repeating: " ", count: 20_000)
        try core.with(writer: true) { connection in
            try exec(connection, "CREATE TABLE doc(id INTEGER PRIMARY KEY, name CHECK (name <> 'forbidden'), body)")
            let columns = Self.columns + [("body", MC_COLUMN_LARGE_TEXT)]
            for (text, status) in [
                (#"[[1,"forbidden",null]]"#, MC_ERROR_CONSTRAINT), (#"[[1,"a",7]]"#, MC_ERROR_TYPE), (#"[[1,"a",null]"#, MC_ERROR_TRUNCATED),
                (#"[[1,"a","long text"]]"#, MC_ERROR_FULL),
            ] {
                let rows = try CoreImport(connection, into: "doc", columns) { options, _ in options.threads = threads }
                // With this length limit SQLite refuses the large value.
                if status == MC_ERROR_FULL { sqlite3_limit(mc_connection_sqlite(connection), SQLITE_LIMIT_LENGTH, 8) }
                var found = mc_import_push(rows.handle, text + chunk, text.utf8.count + chunk.utf8.count, nil)
                if found == MC_OK { found = mc_import_finish(rows.handle, nil, nil) }
                sqlite3_limit(mc_connection_sqlite(connection), SQLITE_LIMIT_LENGTH, 1_000_000_000)
                #expect(status == MC_ERROR_FULL ? found != MC_OK : found == status, "\(text)")
                #expect(try integer(connection, "SELECT count(*) FROM doc") == 0)
            }
        }
    }

    /// A connection has the virtual table of incoming rows from its first import on.
    @Test("the first import of a connection is refused without memory, and the next one is not", arguments: [false, true])
    func firstWithoutMemory(stays: Bool) throws {
        var failures = 0
        for allocation in Int64(0)... {
            let core = try CorePool { $0.statement_cache = 0 }
            try core.with(writer: true) { try exec($0, "CREATE TABLE t(id INTEGER PRIMARY KEY, name DEFAULT 'x')") }
            var hasFailed = false
            try core.with(writer: true) { connection in
                fault_memory_fail_after(allocation, stays)
                let result = Result { try CoreImport(connection, into: "t", Self.columns) }
                hasFailed = fault_memory_has_failed()
                fault_memory_fail_after(-1, false)
                if case .failure(let error) = result {
                    #expect((error as? CoreError)?.code == MC_ERROR_NO_MEMORY, "allocation \(allocation): \(error)")
                    #expect(!"\(error)".contains("(null)"), "allocation \(allocation): \(error)")
                    failures += 1
                }
            }
            try core.with(writer: true) { connection in
                let rows = try CoreImport(connection, into: "t", Self.columns)
                try rows.push("[[1,\"a\"]]")
                #expect(try rows.finish().inserted == 1)
            }
            if !hasFailed { break }
        }
        #expect(failures > 50)
    }

    /// SQLite checks a deferred foreign key when the transaction ends: the import's own transaction, or that of its batches.
    @Test("what is refused when the transaction ends leaves nothing of it", arguments: [false, true], [Int64(0), 1])
    func deferredKeys(isInner: Bool, commitRows: Int64) throws {
        let core = try CorePool { $0.foreign_keys = true }
        try core.with(writer: true) { connection in
            try exec(connection, "CREATE TABLE p(id INTEGER PRIMARY KEY)")
            try exec(connection, "CREATE TABLE c(id INTEGER PRIMARY KEY, p INTEGER REFERENCES p DEFERRABLE INITIALLY DEFERRED)")
            if isInner { try CoreError.check { mc_connection_begin(connection, $0) } }
            let columns = [("id", MC_COLUMN_INTEGER), ("p", MC_COLUMN_INTEGER)]
            let rows = try CoreImport(connection, into: "c", columns) { options, _ in options.commit_rows = commitRows }
            let error = #expect(throws: CoreError.self) {
                try rows.push("[[1,9]]")
                _ = try rows.finish()
                try CoreError.check { mc_connection_commit(connection, $0) }
            }
            #expect(error?.code == MC_ERROR_CONSTRAINT || error?.code == MC_ERROR_MISUSE, "\(error as Any)")
            if isInner { mc_connection_rollback(connection) }
            #expect(try integer(connection, "SELECT count(*) FROM c") == 0)
        }
    }

    @Test("commits on the way have all of what they commit without memory for any of their steps", arguments: [false, true])
    func commits(isInner: Bool) throws {
        let spaces = String(repeating: " ", count: 20_000)
        var failures = 0
        for allocation in Int64(0)... {
            var hasFailed = false
            try core.with(writer: true) { connection in
                if isInner { try CoreError.check { mc_connection_begin(connection, $0) } }
                let rows = try CoreImport(connection, into: "t", Self.columns) { options, _ in options.commit_rows = 1 }
                fault_memory_fail_after(allocation, false)
                let result = Result { try rows.push(#"[[1,"a"],[2,"b"]]"# + spaces) }
                hasFailed = fault_memory_has_failed()
                fault_memory_fail_after(-1, false)
                if case .failure(let error) = result {
                    #expect((error as? CoreError)?.code == MC_ERROR_NO_MEMORY, "allocation \(allocation): \(error)")
                    failures += 1
                } else {
                    _ = try rows.finish()
                }
            }
            try core.with(writer: true) { connection in
                let count = try integer(connection, "SELECT count(*) FROM t")
                #expect(count == 0 || count == 2)
                try exec(connection, "DELETE FROM t")
            }
            if !hasFailed { break }
        }
        #expect(failures > 3)
    }

    @Test func `the second thread tells that it begins`() throws {
        try core.with(writer: true) { connection in
            let begun = UnsafeMutablePointer<Int>.allocate(capacity: 1)
            begun.initialize(to: 0)
            defer { begun.deallocate() }
            let rows = try CoreImport(connection, into: "t", Self.columns) { options, _ in
                options.threads = MC_IMPORT_THREADS_ON
                options.thread_begins = { $0!.assumingMemoryBound(to: Int.self).pointee += 1 }
                options.thread_context = UnsafeMutableRawPointer(begun)
            }
            try rows.push(#"[[1,"a"]]"#)
            #expect(try rows.finish().inserted == 1 && begun.pointee == 1)
        }
    }
}
