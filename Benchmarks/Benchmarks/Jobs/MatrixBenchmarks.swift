import Foundation
import MobileStore

/// Page sizes by cache sizes, for tuning. They are shown without limits; the tuning guide has the plots.
enum MatrixBenchmarks {
    static let pageSizes = [1024, 2048, 4096, 8192, 16384, 32768, 65536]
    static let caches = [1, 10, 64]

    static let all: [Benchmark] =
        caches.flatMap { cache in pageSizes.map { importing(pageSize: $0, cache: cache) } }
        + caches.flatMap { cache in pageSizes.map { paging(pageSize: $0, cache: cache) } }

    private static func importing(pageSize: Int, cache: Int) -> Benchmark {
        Benchmark(
            id: "matrix.page-cache.import.\(pageSize).\(cache)mb", shows: "an import of R30 at page size \(pageSize) with a cache of \(cache) MB",
            limit: nil,
            pairs: 5, point: PlotPoint(plot: "import", series: "cache \(cache) MB", x: pageSize),
            reference: Side("page size 4096, cache 10 MB") { workspace, watch in try importR30(workspace, &watch) { _ in } },
            subject: Side("page size \(pageSize), cache \(cache) MB") { workspace, watch in
                try importR30(workspace, &watch) {
                    $0.pageSize = pageSize
                    $0.cacheSize = .megabytes(cache)
                }
            })
    }

    private static func paging(pageSize: Int, cache: Int) -> Benchmark {
        Benchmark(
            id: "matrix.page-cache.paging.\(pageSize).\(cache)mb",
            shows: "the second pass over R30 at page size \(pageSize) with a cache of \(cache) MB",
            limit: nil, pairs: 5, point: PlotPoint(plot: "paging", series: "cache \(cache) MB", x: pageSize),
            reference: Side("page size 4096, cache 10 MB") { workspace, watch in try pageTwice(workspace, &watch, pageSize: 4096, cache: 10) },
            subject: Side("page size \(pageSize), cache \(cache) MB") { workspace, watch in
                try pageTwice(workspace, &watch, pageSize: pageSize, cache: cache)
            })
    }

    /// Imports R30 into a new database, and verifies its content.
    static func importR30(_ workspace: Workspace, _ watch: inout Stopwatch, _ change: (inout ConnectionProfile) -> Void) throws -> Outcome {
        let path = workspace.newFile("matrix.db")
        defer { workspace.removeDatabase(path) }
        var profile = ConnectionProfile(path: path, pageSize: 4096)
        change(&profile)
        let database = try Database(profile)
        try database.write { _ = try $0.execute(ItemTable.schema) }
        let json = workspace.r30.json
        try watch.measure {
            try importRows(json, into: "Item", of: database)
            try database.close()
        }
        let contents = try TableContents(of: path, ItemTable.select)
        return Outcome(rows: contents.rows, checksum: contents.checksum, bytes: json.count)
    }

    /// Reads all rows once to fill the cache, and once more for the figure.
    private static func pageTwice(_ workspace: Workspace, _ watch: inout Stopwatch, pageSize: Int, cache: Int) throws -> Outcome {
        let path = try workspace.file("items-\(pageSize).db") { path in
            let database = try Database(ConnectionProfile(path: path, pageSize: pageSize))
            try database.write { _ = try $0.execute(ItemTable.schema) }
            try importRows(workspace.r30.json, into: "Item", of: database)
            try database.close()
        }
        let database = try Database(ConnectionProfile(path: path, cacheSize: .megabytes(cache)))
        let first = try pageThrough(database)
        let second = try watch.measure { try pageThrough(database) }
        guard first == second, database.settings.pageSize == pageSize else { throw WrongResult("matrix.page-cache: two passes read different rows") }
        try database.close()
        return Outcome(rows: 30_000, checksum: second)
    }

    /// Imports in one transaction from BEGIN to COMMIT. Creates a missing table.
    static func importRows(_ json: UnsafeRawBufferPointer, into table: String, of database: Database, threads: ImportThreads = .off) throws {
        try database.write { connection in
            if table != "Item" {
                try connection.execute(ItemTable.schema.replacing("Item", with: table).replacing("CREATE TABLE", with: "CREATE TABLE IF NOT EXISTS"))
            }
            var options = ImportOptions()
            options.keyColumns = ["_sk"]
            options.columnRules = ItemTable.rules
            options.threads = threads
            let importer = try connection.importer(into: table, columns: ItemTable.columns, mode: .upsert, options: options)
            for start in stride(from: 0, to: json.count, by: 65536) {
                try importer.push(UnsafeRawBufferPointer(rebasing: json[start..<min(start + 65536, json.count)]))
            }
            let result = try importer.finish()
            guard result.rows == 30_000 else { throw WrongResult("\(result.rows) rows were imported") }
        }
    }

    /// Reads all rows by key in pages of 100, with every column. Returns the sum of the numbers and of the lengths of strings.
    static func pageThrough(_ database: Database) throws -> UInt64 {
        try database.read { connection in
            var sum: UInt64 = 0, rows = 0
            var last: Row?
            repeat {
                let page = try connection.page(last == nil ? firstPage : nextPage, after: last, keys: [0], size: 100)
                for row in page {
                    for column in 0..<row.count {
                        if case .integer = row.type(column) {
                            sum &+= UInt64(bitPattern: row.integer(column))
                        } else {
                            sum &+= UInt64(row.bytes(column).byteCount)
                        }
                    }
                }
                rows += page.count
                last = page.count == 100 ? page[99] : nil
            } while last != nil
            guard rows == 30_000 else { throw WrongResult("\(rows) rows were read") }
            return sum
        }
    }

    private static let firstPage = #"SELECT \#(ItemTable.columnList) FROM "Item" ORDER BY "_sk" LIMIT 100"#
    private static let nextPage = #"SELECT \#(ItemTable.columnList) FROM "Item" WHERE "_sk" > ?1 ORDER BY "_sk" LIMIT 100"#
}
