import BenchmarkReferences
import MobileStore

/// Imports of repeated R30 with new keys, as one input in one transaction: more than the memory of a device.
enum LargeImportBenchmarks {
    static let all = [
        large("import.200m", "an import of 200 MB takes no memory in proportion", .plain200MB, limit: 0.90),
        large("import.200m.ahead", "the same while a second thread scans ahead", .plain200MB, limit: nil, scansAhead: true),
        large("import.1g", "an import of 1 GB of JSON, inflated on the fly, takes no memory in proportion", .deflated1GB, limit: 1.05),
        large("import.1g.ahead", "the same while a second thread inflates and scans ahead", .deflated1GB, limit: nil, scansAhead: true),
    ]

    private struct Input {
        let megabytes: Int
        let isDeflated: Bool
        let memoryLimit: Int
        let pairs: Int?

        static let plain200MB = Input(megabytes: 200, isDeflated: false, memoryLimit: 16 << 20, pairs: nil)
        static let deflated1GB = Input(megabytes: 1000, isDeflated: true, memoryLimit: 8 << 20, pairs: 3)
    }

    private static func large(_ id: String, _ shows: String, _ input: Input, limit: Double?, scansAhead: Bool = false) -> Benchmark {
        Benchmark(
            id: id, shows: shows, limit: limit, memoryLimit: input.memoryLimit, pairs: input.pairs,
            note: "cache 1 MB, memory map off, one transaction, coalesced log writes"
                + (scansAhead ? "; the second thread scans up to 1 MB ahead while the watch is stopped for the next input to be made" : ""),
            prepare: {
                _ = try $0.repeatable.get()
                if input.isDeflated { _ = try $0.deflater.get() }
            },
            reference: Side("insert.c: prepared INSERT of values already parsed, in C, as many rows") { workspace, watch in
                let path = workspace.newFile("insert.db")
                defer { workspace.removeDatabase(path) }
                let insert = try CInsert(path, pageSize: 4096, cache: .megabytes(1), schema: ItemTable.schema, ItemTable.insert)
                var rounds = try Rounds(input, workspace)
                watch.start()
                try insert.begin()
                while try rounds.next(&watch) != nil { try insert.add { br_insert_rows($0, rounds.data.handle) } }
                try insert.commit()
                insert.close()
                watch.stop()
                return try verified(path, rounds, id)
            },
            subject: Side(
                "BulkImporter, \(input.isDeflated ? "deflated" : "plain") JSON in chunks of 64 KB, \(input.megabytes) MB of text",
                threads: scansAhead ? 2 : 1
            ) { workspace, watch in
                let path = workspace.newFile("import.db")
                defer { workspace.removeDatabase(path) }
                let database = try Database(ImportBenchmarks.profile(path, cache: .megabytes(1)))
                try database.write { _ = try $0.execute(ItemTable.schema) }
                var rounds = try Rounds(input, workspace)
                watch.start()
                let result = try database.write { connection in
                    let importer = try ImportBenchmarks.itemImporter(on: connection, protection: nil, scansAhead: scansAhead)
                    while let bytes = try rounds.next(&watch) { try ImportBenchmarks.push(bytes, to: importer) }
                    return try importer.finish()
                }
                try database.close()
                watch.stop()
                guard result.rows == rounds.count * rounds.data.rows, result.inflatedBytes == rounds.bytes else {
                    throw WrongResult("\(id): \(result.rows) rows of \(result.inflatedBytes) bytes")
                }
                return try verified(path, rounds, id)
            })
    }

    private static func verified(_ path: String, _ rounds: Rounds, _ id: String) throws -> Outcome {
        let contents = try TableContents(of: path, ItemTable.select)
        guard contents.checksum == rounds.sum else { throw WrongResult("\(id): the table does not hold what was written") }
        return Outcome(rows: contents.rows, checksum: contents.checksum, bytes: rounds.bytes)
    }

    /// Makes the input round by round, for both sides in the same way, so that the disk has the same time to write in between.
    private struct Rounds {
        let data: DataSet
        let count: Int
        /// The bytes and the check sum of all rounds so far.
        private(set) var bytes = 0, sum: UInt64 = 0
        private let deflater: Deflater?
        private var round = 0

        init(_ input: Input, _ workspace: Workspace) throws {
            data = try workspace.repeatable.get()
            count = input.megabytes * 1_000_000 / (workspace.isQuick ? 10 : 1) / data.json.count + 1
            deflater = input.isDeflated ? try workspace.deflater.get() : nil
            try deflater?.begin()
        }

        /// Gives the rows their next keys while the watch is stopped. Returns the next part of the input; nil after the last one.
        mutating func next(_ watch: inout Stopwatch) throws -> UnsafeRawBufferPointer? {
            guard round < count else { return nil }
            watch.stop()
            defer { watch.start() }
            try data.rekey(from: Workspace.firstRepeatableKey + Int64(round * data.rows))
            sum = data.checksum(after: sum)
            // The rounds form one array: between two rounds, a comma replaces the brackets.
            let json = data.round(isFirst: round == 0, isLast: round == count - 1)
            round += 1
            bytes += json.count
            return try deflater?.take(json, isLast: round == count) ?? json
        }
    }
}
