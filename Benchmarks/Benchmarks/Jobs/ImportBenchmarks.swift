import BenchmarkReferences
import MobileStore

/// Imports of rows from the server into a table, against inserting values that need no parsing.
enum ImportBenchmarks {
    static let all =
        [
            plain(pageSize: 4096, limit: 0.90), plainAhead, deflated, deflatedAlone, plain(pageSize: 16_384, limit: 0.92),
            ImportOverRowsBenchmarks.update, ImportOverRowsBenchmarks.mixed, ColumnsBenchmarks.narrow, ColumnsBenchmarks.wide,
            jansson, foundation, scan,
        ] + LargeImportBenchmarks.all

    static let pendingNote =
        "coalesced log writes; 100 pending updates, 10 deletes, 10 creates are among the incoming keys, their versions go to the original state"

    private static func plain(pageSize: Int, limit: Double) -> Benchmark {
        Benchmark(
            id: "import.plain.upsert.\(pageSize)",
            shows: "an import of 30,000 rows of JSON with all of the pending protection, page size \(pageSize)", limit: limit, note: pendingNote,
            reference: insert("insert.c.\(pageSize)", pageSize: pageSize),
            subject: upsert("BulkImporter, plain JSON in chunks of 64 KB", pageSize: pageSize) { $0.r30.json })
    }

    private static let plainAhead = Benchmark(
        id: "import.plain.upsert.4096.ahead", shows: "the same while a second thread scans ahead", limit: nil, note: pendingNote,
        reference: insert("insert.c.4096", pageSize: 4096),
        subject: upsert("BulkImporter, plain JSON in chunks of 64 KB", pageSize: 4096, scansAhead: true) { $0.r30.json })

    private static let deflated = Benchmark(
        id: "import.deflate.upsert.4096", shows: "the same import from a deflated stream, inflated and scanned beside the insert", limit: 1.05,
        note: pendingNote, prepare: { _ = try $0.deflatedR30.get() }, reference: insert("insert.c.4096", pageSize: 4096),
        subject: upsert("BulkImporter, deflated JSON in chunks of 64 KB", pageSize: 4096, scansAhead: true) { try $0.deflatedR30.get().bytes })

    private static let deflatedAlone = Benchmark(
        id: "import.deflate.upsert.4096.alone", shows: "the same on one thread, inflating in between", limit: nil,
        note: pendingNote, prepare: { _ = try $0.deflatedR30.get() }, reference: insert("insert.c.4096", pageSize: 4096),
        subject: upsert("BulkImporter, deflated JSON in chunks of 64 KB", pageSize: 4096) { try $0.deflatedR30.get().bytes })

    private static let jansson = Benchmark(
        id: "import.jansson.4096", shows: "the import against parsing with jansson and inserting", limit: 0.33, note: pendingNote,
        reference: insert("jansson.c", pageSize: 4096) { insert, workspace in
            let json = workspace.r30.json
            return br_insert_jansson(insert, json.bindMemory(to: CChar.self).baseAddress, json.count)
        },
        subject: upsert("BulkImporter, plain JSON in chunks of 64 KB", pageSize: 4096) { $0.r30.json })

    private static let foundation = Benchmark(
        id: "import.foundation.4096", shows: "the import against decoding with Foundation and inserting", limit: 0.28, note: pendingNote,
        reference: insert("foundation.swift", pageSize: 4096) { insert, workspace in try FoundationItem.insert(workspace.r30.json, by: insert) },
        subject: upsert("BulkImporter, plain JSON in chunks of 64 KB", pageSize: 4096) { $0.r30.json })

    private static let scan = Benchmark(
        id: "scan.rows", shows: "scanning, validating and converting 30,000 rows without a database", limit: 0.06,
        reference: Side("jansson: json_loads of the same bytes") { workspace, watch in
            let json = workspace.r30.json
            let document = watch.measure { br_jansson_load(json.bindMemory(to: CChar.self).baseAddress, json.count) }
            guard let document else { throw WrongResult("scan.rows: jansson refused") }
            defer { br_jansson_free(document) }
            var sum: UInt64 = 0
            let rows = br_jansson_checksum(document, &sum)
            return Outcome(rows: Int64(rows), checksum: sum)
        },
        subject: Side("row scanner, chunks of 64 KB") { workspace, watch in
            let json = workspace.r30.json
            let bytes = json.bindMemory(to: CChar.self).baseAddress!
            let rows = watch.measure { br_scan_rows(bytes, json.count, nil) }
            var sum: UInt64 = 0
            guard br_scan_rows(bytes, json.count, &sum) == rows else { throw WrongResult("scan.rows: two scans differ") }
            return Outcome(rows: rows, checksum: sum, bytes: json.count)
        })

    // MARK: Subjects

    /// Upserts R30 into a table that has only pending rows.
    private static func upsert(
        _ name: String, pageSize: Int, scansAhead: Bool = false, input: @escaping @Sendable (Workspace) throws -> UnsafeRawBufferPointer
    ) -> Side {
        Side(name, threads: scansAhead ? 2 : 1) { workspace, watch in
            let path = workspace.newFile("import.db")
            defer { workspace.removeDatabase(path) }
            let database = try Database(profile(path, pageSize: pageSize, cache: .megabytes(10)))
            try database.write { _ = try $0.execute(ItemTable.schema) }
            try PendingRows.make(in: database)
            let input = try input(workspace)
            let result = try watch.measure { try importRows(input, into: database, protection: PendingRows.protection, scansAhead: scansAhead) }
            try PendingRows.verify(path, result)
            let contents = try TableContents(of: path, PendingRows.selectServerVersions)
            return Outcome(rows: contents.rows, checksum: contents.checksum, bytes: Int(result.inflatedBytes))
        }
    }

    static func profile(_ path: String, pageSize: Int = 4096, cache: ByteCount) -> ConnectionProfile {
        var profile = ConnectionProfile(path: path, pageSize: pageSize, cacheSize: cache)
        profile.memoryMapSize = .bytes(0)
        return profile
    }

    /// Imports in one transaction from BEGIN to COMMIT and with the last checkpoint, like the reference.
    static func importRows(
        _ input: UnsafeRawBufferPointer, into database: Database, protection: PendingProtection?, scansAhead: Bool = false
    ) throws -> ImportResult {
        let result = try database.write { connection in
            let importer = try itemImporter(on: connection, protection: protection, scansAhead: scansAhead)
            try push(input, to: importer)
            return try importer.finish()
        }
        try database.close()
        return result
    }

    static func itemImporter(on connection: Connection, protection: PendingProtection?, scansAhead: Bool) throws -> BulkImporter {
        var options = ImportOptions()
        options.keyColumns = ["_sk"]
        options.onInsert = [(column: "_rc", value: .integer(33_422_977))]
        options.pending = protection
        options.columnRules = ItemTable.rules
        options.threads = scansAhead ? .on : .off
        return try connection.importer(into: "Item", columns: ItemTable.columns, mode: .upsert, options: options)
    }

    /// Pushes the bytes in chunks of the size that a network connection delivers.
    static func push(_ bytes: UnsafeRawBufferPointer, to importer: BulkImporter) throws {
        for start in stride(from: 0, to: bytes.count, by: 65536) {
            try importer.push(UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + 65536, bytes.count)]))
        }
    }

    // MARK: References

    /// Fills a new table by C in one transaction.
    private static func insert(
        _ name: String, pageSize: Int,
        _ add: @escaping @Sendable (OpaquePointer, Workspace) throws -> Bool = { br_insert_rows($0, $1.r30.handle) }
    ) -> Side {
        Side(name == "insert.c.\(pageSize)" ? "\(name): prepared INSERT of values already parsed, in C" : "\(name): parsing and prepared INSERT") {
            workspace, watch in
            let path = workspace.newFile("insert.db")
            defer { workspace.removeDatabase(path) }
            let insert = try CInsert(path, pageSize: pageSize, cache: .megabytes(10), schema: ItemTable.schema, ItemTable.insert)
            try watch.measure {
                try insert.run { try add($0, workspace) }
                insert.close()
            }
            let contents = try TableContents(of: path, ItemTable.select)
            guard contents.checksum == workspace.r30.checksum() else { throw WrongResult("\(name): the table does not hold what was inserted") }
            return Outcome(rows: contents.rows, checksum: contents.checksum)
        }
    }
}
