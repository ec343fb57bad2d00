import MobileStore

/// Rows with pending local changes among those of an import: 100 updates, 10 deletes and 10 creates.
/// The import must leave them unchanged and keep the server's versions in the original-state table.
enum PendingRows {
    static let updates = (0..<100).map { Int64($0 * 290 + 17) }
    static let deletes = (0..<10).map { Int64($0 * 2_900 + 100) }
    static let creates = (0..<10).map { Int64($0 * 2_900 + 200) }
    static let keys = Set(updates + deletes + creates)

    static let protection = PendingProtection(
        originalTable: "Item_os", keyColumn: "_sk", assignments: [(column: "_sv", value: 1), (column: "_im", value: 1)])

    /// The text that a local edit has written into every column of text.
    private static let local = "edited on the device"

    /// The SELECT of the server's versions of all rows: those of the table, and the diverted ones in place of pending rows.
    static let selectServerVersions = """
        SELECT \(ItemTable.columnList) FROM "Item" WHERE "_pc" = 0 UNION ALL SELECT \(ItemTable.columnList) FROM "Item_os" ORDER BY "_sk"
        """

    /// Puts the pending rows into the tables.
    static func make(in database: Database) throws {
        let marks = #""_pc", "_rc", "_rp", "_rf""#
        try database.write { connection in
            let row = try connection.statement(
                #"INSERT INTO "Item" (\#(ItemTable.columnList), \#(marks)) VALUES (?1, 1, 2, 3, 4, ?2, 1, ?2, ?2, ?2, ?2, ?2, ?3, 100, 0, 0)"#)
            let original = try connection.statement(#"INSERT INTO "Item_os" ("_sk", \#(marks), "_sv") VALUES (?1, ?2, 100, 0, 0, ?3)"#)
            for (keys, change) in [(creates, 1), (updates, 2), (deletes, 3)] {
                for key in keys {
                    if change != 3 { _ = try row.run([.integer(key), .text(local), Value(change)]) }
                    _ = try original.run([.integer(key), Value(change), change == 1 ? 0 : 1])
                }
            }
        }
    }

    /// Verifies the pending rows after an import.
    /// - Throws: ``WrongResult`` unless every pending row is unchanged and the original-state table has the server's version.
    static func verify(_ path: String, _ result: ImportResult) throws {
        guard result.diverted == keys.count else { throw WrongResult("\(result.diverted) rows were diverted, expected \(keys.count)") }
        let untouched = try TableContents(
            of: path,
            #"SELECT "_sk" FROM "Item" WHERE "_pc" <> 0 AND "words8" = '\#(local)' AND "number" = 1 AND "_rc" = 100 AND "_rp" = 0 AND "_rf" = 0"#)
        guard untouched.rows == updates.count + creates.count else { throw WrongResult("an import changed rows with pending changes") }
        let diverted = try TableContents(
            of: path, #"SELECT "_sk" FROM "Item_os" WHERE "_sv" = 1 AND "_im" = 1 AND "digest" IS NOT NULL AND "_rc" = 100"#)
        guard diverted.rows == keys.count else { throw WrongResult("the original-state table has \(diverted.rows) versions of the server") }
    }
}
