import FaultInjection
import Foundation
import MobileStore
import TestSupport
import Testing

/// Imports that are larger than the cache: the log is written during the import, and one of these writes fails. `make soak` makes each
/// write fail (`FAULT_STEP=1` in the environment), the suite a sample.
@Suite struct ImportSpillFaultsTests {
    enum Fault: CaseIterable {
        case full, error, short

        var code: Int32 { self == .error ? 778 : 13 }  // SQLITE_IOERR_WRITE, SQLITE_FULL
    }

    private let directory: TemporaryDirectory
    private var step: Int64 { TestSetting.number("FAULT_STEP") ?? 7 }

    init() throws { directory = try TemporaryDirectory() }

    /// The number of rows: their pages fill the cache several times.
    private static let count = 600

    /// The rows of the import. Every second one already exists, so spilled pages change again; the text makes each version of a row unique.
    private static let input: [UInt8] = {
        // The first number after the keys is a prime, so each key comes once.
        let rows = (1...count).map { "[\($0 * 37 % (count + 1)),\"theirs \($0) \(String(repeating: "x", count: $0 % 90))\"]" }
        return Array("[\(rows.joined(separator: ","))]".utf8)
    }()

    private static let contents = "SELECT count(*), sum(length(name)), sum(name LIKE 'theirs%'), (SELECT count(*) FROM note) FROM item"

    private func prepare(_ database: Database) throws {
        try database.write { connection in
            _ = try connection.execute(
                """
                CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT); CREATE INDEX by_name ON item(name); CREATE TABLE note(text);
                WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 2 FROM n WHERE i < \(Self.count)) INSERT INTO item SELECT i, 'mine ' || i FROM n
                """)
        }
    }

    private func importing(_ connection: Connection, _ threads: ImportThreads) throws {
        var options = ImportOptions()
        options.threads = threads
        let importer = try connection.importer(into: "item", columns: ["id", "name"], options: options)
        for start in stride(from: 0, to: Self.input.count, by: 2500) {
            try importer.push(Array(Self.input[start..<min(start + 2500, Self.input.count)]))
        }
        try importer.finish()
    }

    /// Reads the content that another process finds after a crash: the files without the shared memory.
    private func recovered(_ path: String) throws -> [[Value]] {
        let copy = directory.file("copy.db")
        for end in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: copy + end)
            if end != "-shm", FileManager.default.fileExists(atPath: path + end) {
                try FileManager.default.copyItem(atPath: path + end, toPath: copy + end)
            }
        }
        let database = try Database(ConnectionProfile(path: copy))
        defer { try? database.close() }
        return try database.read { try $0.rows(Self.contents) + $0.rows("PRAGMA integrity_check") }
    }

    @Test(arguments: Fault.allCases, [ImportThreads.off, .on])
    func `an import that fails in the middle leaves nothing of itself, and what its transaction does then is kept`(
        fault: Fault, threads: ImportThreads
    ) throws {
        let storage = fault_storage_create(nil)!
        defer { fault_storage_free(storage) }
        let name = String(cString: fault_storage_name(storage))
        var failures = 0, hasFailed = true, write: Int64 = 0
        while hasFailed {
            var profile = ConnectionProfile(path: directory.file("spill-\(write).db"))
            profile.storageLayers = [StorageLayer("faults") { _ in name }]
            profile.pageSize = 1024
            profile.cacheSize = .bytes(10 * 1024)
            let database = try Database(profile)
            try prepare(database)
            let before = try database.read { try $0.rows(Self.contents) }
            var isImported = false, isNoted = false
            fault_storage_fail_write(storage, write, fault.code, fault == .short)
            do {
                try database.write { connection in
                    isImported = (try? importing(connection, threads)) != nil
                    if !isImported { _ = try connection.execute("INSERT INTO note VALUES ('it has failed')") }
                }
                isNoted = !isImported
            } catch {
                isImported = false
            }
            hasFailed = fault_storage_has_failed(storage)
            fault_storage_fail_after(storage, -1, 0, false)
            failures += isImported ? 0 : 1
            #expect(isImported || hasFailed)

            var expected = before
            if isNoted { expected[0][3] = 1 }
            let found = try database.read { try $0.rows(Self.contents) }
            #expect(isImported ? found[0][0] == .integer(Int64(Self.count)) && found[0][2] == found[0][0] : found == expected, "write \(write)")
            #expect(try recovered(profile.path) == found + [["ok"]], "write \(write)")
            try database.close()
            write += step
        }
        #expect(failures > 3)
    }
}
