import BenchmarkReferences
import MobileStore

/// Exports of rows from a table to JSON text, against a C loop that reads every column and writes nothing.
enum ExportBenchmarks {
    static let all = [plain, deflated]

    static let plain = Benchmark(
        id: "export.30k", shows: "30,000 rows as JSON text, the reverse of the import", limit: 1.5,
        prepare: { _ = try PagingBenchmarks.filledTable($0) }, reference: columns, subject: export("BulkExporter", .none))

    static let deflated = Benchmark(
        id: "export.30k.deflated", shows: "the same as a zlib stream of level 1: what the processor pays for a third of the bytes", limit: nil,
        prepare: { _ = try PagingBenchmarks.filledTable($0) }, reference: columns, subject: export("BulkExporter, zlib level 1", .zlib))

    private static let columns = Side("select.c.all: C loop, SELECT, every column read, nothing written") { workspace, watch in
        var message = CMessage()
        let path = try PagingBenchmarks.filledTable(workspace)
        guard let keyset = br_keyset_open(path, 10_000_000, ItemTable.select, &message.characters, CMessage.size) else {
            throw WrongResult("select.c.all: \(message.text)")
        }
        defer { br_keyset_close(keyset) }
        var rows: Int64 = 0, sum: UInt64 = 0
        guard watch.measure({ br_keyset_all(keyset, &rows, &sum) }), rows == workspace.r30.rows, sum != 0 else {
            throw WrongResult("select.c.all: SQLite refused")
        }
        return Outcome(rows: rows, checksum: workspace.r30.checksum())
    }

    /// Exports, and verifies the text by importing it outside of the measured time.
    private static func export(_ name: String, _ compression: ExportCompression) -> Side {
        Side(name) { workspace, watch in
            let database = try Database(ConnectionProfile(path: PagingBenchmarks.filledTable(workspace)))
            let path = workspace.newFile("exported.db")
            defer { workspace.removeDatabase(path) }
            let target = try Database(ConnectionProfile(path: path))
            try target.write { try $0.execute(ItemTable.schema) }
            var bytes = 0
            let chunks = try database.read { connection in
                var chunks: [[UInt8]] = []
                try watch.measure {
                    let rows = try connection.exporter(ItemTable.select, compression: compression, types: types)
                    while let chunk = try rows.nextChunk() { chunks.append(chunk) }
                }
                return chunks
            }
            try target.write { connection in
                var options = ImportOptions()
                options.columnRules = ItemTable.rules
                let importer = try connection.importer(into: "Item", columns: ItemTable.columns, mode: .insert, options: options)
                for chunk in chunks {
                    try importer.push(chunk)
                    bytes += chunk.count
                }
                _ = try importer.finish()
            }
            try target.close()
            try database.close()
            let contents = try TableContents(of: path, ItemTable.select)
            return Outcome(rows: contents.rows, checksum: contents.checksum, bytes: bytes)
        }
    }

    private static let types = ItemTable.columns.compactMap { ItemTable.rules[$0]?.type }
}
