import Foundation
import MobileCore
import MobileSQLite
import TestSupport
import Testing

/// Copies of databases in use.
@Suite struct BackupTests {
    private let core: CorePool
    private let copy: String

    init() throws {
        core = try CorePool()
        copy = core.directory + "/copy.db"
        try Self.fill(core)
    }

    /// A table of 2,000 rows that fill some hundred pages, each with the same value.
    private static func fill(_ core: CorePool) throws {
        let rows = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 2000) INSERT INTO t SELECT 1, zeroblob(500) FROM c"
        try core.with(writer: true) { try exec($0, "CREATE TABLE t(a, b); \(rows)") }
    }

    private final class Progress: @unchecked Sendable {  // called on the thread of the backup
        var reports: [(copied: Int64, all: Int64)] = []
        var act: (Int) -> Bool = { _ in true }

        static let callback: mc_backup_progress = { context, copied, all in
            let progress = Unmanaged<Progress>.fromOpaque(context!).takeUnretainedValue()
            progress.reports.append((copied, all))
            return progress.act(progress.reports.count)
        }
    }

    private func backUp(
        _ pool: CorePool? = nil, to path: String? = nil, pages: Int32 = 20, progress: Progress? = nil,
        _ change: (inout mc_backup_options) -> Void = { _ in }
    ) throws(CoreError) {
        var options = mc_backup_default_options()
        options.pages_per_step = pages
        if let progress {
            options.progress = Progress.callback
            options.context = Unmanaged.passUnretained(progress).toOpaque()
        }
        change(&options)
        try CoreError.check { mc_pool_backup((pool ?? core).pool, path ?? copy, &options, $0) }
    }

    /// Returns the values of all rows, and that the database is sound.
    private func values(_ path: String) throws -> (least: Int64, greatest: Int64, isSound: Bool) {
        // Immutable: no files of a log are made next to the copy.
        let pool = try CorePool(existing: path) { ($0.read_only, $0.immutable) = (true, true) }
        defer { pool.close() }
        let sound = try pool.integer("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'")
        return (try pool.integer("SELECT min(a) FROM t"), try pool.integer("SELECT max(a) FROM t"), sound == 1)
    }

    private var files: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: core.directory).sorted() } }

    @Test("a copy has one state, that of its beginning, while every step is followed by a write", arguments: ["file", "memory"])
    func writes(kind: String) throws {
        let core = try kind == "file" ? core : CorePool(existing: ":memory:")
        if kind == "memory" { try Self.fill(core) }
        let progress = Progress()
        progress.act = { number in
            (try? core.with(writer: true) { try exec($0, "UPDATE t SET a = \(number + 1)") }) != nil
        }
        try backUp(core, progress: progress)
        #expect(try values(copy) == (1, 1, true))
        #expect(try core.integer("SELECT min(a) FROM t") == Int64(progress.reports.count + 1))
        // No page is copied twice.
        #expect(progress.reports.count > 5 && progress.reports.map(\.copied) == progress.reports.map(\.copied).sorted())
        #expect(progress.reports.last!.copied == progress.reports.last!.all && Set(progress.reports.map(\.all)).count == 1)
        #expect(progress.reports.count == Int(progress.reports.last!.all + 19) / 20)
        #expect(try files.filter { $0.hasPrefix("copy") } == ["copy.db"])
    }

    @Test func `without a log the copy begins again after a write, and is one step in the end`() throws {
        let other = try CorePool(file: "journal.db") { ($0.journal, $0.readers) = (MC_JOURNAL_UNCHANGED, 2) }
        try Self.fill(other)
        let progress = Progress()
        progress.act = { number in (try? other.with(writer: true) { try exec($0, "UPDATE t SET a = \(number + 1)") }) != nil }
        try backUp(other, progress: progress)
        let (least, greatest, isSound) = try values(copy)
        #expect(least == greatest && isSound && least > 1)
        let copied = progress.reports.map(\.copied)
        #expect(copied != copied.sorted() || copied.count < progress.reports.last!.all / 20)
        #expect(copied.count < 20)
    }

    @Test func `the progress cancels, a ticket interrupts, and both leave the former copy as it was`() throws {
        try backUp()
        try core.with(writer: true) { try exec($0, "UPDATE t SET a = 2") }
        let before = try Data(contentsOf: URL(filePath: copy)), names = try files
        let progress = Progress()
        progress.act = { $0 < 3 }
        let cancelled = #expect(throws: CoreError.self) { try backUp(progress: progress) }
        #expect(cancelled?.code == MC_ERROR_INTERRUPTED && cancelled?.message.contains("cancelled after 60 of ") == true)
        #expect(progress.reports.count == 3)
        var ticket: OpaquePointer?
        try CoreError.check { mc_ticket_create(&ticket, $0) }
        defer { mc_ticket_free(ticket) }
        progress.reports = []
        progress.act = { number in
            if number == 2 { mc_ticket_interrupt(ticket!) }
            return true
        }
        let interrupted = #expect(throws: CoreError.self) { try backUp(progress: progress) { $0.ticket = ticket } }
        #expect(interrupted?.code == MC_ERROR_INTERRUPTED && progress.reports.count == 2)
        #expect(try Data(contentsOf: URL(filePath: copy)) == before && files == names)
    }

    @Test func `a copy replaces an older one, has the permissions of the database, and a killed process leaves nothing in its way`() throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: core.directory + "/core.db")
        try Data("rest of a killed process".utf8).write(to: URL(filePath: copy + ".part"))
        try Data("an older copy".utf8).write(to: URL(filePath: copy))
        try backUp()
        #expect(try values(copy) == (1, 1, true))
        let attributes = try FileManager.default.attributesOfItem(atPath: copy)
        #expect(attributes[.posixPermissions] as? Int == 0o640)
        #expect(try !files.contains("copy.db.part"))
    }

    @Test func `places where a copy would do harm are refused`() throws {
        let open = try CorePool(existing: core.directory + "/open.db")
        try open.with(writer: true) { try exec($0, "CREATE TABLE t(a)") }
        for (path, code, message) in [
            (core.directory + "/core.db", MC_ERROR_MISUSE, "this is the database itself; choose another path"),
            (core.directory, MC_ERROR_MISUSE, "this is a folder; give the path of a file"),
            (core.directory + "/open.db", MC_ERROR_MISUSE, "choose another path"), ("", MC_ERROR_MISUSE, "backup: its path is empty; name a file"),
            (core.directory + "/no/copy.db", MC_ERROR_NOT_FOUND, "its folder does not exist"),
        ] {
            let names = try files
            let error = #expect(throws: CoreError.self) { try backUp(to: path) }
            #expect(error?.code == code && error?.message.hasSuffix(message) == true, "\(error?.message ?? "")")
            #expect(try files == names)
        }
        #expect(try open.integer("SELECT count(*) FROM t") == 0)
        let pages = #expect(throws: CoreError.self) { try backUp(pages: -1) }
        #expect(pages?.message == "backup: -1 pages a step; use 1 or more, or 0 for the default (256)")
    }

    @Test func `two backups do not write to one path`() throws {
        let progress = Progress()
        var second: CoreError?
        progress.act = { number in
            if number == 1 { second = #expect(throws: CoreError.self) { try backUp() } }
            return true
        }
        try backUp(progress: progress)
        #expect(second?.code == MC_ERROR_MISUSE)
        #expect(second?.message.hasSuffix("another backup is writing to it; wait for its end, or choose another path") == true)
        #expect(try values(copy) == (1, 1, true))
    }

    @Test func `a backup within a read has its state, and within a write is refused`() throws {
        let reader = try core.checkOut()
        try CoreError.check { mc_connection_begin(reader, $0) }
        #expect(try integer(reader, "SELECT max(a) FROM t") == 1)
        let writing = TestThread { [core] in try core.with(writer: true) { try exec($0, "UPDATE t SET a = 2") } }
        try writing.value()
        try backUp()
        #expect(try integer(reader, "SELECT max(a) FROM t") == 1)
        core.giveBack(reader)
        #expect(try values(copy).greatest == 1)
        try core.with(writer: true) { (writer) throws in
            try CoreError.check { mc_connection_begin(writer, $0) }
            let error = #expect(throws: CoreError.self) { try backUp() }
            #expect(error?.code == MC_ERROR_MISUSE && error?.message.hasSuffix("this thread is in a write; end it first") == true)
        }
        try backUp()
        #expect(try values(copy).greatest == 2)
    }

    @Test func `a backup waits for its reader as long as it may`() throws {
        let held = try (0..<2).map { _ in try core.checkOut(loose: true) }
        let error = #expect(throws: CoreError.self) { try backUp { $0.timeout_ns = Int64(MC_WAIT_NEVER) } }
        #expect(error?.code == MC_ERROR_TIMEOUT && error?.message.hasPrefix("no read connection within 0.0 s") == true)
        #expect(try !files.contains("copy.db.part"))
        for reader in held { core.giveBack(reader) }
    }

    @Test func `a connection of the program's own gets the copy`() throws {
        var db: OpaquePointer?
        defer { sqlite3_close(db) }
        #expect(sqlite3_open(":memory:", &db) == SQLITE_OK)
        try CoreError.check { mc_pool_backup_into(core.pool, db!, nil, $0) }
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        sqlite3_prepare_v2(db, "SELECT count(*) FROM t", -1, &statement, nil)
        #expect(sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_int64(statement, 0) == 2000)
        sqlite3_reset(statement)
        sqlite3_exec(db, "BEGIN IMMEDIATE", nil, nil, nil)
        let busy = #expect(throws: CoreError.self) { try CoreError.check { mc_pool_backup_into(core.pool, db!, nil, $0) } }
        #expect(busy?.message.hasPrefix("backup of \"\(core.directory)/core.db\"") == true)
    }

    @Test func `without memory a backup fails, and leaves no part of a copy`() throws {
        try failEachAllocation { () throws(CoreError) in
            try backUp(pages: 50)
            return []
        }
        #expect(try values(copy) == (1, 1, true))
        #expect(try !files.contains("copy.db.part"))
        #expect(core.statistics.readers_active == 0)
    }
}
