import MobileStore
import TestSupport
import Testing

/// Several texts that are one import.
@Suite struct ImportTextsTests {
    let directory: TemporaryDirectory
    let database: Database

    init() throws {
        directory = try TemporaryDirectory()
        database = try Database(directory.profile())
        try database.write { connection in
            _ = try connection.execute(
                "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT CHECK (name <> 'forbidden')); CREATE INDEX by_name ON item (name)")
        }
    }

    private static func text(_ numbers: ClosedRange<Int>) -> [UInt8] {
        Array("[\(numbers.map { "[\($0),\"name \($0 * 7919 % 1000)\"]" }.joined(separator: ",\n"))]".utf8)
    }

    private func rows() throws -> Int64? { try database.read { try $0.first("SELECT count(*) FROM item")?[0].integer } }

    /// Imports texts in chunks, and returns the progress after each of them.
    private func importing(
        _ texts: [[UInt8]], chunk: Int = 1000, _ change: (inout ImportOptions) -> Void = { _ in },
        between: (Connection) throws -> Void = { _ in }
    ) throws -> [ImportProgress] {
        try database.write { connection in
            var options = ImportOptions()
            change(&options)
            let importer = try connection.importer(into: "item", columns: ["id", "name"], options: options)
            var counts: [ImportProgress] = []
            for text in texts {
                for start in stride(from: 0, to: text.count, by: chunk) { try importer.push(Array(text[start..<min(start + chunk, text.count)])) }
                counts.append(try importer.endText())
                try between(connection)
            }
            counts.append(try importer.finish())
            return counts
        }
    }

    @Test("texts of all kinds follow each other, with and without a second thread", arguments: [ImportThreads.off, .on, .automatic], [37, 1 << 20])
    func kinds(threads: ImportThreads, chunk: Int) throws {
        let texts = [Self.text(1...3000), deflated(Self.text(3001...6000)), Array("[]".utf8), deflated(Self.text(2001...7000), gzip: true)]
        let counts = try importing(texts, chunk: chunk) { $0.threads = threads }
        #expect(counts.map(\.rows) == [3000, 6000, 6000, 11_000, 11_000])
        #expect(counts.last?.inserted == 7000 && counts.last?.updated == 4000)
        #expect(counts.map(\.bytes).last == Int64(texts.map(\.count).reduce(0, +)))
        let plain = [Self.text(1...3000), Self.text(3001...6000), Array("[]".utf8), Self.text(2001...7000)].map { Int64($0.count) }
        let sums: [Int64] = [plain[0], plain[0] + plain[1], plain[0] + plain[1] + 2, plain.reduce(0, +)]
        #expect(counts.dropLast().map(\.inflatedBytes) == sums)
        let sumOfIDs: Int64 = 7000 * 7001 / 2
        #expect(try database.read { try $0.rows("SELECT count(*), sum(id) FROM item") } == [[7000, .integer(sumOfIDs)]])
        #expect(try database.read { try $0.rows("PRAGMA integrity_check") } == [["ok"]])
    }

    @Test func `indexes of a table that is filled are made once, after the last text`() throws {
        var indexes: [Int64?] = []
        let count = "SELECT count(*) FROM sqlite_schema WHERE type = 'index'"
        _ = try importing([Self.text(1...3000), Self.text(3001...6000), Self.text(6001...20_000)], between: { connection in
            indexes.append(try connection.first(count)?[0].integer)
        })
        #expect(indexes == [1, 0, 0])
        #expect(try database.read { try $0.first(count) } == [1] && database.read { try $0.rows("PRAGMA integrity_check") } == [["ok"]])
    }

    @Test(
        "a failure in a later text undoes all of them, and counts from the beginning of its text", arguments: [ImportThreads.off, .on], [false, true])
    func failure(threads: ImportThreads, isDeflated: Bool) throws {
        let bad = Self.text(1...2) + Array("x".utf8), refused = Array("[[6001,\"a\"],[6002,\"forbidden\"]]".utf8)
        let cut = Array(Self.text(6001...6010).dropLast())
        for (text, code, row, offset) in [
            (bad, StoreError.Code.json, nil, Int64(bad.count - 1)), (refused, .constraint, 2, nil), (cut, .truncated, nil, nil),
        ] as [([UInt8], StoreError.Code, Int?, Int64?)] {
            let error = #expect(throws: StoreError.self) {
                try importing([Self.text(1...6000), isDeflated ? deflated(text) : text]) { $0.threads = threads }
            }
            #expect(error?.code == code, "\(String(describing: error))")
            if let row { #expect(error?.row == row) }
            if let offset, !isDeflated { #expect(error?.byteOffset == offset) }
            #expect(try rows() == 0)
        }
    }

    @Test func `a text without bytes, and the end of one that is not complete, are refused`() throws {
        for text in ["", "[[1,\"a\"]", "  "] {
            let error = #expect(throws: StoreError.self) { try importing([Self.text(1...10), Array(text.utf8)]) }
            #expect(error?.code == .truncated)
            #expect(try rows() == 0)
        }
        try database.write { connection in
            let importer = try connection.importer(into: "item", columns: ["id", "name"])
            try importer.push(Self.text(1...10))
            try importer.endText()
            try importer.push(Array("[".utf8))
            #expect(#expect(throws: StoreError.self) { try importer.finish() }?.code == .truncated)
            #expect(#expect(throws: StoreError.self) { try importer.endText() }?.code == .misuse)
        }
        #expect(try rows() == 0)
        // Blanks after a text belong to it.
        #expect(try importing([Self.text(1...10) + Array(" \n".utf8), Self.text(5...11)]).last?.rows == 17)
    }

    @Test func `the limit of inflated bytes is that of a text`() throws {
        let text = Self.text(1...5000), packed = deflated(text)
        #expect(try importing([packed, packed, packed]) { $0.maximumInflatedBytes = Int64(text.count) }.last?.rows == 15_000)
        let error = #expect(throws: StoreError.self) { try importing([packed, packed]) { $0.maximumInflatedBytes = Int64(text.count) - 1 } }
        #expect(error?.code == .limit)
    }

    @Test func `texts of several tables`() throws {
        try database.write { connection in
            _ = try connection.execute("CREATE TABLE other (id INTEGER PRIMARY KEY)")
            let importer = try connection.importer(into: [ImportTable("item", columns: ["id", "name"]), ImportTable("other", columns: ["id"])])
            try importer.push(Array(#"{"other":[[1],[2]],"item":[[1,"a"]]}"#.utf8))
            try importer.endText()
            try importer.push(Array(#"{"item":[[2,"b"]],"other":[[3]]}"#.utf8))
            #expect(try importer.endText().rows == 5)
            let error = #expect(throws: StoreError.self) {
                try importer.push(Array(#"{"item":[[3,"c"]],"other":[["x"]]}"#.utf8))
                try importer.finish()
            }
            #expect(error?.row == 1)
        }
        #expect(try database.read { try $0.rows("SELECT count(*) FROM item UNION ALL SELECT count(*) FROM other") } == [[0], [0]])
    }
}
