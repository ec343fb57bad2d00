import MobileStore
import TestSupport
import Testing

/// One run of a statement for each leaf of an object of objects.
@Suite struct StatementLeavesTests {
    private let directory: TemporaryDirectory
    private let store: Database

    init() throws {
        directory = try TemporaryDirectory()
        store = try Database(ConnectionProfile(path: directory.file("leaves.db")))
        try store.write { try $0.execute("CREATE TABLE leaf (number INTEGER PRIMARY KEY, outer TEXT, inner TEXT, value TEXT, source INTEGER)") }
    }

    /// Runs the statement for a text, and returns the rows in the order in which they were written, and the number of objects.
    private func run(_ text: String, isGrouped: Bool) throws -> (rows: [String], objects: Int) {
        let document = try JSONDocument(parsing: Array(text.utf8), maximumDepth: 8, duplicateKeys: .lastWins)
        return try store.write { connection in
            try connection.execute("DELETE FROM leaf")
            let insert = try connection.statement("INSERT INTO leaf (outer, inner, value, source) VALUES (?1, ?2, ?3, ?4)")
            try insert.bind(7, at: 4)
            let parameters = LeafParameters(outer: 1, inner: 2, value: 3, isGrouped: isGrouped)
            let objects = try insert.run(forEachLeafOf: document.root, parameters: parameters)
            let rows = try connection.rows("SELECT outer || '.' || inner || '=' || value || ' ' || source FROM leaf ORDER BY number")
            return (rows.compactMap(\.first?.text), objects)
        }
    }

    @Test func `the leaves come in the order of the text, or all those of one inner key together`() throws {
        let text = #"{"1":{"a":"x","b":2.50},"2":{},"3":{"b":true,"c":null,"a":"y"},"4":{"":"e"}}"#
        let plain = try run(text, isGrouped: false), grouped = try run(text, isGrouped: true)
        #expect(plain.rows == ["1.a=x 7", "1.b=2.50 7", "3.b=true 7", "3.c= 7", "3.a=y 7", "4.=e 7"])
        #expect(grouped.rows == ["1.a=x 7", "3.a=y 7", "1.b=2.50 7", "3.b=true 7", "3.c= 7", "4.=e 7"])
        #expect(plain.objects == 3 && grouped.objects == 3)
        #expect(try run("{}", isGrouped: true) == ([], 0))
    }

    @Test func `with more inner keys than are grouped, the order is that of the text`() throws {
        let objects = (0..<3).map { object in
            "\"\(object)\":{" + (0..<65).map { "\"k\($0)\":\"\(object)\"" }.joined(separator: ",") + "}"
        }
        let many = try run("{\(objects.joined(separator: ","))}", isGrouped: true)
        #expect(many.rows.count == 195)
        #expect(many.rows == (try run("{\(objects.joined(separator: ","))}", isGrouped: false)).rows)
        let fewer =
            "{"
            + (0..<3).map { object in "\"\(object)\":{" + (0..<64).map { "\"k\($0)\":\"\(object)\"" }.joined(separator: ",") + "}" }.joined(
                separator: ",") + "}"
        #expect(try run(fewer, isGrouped: true).rows.prefix(4) == ["0.k0=0 7", "1.k0=1 7", "2.k0=2 7", "0.k1=0 7"])
    }

    @Test(arguments: [true, false])
    func `another value than an object runs nothing, a container as a leaf is an error at its position`(isGrouped: Bool) throws {
        for (text, offset) in [(#"{"1":{"a":"x"},"2":[]}"#, 19), ("[1]", 0)] {
            let error = #expect(throws: StoreError.self) { try run(text, isGrouped: isGrouped) }
            #expect(error?.code == .type && error?.byteOffset == Int64(offset))
        }
        let error = #expect(throws: StoreError.self) { try run(#"{"1":{"a":"x","b":[1]}}"#, isGrouped: isGrouped) }
        #expect(error?.code == .type && error?.byteOffset == 18)
        #expect(try store.read { try $0.first("SELECT count(*) FROM leaf")?.first } == 0)
    }
}
