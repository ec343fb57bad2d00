internal import MobileProtocol
internal import MobileStore

/// The record of operations in tables of the back end, in addition to its own ones.
final class SQLOperationRecords: OperationRecords {
    /// The ids of processed operations with their outcomes. `seq` is the record's number; the cache records the last one that it has read.
    static let table = "mobile_processed_operation"
    /// For each client the floor of its operations.
    static let guardTable = "mobile_replay_guard"
    static let guardTableStatement = "CREATE TABLE mobile_replay_guard (client TEXT NOT NULL PRIMARY KEY, settled BIGINT NOT NULL)"

    /// The eras of the record. Their order is that of the first numbers.
    static let eraTable = "mobile_replay_era"
    static let eraTableStatement = """
        CREATE TABLE mobile_replay_era (name TEXT NOT NULL PRIMARY KEY, history TEXT NOT NULL, first BIGINT NOT NULL, next_key BIGINT NOT NULL)
        """

    private enum Column: String, StoredColumn {
        static let table = "mobile_processed_operation"
        case seq, client, operation, outcome
    }

    private enum EraColumn: String, StoredColumn, CaseIterable {
        static let table = "mobile_replay_era"
        case name, history, first
        case nextKey = "next_key"
    }

    let connection: any BackEndConnection
    /// The number of records that were made in this transaction.
    private var newRecords = 0

    init(_ connection: any BackEndConnection) { self.connection = connection }

    /// Creates the tables that are missing.
    static func prepare(_ connection: any BackEndConnection) throws {
        for table in connection.recordTables where try !connection.hasTable(table.name) {
            for statement in table.statements { try connection.execute(statement) }
        }
    }

    func raiseFloor(of client: String, to settled: Int64) throws -> Int64 {
        // Where the floor stays, nothing is written: after a write all rows of the back end are compared with the cache.
        let raised = try connection.first(
            """
            INSERT INTO mobile_replay_guard (client, settled) VALUES (?1, ?2)
            ON CONFLICT (client) DO UPDATE SET settled = excluded.settled WHERE excluded.settled > mobile_replay_guard.settled
            RETURNING settled
            """, [.text(client), .integer(settled)])
        let row = try raised ?? connection.first("SELECT settled FROM mobile_replay_guard WHERE client = ?1", [.text(client)])
        guard let floor = row?.first?.integer else {
            throw Rejection(
                ResultCode.unavailable, "the server cannot read which operations are settled", detail: "table \(Self.guardTable), client \(client)")
        }
        return floor
    }

    func outcome(of operation: Int64, client: String) throws -> String? {
        try connection.storedRow([Column.outcome], "WHERE client = ?1 AND operation = ?2", [.text(client), .integer(operation)])?.text(.outcome)
    }

    func record(_ outcome: String, of operation: Int64, client: String) throws {
        try connection.execute(
            "INSERT INTO mobile_processed_operation (client, operation, outcome) VALUES (?1, ?2, ?3)",
            [.text(client), .integer(operation), .text(outcome)])
        newRecords += 1
    }

    func remove(client: String, below operation: Int64, upTo number: Int64) throws {
        try connection.execute(
            "DELETE FROM mobile_processed_operation WHERE client = ?1 AND operation < ?2 AND seq <= ?3",
            [.text(client), .integer(operation), .integer(number)])
    }

    /// Numbers the new records: the last act of a transaction.
    func finish(_ client: String) throws {
        if newRecords > 0 { try connection.numberRecords(of: client, count: newRecords) }
    }

    func forEachOutcome(after number: Int64, _ visit: (_ number: Int64, _ client: String, _ outcome: String) throws -> Void) throws {
        let columns = [Column.seq, .client, .outcome]
        try connection.forEachRow(Column.selection(columns, "WHERE seq > ?1 ORDER BY seq"), [.integer(number)]) { row in
            let row = StoredRow(columns, columns.indices.map(row.value))
            try visit(row.integer(.seq), row.text(.client), row.text(.outcome))
        }
    }

    func lastNumber() throws -> Int64 { try connection.lastRecordNumber() }

    func numbers(of operations: [Int64], client: String) throws -> [Int64: Int64] {
        var numbers: [Int64: Int64] = [:]
        // A statement has a limited number of parameters.
        for start in stride(from: 0, to: operations.count, by: 500) {
            let some = operations[start..<min(start + 500, operations.count)], places = some.indices.map { "?\($0 - start + 2)" }
            let rest = "WHERE client = ?1 AND operation IN (\(places.joined(separator: ", ")))"
            for row in try connection.storedRows([Column.operation, .seq], rest, [.text(client)] + some.map { .integer($0) }) {
                numbers[try row.integer(.operation)] = try row.integer(.seq)
            }
        }
        return numbers
    }

    /// A back end that an earlier release has prepared, and that nothing has been written to since, has no eras.
    func eras() throws -> [RecordEra] {
        guard try connection.hasTable(Self.eraTable) else { return [] }
        return try connection.storedRows(EraColumn.allCases, "ORDER BY first").map {
            RecordEra(
                name: try $0.text(.name), historyID: try $0.text(.history), first: try $0.integer(.first), nextKey: try $0.integer(.nextKey))
        }
    }

    func beginEra(_ name: String, historyID: String, nextKey: Int64) throws {
        try connection.lockRecordNumbers()
        let last = try connection.lastRecordNumber()
        try connection.execute("DELETE FROM mobile_replay_era WHERE first > ?1", [.integer(last)])
        try connection.execute(
            "INSERT INTO mobile_replay_era (name, history, first, next_key) VALUES (?1, ?2, ?3, ?4)",
            [.text(name), .text(historyID), .integer(last + 1), .integer(nextKey)])
    }
}
