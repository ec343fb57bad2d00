import Foundation
import MobileObjects
import MobileStore

/// Objects of a generated class, from a table to a screen. The class is generated from `benchmark.mbo.json`.
enum TypedObjects {
    static let objects30k = objects(
        "page.objects.30k", "30,000 typed objects, 100 at a time, every attribute read", limit: 1.4, "Item.cursor()", readsAhead: false)

    static let objectsAhead = objects(
        "page.objects.ahead", "the same while the next page is read on a second thread", limit: 1.0, "Item.cursor(readsAhead: true)",
        readsAhead: true)

    private static func objects(_ id: String, _ shows: String, limit: Double, _ name: String, readsAhead: Bool) -> Benchmark {
        Benchmark(
            id: id, shows: shows, limit: limit,
            note: "each object also has its key and five state attributes, which the C loop reads as well",
            prepare: { _ = try filledTable($0) },
            reference: PagingBenchmarks.reference(select, in: filledTable),
            subject: Side(name, threads: readsAhead ? 2 : 1) { workspace, watch in
                let package = try Bench.open(ConnectionProfile(path: filledTable(workspace)))
                var rows: Int64 = 0, sum: UInt64 = 0
                try watch.measure {
                    try forEachPage(package, readsAhead: readsAhead) { items in
                        for item in items { sum &+= item.sumOfPlainAttributes &+ item.sumOfConvertedAttributes }
                        rows += Int64(items.count)
                    }
                }
                let verified = try verifiedSum(package, measured: sum)
                try package.closeConnection()
                return Outcome(rows: rows, checksum: verified)
            })
    }

    private static func forEachPage(_ package: Bench, readsAhead: Bool, _ body: (EntityList<Item>) throws -> Void) throws {
        let cursor = try Item.cursor(pageSize: PagingBenchmarks.pageRows, readsAhead: readsAhead, in: package)
        while let items = try cursor.nextPage() { try body(items) }
    }

    /// The values of a page of objects: key, state, attributes. The key comes first, for the C loop.
    private static let select = """
        SELECT \(columns) FROM "Item" WHERE "_sk" > ?1 ORDER BY "_sk" LIMIT ?2
        """
    static let columns = #""_sk", "_pc", "_rc", "_rp", "_rf", "_ra", \#(attributes)"#
    static let attributes = Item.metadata.attributes.map { "\"\($0.name)\"" }.joined(separator: ", ")

    /// Makes the package's database with R30, once.
    @Sendable static func filledTable(_ workspace: Workspace) throws -> String {
        try workspace.file("objects.db") { path in
            let package = try Bench.open(ConnectionProfile(path: path))
            try package.closeConnection()
            let source = try Database(ConnectionProfile(path: PagingBenchmarks.filledTable(workspace)))
            let target = try Database(ConnectionProfile(path: path))
            try target.write { connection in
                let insert = try connection.statement(
                    #"INSERT INTO "Item" ("_sk", \#(attributes)) VALUES (?1, ?1, ?2, ?3, ?4, ?5, ?6 || '.000Z', ?7, ?8, ?9, ?10, ?11, ?12)"#)
                var pages = try source.pages(ItemTable.select, size: 1000)
                while let page = try pages.next() {
                    for row in page { _ = try insert.run(row.values) }
                }
            }
            try source.close()
            try target.close()
        }
    }

    /// Returns the C loop's sum of the stored values, from objects that are read once more outside of the measured time.
    /// - Throws: ``WrongResult`` when the measured pass did not see the same objects.
    static func verifiedSum(_ package: Bench, measured: UInt64) throws -> UInt64 {
        var stored: UInt64 = 0, seen: UInt64 = 0
        try forEachPage(package, readsAhead: false) { items in
            for item in items {
                stored &+= item.sumOfPlainAttributes &+ item.sumOfStoredForms
                seen &+= item.sumOfPlainAttributes &+ item.sumOfConvertedAttributes
            }
        }
        guard seen == measured else { throw WrongResult("the objects that were read are others than those of the table") }
        return stored
    }
}

extension Item {
    /// The sum of key, state and values, with the length and the first byte of strings, as in the C loop.
    var sumOfPlainAttributes: UInt64 {
        var sum = UInt64(bitPattern: surrogateKey &+ replayCounter &+ replayPending &+ replayFailure &+ Int64(pendingChange.rawValue))
        sum &+= UInt64(bitPattern: id_ &+ number &+ Int64(small)) &+ (flag ? 1 : 0)
        sum &+= words3.sumOfBytes &+ words8.sumOfBytes &+ quoted.sumOfBytes
        return sum &+ place.sumOfBytes &+ digest.sumOfBytes
    }

    /// A sum over the attributes whose stored form differs, which needs their converted values.
    var sumOfConvertedAttributes: UInt64 {
        moment.timeIntervalSinceReferenceDate.bitPattern &+ (price.isNaN ? 1 : 0) &+ (rate.isSignMinus ? 1 : 0)
    }

    /// The sum of the same attributes in their stored form: scaled integers and text.
    var sumOfStoredForms: UInt64 {
        let scaled = NSDecimalNumber(decimal: price * 100).int64Value &+ NSDecimalNumber(decimal: rate * 1_000_000).int64Value
        let text = moment.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        return UInt64(bitPattern: scaled) &+ text.sumOfBytes
    }
}

extension String {
    var sumOfBytes: UInt64 { UInt64(utf8.count) &+ UInt64(utf8.first ?? 0) }
}
