import BenchmarkReferences
import Foundation
import MobileObjects
import MobileStore

/// Single objects of a generated class: finding by key, and saving as pending changes.
enum ObjectBenchmarks {
    static let all = [findByKey, saveOne]

    static let cacheBytes: Int64 = 10_000_000

    // MARK: Finding

    private static let findByKey = Benchmark(
        id: "find.key", shows: "30,000 typed objects found one by one by their primary key, every attribute read", limit: 1.5,
        note: "each find is a read transaction of its own on either side",
        prepare: { _ = try TypedObjects.filledTable($0) },
        reference: Side("find.c: cached SELECT by key in C, every column read") { workspace, watch in
            var message = CMessage()
            let select = "SELECT \(TypedObjects.columns) FROM \"Item\" WHERE \"id\" = ?1 ORDER BY \"_sk\""
            guard let find = br_find_open(try TypedObjects.filledTable(workspace), cacheBytes, select, &message.characters, CMessage.size) else {
                throw WrongResult("find.c: \(message.text)")
            }
            defer { br_find_close(find) }
            var rows: Int64 = 0, sum: UInt64 = 0
            guard watch.measure({ br_find_run(find, finds, &rows, &sum) }) else { throw WrongResult("find.c: SQLite refused") }
            return Outcome(rows: rows, checksum: sum)
        },
        subject: Side("Item.findByPrimaryKey(_:in:)") { workspace, watch in
            let package = try Bench.open(ConnectionProfile(path: TypedObjects.filledTable(workspace)))
            var rows: Int64 = 0, sum: UInt64 = 0
            try watch.measure {
                for position in 0..<finds {
                    guard let item = try Item.findByPrimaryKey(br_find_key(position, finds), in: package) else { continue }
                    sum &+= item.sumOfPlainAttributes &+ item.sumOfConvertedAttributes
                    rows += 1
                }
            }
            let stored = try TypedObjects.verifiedSum(package, measured: sum)
            try package.closeConnection()
            return Outcome(rows: rows, checksum: stored)
        })

    private static let finds: Int64 = 30_000

    // MARK: Saving

    private static let saveOne = Benchmark(
        id: "save.one", shows: "2,000 objects changed and saved, each in a transaction: row, original state, pending mark", limit: 1.5,
        note: "ours also reads the row's marks first, to notice another writer, and draws a counter",
        prepare: { _ = try TypedObjects.filledTable($0) },
        reference: Side("save.c: the three statements in C, prepared once") { workspace, watch in
            try onCopy(of: workspace) { path in
                var message = CMessage()
                let save = withSaveStatements { statements in
                    withUnsafePointer(to: statements) { br_save_open(path, cacheBytes, $0, &message.characters, CMessage.size) }
                }
                guard let save else { throw WrongResult("save.c: \(message.text)") }
                var texts = newTexts.map { UnsafePointer(strdup($0)) }
                defer { for text in texts { free(UnsafeMutablePointer(mutating: text)) } }
                let isSaved = watch.measure {
                    defer { br_save_close(save) }
                    return br_save_run(save, &texts, Int64(saves), changedPosition)
                }
                guard isSaved else { throw WrongResult("save.c: SQLite refused") }
            }
        },
        subject: Side("Item.save()") { workspace, watch in
            try onCopy(of: workspace) { path in
                let package = try Bench.open(ConnectionProfile(path: path))
                let items = try Item.page(size: saves, in: package), texts = newTexts
                try watch.measure {
                    for (item, text) in zip(items, texts) {
                        item.words3 = text
                        try item.save()
                    }
                    try package.closeConnection()
                }
            }
        })

    static let saves = 2000
    static let newTexts = (1...saves).map { "changed for the \($0)th time" }
    /// The position of `words3`, with which the original state records the changed attribute.
    private static let changedPosition = String(Item.metadata.attributes.first { $0.name == "words3" }?.index ?? -1)

    /// Runs `work` on a copy of the table, and sums up the resulting content.
    static func onCopy(of workspace: Workspace, _ work: (String) throws -> Void) throws -> Outcome {
        let path = workspace.newFile("save.db")
        defer { workspace.removeDatabase(path) }
        try workspace.copyDatabase(TypedObjects.filledTable(workspace), to: path)
        try work(path)
        let rows = try TableContents(of: path, "SELECT \"_pc\", \(TypedObjects.attributes) FROM \"Item\" ORDER BY \"_sk\"")
        let originals = try TableContents(of: path, "SELECT \"_pc\", \"_sv\", \"_ch\", \(TypedObjects.attributes) FROM \"Item_os\" ORDER BY \"_sk\"")
        return Outcome(rows: originals.rows, checksum: rows.checksum &+ originals.checksum)
    }

    private static func withSaveStatements<R>(_ body: (br_save_statements) throws -> R) rethrows -> R {
        let marks = #""_pc", "_rc", "_rp", "_rf", "_ra""#
        let keep = """
            INSERT INTO "Item_os" ("_sk", \(marks), \(TypedObjects.attributes), "_sv", "_im", "_sc")
            SELECT "_sk", ?2, ?3, ?4, ?5, 0, \(TypedObjects.attributes), 1, 0, "_rc" FROM "Item" WHERE "_sk" = ?1
            """
        let update = #"UPDATE "Item" SET "_pc" = ?2, "_rc" = ?3, "_rp" = ?4, "_rf" = ?5, "_ra" = 0, "words3" = ?6 WHERE "_sk" = ?1"#
        return try keep.withCString { keep in
            try #"UPDATE "Item_os" SET "_ch" = ?2 WHERE "_sk" = ?1"#.withCString { note in
                try update.withCString { try body(br_save_statements(keep: keep, note: note, update: $0)) }
            }
        }
    }
}
