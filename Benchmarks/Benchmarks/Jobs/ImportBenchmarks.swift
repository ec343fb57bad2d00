import BenchmarkReferences
import Foundation
import MobileStore

/// Rows from the server into a table, against inserting values that need no parsing.
enum ImportBenchmarks {
    static let all = [
        plain(pageSize: 4096, limit: 0.90), deflated, plain(pageSize: 16_384, limit: 0.92), update, ColumnsBenchmarks.narrow, ColumnsBenchmarks.wide,
        jansson, foundation, scan, memory200MB, memory1GB,
    ]

    private static let pendingNote =
        "coalesced log writes; 100 pending updates, 10 deletes, 10 creates are among the incoming keys, their versions go to the original state"

    private static func plain(pageSize: Int, limit: Double) -> Benchmark {
        Benchmark(
            id: "import.plain.upsert.\(pageSize)",
            shows: "an import of 30,000 rows of JSON with all of the pending protection, page size \(pageSize)", limit: limit, note: pendingNote,
            reference: insert("insert.c.\(pageSize)", pageSize: pageSize),
            subject: upsert("BulkImporter, plain JSON in chunks of 64 KB", pageSize: pageSize) { $0.r30.json })
    }

    private static let deflated = Benchmark(
        id: "import.deflate.upsert.4096", shows: "the same import from a deflated stream, inflated and scanned beside the insert", limit: 1.05,
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

    /// R30 over a table that has the same keys with other values in every row.
    private static let update = Benchmark(
        id: "import.plain.update.4096", shows: "an import over 30,000 rows that all exist and all change", limit: 1.05,
        note: "coalesced log writes", prepare: { _ = try $0.otherR30.get() },
        reference: Side("update.c.4096: prepared UPDATE by key of values already parsed, in C") { workspace, watch in
            let path = workspace.newFile("update.db")
            defer { workspace.removeDatabase(path) }
            try fill(path, with: try workspace.otherR30.get())
            let update = try CInsert(path, pageSize: 4096, cache: .megabytes(10), schema: "", ItemTable.update)
            try watch.measure { try update.run { br_insert_rows($0, workspace.r30.handle) } }
            update.close()
            let contents = try TableContents(of: path, ItemTable.select)
            return Outcome(rows: contents.rows, checksum: contents.checksum)
        },
        subject: Side("BulkImporter, plain JSON in chunks of 64 KB") { workspace, watch in
            let path = workspace.newFile("import.db")
            defer { workspace.removeDatabase(path) }
            try fill(path, with: try workspace.otherR30.get())
            let database = try Database(profile(path, cache: .megabytes(10)))
            let json = workspace.r30.json
            let result = try watch.measure { try importRows(json, into: database, protection: nil) }
            try database.close()
            let contents = try TableContents(of: path, ItemTable.select)
            guard result.updated == workspace.r30.rows, contents.checksum == workspace.r30.checksum() else {
                throw WrongResult("import.plain.update.4096: the table does not hold what was imported")
            }
            return Outcome(rows: contents.rows, checksum: contents.checksum, bytes: json.count)
        })

    private static let memory200MB = large(
        "import.200m", "an import of 200 MB takes no memory in proportion", megabytes: 200, limit: 1.20, memoryLimit: 16 << 20, isDeflated: false)

    private static let memory1GB = large(
        "import.1g", "an import of 1 GB of JSON, inflated on the fly, takes no memory in proportion", megabytes: 1000, limit: 1.05,
        memoryLimit: 8 << 20, isDeflated: true)

    // MARK: Subjects

    /// Upserts R30 into a table that has pending rows and nothing else.
    private static func upsert(_ name: String, pageSize: Int, input: @escaping @Sendable (Workspace) throws -> UnsafeRawBufferPointer) -> Side {
        Side(name) { workspace, watch in
            let path = workspace.newFile("import.db")
            defer { workspace.removeDatabase(path) }
            let database = try Database(profile(path, pageSize: pageSize, cache: .megabytes(10)))
            try PendingRows.make(in: database)
            let input = try input(workspace)
            let result = try watch.measure { try importRows(input, into: database, protection: PendingRows.protection) }
            try database.close()
            try PendingRows.verify(path, result)
            let contents = try TableContents(of: path, PendingRows.selectServerVersions)
            return Outcome(rows: contents.rows, checksum: contents.checksum, bytes: Int(result.inflatedBytes))
        }
    }

    /// R30 again and again under new keys as one input and in one transaction.
    private static func large(_ id: String, _ shows: String, megabytes: Int, limit: Double, memoryLimit: Int, isDeflated: Bool) -> Benchmark {
        @Sendable func rounds(_ workspace: Workspace) throws -> Int {
            let bytes = megabytes * 1_000_000 / (workspace.isQuick ? 10 : 1)
            return try bytes / workspace.repeatable.get().json.count + 1
        }
        return Benchmark(
            id: id, shows: shows, limit: limit, memoryLimit: memoryLimit, pairs: 3,
            note: "cache 1 MB, memory map off, one transaction, coalesced log writes",
            prepare: {
                _ = try $0.repeatable.get()
                if isDeflated { _ = try $0.deflater.get() }
            },
            reference: Side("insert.c: prepared INSERT of values already parsed, in C, as many rows") { workspace, watch in
                let path = workspace.newFile("insert.db")
                defer { workspace.removeDatabase(path) }
                let insert = try CInsert(path, pageSize: 4096, cache: .megabytes(1), schema: ItemTable.schema, ItemTable.insert)
                let data = try workspace.repeatable.get()
                var sum: UInt64 = 0
                try watch.measure { try insert.begin() }
                for round in 0..<(try rounds(workspace)) {
                    try data.rekey(from: Workspace.firstRepeatableKey + Int64(round * data.rows))
                    sum = data.checksum(after: sum)
                    try watch.measure { try insert.add { br_insert_rows($0, data.handle) } }
                }
                try watch.measure { try insert.commit() }
                insert.close()
                let contents = try TableContents(of: path, ItemTable.select)
                guard contents.checksum == sum else { throw WrongResult("\(id): the table does not hold what was inserted") }
                return Outcome(rows: contents.rows, checksum: contents.checksum)
            },
            subject: Side("BulkImporter, \(isDeflated ? "deflated" : "plain") JSON in chunks of 64 KB, \(megabytes) MB of text") { workspace, watch in
                let path = workspace.newFile("import.db")
                defer { workspace.removeDatabase(path) }
                let database = try Database(profile(path, cache: .megabytes(1)))
                try database.write { _ = try $0.execute(ItemTable.schema) }
                let data = try workspace.repeatable.get()
                let deflater = isDeflated ? try workspace.deflater.get() : nil
                try deflater?.begin()
                var bytes = 0, sum: UInt64 = 0
                try database.write { connection in
                    let importer = try itemImporter(on: connection, protection: nil)
                    let last = try rounds(workspace) - 1
                    for round in 0...last {
                        try data.rekey(from: Workspace.firstRepeatableKey + Int64(round * data.rows))
                        sum = data.checksum(after: sum)
                        // The rounds are one array: a comma takes the place of the brackets between two rounds.
                        let json = data.round(isFirst: round == 0, isLast: round == last)
                        let input = try deflater?.take(json, isLast: round == last) ?? json
                        try watch.measure { try push(input, to: importer) }
                        bytes += json.count
                    }
                    let result = try watch.measure { try importer.finish() }
                    guard result.rows == (last + 1) * data.rows, result.inflatedBytes == bytes else {
                        throw WrongResult("\(id): \(result.rows) rows of \(result.inflatedBytes) bytes")
                    }
                }
                try database.close()
                let contents = try TableContents(of: path, ItemTable.select)
                guard contents.checksum == sum else { throw WrongResult("\(id): the table does not hold what was imported") }
                return Outcome(rows: contents.rows, checksum: contents.checksum, bytes: bytes)
            })
    }

    static func profile(_ path: String, pageSize: Int = 4096, cache: ByteCount) -> ConnectionProfile {
        var profile = ConnectionProfile(path: path, pageSize: pageSize, cacheSize: cache)
        profile.memoryMapSize = .bytes(0)
        return profile
    }

    /// One transaction from BEGIN to COMMIT, as the reference has it.
    private static func importRows(
        _ input: UnsafeRawBufferPointer, into database: Database, protection: PendingProtection?
    ) throws -> ImportResult {
        try database.write { connection in
            let importer = try itemImporter(on: connection, protection: protection)
            try push(input, to: importer)
            return try importer.finish()
        }
    }

    private static func itemImporter(on connection: Connection, protection: PendingProtection?) throws -> BulkImporter {
        var options = ImportOptions()
        options.keyColumns = ["_sk"]
        options.onInsert = [(column: "_rc", value: .integer(33_422_977))]
        options.pending = protection
        options.columnRules = ItemTable.rules
        return try connection.importer(into: "Item", columns: ItemTable.columns, mode: .upsert, options: options)
    }

    /// In chunks of the size that a network connection delivers.
    static func push(_ bytes: UnsafeRawBufferPointer, to importer: BulkImporter) throws {
        for start in stride(from: 0, to: bytes.count, by: 65536) {
            try importer.push(UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + 65536, bytes.count)]))
        }
    }

    // MARK: References

    /// A new table filled by C in one transaction.
    private static func insert(
        _ name: String, pageSize: Int,
        _ add: @escaping @Sendable (OpaquePointer, Workspace) throws -> Bool = { br_insert_rows($0, $1.r30.handle) }
    ) -> Side {
        Side(name == "insert.c.\(pageSize)" ? "\(name): prepared INSERT of values already parsed, in C" : "\(name): parsing and prepared INSERT") {
            workspace, watch in
            let path = workspace.newFile("insert.db")
            defer { workspace.removeDatabase(path) }
            let insert = try CInsert(path, pageSize: pageSize, cache: .megabytes(10), schema: ItemTable.schema, ItemTable.insert)
            try watch.measure { try insert.run { try add($0, workspace) } }
            insert.close()
            let contents = try TableContents(of: path, ItemTable.select)
            guard contents.checksum == workspace.r30.checksum() else { throw WrongResult("\(name): the table does not hold what was inserted") }
            return Outcome(rows: contents.rows, checksum: contents.checksum)
        }
    }

    /// Makes a table with these rows; not measured.
    private static func fill(_ path: String, with data: DataSet) throws {
        let insert = try CInsert(path, pageSize: 4096, cache: .megabytes(10), schema: ItemTable.schema, ItemTable.insert)
        try insert.run { br_insert_rows($0, data.handle) }
        insert.close()
    }
}
