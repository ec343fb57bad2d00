import Foundation
import MobileObjects
import MobileStore

/// The index of words: the price of its upkeep in imports, and the time of searches.
enum SearchBenchmarks {
    static let all = [load, change, find]

    private static let rows: Int64 = 30_000, changedRows: Int64 = 3000

    private static let load = Benchmark(
        id: "search.load",
        shows: "an import of 30,000 texts of 20 words into an empty table with an index of words, against the import and SQLite's own",
        limit: nil, note: "the reference fills an FTS5 table with one INSERT ... SELECT after the same import without a searchable attribute",
        reference: Side("the same import, then INSERT INTO fts5 SELECT") { workspace, watch in
            try onNewDatabase(workspace) { package in
                let json = texts(1...rows)
                try watch.measure {
                    try package.write("import") { transaction in
                        try importRows(json, "PlainArticle", transaction)
                        try transaction.connection.execute(
                            #"CREATE VIRTUAL TABLE words USING fts5(title, body, content='PlainArticle', content_rowid='_sk', tokenize='unicode61 remove_diacritics 2')"#
                        )
                        try transaction.connection.execute(
                            #"INSERT INTO words (rowid, title, body) SELECT "_sk", "title", "body" FROM "PlainArticle""#)
                    }
                }
                let found = try package.store.read { try $0.rows("SELECT rowid FROM words WHERE words MATCH 'w17 AND w3*'") }
                try watch.measure { try package.closeConnection() }
                return outcome(found.compactMap { $0[0].integer })
            }
        },
        subject: Side("ImportSession.rows(_:), two searchable attributes") { workspace, watch in
            try onNewDatabase(workspace) { package in
                let json = texts(1...rows)
                try watch.measure { try package.write("import") { try importRows(json, "Article", $0) } }
                let found = try package.articles.matching("w17 w3").find().map(\.surrogateKey)
                try watch.measure { try package.closeConnection() }
                return outcome(found)
            }
        })

    private static let change = Benchmark(
        id: "search.change", shows: "an import of 3,000 changed texts over 30,000, with an index of words, against the same without one", limit: nil,
        note: "each changed row leaves the index with its former words, and comes into it with its new ones",
        reference: changes("ImportSession.rows(_:) without searchable attributes", of: "PlainArticle"),
        subject: changes("ImportSession.rows(_:), two searchable attributes", of: "Article"))

    private static func changes(_ name: String, of object: String) -> Side {
        Side(name) { workspace, watch in
            try onNewDatabase(workspace) { package in
                try package.write("import") { try importRows(texts(1...rows), object, $0) }
                let json = texts(1...changedRows, seed: 2)
                try watch.measure { try package.write("import") { try importRows(json, object, $0) } }
                let sum = try package.store.read { connection in
                    try connection.rows("SELECT \"_sk\", \"title\", \"body\" FROM \"\(object)\"").reduce(UInt64(0)) { sum, row in
                        sum &+ UInt64(bitPattern: row[0].integer ?? 0) &+ (row[1].text ?? "").sumOfBytes &+ (row[2].text ?? "").sumOfBytes
                    }
                }
                if object == "Article" {
                    let text = try package.articles.where(\.id_ == 5).find()[0].body
                    let same = try package.articles.matching("\"\(text)\"").find().map(\.surrogateKey)
                    guard same == [5] else { throw WrongResult("search.change: the index has not followed: \(same)") }
                }
                try watch.measure { try package.closeConnection() }
                return Outcome(rows: rows, checksum: sum)
            }
        }
    }

    private static let find = Benchmark(
        id: "search.find", shows: "50 searches for two words in 30,000 texts, against the same as parts of the texts without an index", limit: nil,
        prepare: { _ = try filled($0) },
        reference: Side("contains(_:) of both attributes, for both words") { workspace, watch in
            try searches(workspace, &watch) { package, first, second in
                try PlainArticle.where {
                    ($0.title.contains(" \(first) ") || $0.body.contains(" \(first) "))
                        && ($0.title.contains(" \(second) ") || $0.body.contains(" \(second) "))
                }
                .find(in: package).map(\.surrogateKey)
            }
        },
        subject: Side("matching(_:)") { workspace, watch in
            try searches(workspace, &watch) { package, first, second in
                try Article.where(.matching(TextSearch("\(first) \(second)", beginnings: .none))).find(in: package).map(\.surrogateKey)
            }
        })

    private static func searches(_ workspace: Workspace, _ watch: inout Stopwatch, _ body: (Bench, String, String) throws -> [Int64]) throws
        -> Outcome
    {
        let package = try Bench.open(ConnectionProfile(path: filled(workspace)))
        var found: [Int64] = []
        try watch.measure {
            for number in 0..<50 { found += try body(package, "w\(number * 3)", "w\(number * 5 + 1)") }
        }
        try package.closeConnection()
        return outcome(found)
    }

    // MARK: Data

    private static func outcome(_ keys: [Int64]) -> Outcome {
        Outcome(rows: Int64(keys.count), checksum: keys.reduce(0) { $0 &* 31 &+ UInt64(bitPattern: $1) })
    }

    private static func onNewDatabase(_ workspace: Workspace, _ body: (Bench) throws -> Outcome) throws -> Outcome {
        let path = workspace.newFile("search.db")
        defer { workspace.removeDatabase(path) }
        let package = try Bench.open(ConnectionProfile(path: path))
        try package.openConnection()
        return try body(package)
    }

    @Sendable private static func filled(_ workspace: Workspace) throws -> String {
        try workspace.file("articles.db") { path in
            let package = try Bench.open(ConnectionProfile(path: path))
            try package.write("import") { transaction in
                for object in ["Article", "PlainArticle"] { try importRows(texts(1...rows), object, transaction) }
            }
            try package.closeConnection()
        }
    }

    private static func importRows(_ json: [UInt8], _ object: String, _ transaction: Transaction) throws {
        let rows = try transaction.importSession(for: object).rows(["_sk", "id", "title", "body"])
        for start in stride(from: 0, to: json.count, by: 65_536) { try rows.push([UInt8](json[start..<min(start + 65_536, json.count)])) }
        try rows.finish()
    }

    /// Returns rows whose texts have words between spaces. Few words are frequent, as in a language.
    private static func texts(_ keys: ClosedRange<Int64>, seed: UInt64 = 1) -> [UInt8] {
        var state = seed
        func word() -> String {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let fraction = Double(state >> 11) / Double(1 << 53)
            return "w\(Int(5000 * fraction * fraction * fraction))"
        }
        func text(_ words: Int) -> String { " " + (0..<words).map { _ in word() }.joined(separator: " ") + " " }
        return [UInt8](("[" + keys.map { "[\($0),\($0),\"\(text(4))\",\"\(text(16))\"]" }.joined(separator: ",") + "]").utf8)
    }
}
