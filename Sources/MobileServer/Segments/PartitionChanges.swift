internal import MobileStore

/// Counts the rows of one partition by their versions.
struct PartitionChanges {
    let partition: Int64
    let connection: any StateConnection

    /// Returns the number of live rows with a version in an interval, `limit` at most.
    func live(after since: Int64, limit: Int64) throws -> Int64 { try count("AND deleted = 0", since, limit) }

    /// Returns the number of rows that came, changed or were deleted after a version, `limit` at most.
    func all(after since: Int64, limit: Int64) throws -> Int64 { try count("", since, limit) }

    /// Returns the number of tombstones of a version and later ones, `limit` at most.
    func tombstones(after since: Int64, limit: Int64 = .max) throws -> Int64 { try count("AND deleted = 1", since, limit) }

    /// The condition on rows with a version after one, which is the value of a parameter. With a version from 1 on, the index of changed rows serves it.
    static func after(_ since: Int64, _ place: String) -> String {
        since >= 1 ? "\(isChanged()) AND version > \(place)" : "version > \(place)"
    }

    /// The condition of the index of changed rows, which a query states as well, so that it is used.
    static func isChanged(_ row: String? = nil) -> String { "\(row.map { $0 + "." } ?? "")version > 1" }

    private func count(_ condition: String, _ since: Int64, _ limit: Int64) throws -> Int64 {
        try connection.number(
            "SELECT count(*) FROM (SELECT 1 FROM _row WHERE partition = ?1 \(condition) AND \(Self.after(since, "?2")) LIMIT ?3) AS r",
            [.integer(partition), .integer(since), .integer(limit)])
    }
}
