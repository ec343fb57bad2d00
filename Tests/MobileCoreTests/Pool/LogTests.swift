import FaultInjection
import Foundation
import MobileCore
import MobileExecution
import MobileSQLite
import Testing

/// The bounded size of the write-ahead log, and the warnings about readers that pin it.
@Suite struct LogTests {
    /// The warnings of a pool.
    private final class Warnings: Sendable {
        struct Warning: Sendable {
            let message: String, reader: String?, bytes: Int64, age: Int64
        }

        let all = SystemLock<[Warning]>([])
        var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }
        var list: [Warning] { all.withLock { $0 } }

        static let callback: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<mc_log_warning>) -> Void = { context, warning in
            let value = warning.pointee
            Unmanaged<Warnings>.fromOpaque(context!).takeUnretainedValue().all.withLock {
                $0.append(
                    Warning(
                        message: String(cString: value.message), reader: value.reader.map { String(cString: $0) }, bytes: value.log_bytes,
                        age: value.reader_age_ns))
            }
        }
    }

    private static func fill(_ writer: OpaquePointer, pages: Int) throws {
        try exec(
            writer,
            "INSERT INTO t WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(pages)) SELECT zeroblob(900) FROM n")
    }

    private static func size(of core: CorePool) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: core.directory + "/core.db-wal")
        return try #require(attributes[.size] as? Int)
    }

    private static func open(_ change: (inout mc_pool_options) -> Void = { _ in }) throws -> CorePool {
        let core = try CorePool {
            $0.page_size = 1024
            $0.checkpoint_pages = 20
            change(&$0)
        }
        try core.with(writer: true) { try exec($0, "CREATE TABLE t (x)") }
        return core
    }

    @Test func `a log that nobody reads is copied back and starts over`() throws {
        let core = try Self.open()
        for _ in 0..<50 { try core.with(writer: true) { try Self.fill($0, pages: 10) } }
        #expect(core.statistics.log.checkpoints > 10)
        #expect(core.statistics.log.copied_pages > 400)
        #expect(core.statistics.log.held_checkpoints == 0)
        #expect(try Self.size(of: core) < 60 * 1048)
    }

    @Test func `without automatic checkpoints the log only grows`() throws {
        let core = try Self.open { $0.checkpoint_pages = 0 }
        for _ in 0..<20 { try core.with(writer: true) { try Self.fill($0, pages: 10) } }
        #expect(core.statistics.log.checkpoints == 0)
        #expect(core.statistics.log.bytes > 200 * 1048)
    }

    @Test func `the policy goes on behind a large value, whose own commits wait until the log has 16 MB`() throws {
        let core = try Self.open()
        try core.prepareBlobs()
        let before = core.statistics.log.checkpoints
        _ = try core.writeBlob([UInt8](repeating: 7, count: 300_000), pieces: 50_000, flushes: true)
        let written = core.statistics.log
        #expect(written.bytes > 300_000 && written.checkpoints <= before + 1)  // the checkpoint of the row's own commit
        try core.with(writer: true) { try Self.fill($0, pages: 10) }
        #expect(core.statistics.log.checkpoints > before)
        for _ in 0..<50 { try core.with(writer: true) { try Self.fill($0, pages: 10) } }
        #expect(core.statistics.log.checkpoints > before + 10)
        #expect(core.statistics.log.bytes < 100 * 1048)
    }

    @Test func `readers that follow on one another do not keep the log from starting over`() throws {
        let core = try Self.open()
        var readers: [OpaquePointer] = []
        for _ in 0..<100 {
            // At any time a reader has a snapshot: the next one begins before the previous one ends.
            let reader = try core.checkOut(loose: true)
            try CoreError.check { mc_connection_begin(reader, $0) }
            #expect(try integer(reader, "SELECT count(*) FROM t") % 10 == 0)
            readers.append(reader)
            if readers.count == 2 { core.giveBack(readers.removeFirst()) }
            try core.with(writer: true) { try Self.fill($0, pages: 10) }
        }
        for reader in readers { core.giveBack(reader) }
        for _ in 0..<3 { try core.with(writer: true) { try Self.fill($0, pages: 10) } }
        let bytes = core.statistics.log.bytes
        #expect(bytes < 1000 * 1048, "\(bytes) bytes")
    }

    @Test func `the reader that pins the log is named once, with its age`() throws {
        let warnings = Warnings()
        let core = try Self.open {
            $0.warn = Warnings.callback
            $0.warn_context = warnings.context
        }
        let reader = try core.checkOut(loose: true, label: "report of the year")
        try CoreError.check { mc_connection_begin(reader, $0) }
        #expect(try integer(reader, "SELECT count(*) FROM t") == 0)
        for _ in 0..<40 { try core.with(writer: true) { try Self.fill($0, pages: 10) } }
        let list = warnings.list
        #expect(list.count == 1)
        let warning = try #require(list.first)
        #expect(warning.reader == "report of the year")
        #expect(warning.bytes >= 160 * 1048 && warning.age > 0)
        // A path of more than 80 bytes is cut.
        #expect(warning.message.hasPrefix("the write-ahead log of \"\((core.directory + "/core.db").prefix(80))\" has grown to 0."))
        #expect(warning.message.contains(" MB: \"report of the year\", which has read for 0."))
        #expect(warning.message.hasSuffix(" s, keeps it from starting over"))
        #expect(core.statistics.log.held_checkpoints > 0)
        // The snapshot is unchanged.
        #expect(try integer(reader, "SELECT count(*) FROM t") == 0)
        core.giveBack(reader)
    }

    @Test func `the limit of the log holds for statements outside of a transaction`() throws {
        let core = try Self.open {
            $0.log_limit_bytes = 100 * 1048
            $0.busy_timeout_ns = 20_000_000
        }
        let reader = try core.checkOut(loose: true, label: "long read")
        try CoreError.check { mc_connection_begin(reader, $0) }
        _ = try integer(reader, "SELECT count(*) FROM t")
        let writer = try core.checkOut(writer: true, loose: true)
        var error: CoreError?
        for _ in 0..<50 where error == nil {
            do { try Self.fill(writer, pages: 10) } catch let failure as CoreError { error = failure }
        }
        #expect(error?.code == MC_ERROR_TIMEOUT && error?.message.contains("\"long read\"") == true)
        #expect(try Self.size(of: core) < 130 * 1048)
        for sql in ["BEGIN", "SAVEPOINT s", "DELETE FROM t; SELECT 1", "INSERT INTO t VALUES (1) RETURNING x"] {
            #expect(throws: CoreError.self) { try exec(writer, sql) }
        }
        #expect(try integer(writer, "SELECT count(*) FROM t") > 0)
        core.giveBack(reader)
        // A statement of the writer that is on a row does so as well, and is not waited for.
        try withStatement(writer, "SELECT x FROM t") { (statement) throws in
            var hasRow = false
            try CoreError.check { mc_statement_step(statement, &hasRow, $0) }
            let own = #expect(throws: CoreError.self) { try Self.fill(writer, pages: 1) }
            #expect(own?.message.contains("a statement of this connection that is on a row") == true)
        }
        try Self.fill(writer, pages: 1)
        core.giveBack(writer)
    }

    @Test func `a checkpoint that fails is counted, and a warning says so once until one succeeds`() throws {
        let storage = try #require(fault_storage_create(nil))
        defer { fault_storage_free(storage) }
        let warnings = Warnings()
        let core = try Self.open {
            $0.vfs = fault_storage_name(storage)
            $0.warn = Warnings.callback
            $0.warn_context = warnings.context
        }
        defer { core.close() }
        for round in 1...2 {
            // Some of the writes are those of the commit, which fails then, the others of the checkpoint after it.
            for number in 0..<100 where core.statistics.log.failed_checkpoints < round {
                fault_storage_fail_write(storage, Int64(number), SQLITE_IOERR | 3 << 8, false)  // SQLITE_IOERR_WRITE
                try? core.with(writer: true) { try Self.fill($0, pages: 30) }
            }
            #expect(core.statistics.log.failed_checkpoints == round && warnings.list.count == round)
            fault_storage_fail_after(storage, -1, 0, false)
            try core.with(writer: true) { try Self.fill($0, pages: 30) }
        }
        let warning = try #require(warnings.list.first)
        #expect(warning.message.contains(" cannot be copied to the database (disk I/O error): it has 0."))
        #expect(warning.reader == nil && warning.bytes > 0)
    }

    @Test("a file that was deleted, moved or replaced while it was open is not written", arguments: ["deleted", "moved", "replaced"])
    func moved(how: String) throws {
        let core = try Self.open(), path = core.directory + "/core.db"
        if how != "deleted" { try FileManager.default.moveItem(atPath: path, toPath: path + ".old") }
        if how == "deleted" { try FileManager.default.removeItem(atPath: path) }
        if how == "replaced" { try FileManager.default.copyItem(atPath: path + ".old", toPath: path) }
        try core.with(writer: true) { (writer) throws in
            // The file is looked for again some time after the last write that has found it.
            while mc_connection_begin(writer, nil) == MC_OK { mc_connection_rollback(writer) }
            for write in [{ try CoreError.check { mc_connection_begin(writer, $0) } }, { try exec(writer, "INSERT INTO t VALUES (1)") }] {
                let error = #expect(throws: CoreError.self) { try write() }
                #expect(error?.code == MC_ERROR_IO && error?.sqliteCode == SQLITE_READONLY | 4 << 8)
                #expect(error?.message == "\"\(path)\" has been deleted, moved or replaced while it was open: close the database, and open it again")
            }
            #expect(try integer(writer, "SELECT count(*) FROM t") == 0)
        }
        // A reader that is opened now would read another file.
        let error = #expect(throws: CoreError.self) { _ = try core.integer("SELECT count(*) FROM t") }
        #expect(error?.code == (how == "replaced" ? MC_ERROR_IO : MC_ERROR_NOT_FOUND), "\(error?.message ?? "")")
    }

    @Test func `a reader of another pool is told apart from the pool's own`() throws {
        let warnings = Warnings()
        let core = try Self.open {
            $0.warn = Warnings.callback
            $0.warn_context = warnings.context
        }
        let other = try CorePool.open(core.directory + "/core.db")
        defer { mc_pool_free(other) }
        var checkout = mc_checkout(writer: false, is_long: true, loose: true, timeout_ns: Int64(MC_WAIT_FOREVER), label: nil, ticket: nil)
        var reader: OpaquePointer?
        try CoreError.check { mc_pool_checkout(other, &checkout, &reader, $0) }
        try CoreError.check { mc_connection_begin(reader!, $0) }
        #expect(try integer(reader!, "SELECT count(*) FROM t") == 0)
        for _ in 0..<40 { try core.with(writer: true) { try Self.fill($0, pages: 10) } }
        #expect(warnings.list.map(\.reader) == [nil])
        #expect(warnings.list.first?.message.hasSuffix("MB: a reader of another process or pool keeps it from starting over") == true)
        mc_pool_return(other, reader!)
    }

    @Test func `above its limit a write waits for the reader in vain, and goes on when it has gone`() throws {
        let core = try Self.open { $0.log_limit_bytes = 300 * 1048 }
        let reader = try core.checkOut(loose: true, label: "endless export")
        try CoreError.check { mc_connection_begin(reader, $0) }
        #expect(try integer(reader, "SELECT count(*) FROM t") == 0)
        func write() throws {
            let writer = try core.checkOut(writer: true, timeout: 20_000_000)
            defer { core.giveBack(writer) }
            try CoreError.check { mc_connection_begin(writer, $0) }
            try Self.fill(writer, pages: 100)
            try CoreError.check { mc_connection_commit(writer, $0) }
        }
        var written = 0
        var failure: CoreError?
        while failure == nil {
            do {
                try write()
                written += 1
            } catch let error as CoreError { failure = error }
        }
        #expect((3...4).contains(written), "the limit, and one transaction")
        #expect(failure?.code == MC_ERROR_TIMEOUT)
        let message = try #require(failure?.message)
        #expect(message.hasPrefix("no write within 0.0 s: the write-ahead log has 0."))
        #expect(message.contains(" MB, above its limit of 0.3 MB, and \"endless export\", which has read for "))
        #expect(try Self.size(of: core) < 500 * 1048)
        core.giveBack(reader)
        try write()
        #expect(core.statistics.log.bytes < 200 * 1048, "it has started over")
        #expect(try core.integer("SELECT count(*) FROM t") == Int64(written + 1) * 100)
    }

    @Test func `the log's file keeps no more than its limit when it starts over`() throws {
        let core = try Self.open { $0.journal_size_limit = 50 * 1048 }
        try core.with(writer: true) { try Self.fill($0, pages: 500) }
        #expect(try Self.size(of: core) > 400 * 1048)
        try core.with(writer: true) { try Self.fill($0, pages: 1) }
        #expect(try Self.size(of: core) <= 50 * 1048)
        var settings = mc_pool_settings()
        mc_pool_get_settings(core.pool, &settings)
        #expect(settings.journal_size_limit == 50 * 1048 && settings.log_limit_bytes == 1_000_000_000)
    }
}
