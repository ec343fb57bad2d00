import BenchmarkReferences
import Foundation
import MobileStore

/// Rows from the server into a table, against inserting values that need no parsing.
enum ImportBenchmarks {
    static let all = [plainUpsert4096, memory200MB]

    static let plainUpsert4096 = Benchmark(
        id: "import.plain.upsert.4096",
        shows: "an import of 30,000 rows of JSON with all of the pending protection, page size 4096", limit: 1.20,
        note: "coalesced log writes; 100 pending updates, 10 deletes, 10 creates are among the incoming keys, their versions go to the original state",
        reference: reference("insert.c.4096", cache: .megabytes(10), rounds: 1) { $0.r30 },
        subject: Side("BulkImporter, plain JSON in chunks of 64 KB") { workspace, watch in
            let path = workspace.newFile("import.db")
            defer { workspace.removeDatabase(path) }
            let database = try Database(profile(path, cache: .megabytes(10)))
            try PendingRows.make(in: database)
            let json = workspace.r30.json
            let result = try watch.measure { try importRows(json, into: database) }
            try database.close()
            try PendingRows.verify(path, result)
            let contents = try TableContents(of: path, PendingRows.selectServerVersions)
            return Outcome(rows: contents.rows, checksum: contents.checksum, bytes: json.count)
        })

    /// 31 times R30 in one transaction: 200 MB of JSON, 930,000 rows.
    static let memory200MB = Benchmark(
        id: "import.200m", shows: "an import of 200 MB takes no memory in proportion", limit: 1.20, memoryLimit: 16 << 20, pairs: 3,
        note: "cache 1 MB, memory map off, one transaction, coalesced log writes",
        prepare: { _ = try $0.repeatable.get() },
        reference: reference("insert.c.200m", cache: .megabytes(1), rounds: rounds) { try $0.repeatable.get() },
        subject: Side("BulkImporter, plain JSON in chunks of 64 KB, 200 MB") { workspace, watch in
            let path = workspace.newFile("import.db")
            defer { workspace.removeDatabase(path) }
            let database = try Database(profile(path, cache: .megabytes(1)))
            try database.write { _ = try $0.execute(ItemTable.schema) }
            let data = try workspace.repeatable.get()
            var bytes = 0, sum: UInt64 = 0
            try database.write { connection in
                let importer = try itemImporter(on: connection, protection: nil)
                for round in 0..<rounds {
                    try data.rekey(from: Workspace.firstRepeatableKey + Int64(round * data.rows))
                    sum = data.checksum(after: sum)
                    // The rounds are one array: its brackets are written once, and a comma stands between two rounds.
                    let json = data.json
                    let rows = UnsafeRawBufferPointer(rebasing: json[(round == 0 ? 0 : 1)..<(json.count - 1)])
                    try watch.measure {
                        if round > 0 { try importer.push([UInt8(ascii: ",")]) }
                        try push(rows, to: importer)
                        if round == rounds - 1 { try importer.push([UInt8(ascii: "]")]) }
                    }
                    bytes += rows.count + 1
                }
                let result = try watch.measure { try importer.finish() }
                guard result.rows == rounds * data.rows else { throw WrongResult("import.200m: \(result.rows) rows") }
            }
            try database.close()
            let contents = try TableContents(of: path, ItemTable.select)
            guard contents.checksum == sum else { throw WrongResult("import.200m: the table does not hold what was imported") }
            return Outcome(rows: contents.rows, checksum: contents.checksum, bytes: bytes)
        })

    private static let rounds = 31

    private static func profile(_ path: String, cache: ByteCount) -> ConnectionProfile {
        var profile = ConnectionProfile(path: path, pageSize: 4096, cacheSize: cache)
        profile.memoryMapSize = .bytes(0)
        return profile
    }

    /// One transaction from BEGIN to COMMIT, as the reference has it.
    private static func importRows(_ json: UnsafeRawBufferPointer, into database: Database) throws -> ImportResult {
        try database.write { connection in
            let importer = try itemImporter(on: connection, protection: PendingRows.protection)
            try push(json, to: importer)
            return try importer.finish()
        }
    }

    private static func itemImporter(on connection: Connection, protection: PendingProtection?) throws -> BulkImporter {
        var options = ImportOptions()
        options.keyColumn = "_sk"
        options.onInsert = [(column: "_rc", value: .integer(33_422_977))]
        options.pending = protection
        options.columnRules = ItemTable.rules
        return try connection.importer(into: "Item", columns: ItemTable.columns, mode: .upsert, options: options)
    }

    /// In chunks of the size that a network connection delivers.
    private static func push(_ json: UnsafeRawBufferPointer, to importer: BulkImporter) throws {
        for start in stride(from: 0, to: json.count, by: 65536) {
            try importer.push(UnsafeRawBufferPointer(rebasing: json[start..<min(start + 65536, json.count)]))
        }
    }

    private static func reference(
        _ name: String, cache: ByteCount, rounds: Int, data: @escaping @Sendable (Workspace) throws -> DataSet
    ) -> Side {
        Side("\(name): prepared INSERT of values already parsed, in C") { workspace, watch in
            let path = workspace.newFile("insert.db")
            defer { workspace.removeDatabase(path) }
            var message = CMessage()
            guard
                let insert = br_insert_open(path, 4096, Int64(cache.bytes), ItemTable.schema, ItemTable.insert, &message.characters, CMessage.size)
            else { throw WrongResult("\(name): \(message.text)") }
            let data = try data(workspace)
            var sum: UInt64 = 0
            try watch.measure { try check(br_insert_begin(insert), name) }
            for round in 0..<rounds {
                if rounds > 1 { try data.rekey(from: Workspace.firstRepeatableKey + Int64(round * data.rows)) }
                sum = data.checksum(after: sum)
                try watch.measure { try check(br_insert_rows(insert, data.handle), name) }
            }
            try watch.measure { try check(br_insert_commit(insert), name) }
            br_insert_close(insert)
            let contents = try TableContents(of: path, ItemTable.select)
            guard contents.checksum == sum else { throw WrongResult("\(name): the table does not hold what was inserted") }
            return Outcome(rows: contents.rows, checksum: contents.checksum)
        }
    }

    private static func check(_ done: Bool, _ name: String) throws {
        if !done { throw WrongResult("\(name): SQLite refused") }
    }
}
