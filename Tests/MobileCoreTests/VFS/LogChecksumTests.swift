import MobileSQLite
import Testing

/// A statement or a savepoint that is rolled back after its pages have spilled, in a transaction that is committed. SQLite (3.40.1) then
/// leaves frames without checksums: without the layer, each of these transactions is lost when the process is killed.
@Suite struct LogChecksumTests {
    private static let contents = "SELECT count(*), total(id), total(length(x)), total(substr(x, -9) * (id % 97)) FROM t"

    /// Returns an update that replaces the texts of `t`, each with a quarter of a page.
    private static func change(_ seed: Int, _ pageSize: Int, where condition: String = "TRUE") -> String {
        "UPDATE t SET x = printf('%0*d', \(pageSize / 4), id + \(seed)) WHERE \(condition)"
    }

    private static func insert(_ rows: Int, _ pageSize: Int) -> String {
        """
        INSERT INTO t (x) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
        SELECT printf('%0*d', \(pageSize / 4), i) FROM n
        """
    }

    /// The rolled back work, and the number of rows that are appended after it: fewer than were overwritten before, the same number, or more.
    @Test(
        "what was committed behind a rolled back statement or savepoint is there after a crash",
        arguments: [1024, 4096, 65536], [(undone: "savepoint", rows: 2), ("savepoint", 40), ("savepoint", 200), ("statement", 2), ("statement", 200)])
    func committed(pageSize: Int, load: (undone: String, rows: Int)) throws {
        let database = try LayeredDatabase(pageSize: pageSize, cachePages: 10)
        let run = database.handle.run
        try run(Self.insert(100, pageSize))
        try run("CREATE TABLE big (id CHECK (id < 100)); BEGIN")
        try run(Self.insert(4, pageSize))
        if load.undone == "savepoint" {
            try run("SAVEPOINT part")
            try run(Self.change(1, pageSize))
            for seed in 2...3 { try run(Self.change(seed, pageSize, where: "id > 50")) }  // overwrites pages in the middle
            try run("ROLLBACK TO part")
        } else {
            try run(
                "CREATE TRIGGER late AFTER UPDATE ON t WHEN new.id = 99 BEGIN UPDATE t SET x = new.x || '0'; INSERT INTO big VALUES (new.id + 1); END"
            )
            #expect(throws: SQLiteFailure.self) { try run(Self.change(1, pageSize)) }
            try run("DROP TRIGGER late")
        }
        try run(Self.insert(load.rows, pageSize))
        try run("COMMIT")
        let expected = try database.handle.first(Self.contents)
        #expect(try database.recovered(Self.contents) == (expected, ["ok"]))

        // The next transaction continues from the checksum of this one.
        try run(Self.change(7, pageSize, where: "id % 10 = 0"))
        let next = try database.handle.first(Self.contents)
        #expect(next != expected)
        #expect(try database.recovered(Self.contents) == (next, ["ok"]))
    }

    @Test("the same with exclusive locking, and in the first transaction of a log", arguments: ["", "PRAGMA locking_mode = exclusive"])
    func firstOfLog(settings: String) throws {
        let database = try LayeredDatabase(pageSize: 1024, cachePages: 10, settings: settings)
        let run = database.handle.run
        try run(Self.insert(100, 1024))
        try run("PRAGMA wal_checkpoint(TRUNCATE); BEGIN; SAVEPOINT part")
        for seed in 1...3 { try run(Self.change(seed, 1024, where: "id > \(seed * 20)")) }
        try run("ROLLBACK TO part")
        try run(Self.insert(5, 1024))
        try run("COMMIT")
        let expected = try database.handle.first(Self.contents)
        #expect(expected.first == "105")
        #expect(try database.recovered(Self.contents) == (expected, ["ok"]))
    }

    /// The condition of the other tests: an SQLite that makes these checksums itself would not need the layer for them.
    @Test func `without the layer this SQLite loses such a transaction`() throws {
        guard sqlite3_libversion_number() == 3_040_001 else { return }
        let database = try LayeredDatabase(isCoalesced: false, pageSize: 1024, cachePages: 10)
        let run = database.handle.run
        try run(Self.insert(100, 1024))
        try run("BEGIN; SAVEPOINT part")
        for seed in 1...3 { try run(Self.change(seed, 1024, where: "id > \(seed * 20)")) }
        try run("ROLLBACK TO part")
        try run(Self.insert(5, 1024))
        try run("COMMIT")
        #expect(try database.handle.first(Self.contents).first == "105")
        #expect(try database.recovered(Self.contents).row.first == "100")
    }
}
