internal import MobileCrypto
internal import MobileStore

/// The eras of a back end's record of operations, in a table next to it. A back end that was restored from an older backup has lost the end of an era, so
/// that a position in the record that it cannot have reached shows the loss.
///
/// Each open by a server begins an era. An era in which nothing was recorded leaves no row.
enum BackEndEras {
    /// next_key: the server's first unused surrogate key when the era began. A server whose own store was lost continues above it.
    static let table = """
        CREATE TABLE IF NOT EXISTS mobile_replay_era (name TEXT NOT NULL PRIMARY KEY, first BIGINT NOT NULL, next_key BIGINT NOT NULL)
        """

    private enum Column: String, StoredColumn {
        static let table = "mobile_replay_era"
        case name, first
        case nextKey = "next_key"
    }

    /// Begins an era with the next operation.
    static func begin(_ name: String, nextKey: Int64, in connection: Connection) throws {
        _ = try connection.execute(table)
        let last = try ProcessedOperations.lastSequence(in: connection)
        _ = try connection.execute("DELETE FROM mobile_replay_era WHERE first > ?1", [.integer(last)])
        _ = try connection.execute(
            "INSERT INTO mobile_replay_era (name, first, next_key) VALUES (?1, ?2, ?3)", [.text(name), .integer(last + 1), .integer(nextKey)])
    }

    /// Reads the eras of a back end; none where it has no table of them.
    static func read(in connection: Connection) throws -> BackEndHistory {
        guard try connection.first("SELECT 1 FROM sqlite_schema WHERE name = 'mobile_replay_era'") != nil else { return BackEndHistory() }
        let rows = try connection.storedRows([Column.name, .first, .nextKey], "ORDER BY first")
        return BackEndHistory(
            eras: try rows.map { (name: try $0.text(.name), first: try $0.integer(.first)) },
            last: try ProcessedOperations.lastSequence(in: connection), nextKey: try rows.map { try $0.integer(.nextKey) }.max() ?? 1)
    }
}

extension BackEndEras {
    /// Returns the numbers of recorded operations of a client, by their ids.
    static func numbers(of operations: [Int64], client: String, in connection: Connection) throws -> [Int64: Int64] {
        let list = JSONValue.array(operations.map { .integer($0) }).description
        let rows = try connection.rows(
            """
            SELECT operation, seq FROM mobile_processed_operation
            WHERE client = ?1 AND operation IN (SELECT value FROM json_each(?2))
            """, [.text(client), .text(list)])
        return Dictionary(rows.compactMap { row in row[0].integer.flatMap { id in row[1].integer.map { (id, $0) } } }) { $1 }
    }
}

/// The eras of a back end's record, in their order.
struct BackEndHistory: Sendable {
    private var eras: [(name: String, first: Int64)] = []
    /// The last number of the record.
    private var last: Int64 = 0
    /// The first surrogate key that no server can have given before its last start.
    private(set) var nextKey: Int64 = 1

    init() {}

    init(eras: [(name: String, first: Int64)], last: Int64, nextKey: Int64) { (self.eras, self.last, self.nextKey) = (eras, last, nextKey) }

    /// Returns the last number that was recorded in an era; nil for an era that this back end does not know.
    func reached(in era: String) -> Int64? {
        guard let place = eras.firstIndex(where: { $0.name == era }) else { return nil }
        return place + 1 < eras.count ? eras[place + 1].first - 1 : last
    }

    /// Returns the era in which a number was recorded; empty for one from before the first era.
    func era(of number: Int64) -> String { eras.last { $0.first <= number }?.name ?? "" }

    /// Whether the record has everything up to a number that it had in an era.
    func holds(_ number: Int64, in era: String) -> Bool {
        if era.isEmpty { return number < eras.first?.first ?? .max && number <= last }
        return reached(in: era).map { number <= $0 } ?? false
    }
}
