import MobileCore
import Testing

/// The update of the planner's statistics when a pool closes.
@Suite struct OptimizeTests {
    private static let schema = """
        CREATE TABLE t(id INTEGER PRIMARY KEY, code, kind); CREATE INDEX by_code ON t(code); CREATE INDEX by_kind ON t(kind);
        WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO t SELECT i, i / 3, i % 2 FROM n
        """
    private static let query = "SELECT count(*) FROM t WHERE kind = 1 AND code = 500"
    private static let analyzed = "SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_stat1'"

    @Test("what readers and the writer have looked for is analyzed at close", arguments: [false, true])
    func close(isWriter: Bool) throws {
        let core = try CorePool()
        try core.with(writer: true) { try exec($0, Self.schema) }
        #expect(try core.with(writer: isWriter) { try integer($0, Self.query) } == 1)
        core.close()
        let again = try CorePool(existing: core.directory + "/core.db")
        #expect(try again.integer(Self.analyzed) == 1)
        #expect(try again.integer("SELECT count(*) FROM sqlite_stat1 WHERE idx = 'by_code'") == 1)
        again.close()
    }

    @Test func `a database of others, and one that nobody asked, stay as they are`() throws {
        let core = try CorePool { $0.journal = MC_JOURNAL_UNCHANGED }
        try core.with(writer: true) { try exec($0, Self.schema) }
        #expect(try core.integer(Self.query) == 1)
        core.close()
        let idle = try CorePool(existing: core.directory + "/core.db")
        try idle.with(writer: true) { try exec($0, "INSERT INTO t(id) VALUES (99999)") }
        idle.close()
        let again = try CorePool(existing: core.directory + "/core.db")
        #expect(try again.integer(Self.analyzed) == 0)
        again.close()
    }
}
