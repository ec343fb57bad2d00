import FaultInjection
import Foundation
import MobileCore
import MobileExecution
import MobileSQLite
import Testing

/// Connections, statements and large values at the limits of their arguments.
@Suite struct CornerTests {
    private func failure(_ body: () throws -> Void) -> CoreError? { #expect(throws: CoreError.self, performing: body) }

    @Test func `an SQL text with a zero byte is refused as a whole, and a message shows its first line`() throws {
        let core = try CorePool()
        try core.with(writer: true) { connection in
            #expect(failure { try exec(connection, "SELECT 1,\nx FROM nowhere") }?.message == "\"SELECT 1,...\": no such table: nowhere")
            try exec(connection, "CREATE TABLE u(x); INSERT INTO u VALUES(1), (2)")
            #expect(
                failure { try exec(connection, "DELETE FROM u\u{0} WHERE x = 1") }?.message.hasPrefix(
                    "\"DELETE FROM u...\": byte 13 of the SQL text is zero") == true)
            #expect(failure { try exec(connection, "CREATE TABLE v(x);\u{0}CREATE TABLE w(x)") }?.code == MC_ERROR_MISUSE)
            #expect(throws: CoreError.self) { try integer(connection, "SELECT 7;\u{0}") }
            #expect(try texts(connection, "SELECT name FROM sqlite_schema") == ["u"])
            #expect(try integer(connection, "SELECT count(*) FROM u") == 2)
        }
    }

    @Test func `NULL has no bytes, and a zero-length blob has an address`() throws {
        let core = try CorePool()
        try core.with { connection in
            try withStatement(connection, "SELECT NULL, x''") { statement in
                var hasRow = false, length = 1
                try CoreError.check { mc_statement_step(statement, &hasRow, $0) }
                #expect(mc_statement_column_text(statement, 0, &length) == nil && length == 0)
                #expect(mc_statement_column_blob(statement, 0, &length) == nil && length == 0)
                #expect(mc_statement_column_blob(statement, 1, &length) != nil && length == 0)
            }
        }
    }

    @Test func `a pool that only reads counts its readers`() throws {
        let core = try CorePool()
        try core.with(writer: true) { try exec($0, "CREATE TABLE t(x)") }
        let reading = try CorePool(existing: core.directory + "/core.db") { $0.read_only = true }
        let reader = try reading.checkOut()
        #expect(reading.statistics.readers_active == 1 && !reading.statistics.writer_is_active)
        #expect(mc_pool_get_connection_statistics(reading.pool, nil, 0) == 1)
        reading.giveBack(reader)
    }

    @Test func `a label is cut between characters`() throws {
        let core = try CorePool()
        for (label, isShown) in [
            (Array("x\(String(repeating: "é", count: 100))".utf8CString), true), ([CChar](repeating: -128, count: 200) + [0], false),
        ] {
            var checkout = mc_checkout(writer: true, is_long: false, loose: true, timeout_ns: Int64(MC_WAIT_NEVER), label: nil, ticket: nil)
            var writer: OpaquePointer?, none: OpaquePointer?
            try label.withUnsafeBufferPointer { label in
                checkout.label = label.baseAddress
                try CoreError.check { mc_pool_checkout(core.pool, &checkout, &writer, $0) }
            }
            checkout.label = nil
            let error = failure { try CoreError.check { mc_pool_checkout(core.pool, &checkout, &none, $0) } }
            #expect(error?.code == MC_ERROR_TIMEOUT && error?.message.contains("\u{FFFD}") == false)
            #expect(error?.message.contains(isShown ? "\"xéé" : "\"a write without a label\"") == true)
            core.giveBack(writer!)
        }
    }

    @Test func `a log without a limit stops no write, one that cannot be copied back says why, and who pins it need not have a name`() throws {
        let storage = try #require(fault_storage_create(nil))
        defer { fault_storage_free(storage) }
        for limit in [Int64(0), 1] {
            let core = try CorePool {
                $0.vfs = fault_storage_name(storage)
                ($0.checkpoint_pages, $0.log_limit_bytes, $0.busy_timeout_ns) = (0, limit, 0)
            }
            defer { core.close() }
            func write() throws {
                try core.with(writer: true) { writer in
                    try CoreError.check { mc_connection_begin(writer, $0) }
                    try exec(writer, "CREATE TABLE IF NOT EXISTS t(x); INSERT INTO t VALUES (1)")
                    try CoreError.check { mc_connection_commit(writer, $0) }
                }
            }
            try write()
            if limit > 0 {
                fault_storage_fail_after(storage, 0, SQLITE_IOERR, true)
                #expect(failure { try write() }?.code == MC_ERROR_IO)
                fault_storage_fail_after(storage, -1, 0, false)
            }
            let reader = try core.checkOut(loose: true)
            try CoreError.check { mc_connection_begin(reader, $0) }
            #expect(try integer(reader, "SELECT count(*) FROM t") == 1)
            if limit == 0 {
                try write()
            } else {
                try? write()
                let error = failure { try write() }
                #expect(error?.code == MC_ERROR_TIMEOUT && error?.message.contains("a read without a label") == true, "\(error as Any)")
            }
            core.giveBack(reader)
            try write()
        }
    }

    @Test func `a transaction that SQL began is not ended without memory, and goes back with its connection`() throws {
        let core = try CorePool()
        try core.with(writer: true) { try exec($0, "CREATE TABLE t(x)") }
        try core.with(writer: true) { writer in
            try exec(writer, "BEGIN; INSERT INTO t VALUES (1)")
            fault_memory_fail_after(0, true)
            let status = mc_connection_commit(writer, nil)
            fault_memory_fail_after(-1, false)
            #expect(status == MC_ERROR_NO_MEMORY)
        }
        #expect(try core.integer("SELECT count(*) FROM t") == 0)
        try core.with(writer: true) { writer in
            try CoreError.check { mc_connection_begin(writer, $0) }
            let lost = failure { try CoreError.check { mc_connection_release_savepoint(writer, $0) } }
            #expect(lost?.message == "release the savepoint: no such savepoint: mc")
        }
    }

    @Test func `a connection may come back on another thread`() throws {
        let core = try CorePool()
        let writer = try core.checkOut(writer: true)
        nonisolated(unsafe) let held = writer
        try TestThread { core.giveBack(held) }.value()
        try core.with(writer: true) { try exec($0, "CREATE TABLE t(x)") }
        #expect(core.statistics.checkouts >= 2 && !core.statistics.writer_is_active)
    }

    @Test func `who waits for another process's lock looks again and again until its time is up`() throws {
        let core = try CorePool()
        try core.with(writer: true) { try exec($0, "CREATE TABLE t(x)") }
        let other = try SQLiteHandle(core.directory + "/core.db")
        defer { other.close() }
        try other.run("BEGIN IMMEDIATE")
        let writer = try core.checkOut(writer: true, timeout: 90_000_000)
        #expect(failure { try CoreError.check { mc_connection_begin(writer, $0) } }?.message.hasPrefix("no write lock within 0.1 s") == true)
        core.giveBack(writer)
    }

    /// The texts of a trace.
    private final class Traced: Sendable {
        let texts = SystemLock<[String]>([])
        static let callback: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>, Int) -> Void = { context, sql, length in
            let text = String(decoding: UnsafeRawBufferPointer(start: sql, count: length), as: UTF8.self)
            Unmanaged<Traced>.fromOpaque(context!).takeUnretainedValue().texts.withLock { $0.append(text) }
        }
    }

    @Test func `a trace with values gets the comments of triggers as they are, and nothing where its text has no memory`() throws {
        let traced = Traced()
        let core = try CorePool {
            $0.trace = Traced.callback
            $0.trace_context = Unmanaged.passUnretained(traced).toOpaque()
            $0.trace_values = true
        }
        try core.with(writer: true) { connection in
            try exec(connection, "CREATE TABLE t(x); CREATE TRIGGER copies AFTER INSERT ON t WHEN new.x = 1 BEGIN INSERT INTO t VALUES (2); END")
            try withStatement(connection, "INSERT INTO t VALUES (?1)") { statement in
                try CoreError.check { mc_statement_bind_integer(statement, 1, 1, $0) }
                traced.texts.withLock { $0 = [] }
                try CoreError.check { mc_statement_run(statement, nil, $0) }
                let texts = traced.texts.withLock { $0 }
                #expect(texts.first == "INSERT INTO t VALUES (1)" && texts.dropFirst().allSatisfy { $0.hasPrefix("--") } && texts.count > 1)
                var silent = 0
                for allocation in Int64(0)..<20 {
                    traced.texts.withLock { $0 = [] }
                    fault_memory_fail_after(allocation, false)
                    let status = mc_statement_run(statement, nil, nil)
                    fault_memory_fail_after(-1, false)
                    if status == MC_OK, traced.texts.withLock({ $0.first?.hasPrefix("--") }) == true { silent += 1 }
                }
                #expect(silent > 0)
            }
        }
    }

    @Test func `a pool on storage of its own is not opened without memory for the name`() throws {
        let vfs = try #require(sqlite3_vfs_find(nil)).pointee.zName
        for allocation in Int64(0)..<12 {
            fault_memory_fail_after(allocation, true)
            let error = failure { mc_pool_free(try CorePool.open("/nowhere/\(allocation).db") { $0.vfs = vfs }) }
            fault_memory_fail_after(-1, false)
            #expect(error?.code == MC_ERROR_NO_MEMORY || error?.code == MC_ERROR_SQLITE)
        }
    }

    @Test func `rows that a failed statement has undone are not reported, and hide no others`() throws {
        let core = try CorePool()
        try core.with(writer: true) { try exec($0, "CREATE TABLE t(x NOT NULL); CREATE TABLE w(k PRIMARY KEY) WITHOUT ROWID") }
        final class Box: Sendable { let any = SystemLock<[Bool]>([]) }
        let box = Box()
        var observation = mc_observation(
            tables: nil, table_count: 0,
            changed: { context, changes in
                let any = changes.pointee.any_table
                Unmanaged<Box>.fromOpaque(context!).takeUnretainedValue().any.withLock { $0.append(any) }
            }, context: Unmanaged.passUnretained(box).toOpaque())
        var observer: OpaquePointer?
        try CoreError.check { mc_pool_observe(core.pool, &observation, &observer, $0) }
        try core.with(writer: true) { writer in
            try CoreError.check { mc_connection_begin(writer, $0) }
            #expect(failure { try exec(writer, "INSERT INTO t VALUES (1), (NULL)") }?.code == MC_ERROR_CONSTRAINT)
            try CoreError.check { mc_connection_commit(writer, $0) }
        }
        #expect(box.any.withLock { $0 } == [])
        try core.with(writer: true) { try exec($0, "INSERT INTO t VALUES (1), (2)") }
        try core.with(writer: true) { writer in
            try CoreError.check { mc_connection_begin(writer, $0) }
            #expect(failure { try exec(writer, "INSERT INTO t VALUES (3), (4), (NULL)") }?.code == MC_ERROR_CONSTRAINT)
            // SQLite names none of these.
            try exec(writer, "INSERT INTO w VALUES (1), (2)")
            try CoreError.check { mc_connection_commit(writer, $0) }
        }
        #expect(box.any.withLock { $0 } == [false, true])
        mc_pool_unobserve(core.pool, observer)
    }

    @Test func `a value is read back and forth, and text only forwards by characters that are asked for`() throws {
        let core = try CorePool()
        try core.prepareBlobs()
        let bytes = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let value = try core.writeBlob(bytes, chunkSize: 1500), text = try core.writeBlob(Array("añ€".utf8), unit: MC_BLOB_SCALARS)
        var reader: OpaquePointer?, piece = [UInt8](repeating: 0, count: 100), length = 0
        try CoreError.check { mc_blob_reader_open(core.pool, value, nil, &reader, $0) }
        for position in [9000, 50, 9050, 0] {
            try CoreError.check { mc_blob_reader_seek(reader!, Int64(position), $0) }
            try CoreError.check { mc_blob_reader_read(reader!, &piece, 100, &length, $0) }
            #expect(piece == Array(bytes[position..<position + 100]))
        }
        mc_blob_reader_free(reader)
        try CoreError.check { mc_blob_reader_open(core.pool, text, nil, &reader, $0) }
        var characters = [CChar](repeating: 0, count: 100), units: Int64 = 0
        try CoreError.check { mc_blob_reader_read_text(reader!, -1, &characters, 100, &length, &units, $0) }
        #expect(length == 0 && units == 0 && mc_blob_reader_position(reader!) == 0)
        mc_blob_reader_free(reader)
    }

    @Test func `ids of large values end, and a chunk that is longer than SQLite takes is refused`() throws {
        let core = try CorePool()
        try core.prepareBlobs()
        _ = try core.writeBlob([1])
        try core.with(writer: true) { try exec($0, "UPDATE sqlite_sequence SET seq = \(Int64(1) << 40) WHERE name = '_mc_value'") }
        #expect(failure { _ = try core.writeBlob([2]) }?.code == MC_ERROR_LIMIT)
        try core.with(writer: true) { connection in
            try exec(connection, "UPDATE sqlite_sequence SET seq = 1 WHERE name = '_mc_value'")
            sqlite3_limit(mc_connection_sqlite(connection), SQLITE_LIMIT_LENGTH, 1000)
        }
        let tooLong = failure { _ = try core.writeBlob([UInt8](repeating: 1, count: 2000), chunkSize: 1500) }
        #expect(tooLong?.message.hasPrefix("bind chunk 0: ") == true, "\(tooLong?.message ?? "")")
        #expect(try core.integer("SELECT count(*) FROM _mc_value") == 1)
    }

    @Test func `a value that cannot be pinned is not finished, and one is written without kept statements or not at all`() throws {
        let core = try CorePool { $0.statement_cache = 0 }
        try core.prepareBlobs()
        for value in Int64(100)..<108 { try CoreError.check { mc_blob_pin(core.pool, value, $0) } }  // the whole initial capacity
        var failures = 0
        for allocation in Int64(0)... {
            let writer = try core.openWriter(MC_BLOB_SCALARS, chunkSize: 1500)
            defer { mc_blob_writer_free(writer) }
            let text = String(repeating: "é", count: 1000)
            fault_memory_fail_after(allocation, false)
            var status = mc_blob_writer_write(writer, text, text.utf8.count, nil)
            var value: Int64 = 0
            if status == MC_OK { status = mc_blob_writer_finish(writer, &value, nil) }
            let hasFailed = fault_memory_has_failed()
            fault_memory_fail_after(-1, false)
            #expect(status == MC_OK || status == MC_ERROR_NO_MEMORY && hasFailed, "allocation \(allocation)")
            if status == MC_OK { mc_blob_unpin(core.pool, value) } else { failures += 1 }
            if !hasFailed { break }
        }
        #expect(failures > 10)
    }

    @Test func `leftovers are looked for without memory, and who does not ask why is not told`() throws {
        let core = try CorePool { $0.statement_cache = 0 }
        try core.prepareBlobs()
        try core.with(writer: true) { connection in
            try exec(connection, "INSERT INTO _mc_value(unit, chunk, state, length, bytes) VALUES (0, 4, 0, 0, 0)")
            var failures = 0
            for allocation in Int64(0)... {
                fault_memory_fail_after(allocation, false)
                let status = mc_blob_prepare(connection, nil)
                let hasFailed = fault_memory_has_failed()
                fault_memory_fail_after(-1, false)
                #expect(status == MC_OK || status == MC_ERROR_NO_MEMORY && hasFailed)
                failures += status == MC_OK ? 0 : 1
                if !hasFailed { break }
                try exec(connection, "UPDATE _mc_value SET state = 0")
            }
            #expect(failures > 10)
        }
    }

    @Test func `an observer that another thread ends has ended its last call by then`() throws {
        final class Box: Sendable {
            let hasBegun = DispatchSemaphore(value: 0)
            let hasEnded = SystemLock(false)
        }
        let core = try CorePool(), box = Box()
        try core.with(writer: true) { try exec($0, "CREATE TABLE t(x)") }
        var observation = mc_observation(
            tables: nil, table_count: 0,
            changed: { context, _ in
                let box = Unmanaged<Box>.fromOpaque(context!).takeUnretainedValue()
                box.hasBegun.signal()
                for _ in 0..<5000 { sched_yield() }
                box.hasEnded.withLock { $0 = true }
            }, context: Unmanaged.passUnretained(box).toOpaque())
        var observer: OpaquePointer?
        try CoreError.check { mc_pool_observe(core.pool, &observation, &observer, $0) }
        let writing = TestThread { try core.with(writer: true) { try exec($0, "INSERT INTO t VALUES (1)") } }
        box.hasBegun.wait()
        mc_pool_unobserve(core.pool, observer)
        #expect(box.hasEnded.withLock { $0 })
        try writing.value()
    }

    @Test func `who waits in vain for a reader is told how long the first of them has been out`() throws {
        let core = try CorePool()
        try core.with(writer: true) { try exec($0, "CREATE TABLE t(x)") }
        let readers = try (0..<2).map { _ in try core.checkOut(loose: true) }
        let error = failure { _ = try core.checkOut(loose: true, timeout: Int64(MC_WAIT_NEVER)) }
        #expect(error?.code == MC_ERROR_TIMEOUT && error?.message.contains("all 2 are in use") == true)
        for reader in readers { core.giveBack(reader) }
    }
}
