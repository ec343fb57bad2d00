import MobileProtocol
import MobileStore
import TestSupport
import Testing

@testable import MobileSync

/// The segments of one object that follow each other are one import.
@Suite struct SegmentImportTests {
    private let directory: TemporaryDirectory
    private let database: Database

    init() throws {
        directory = try TemporaryDirectory()
        database = try Database(ConnectionProfile(path: directory.file("segments.db")))
        try database.write { connection in
            for table in ["A", "B"] { _ = try connection.execute("CREATE TABLE \(table) (_sk INTEGER PRIMARY KEY, n); CREATE INDEX i\(table) ON \(table) (n)") }
        }
    }

    private func segment(_ object: String, _ columns: [String] = ["_sk", "n"]) -> SegmentPart {
        SegmentPart(object: object, columns: columns, content: NamedContent(name: "", grant: ""), length: 0, rows: 0)
    }

    private func part(_ object: String, _ columns: [String] = ["_sk", "n"]) -> FrameContent { .segment(segment(object, columns)) }

    /// Imports parts with these rows, and returns the opened imports, and the number of indexes after each part.
    private func importing(_ parts: [(FrameContent, ClosedRange<Int>)]) throws -> (opened: [String], indexes: [Int64]) {
        var opened: [String] = [], indexes: [Int64] = []
        try database.write { connection in
            var segments = SegmentImport()
            for (content, numbers) in parts {
                try segments.end(before: content)
                if case .segment(let part) = content {
                    let rows = numbers.map { "[\($0)\(part.columns.count == 2 ? ",\($0 * 7919 % 1000)" : "")]" }
                    let count = try segments.take(part) {
                        opened.append(part.object)
                        return try connection.importer(into: part.object, columns: part.columns)
                    } bytes: { importer in
                        try importer.push(Array("[\(rows.joined(separator: ","))]".utf8))
                    }
                    #expect(count == numbers.count)
                }
                indexes.append(try connection.first("SELECT count(*) FROM sqlite_schema WHERE type = 'index'")?[0].integer ?? -1)
            }
        }
        return (opened, indexes)
    }

    private let groupEnd = FrameContent.groupEnd(GroupEnd(group: "g", token: Token([:])))

    @Test func `one import for many segments, whose indexes are made at its end`() throws {
        let (opened, indexes) = try importing([
            (part("A"), 1...5000), (part("A"), 5001...7000), (part("A"), 7001...20_000), (part("B"), 1...3), (part("B", ["_sk"]), 4...5),
            (part("A", ["_sk"]), 20_001...20_002), (groupEnd, 0...0), (part("A", ["_sk"]), 20_003...20_003), (groupEnd, 0...0),
        ])
        #expect(opened == ["A", "B", "B", "A", "A"] && indexes == [1, 1, 1, 2, 2, 2, 2, 2, 2])
        let counts = "SELECT (SELECT count(*) FROM A), (SELECT count(*) FROM B), (SELECT count(*) FROM A INDEXED BY iA WHERE n >= 0)"
        #expect(try database.read { try $0.rows(counts) } == [[20_003, 5, 20_000]])
        #expect(try database.read { try $0.rows("PRAGMA integrity_check") } == [["ok"]])
    }

    @Test func `a damaged segment fails the transaction with all that came before`() throws {
        #expect(throws: StoreError.self) {
            try database.write { connection in
                var segments = SegmentImport()
                for text in ["[[1,1],[2,2]]", "[[3,3]"] {
                    let part = segment("A")
                    _ = try segments.take(part) { try connection.importer(into: "A", columns: part.columns) } bytes: { try $0.push(Array(text.utf8)) }
                }
                try segments.end(before: groupEnd)
            }
        }
        #expect(try database.read { try $0.rows("SELECT count(*) FROM A") } == [[0]])
    }
}
