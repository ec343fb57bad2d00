import BenchmarkReferences
import MobileStore

/// Imports of rows that are narrower or wider than R30.
enum ColumnsBenchmarks {
    /// N30: 8 columns of numbers.
    static let narrow = benchmark("import.narrow.4096", "an import of 30,000 rows of 8 numbers", integers: 6, reals: 2, texts: 0)
    /// W30: 30 columns, 60% text.
    static let wide = benchmark("import.wide.4096", "an import of 30,000 rows of 30 values, 18 of them text", integers: 9, reals: 3, texts: 18)

    private static func benchmark(_ id: String, _ shows: String, integers: Int, reals: Int, texts: Int) -> Benchmark {
        let columns = (0..<integers).map { "i\($0)" } + (0..<reals).map { "r\($0)" } + (0..<texts).map { "t\($0)" }
        let types = columns.map { $0.hasPrefix("i") ? "INTEGER" : $0.hasPrefix("r") ? "REAL" : "TEXT" }
        let definitions = zip(columns, types).map { $0 == "i0" ? "i0 INTEGER PRIMARY KEY" : "\($0) \($1) NOT NULL" }
        let schema = "CREATE TABLE wide(\(definitions.joined(separator: ", ")))"
        let select = "SELECT * FROM wide ORDER BY i0"
        let parameters = columns.map { _ in "?" }.joined(separator: ", ")
        let rules = Dictionary(
            uniqueKeysWithValues: zip(columns, types).map {
                ($0, JSONColumnRule($1 == "INTEGER" ? .integer : $1 == "REAL" ? .real : .text, isNullable: false))
            })
        let data = ColumnsDataSet.Lazy(integers: Int32(integers), reals: Int32(reals), texts: Int32(texts))
        return Benchmark(
            id: id, shows: shows, limit: 1.00, note: "coalesced log writes; a table without other rows", prepare: { _ in _ = try data.get() },
            reference: Side("insert.c: prepared INSERT of values already parsed, in C, into the same table") { workspace, watch in
                let path = workspace.newFile("insert.db")
                defer { workspace.removeDatabase(path) }
                let data = try data.get()
                let insert = try CInsert(
                    path, pageSize: 4096, cache: .megabytes(10), schema: schema, "INSERT INTO wide VALUES (\(parameters))")
                try watch.measure {
                    try insert.run { br_insert_columns($0, data.handle) }
                    insert.close()
                }
                return try verified(path, select, data, id)
            },
            subject: Side("BulkImporter, plain JSON in chunks of 64 KB") { workspace, watch in
                let path = workspace.newFile("import.db")
                defer { workspace.removeDatabase(path) }
                let data = try data.get()
                let database = try Database(ImportBenchmarks.profile(path, cache: .megabytes(10)))
                try database.write { _ = try $0.execute(schema) }
                try watch.measure {
                    try database.write { connection in
                        var options = ImportOptions()
                        options.columnRules = rules
                        options.threads = .off
                        let importer = try connection.importer(into: "wide", columns: columns, options: options)
                        try ImportBenchmarks.push(data.json, to: importer)
                        try importer.finish()
                    }
                    try database.close()
                }
                var outcome = try verified(path, select, data, id)
                outcome.bytes = data.json.count
                return outcome
            })
    }

    private static func verified(_ path: String, _ select: String, _ data: ColumnsDataSet, _ id: String) throws -> Outcome {
        let contents = try TableContents(of: path, select)
        guard contents.checksum == br_columns_checksum(data.handle) else { throw WrongResult("\(id): the table does not hold what was written") }
        return Outcome(rows: contents.rows, checksum: contents.checksum)
    }
}

/// Rows of integers, doubles and strings; see `br_columns.h`.
final class ColumnsDataSet: @unchecked Sendable {  // immutable
    let handle: OpaquePointer

    init(integers: Int32, reals: Int32, texts: Int32) throws {
        guard let handle = br_columns_make(7, 30_000, integers, reals, texts) else { throw WrongResult("no memory for 30,000 rows") }
        self.handle = handle
    }

    deinit { br_columns_free(handle) }

    var json: UnsafeRawBufferPointer {
        var length = 0
        let start = br_columns_json(handle, &length)
        return UnsafeRawBufferPointer(start: start, count: length)
    }

    /// A data set that is made at the first request, because other benchmarks do not need it.
    final class Lazy: @unchecked Sendable {  // benchmarks run one after the other on one thread
        private let make: () throws -> ColumnsDataSet
        private lazy var result = Result { try make() }

        init(integers: Int32, reals: Int32, texts: Int32) {
            make = { try ColumnsDataSet(integers: integers, reals: reals, texts: texts) }
        }

        func get() throws -> ColumnsDataSet { try result.get() }
    }
}
