import BenchmarkReferences
import Foundation
import MobileStore

/// Reading of rows from a table for a screen, against a C loop that reads every column. Both run one SELECT per page, in one read transaction.
enum PagingBenchmarks {
    static let all = [rowPages30k, TypedObjects.objects30k, TypedObjects.objectsAhead, last, million] + PageReadingBenchmarks.all

    static let rowPages30k = Benchmark(
        id: "page.rows.30k", shows: "30,000 rows as row pages of 100, every value read where it lies", limit: 0.75,
        prepare: { _ = try filledTable($0) },
        reference: reference(select, in: filledTable),
        subject: Side("RowCursor") { workspace, watch in
            let database = try Database(ConnectionProfile(path: filledTable(workspace)))
            let outcome = try database.read { connection in try watch.measure { try allPages(connection) } }
            try database.close()
            return outcome
        })

    static let last = Benchmark(
        id: "page.last", shows: "paging by key: the last page of 30,000 rows against the first one", limit: 1.15,
        note: "1,000 times the same page", prepare: { _ = try filledTable($0) },
        reference: onePage("the first page", behind: 0),
        subject: onePage("the last page", behind: lastKey))

    /// The key of the last row before the last page.
    private static let lastKey: Int64 = 29_900

    /// Reads one page a thousand times. The two sides have different rows, so only their number is compared; each side checks its own keys.
    private static func onePage(_ name: String, behind key: Int64) -> Side {
        Side(name) { workspace, watch in
            let database = try Database(ConnectionProfile(path: filledTable(workspace)))
            let rows = try database.read { connection in
                let cursor = try RowCursor(query, size: pageRows)
                _ = try page(cursor, behind: key, connection)
                return try watch.measure {
                    var rows: Int64 = 0
                    for _ in 0..<1000 { rows += try page(cursor, behind: key, connection) }
                    return rows
                }
            }
            try database.close()
            return Outcome(rows: rows, checksum: 0)
        }
    }

    /// Reads every value of the page after a key, and checks its first and last key.
    private static func page(_ cursor: RowCursor, behind key: Int64, _ connection: Connection) throws -> Int64 {
        try cursor.seek(to: [.integer(key)])
        guard let page = try cursor.next(in: connection), page[0].integer(0) == key + 1, page[page.count - 1].integer(0) == key + Int64(pageRows)
        else { throw WrongResult("the page behind \(key) has other rows") }
        var sum: UInt64 = 0
        for row in page { sum &+= row.sumOfValues }
        guard sum != 0 else { throw WrongResult("the page behind \(key) has no values") }
        return Int64(page.count)
    }

    static let million = Benchmark(
        id: "page.million", shows: "1,000,000 rows as row pages of 100, by key, in bounded memory", limit: 0.85, memoryLimit: 8 << 20, pairs: 5,
        note: "cache 1 MB, mmap off", prepare: { _ = try millionRows($0) },
        reference: reference(select, in: millionRows, cache: 1_000_000),
        subject: Side("RowCursor") { workspace, watch in
            let database = try Database(ConnectionProfile(path: millionRows(workspace), cacheSize: .bytes(1_000_000), memoryMapSize: .bytes(0)))
            let outcome = try database.read { connection in try watch.measure { try allPages(connection) } }
            try database.close()
            return outcome
        })

    /// Reads all rows of the table by key, every value in place.
    static func allPages(_ connection: Connection) throws -> Outcome {
        var rows: Int64 = 0, sum: UInt64 = 0
        let cursor = try RowCursor(query, size: pageRows)
        while let page = try cursor.next(in: connection) {
            for row in page { sum &+= row.sumOfValues }
            rows += Int64(page.count)
            if cursor.isAtEnd { break }
        }
        return Outcome(rows: rows, checksum: sum)
    }

    /// The same query for a cursor.
    private static let query = PageQuery(
        ItemTable.columns.map { #""\#($0)""# }, from: #""Item""#, orderedBy: [PageQuery.OrderTerm(#""_sk""#)])

    static let pageRows = 100

    /// The SELECT of one page by key.
    private static let select = #"SELECT \#(ItemTable.columnList) FROM "Item" WHERE "_sk" > ?1 ORDER BY "_sk" LIMIT ?2"#

    /// Makes the database with R30, once.
    @Sendable static func filledTable(_ workspace: Workspace) throws -> String {
        try workspace.file("items.db") { path in
            var message = CMessage()
            guard let insert = br_insert_open(path, 4096, 10_000_000, ItemTable.schema, ItemTable.insert, &message.characters, CMessage.size) else {
                throw WrongResult("the table to page through: \(message.text)")
            }
            defer { br_insert_close(insert) }
            guard br_insert_begin(insert), br_insert_rows(insert, workspace.r30.handle), br_insert_commit(insert) else {
                throw WrongResult("the table to page through: SQLite refused")
            }
        }
    }

    /// Makes a database with a million such rows, once.
    @Sendable static func millionRows(_ workspace: Workspace) throws -> String {
        try workspace.file("million.db") { path in
            var message = CMessage()
            guard let insert = br_insert_open(path, 4096, 10_000_000, ItemTable.schema, ItemTable.insert, &message.characters, CMessage.size) else {
                throw WrongResult("the million rows to page through: \(message.text)")
            }
            defer { br_insert_close(insert) }
            var isInserted = br_insert_begin(insert)
            let part = try DataSet(rows: 25_000, firstKey: Workspace.firstRepeatableKey)
            for number in 0..<40 {
                try part.rekey(from: Workspace.firstRepeatableKey + Int64(number) * 25_000)
                isInserted = isInserted && br_insert_rows(insert, part.handle)
            }
            guard isInserted, br_insert_commit(insert) else { throw WrongResult("the million rows to page through: SQLite refused") }
        }
    }

    /// Makes the C loop over a table that `table` makes.
    static func reference(
        _ select: String, in table: @escaping @Sendable (Workspace) throws -> String, cache: Int64 = 10_000_000
    ) -> Side {
        Side("select.c.keyset: keyset SELECT loop in C reading every column") { workspace, watch in
            var message = CMessage()
            guard let keyset = br_keyset_open(try table(workspace), cache, select, &message.characters, CMessage.size) else {
                throw WrongResult("select.c.keyset: \(message.text)")
            }
            defer { br_keyset_close(keyset) }
            var rows: Int64 = 0, selects: Int64 = 0, sum: UInt64 = 0
            guard watch.measure({ br_keyset_run(keyset, Int32(pageRows), &rows, &selects, &sum) }) else {
                throw WrongResult("select.c.keyset: SQLite refused")
            }
            return Outcome(rows: rows, checksum: sum)
        }
    }
}

extension Row {
    /// The sum of the C loop: numbers, and for strings and bytes the length and the first byte.
    var sumOfValues: UInt64 {
        var sum: UInt64 = 0
        for column in 0..<count {
            switch type(column) {
            case .integer: sum &+= UInt64(bitPattern: integer(column))
            case .real: sum &+= UInt64(bitPattern: Int64(real(column)))
            case .text, .blob:
                let bytes = bytes(column)
                sum &+= UInt64(bytes.byteCount)
                if bytes.byteCount > 0 { sum &+= UInt64(bytes.unsafeLoad(fromByteOffset: 0, as: UInt8.self)) }
            case .null: break
            }
        }
        return sum
    }
}
