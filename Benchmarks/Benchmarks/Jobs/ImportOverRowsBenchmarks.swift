import BenchmarkReferences
import MobileStore

/// Imports into a table that is not empty, against a prepared statement that overwrites the same rows.
enum ImportOverRowsBenchmarks {
    /// An import of R30 over a table with the same keys and other values in every row.
    static let update = Benchmark(
        id: "import.plain.update.4096", shows: "an import over 30,000 rows that all exist and all change", limit: 1.05,
        note: "coalesced log writes", prepare: { _ = try everyRow($0) },
        reference: prepared("update.c.4096: prepared UPDATE by key of values already parsed, in C", ItemTable.update, over: everyRow),
        subject: Side("BulkImporter, plain JSON in chunks of 64 KB") { workspace, watch in
            try onCopy(of: try everyRow(workspace), in: workspace) { path in
                let database = try Database(ImportBenchmarks.profile(path, cache: .megabytes(10)))
                let json = workspace.r30.json
                let result = try watch.measure { try ImportBenchmarks.importRows(json, into: database, protection: nil) }
                let contents = try TableContents(of: path, ItemTable.select)
                guard result.updated == workspace.r30.rows, contents.checksum == workspace.r30.checksum() else {
                    throw WrongResult("import.plain.update.4096: the table does not hold what was imported")
                }
                return Outcome(rows: contents.rows, checksum: contents.checksum, bytes: json.count)
            }
        })

    /// An import of R30 over a third of its rows with other values, and over rows with pending changes: the state of a device in use at a refresh.
    static let mixed = Benchmark(
        id: "import.mixed.upsert.4096", shows: "an import of 30,000 rows over 10,000 that exist and 120 with pending changes", limit: 0.95,
        note: "\(ImportBenchmarks.pendingNote); the 10,000 lie between new rows", prepare: { _ = try someRows($0) },
        reference: prepared("upsert.c.4096: prepared INSERT ON CONFLICT DO UPDATE of values already parsed, in C", ItemTable.upsert, over: someRows),
        subject: Side("BulkImporter, plain JSON in chunks of 64 KB") { workspace, watch in
            try onCopy(of: try someRows(workspace), in: workspace) { path in
                let profile = ImportBenchmarks.profile(path, cache: .megabytes(10))
                let made = try Database(profile)
                try PendingRows.make(in: made)
                try made.close()
                let database = try Database(profile)  // its cache is empty, like the reference's
                let json = workspace.r30.json
                let result = try watch.measure { try ImportBenchmarks.importRows(json, into: database, protection: PendingRows.protection) }
                try PendingRows.verify(path, result)
                guard result.updated == existing.count, result.inserted == workspace.r30.rows - existing.count - PendingRows.keys.count else {
                    throw WrongResult("import.mixed.upsert.4096: \(result.updated) rows were updated, \(result.inserted) inserted")
                }
                let contents = try TableContents(of: path, PendingRows.selectServerVersions)
                return Outcome(rows: contents.rows, checksum: contents.checksum, bytes: json.count)
            }
        })

    /// The numbers in R30 of the existing rows: about every third row without a pending change, evenly spread.
    private static let existing: [Int64] = {
        let ordinary = (0..<30_000 as Range<Int64>).filter { !PendingRows.keys.contains($0 + 1) }
        return (0..<10_000).map { ordinary[$0 * ordinary.count / 10_000] }
    }()

    @Sendable private static func everyRow(_ workspace: Workspace) throws -> String {
        try table("every-row.db", workspace) { br_insert_rows($0, $1.handle) }
    }

    @Sendable private static func someRows(_ workspace: Workspace) throws -> String {
        try table("some-rows.db", workspace) { br_insert_some_rows($0, $1.handle, existing, existing.count) }
    }

    /// Makes a table with R30's keys and other values, once.
    private static func table(_ name: String, _ workspace: Workspace, _ add: (OpaquePointer, DataSet) -> Bool) throws -> String {
        try workspace.file(name) { path in
            let insert = try CInsert(path, pageSize: 4096, cache: .megabytes(10), schema: ItemTable.schema, ItemTable.insert)
            let other = try workspace.otherR30.get()
            try insert.run { add($0, other) }
            insert.close()
        }
    }

    private static func onCopy(of table: String, in workspace: Workspace, _ work: (String) throws -> Outcome) throws -> Outcome {
        let path = workspace.newFile("import.db")
        defer { workspace.removeDatabase(path) }
        try workspace.copyDatabase(table, to: path)
        return try work(path)
    }

    /// Writes R30 by a statement that is prepared once and runs for each row.
    private static func prepared(_ name: String, _ sql: String, over table: @escaping @Sendable (Workspace) throws -> String) -> Side {
        Side(name) { workspace, watch in
            try onCopy(of: try table(workspace), in: workspace) { path in
                let statement = try CInsert(path, pageSize: 4096, cache: .megabytes(10), schema: "", sql)
                try watch.measure {
                    try statement.run { br_insert_rows($0, workspace.r30.handle) }
                    statement.close()
                }
                let contents = try TableContents(of: path, ItemTable.select)
                return Outcome(rows: contents.rows, checksum: contents.checksum)
            }
        }
    }
}
