import FaultInjection
import Foundation
import MobileCore
import MobileExecution
import MobileSQLite
import Synchronization
import Testing

/// The refusals of a pool and its statements, and their behaviour without memory.
@Suite struct RefusalTests {
    @Test func `values are bound to a statement that stands on a row, and too long ones are not`() throws {
        let core = try CorePool()
        try core.with { (connection) throws in
            try withStatement(connection, "SELECT ?1 UNION ALL SELECT ?1") { (statement) throws in
                var hasRow = false, length = 0
                try CoreError.check { mc_statement_bind_text(statement, 1, "abc", 3, $0) }
                try CoreError.check { mc_statement_step(statement, &hasRow, $0) }
                try CoreError.check { mc_statement_bind_text(statement, 1, nil, 0, $0) }
                #expect(!mc_statement_is_on_row(statement))
                try CoreError.check { mc_statement_step(statement, &hasRow, $0) }
                #expect(mc_statement_column_text(statement, 0, &length) != nil && length == 0)
                for status in [
                    mc_statement_bind_text(statement, 1, "x", 1_500_000_000, nil), mc_statement_bind_blob(statement, 1, "x", 1_500_000_000, nil),
                ] { #expect(status == MC_ERROR_LIMIT) }
                #expect(mc_statement_bind_real(statement, 2, 1, nil) == MC_ERROR_MISUSE)
            }
        }
        mc_statement_return(nil)
        mc_ticket_free(nil)
        mc_cursor_free(nil)
        mc_row_page_free(nil)
    }

    @Test func `a script runs up to its first failure`() throws {
        let core = try CorePool()
        try core.with(writer: true) { (writer) throws in
            var changes: Int64 = -1
            for (script, expected) in [
                ("CREATE TABLE u(x UNIQUE);\n\t ;\r\n INSERT INTO u VALUES (1);; -- the end\n", Int64(1)), ("-- nothing", 0), (";", 0), ("", 0),
                ("INSERT INTO u VALUES (2);\t\n", 1), ("SELECT x FROM u; UPDATE u SET x = x + 10", 2),
            ] {
                try CoreError.check { mc_connection_exec(writer, script, script.utf8.count, &changes, $0) }
                #expect(changes == expected, "\(script)")
            }
            for (script, code) in [
                ("INSERT INTO u VALUES (3); INSERT INTO u VALUES (3); INSERT INTO u VALUES (4)", MC_ERROR_CONSTRAINT),
                ("INSERT INTO u VALUES (5); INSERT INTO missing VALUES (1); INSERT INTO u VALUES (6)", MC_ERROR_SQLITE),
                ("SELECT 1; SELEKT 2", MC_ERROR_SQLITE),
            ] {
                let error = #expect(throws: CoreError.self) { try exec(writer, script) }
                #expect(error?.code == code, "\(script)")
            }
            #expect(try integer(writer, "SELECT count(*) FROM u WHERE x IN (11, 12, 3, 5)") == 4 && integer(writer, "SELECT count(*) FROM u") == 4)
            var statement: OpaquePointer?
            #expect(mc_statement_prepare(writer, "SELECT 1; SELEKT 2", 18, &statement, nil) == MC_ERROR_MISUSE)
            let noText = [CChar](repeating: CChar(bitPattern: 0x80), count: 100)
            let error = #expect(throws: CoreError.self) { try CoreError.check { mc_statement_prepare(writer, noText, 100, &statement, $0) } }
            #expect(error?.message.hasPrefix("\"...\": ") == true)
        }
    }

    @Test func `without a transaction there is no savepoint to begin, to release or to undo`() throws {
        let core = try CorePool()
        try core.with(writer: true) { (writer) throws in
            #expect(mc_connection_savepoint(writer, nil) == MC_ERROR_MISUSE)
            #expect(mc_connection_release_savepoint(writer, nil) == MC_ERROR_MISUSE)
            mc_connection_rollback_savepoint(writer)
            try exec(writer, "CREATE TABLE t (x)")
        }
        #expect(try core.integer("SELECT count(*) FROM t") == 0)
    }

    @Test func `an interrupted connection begins nothing`() throws {
        let core = try CorePool()
        var ticket: OpaquePointer?
        try CoreError.check { mc_ticket_create(&ticket, $0) }
        let writer = try core.checkOut(writer: true, loose: true, ticket: ticket)
        try withStatement(writer, "SELECT 1") { statement in
            mc_ticket_interrupt(ticket!)
            var hasRow = false
            #expect(mc_statement_step(statement, &hasRow, nil) == MC_ERROR_INTERRUPTED)
        }
        #expect(mc_connection_begin(writer, nil) == MC_ERROR_INTERRUPTED)
        #expect(mc_connection_savepoint(writer, nil) == MC_ERROR_INTERRUPTED)
        #expect(mc_connection_exec(writer, "SELECT 1; SELECT 2", 18, nil, nil) == MC_ERROR_INTERRUPTED)
        core.giveBack(writer)
        mc_ticket_free(ticket)
    }

    @Test func `a wait for another pool's lock is interrupted`() throws {
        let core = try CorePool()
        let other = try CorePool(existing: core.directory + "/core.db")
        let holder = try other.checkOut(writer: true, loose: true)
        try CoreError.check { mc_connection_begin(holder, $0) }
        var made: OpaquePointer?
        try CoreError.check { mc_ticket_create(&made, $0) }
        nonisolated(unsafe) let ticket = made!
        let hasBegun = Atomic(false)
        let thread = TestThread {
            let writer = try core.checkOut(writer: true, ticket: ticket)
            defer { core.giveBack(writer) }
            hasBegun.store(true, ordering: .releasing)
            try CoreError.check { mc_connection_begin(writer, $0) }
        }
        while !hasBegun.load(ordering: .acquiring) {}
        mc_ticket_interrupt(ticket)
        let error = #expect(throws: CoreError.self) { try thread.value() }
        #expect(error?.code == MC_ERROR_INTERRUPTED)
        mc_ticket_free(ticket)
        other.giveBack(holder)
    }

    @Test func `a file that cannot be opened is reported with the reason, and who wants no details gets none`() throws {
        let core = try CorePool()
        var options = mc_pool_default_options(), pool: OpaquePointer?
        #expect(mc_pool_open(core.directory + "/no/such/folder.db", &options, &pool, nil) == MC_ERROR_NOT_FOUND)
        func message(_ path: String) -> String {
            var error = mc_error()
            _ = mc_pool_open(path, &options, &pool, &error)
            return withUnsafeBytes(of: error.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        let folder = core.directory + "/no/such"
        #expect(message(folder + "/x.db") == "open \"\(folder)/x.db\": its folder does not exist; create the folder, or correct the path")
        #expect(message(core.directory) == "open \"\(core.directory)\": it is a folder; give the path of a file")
        // Far longer than any path: the reason is SQLite's.
        #expect(message("/" + String(repeating: "x/", count: 5000)).hasPrefix("open \"/x/x/"))
        options.creates_file = false
        #expect(mc_pool_open(core.directory + "/no.db", &options, &pool, nil) == MC_ERROR_NOT_FOUND)
        #expect(message(core.directory + "/no.db") == "open \"\(core.directory)/no.db\": the file does not exist")
        let error = #expect(throws: CoreError.self) {
            try "nowhere".withCString { name in _ = try CorePool.open(core.directory + "/x.db") { $0.vfs = name } }
        }
        #expect(error?.code == MC_ERROR_NOT_FOUND && pool == nil)
    }

    /// The result of a check-out without a thread.
    private final class Answer: Sendable {
        let codes = SystemLock<[UInt32]>([])
        static let granted: mc_granted = { context, connection, error in
            Unmanaged<Answer>.fromOpaque(context!).takeUnretainedValue().codes.withLock { $0.append(error?.pointee.code.rawValue ?? 0) }
        }
    }

    @Test func `a check-out without a thread is told without memory, of a failing storage and of a closed pool`() throws {
        let storage = try #require(fault_storage_create(nil))
        defer { fault_storage_free(storage) }
        let core = try CorePool { $0.vfs = fault_storage_name(storage) }
        let answer = Answer()
        func ask(writer: Bool) {
            var checkout = mc_checkout(writer: writer, is_long: false, loose: true, timeout_ns: Int64(MC_WAIT_FOREVER), label: nil, ticket: nil)
            mc_pool_checkout_later(core.pool, &checkout, Answer.granted, Unmanaged.passUnretained(answer).toOpaque())
        }
        let writer = try core.checkOut(writer: true, loose: true)
        fault_memory_fail_after(0, true)
        ask(writer: true)
        fault_memory_fail_after(-1, false)
        core.giveBack(writer)
        fault_storage_fail_after(storage, 0, SQLITE_IOERR, true)
        ask(writer: false)
        fault_storage_fail_after(storage, -1, 0, false)
        core.close()
        ask(writer: true)
        #expect(answer.codes.withLock { $0 } == [MC_ERROR_NO_MEMORY.rawValue, MC_ERROR_IO.rawValue, MC_ERROR_CLOSED.rawValue])
    }

    @Test func `reading a value begins with memory for its pin and its handle`() throws {
        let core = try CorePool()
        try core.prepareBlobs()
        let value = try core.writeBlob([1, 2, 3])
        try core.with(writer: true) { try exec($0, "CREATE TABLE t (x); INSERT INTO t VALUES (x'00')") }
        let other = try CorePool(existing: core.directory + "/core.db")
        var reader: OpaquePointer?
        try other.with { connection in
            fault_memory_fail_after(0, true)
            #expect(mc_blob_reader_open(other.pool, value, nil, &reader, nil) == MC_ERROR_NO_MEMORY)
            #expect(mc_column_value_open(mc_connection_sqlite(connection), "t", "x", 1, &reader, nil) == MC_ERROR_NO_MEMORY)
            fault_memory_fail_after(-1, false)
        }
        #expect(reader == nil)
        #expect(try other.readBlob(value) == [1, 2, 3])
    }

    @Test func `a write that is longer than the buffer fails at the database, and its writer with it`() throws {
        let core = try CorePool()
        try core.prepareBlobs()
        try core.with(writer: true) { try exec($0, "CREATE TRIGGER refuse BEFORE INSERT ON _mc_chunk BEGIN SELECT raise(ABORT, 'not now'); END") }
        let bytes = [UInt8](repeating: 1, count: 2_000_000)
        for first in [0, 100] {  // in place, and from the buffer
            let writer = try core.openWriter()
            defer { mc_blob_writer_free(writer) }
            try CoreError.check { mc_blob_writer_write(writer, bytes, first, $0) }
            #expect(mc_blob_writer_write(writer, bytes, bytes.count, nil) == MC_ERROR_CONSTRAINT)
            #expect(mc_blob_writer_write(writer, bytes, 1, nil) == MC_ERROR_MISUSE)
        }
        #expect(try core.integer("SELECT count(*) FROM _mc_value") == 0)
    }

    @Test func `an import refuses what contradicts itself before it reads a byte`() throws {
        typealias Change = (inout mc_import_options, inout mc_import_table) -> Void
        let core = try CorePool()
        try core.with(writer: true) { (writer) throws in
            try exec(writer, "CREATE TABLE id (id INTEGER PRIMARY KEY)")
            "id".withCString { name in
                var column = mc_column(name: name, type: MC_COLUMN_INTEGER, precision: 0, scale: 0, required: false)
                var key: UnsafePointer<CChar> = name
                withUnsafePointer(to: &column) { column in
                    withUnsafePointer(to: &key) { key in
                        func open(_ change: Change) -> mc_status {
                            var table = mc_import_table(
                                table: name, member: nil, columns: column, column_count: 1, mode: MC_IMPORT_UPSERT, keys: key, key_count: 1,
                                on_insert: nil,
                                on_insert_count: 0, pending: nil, large: nil, large_count: 0)
                            return withUnsafeMutablePointer(to: &table) { table in
                                var options = mc_import_options(
                                    tables: table, table_count: 1, is_object: false, depth: 0, row_bytes: 0, inflated_bytes: 0, inflate_ratio: 0,
                                    commit_rows: 0,
                                    commit_bytes: 0, progress: nil, observer: nil, context: nil, threads: MC_IMPORT_THREADS_OFF, thread_begins: nil,
                                    thread_context: nil, connection: nil)
                                var made: OpaquePointer?
                                change(&options, &table.pointee)
                                let status = mc_import_open(mc_connection_sqlite(writer), &options, &made, nil)
                                mc_import_free(made)
                                return status
                            }
                        }
                        #expect(open { _, _ in } == MC_OK)
                        let wrong: [Change] = [
                            { options, _ in options.table_count = 0 }, { options, _ in options.commit_rows = -1 },
                            { options, _ in options.commit_bytes = -1 },
                            { _, table in table.key_count = 0 }, { _, table in table.key_count = 2 }, { _, table in table.column_count = 0 },
                            { _, table in table.mode = mc_import_mode(rawValue: 9) },
                            { _, table in (table.mode, table.on_insert_count) = (MC_IMPORT_DELETE, 1) },
                        ]
                        for (number, change) in wrong.enumerated() { #expect(open(change) == MC_ERROR_MISUSE, "\(number)") }
                    }
                }
            }
        }
    }

    @Test func `a pin is refused without memory`() throws {
        let core = try CorePool()
        fault_memory_fail_after(0, true)
        #expect(mc_blob_pin(core.pool, 7, nil) == MC_ERROR_NO_MEMORY)
        fault_memory_fail_after(-1, false)
        for value in Int64(1)...20 { try CoreError.check { mc_blob_pin(core.pool, value, $0) } }
        for value in Int64(1)...20 { mc_blob_unpin(core.pool, value) }
    }

    @Test func `changes of attached databases are nobody's, and a new observer is told that something changed, but no part of it`() throws {
        let core = try CorePool()
        try core.with(writer: true) { try exec($0, "CREATE TABLE a (x); CREATE TABLE b (x)") }
        let first = Answer(), second = Answer()
        var observers: [OpaquePointer?] = []
        func observe(_ table: String, _ told: Answer) throws {
            try table.withCString { name in
                try [UnsafePointer(name)].withUnsafeBufferPointer { names in
                    var observation = mc_observation(
                        tables: names.baseAddress, table_count: 1,
                        changed: { context, changes in
                            Unmanaged<Answer>.fromOpaque(context!).takeUnretainedValue().codes.withLock {
                                $0.append(UInt32(changes.pointee.table_count))
                            }
                        }, context: Unmanaged.passUnretained(told).toOpaque())
                    var observer: OpaquePointer?
                    try CoreError.check { mc_pool_observe(core.pool, &observation, &observer, $0) }
                    observers.append(observer)
                }
            }
        }
        try observe("a", first)
        try core.with(writer: true) { writer in
            try observe("b", second)
            try exec(
                writer, "ATTACH ':memory:' AS other; CREATE TABLE other.a (x); INSERT INTO other.a VALUES (1); INSERT INTO b VALUES (1); DETACH other"
            )
            #expect(first.codes.withLock { $0 } == [])
            try exec(writer, "INSERT INTO a VALUES (1)")
        }
        #expect(first.codes.withLock { $0 } == [1])
        let early = second.codes.withLock { $0 }
        #expect(!early.isEmpty && early.allSatisfy { $0 == 0 }, "of the check-out that it came in it knows no tables")
        try core.with(writer: true) { try exec($0, "INSERT INTO b VALUES (2)") }
        #expect(first.codes.withLock { $0 } == [1] && second.codes.withLock { $0 } == early + [1])
        for observer in observers { mc_pool_unobserve(core.pool, observer) }
        mc_pool_unobserve(core.pool, nil)
    }

    @Test("a cursor of too many columns or terms is refused", arguments: [(2001, 1), (1, 17), (0, 1), (1, 0)])
    func cursors(columns: Int, terms: Int) {
        let error = #expect(throws: CoreError.self) {
            _ = try TestCursor((0..<columns).map { "c\($0)" }, from: "t", where: nil, orderedBy: (0..<terms).map { Term("c\($0)") })
        }
        #expect(error?.code == MC_ERROR_MISUSE)
    }
}
