import BenchmarkReferences
import Foundation
import MobileStore

/// Rows from a table to a screen, against a C loop that looks at every column. Both run one SELECT per page, in one read transaction.
enum PagingBenchmarks {
    static let all = [rowPages30k, TypedObjects.objects30k]

    static let rowPages30k = Benchmark(
        id: "page.rows.30k", shows: "30,000 rows as row pages of 100, every value read where it lies", limit: 0.75,
        prepare: { _ = try filledTable($0) },
        reference: reference(select, in: filledTable),
        subject: Side("RowPage") { workspace, watch in
            let database = try Database(ConnectionProfile(path: filledTable(workspace)))
            let (rows, sum) = try database.read { connection in
                try watch.measure {
                    var rows: Int64 = 0, sum: UInt64 = 0, after = Int64.min
                    while true {
                        var pages = try connection.pages(select, [.integer(after), .integer(Int64(pageRows))], size: pageRows)
                        guard let page = try pages.next() else { break }
                        for row in page { sum &+= row.sumOfValues }
                        rows += Int64(page.count)
                        after = page[page.count - 1].integer(0)
                        if page.count < pageRows { break }
                    }
                    return (rows, sum)
                }
            }
            try database.close()
            return Outcome(rows: rows, checksum: sum)
        })

    static let pageRows = 100

    /// One page by key.
    private static let select = #"SELECT \#(ItemTable.columnList) FROM "Item" WHERE "_sk" > ?1 ORDER BY "_sk" LIMIT ?2"#

    /// The database with R30 in it, made once.
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

    /// The C loop over a table that `table` makes.
    static func reference(_ select: String, in table: @escaping @Sendable (Workspace) throws -> String) -> Side {
        Side("select.c.keyset: keyset SELECT loop in C reading every column") { workspace, watch in
            var message = CMessage()
            guard let keyset = br_keyset_open(try table(workspace), 10_000_000, select, &message.characters, CMessage.size) else {
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
    /// What the C loop adds up: numbers, and of strings and bytes the length and the first byte.
    fileprivate var sumOfValues: UInt64 {
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
