import MobileStore
import TestSupport
import Testing

/// The import finds the rows with pending keys in memory, for keys of every type and with the same result as SQLite.
@Suite struct PendingKeyTests {
    let database: Database
    private let directory: TemporaryDirectory

    /// Pending keys of every type, enough to make the set in memory grow.
    private static let pending: [Value] =
        [5, -7, 0, 1.5, 1e300, "abc", "é", "12x", "9223372036854775808", "-9223372036854775809", "", .blob([0, 255]), .null]
        + (1...200).map { .text("key \($0)") } + (1000...1100).map { .integer($0) }

    init() throws {
        directory = try TemporaryDirectory()
        database = try Database(directory.profile())
        try database.write { connection in
            _ = try connection.execute("CREATE TABLE item(code PRIMARY KEY, name TEXT); CREATE TABLE item_os(code PRIMARY KEY, name TEXT)")
            for key in Self.pending {
                try connection.execute("INSERT INTO item VALUES (?, 'mine')", [key])
                try connection.execute("INSERT INTO item_os(code) VALUES (?)", [key])
            }
        }
    }

    private func importing(_ json: String, _ table: ImportTable) throws -> ImportResult {
        try database.write { connection in
            let importer = try connection.importer(into: [table])
            try importer.push(Array(json.utf8))
            return try importer.finish()
        }
    }

    @Test(
        "a row is diverted if its key is pending, and not if it is only similar",
        arguments: [
            ("5", true), ("-7", true), ("0", true), ("5.0", true), ("1.5", true), ("1e300", true), (#""abc""#, true), (#""é""#, true),
            (#""12x""#, true),
            (#""9223372036854775808""#, true), (#""-9223372036854775809""#, true), (#""""#, true), (#""key 200""#, true), ("1100", true),
            ("6", false), ("-5", false), ("2.5", false), ("1e301", false), ("-1e300", false), (#""5""#, false), (#""0""#, false), (#""-7""#, false),
            (#""05""#, false),
            (#""-""#, false),
            (#""-0""#, false), (#""abd""#, false), (#""ABC""#, false), (#""key 201""#, false), (#""key 20""#, true),
            (#""9223372036854775807""#, false),
            (#""99999999999999999999""#, false), (#""1/2""#, false), ("9007199254740993.0", false),
        ])
    func keys(key: String, isPending: Bool) throws {
        var table = ImportTable("item", columns: ["code", "name"])
        table.pending = PendingProtection(originalTable: "item_os")
        let before = try database.read { try $0.first("SELECT count(*) FROM item")?[0].integer }
        let result = try importing("{\"item\":[[\(key),\"theirs\"]]}", table)
        #expect(result.diverted == (isPending ? 1 : 0))
        let counts = try database.read {
            try $0.first(
                "SELECT (SELECT count(*) FROM item_os WHERE name = 'theirs'), (SELECT count(*) FROM item WHERE name = 'theirs'), (SELECT count(*) FROM item)"
            )
        }
        #expect(counts?[0] == (isPending ? 1 : 0) && counts?[1] == (isPending ? 0 : 1))
        #expect(counts?[2].integer == before.map { $0 + (isPending ? 0 : 1) })
    }

    @Test func `a key of several columns of every type is pending as a whole`() throws {
        let keys: [[Value]] = [[1, "a"], [1, "b"], ["1", "a"], [1.5, "a"], [.null, "a"], [1, .null], [2, "a"]]
        try database.write { connection in
            _ = try connection.execute(
                "CREATE TABLE pair(a, b, name TEXT, PRIMARY KEY(a, b)); CREATE TABLE pair_os(a, b, name TEXT, PRIMARY KEY(a, b))")
            for key in keys.dropLast() { try connection.execute("INSERT INTO pair_os(a, b) VALUES (?, ?)", key) }
        }
        var table = ImportTable("pair", columns: ["a", "b", "name"])
        table.keyColumns = ["a", "b"]
        table.pending = PendingProtection(originalTable: "pair_os")
        let result = try importing(#"{"pair":[[1,"a","x"],[1,"b","x"],["1","a","x"],[1.5,"a","x"],[2,"a","x"],[1.0,"c","x"]]}"#, table)
        #expect(result.diverted == 4)
        #expect(try database.read { try $0.rows("SELECT a, b FROM pair ORDER BY b") } == [[2, "a"], [1.0, "c"]])
    }

    @Test(
        "keys of one type alone are compared with those of another", arguments: [(Value.text("a"), "5"), (.integer(5), #""a""#), (.blob([1]), "5")])
    func oneType(pending: Value, other: String) throws {
        try database.write { connection in
            _ = try connection.execute("CREATE TABLE one(code PRIMARY KEY, name TEXT); CREATE TABLE one_os(code PRIMARY KEY, name TEXT)")
            try connection.execute("INSERT INTO one_os(code) VALUES (?)", [pending])
        }
        var table = ImportTable("one", columns: ["code", "name"])
        table.pending = PendingProtection(originalTable: "one_os")
        let result = try importing("{\"one\":[[\(other),\"theirs\"]]}", table)
        #expect(result.diverted == 0 && result.inserted == 1)
    }
}
