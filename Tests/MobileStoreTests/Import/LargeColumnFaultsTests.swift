import FaultInjection
import MobileStore
import Testing

/// Every allocation and every file operation of an import with large values fails once: it does all of it or nothing.
@Suite struct LargeColumnFaultsTests {
    static let input = Array(
        """
        [[1,"a","new text","\(LargeColumns.base64(LargeColumns.picture(60_000)))",1],[2,"b","short","QUI=",2],
         {"title":"c","body":"\(LargeColumns.text(4000).json)","id":3}]
        """.utf8)

    static func prepare(_ database: Database) throws {
        try database.write { connection in
            try connection.prepareLargeValues()
            try connection.execute(
                """
                CREATE TABLE doc(id INTEGER PRIMARY KEY, title TEXT, body INTEGER, picture INTEGER, pages INTEGER);
                CREATE TABLE doc_os(id INTEGER PRIMARY KEY, title TEXT, body INTEGER, picture INTEGER, pages INTEGER, im INTEGER)
                """)
            let rows = Array(#"[[1,"a","old text","QUJD",1],[2,"b","mine",null,1]]"#.utf8)
            _ = try LargeColumns.importing(rows, on: connection) { $0.threads = .off }
            try connection.execute("INSERT INTO doc_os SELECT id, title, body, picture, pages, 0 FROM doc WHERE id = 2")
        }
    }

    static func content(_ connection: Connection) throws -> [[Value]] {
        try connection.rows(
            """
            SELECT id, title, body, picture FROM doc UNION ALL SELECT id, title, body, im FROM doc_os
            UNION ALL SELECT id, state, length, bytes FROM _mc_value UNION ALL SELECT id, start, length(content), 0 FROM _mc_chunk
            """)
    }

    struct Undo: Error {}

    @Test func `without memory for any one allocation everything is as it was`() throws {
        let directory = try TemporaryDirectory(), database = try Database(directory.profile())
        try Self.prepare(database)
        let before = try database.read { try Self.content($0) }
        var failures = 0
        for allocation: Int64 in 0... {
            var hasFailed = false
            do {
                try database.write { connection in
                    var thrown: (any Error)?
                    fault_memory_fail_after(allocation, false)
                    do { _ = try LargeColumns.importing(Self.input, size: 30_000, on: connection) { $0.threads = .off } } catch { thrown = error }
                    hasFailed = fault_memory_has_failed()
                    fault_memory_fail_after(-1, false)
                    if let thrown {
                        #expect((thrown as? StoreError)?.code == .noMemory, "allocation \(allocation): \(thrown)")
                        #expect(try Self.content(connection) == before, "allocation \(allocation)")
                        failures += 1
                    }
                    throw Undo()
                }
            } catch {}
            if !hasFailed { break }
        }
        #expect(failures > 100)
        #expect(try database.read { try Self.content($0) } == before)
    }

    @Test func `when any one file operation fails there is all of the import or nothing`() throws {
        let directory = try TemporaryDirectory(), storage = fault_storage_create(nil)!
        defer { fault_storage_free(storage) }
        let name = String(cString: fault_storage_name(storage))
        var failures = 0
        for operation: Int64 in 0... {
            var profile = ConnectionProfile(path: directory.file("faults-\(operation).db"))
            profile.storageLayers = [StorageLayer("faults") { _ in name }]
            profile.cacheSize = .kilobytes(64)  // transactions go to the log before they end
            let database = try Database(profile)
            try Self.prepare(database)
            let before = try database.read { try Self.content($0) }
            var thrown: (any Error)?
            fault_storage_fail_after(storage, operation, 10, false)  // SQLITE_IOERR
            do { try database.write { _ = try LargeColumns.importing(Self.input, size: 30_000, on: $0) { $0.threads = .off } } } catch {
                thrown = error
            }
            let hasFailed = fault_storage_has_failed(storage)
            fault_storage_fail_after(storage, -1, 0, false)
            let rows = try database.read { try $0.rows("SELECT id, state, length FROM _mc_value WHERE state = 1") }
            if thrown != nil {
                failures += 1
                #expect(hasFailed)
                #expect(try database.read { try Self.content($0) } == before, "operation \(operation)")
            } else {
                #expect(rows.map { $0[2] } == [4, 60_000, 8, 5, 2, 40_000], "operation \(operation)")
            }
            #expect(try database.read { try $0.rows("PRAGMA integrity_check") } == [["ok"]])
            try database.close()
            if !hasFailed { break }
        }
        #expect(failures > 3)
    }
}
