import BenchmarkReferences
import MobileStore

/// The effect of settings on reading: shown for tuning, without limits.
enum PageReadingBenchmarks {
    static let all = [pointReads, statementCache, memoryMap]

    static let pointReads = Benchmark(
        id: "read.point", shows: "single rows by key, each found through the statement cache, in one read transaction", limit: nil,
        note: "10,000 keys in an order of their own", prepare: { _ = try PagingBenchmarks.filledTable($0) },
        reference: Side("select.c.point: prepared SELECT by key in C, every column read") { workspace, watch in
            try points(in: try PagingBenchmarks.filledTable(workspace), &watch)
        },
        subject: points("Connection.statement", statementCacheSize: 64))

    static let statementCache = Benchmark(
        id: "read.point.statement-cache-off", shows: "single rows by key with every statement prepared again, against the statement cache",
        limit: nil,
        prepare: { _ = try PagingBenchmarks.filledTable($0) },
        reference: points("statement cache of 64", statementCacheSize: 64), subject: points("no statement cache", statementCacheSize: 0))

    static let memoryMap = Benchmark(
        id: "page.rows.mmap", shows: "30,000 rows as row pages from a file that is mapped into memory, against reads through a cache of 1 MB",
        limit: nil, prepare: { _ = try PagingBenchmarks.filledTable($0) },
        reference: rows("cache 1 MB, mmap off", mapped: 0), subject: rows("cache 1 MB, mmap 256 MB", mapped: 256 << 20))

    private static let pointKeys = (0..<10_000).map { Int64($0 * 7_919 % 30_000 + 1) }
    private static let pointSelect = #"SELECT \#(ItemTable.columnList) FROM "Item" WHERE "_sk" = ?1"#

    private static func points(in path: String, _ watch: inout Stopwatch) throws -> Outcome {
        var message = CMessage()
        guard let keyset = br_keyset_open(path, 10_000_000, pointSelect, &message.characters, CMessage.size) else {
            throw WrongResult("select.c.point: \(message.text)")
        }
        defer { br_keyset_close(keyset) }
        var rows: Int64 = 0, sum: UInt64 = 0
        guard watch.measure({ br_keyset_points(keyset, pointKeys, pointKeys.count, &rows, &sum) }) else {
            throw WrongResult("select.c.point: SQLite refused")
        }
        return Outcome(rows: rows, checksum: sum)
    }

    private static func points(_ name: String, statementCacheSize: Int) -> Side {
        Side(name) { workspace, watch in
            let database = try Database(ConnectionProfile(path: PagingBenchmarks.filledTable(workspace), statementCacheSize: statementCacheSize))
            let outcome = try database.read { connection in
                try watch.measure {
                    var rows: Int64 = 0, sum: UInt64 = 0
                    for key in pointKeys {
                        let page = try connection.page(pointSelect, [.integer(key)], size: 1)
                        for row in page { sum &+= row.sumOfValues }
                        rows += Int64(page.count)
                    }
                    return Outcome(rows: rows, checksum: sum)
                }
            }
            try database.close()
            return outcome
        }
    }

    private static func rows(_ name: String, mapped: Int) -> Side {
        Side(name) { workspace, watch in
            let path = try PagingBenchmarks.filledTable(workspace)
            let database = try Database(ConnectionProfile(path: path, cacheSize: .megabytes(1), memoryMapSize: .bytes(mapped)))
            let outcome = try database.read { connection in try watch.measure { try PagingBenchmarks.allPages(connection) } }
            try database.close()
            return outcome
        }
    }
}
