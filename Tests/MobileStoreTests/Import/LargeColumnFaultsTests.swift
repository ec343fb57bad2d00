import MobileStore
import TestSupport
import Testing

/// Every allocation and every file operation of an import with large values fails once. The import then has either succeeded or changed nothing.
@Suite struct LargeColumnFaultsTests {
    static let input = Array(
        """
        [[1,"a","new text","\(LargeColumns.base64(LargeColumns.picture(90_000)))",1],[2,"b","short","QUI=",2],
         {"title":"c","body":"\(LargeColumns.text(4000).json)","id":3}]
        """.utf8)

    static func prepare(_ database: Database) throws {
        try database.write { connection in
            try LargeColumns.prepare(connection)
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

    static func importing(_ connection: Connection) throws {
        _ = try LargeColumns.importing(input, size: 30_000, on: connection) { $0.threads = .off }
    }

    @Test func `without memory for any one allocation everything is as it was`() throws {
        let directory = try TemporaryDirectory(), database = try Database(directory.profile())
        try Self.prepare(database)
        let before = try database.read { try Self.content($0) }
        let failures = try ImportFaults.failEachAllocation(in: database, of: Self.importing) { (outcome, connection) throws in
            guard let error = outcome.error else { return }
            #expect((error as? StoreError)?.code == .noMemory, "\(outcome)")
            #expect(try Self.content(connection) == before, "\(outcome)")
        }
        #expect(failures > 100)
        #expect(try database.read { try Self.content($0) } == before)
    }

    @Test func `when any one file operation fails there is all of the import or nothing`() throws {
        let directory = try TemporaryDirectory()
        var before: [[Value]] = []
        let failures = try ImportFaults.failEachOperation(in: directory) {
            $0.cacheSize = .kilobytes(64)  // small, so that pages are written to the log before the commit
        } prepare: {
            try Self.prepare($0)
            before = try $0.read { try Self.content($0) }
        } of: {
            try Self.importing($0)
        } judge: { outcome, hasFailed, database in
            if outcome.error != nil {
                #expect(hasFailed)
                #expect(try database.read { try Self.content($0) } == before, "\(outcome)")
            } else {
                let rows = try database.read { try $0.rows("SELECT length FROM _mc_value WHERE state = 1") }
                #expect(rows.map { $0[0] } == [4, 90_000, 8, 5, 2, 40_000], "\(outcome)")
            }
            #expect(try database.read { try $0.rows("PRAGMA integrity_check") } == [["ok"]])
        }
        #expect(failures > 3)
    }

    /// The pending row's original state has its own large values, which a second version replaces.
    @Test("what lets go of large values is undone without memory to note them", arguments: [false, true])
    func released(isDeletion: Bool) throws {
        let directory = try TemporaryDirectory(), database = try Database(directory.profile())
        try Self.prepare(database)
        let version = { (text: String) in Array(#"[[2,"b","\#(text)","QUE=",2]]"#.utf8) }
        try database.write { _ = try LargeColumns.importing(version("first"), on: $0) { $0.threads = .off } }
        let before = try database.read { try Self.content($0) }
        let failures = try ImportFaults.failEachAllocation(in: database) { connection in
            guard isDeletion else {
                _ = try LargeColumns.importing(version("second"), on: connection) { $0.threads = .off }
                return
            }
            var options = ImportOptions()
            options.largeColumns = ["body", "picture"]
            let importer = try connection.importer(into: "doc", columns: ["id"], mode: .delete, options: options)
            try importer.push(Array("[[1]]".utf8))
            _ = try importer.finish()
        } judge: { (outcome, connection) throws in
            guard let error = outcome.error else { return }
            #expect((error as? StoreError)?.code == .noMemory, "\(outcome)")
            #expect(try Self.content(connection) == before, "\(outcome)")
        }
        #expect(failures > 20)
    }
}
