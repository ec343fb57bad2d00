import MobileStore
import TestSupport
import Testing

@testable import MobileServer

/// The index of changed rows, in the state of a server.
@Suite(.stateInFile) struct ChangedRowsTests {
    /// Returns the steps in which SQLite finds the rows of a partition after a version.
    private func plan(_ state: any StateStore, after since: Int64) throws -> [String] {
        let sql = "SELECT body FROM _row WHERE partition = ?1 AND deleted = 0 AND \(PartitionChanges.after(since, "?2"))"
        return try state.read { try $0.rows("EXPLAIN QUERY PLAN " + sql, [1, .integer(since)]).compactMap { $0.last?.text } }
    }

    @Test("the few changes of a partition with many rows are found in their index, with and without statistics", arguments: [false, true])
    func changes(hasStatistics: Bool) throws {
        let bench = try StateBench(.sqlite), state = try bench.configuration.openStateStore(createsFile: true)
        defer { try? state.close() }
        try state.write(label: "test") { connection in
            for partition in 1...3 {
                try connection.execute(
                    """
                    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
                    INSERT INTO _row (partition, sk, version, since, deleted, body) SELECT ?1, i, 1 + (i = 77), 1, 0, 'row' FROM n
                    """, [.integer(Int64(partition))])
            }
            if hasStatistics { try connection.execute("ANALYZE") }
        }
        #expect(try plan(state, after: 1) == ["SEARCH _row USING INDEX _row_changed (partition=? AND version>?)"])
        #expect(try plan(state, after: 0) == ["SEARCH _row USING PRIMARY KEY (partition=?)"])
        try state.read { connection in
            let changes = PartitionChanges(partition: 2, connection: connection)
            let counts = try [changes.all(after: 1, limit: 100), changes.live(after: 2, limit: 100), changes.all(after: 0, limit: .max)]
            #expect(counts == [1, 0, 3000])
            #expect(try changes.live(after: 0, limit: 10) == 10)
        }
    }
}
