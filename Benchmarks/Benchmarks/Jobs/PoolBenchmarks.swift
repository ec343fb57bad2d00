import BenchmarkReferences
import Foundation
import MobileStore
import Synchronization

/// The cost of the pool, and the gain of concurrent connections.
enum PoolBenchmarks {
    static let all = [readerBesideWriter, twoReaders, openCold, smallWrites, statementCacheOff, coalescedLogWrites]

    static let readerBesideWriter = Benchmark(
        id: "pool.reader-beside-writer", shows: "what is left of a reader's speed while the writer imports", limit: 0.80, isRate: true,
        note: "rate: rows per second; the import is repeated until the reader is through, and scans in a second thread of its own",
        prepare: { _ = try PagingBenchmarks.filledTable($0) },
        reference: Side("the reader alone") { workspace, watch in
            let path = try copyOfItems(workspace)
            defer { workspace.removeDatabase(path) }
            let database = try Database(ConnectionProfile(path: path))
            let sum = try watch.measure { try read(database) }
            try database.close()
            return Outcome(rows: rowsRead, checksum: sum)
        },
        subject: Side("the reader beside BulkImporter", threads: 3) { workspace, watch in
            let path = try copyOfItems(workspace)
            defer { workspace.removeDatabase(path) }
            let database = try Database(ConnectionProfile(path: path))
            let imports = Imports(of: workspace.r30, into: database)
            let sum = try watch.measure { try read(database) }
            let count = try imports.stop()
            guard count > 0, try database.read({ try $0.first(#"SELECT count(*) FROM "Incoming""#) }) == [30_000] else {
                throw WrongResult("pool.reader-beside-writer: the writer has imported nothing")
            }
            try database.close()
            return Outcome(rows: rowsRead, checksum: sum)
        })

    static let twoReaders = Benchmark(
        id: "pool.two-readers", shows: "two readers paging together on two cores", limit: 1.8, isRate: true,
        note: "rate: rows per second, of both readers together",
        prepare: { _ = try PagingBenchmarks.filledTable($0) },
        reference: Side("one reader") { workspace, watch in
            let database = try Database(ConnectionProfile(path: PagingBenchmarks.filledTable(workspace)))
            let sum = try watch.measure { try read(database) }
            try database.close()
            return Outcome(rows: rowsRead, checksum: sum)
        },
        subject: Side("two readers", threads: 2) { workspace, watch in
            let database = try Database(ConnectionProfile(path: PagingBenchmarks.filledTable(workspace)))
            let sums = try watch.measure {
                let other = Background { try read(database) }
                return [try read(database), try other.value()]
            }
            guard sums[0] == sums[1] else { throw WrongResult("pool.two-readers: the readers have read different rows") }
            try database.close()
            return Outcome(rows: 2 * rowsRead, checksum: sums[0])
        })

    static let openCold = Benchmark(
        id: "open.cold", shows: "opening an existing database with its pool", limit: 1.5, countsRows: false,
        note: "100 times; closing is not measured",
        prepare: { _ = try PagingBenchmarks.filledTable($0) },
        reference: Side("open.c: sqlite3_open and the same pragmas") { workspace, watch in
            let path = try PagingBenchmarks.filledTable(workspace)
            var message = CMessage(), rows: Int64 = 0
            for _ in 0..<opens {
                let database = watch.measure { br_database_open(path, 10_000_000, &message.characters, CMessage.size) }
                guard let database else { throw WrongResult("open.c: \(message.text)") }
                rows += br_database_integer(database, #"SELECT count(*) FROM "Item""#)
                br_database_close(database)
            }
            return Outcome(rows: rows, checksum: UInt64(opens))
        },
        subject: Side("Database") { workspace, watch in
            let path = try PagingBenchmarks.filledTable(workspace)
            var rows: Int64 = 0
            for _ in 0..<opens {
                let database = try watch.measure { try Database(ConnectionProfile(path: path)) }
                rows += try database.read { try $0.first(#"SELECT count(*) FROM "Item""#)?[0].integer } ?? -1
                try database.close()
            }
            return Outcome(rows: rows, checksum: UInt64(opens))
        })

    static let smallWrites = Benchmark(
        id: "write.small", shows: "2,000 write transactions of one row", limit: nil, note: "synchronous NORMAL",
        reference: Side("write.c: BEGIN IMMEDIATE, INSERT, COMMIT, each prepared once") { workspace, watch in
            let path = workspace.newFile("small.db")
            defer { workspace.removeDatabase(path) }
            var message = CMessage()
            guard let database = br_database_open(path, 10_000_000, &message.characters, CMessage.size) else { throw WrongResult(message.text) }
            guard br_database_run(database, smallTable) else { throw WrongResult("write.c: SQLite refused") }
            let isWritten = watch.measure {
                defer { br_database_close(database) }
                return br_database_small_writes(database, smallInsert, 1, Int32(writes))
            }
            guard isWritten else { throw WrongResult("write.c: SQLite refused") }
            return try outcome(path)
        },
        subject: Side("Database.write") { workspace, watch in
            try smallWrites(workspace, &watch) { _ in }
        })

    static let statementCacheOff = Benchmark(
        id: "statement.cache.off", shows: "the same small writes without a statement cache, against those with one", limit: nil,
        reference: Side("statement cache of 64") { workspace, watch in try smallWrites(workspace, &watch) { _ in } },
        subject: Side("no statement cache") { workspace, watch in try smallWrites(workspace, &watch) { $0.statementCacheSize = 0 } })

    static let coalescedLogWrites = Benchmark(
        id: "log.coalesced", shows: "an import whose log is written in runs, against one that is written page by page", limit: nil,
        note: "R30, page size 4096, cache 10 MB",
        reference: Side("coalescesLogWrites = false") { workspace, watch in
            try MatrixBenchmarks.importR30(workspace, &watch) { $0.coalescesLogWrites = false }
        },
        subject: Side("coalescesLogWrites = true") { workspace, watch in try MatrixBenchmarks.importR30(workspace, &watch) { _ in } })

    private static let opens = 100, writes = 2000, passes = 20
    private static let rowsRead: Int64 = 30_000 * Int64(passes)
    private static let smallTable = "CREATE TABLE small (id INTEGER PRIMARY KEY, text TEXT NOT NULL DEFAULT 'what a small row holds')"
    private static let smallInsert = "INSERT INTO small (id) VALUES (?)"

    private static func outcome(_ path: String) throws -> Outcome {
        let contents = try TableContents(of: path, "SELECT id, text FROM small ORDER BY id")
        return Outcome(rows: contents.rows, checksum: contents.checksum)
    }

    private static func smallWrites(_ workspace: Workspace, _ watch: inout Stopwatch, _ change: (inout ConnectionProfile) -> Void) throws -> Outcome {
        let path = workspace.newFile("small.db")
        defer { workspace.removeDatabase(path) }
        var profile = ConnectionProfile(path: path, pageSize: 4096)
        change(&profile)
        let database = try Database(profile)
        try database.write { _ = try $0.execute(smallTable) }
        try watch.measure {
            for key in 1...writes { try database.write { try $0.execute(smallInsert, [.integer(Int64(key))]) } }
            try database.close()
        }
        return try outcome(path)
    }

    /// Makes a writable database with R30.
    private static func copyOfItems(_ workspace: Workspace) throws -> String {
        let path = workspace.newFile("items.db")
        try workspace.copyDatabase(PagingBenchmarks.filledTable(workspace), to: path)
        return path
    }

    /// Pages through the table several times, each in a read transaction. Returns a sum over the values read.
    @Sendable private static func read(_ database: Database) throws -> UInt64 {
        var sum: UInt64 = 0
        for _ in 0..<passes { sum &+= try MatrixBenchmarks.pageThrough(database) }
        return sum
    }
}

/// Imports R30 repeatedly on its own thread.
private final class Imports: Sendable {
    private let flag: Flag
    private let work: Background<Int>

    init(of data: DataSet, into database: Database) {
        let isOver = Flag()
        nonisolated(unsafe) let json = data.json  // only read, and the owner waits for `stop`
        flag = isOver
        work = Background {
            var count = 0
            repeat {
                try MatrixBenchmarks.importRows(json, into: "Incoming", of: database, threads: .on)
                count += 1
            } while !isOver.isSet
            return count
        }
    }

    /// Waits for the running import. Returns the number of imports.
    func stop() throws -> Int {
        flag.set()
        return try work.value()
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { value.load(ordering: .acquiring) }
        func set() { value.store(true, ordering: .releasing) }
    }
}

/// Work on its own thread, for whose end the owner waits.
private final class Background<R: Sendable>: Sendable {
    private let result = Mutex<Result<R, any Error>?>(nil)
    private let done = DispatchSemaphore(value: 0)

    init(_ work: @escaping @Sendable () throws -> R) {
        Thread.detachNewThread { [self] in
            let value = Result { try work() }
            result.withLock { $0 = value }
            done.signal()
        }
    }

    func value() throws -> R {
        done.wait()
        return try result.withLock { $0! }.get()  // it was set before the signal
    }
}
