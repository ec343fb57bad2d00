internal import MobileStore

/// A run of segments that was made at once, from one snapshot: the puts of a partition after version ``since`` up to version ``until``.
///
/// It contains each row that was live in the snapshot and whose version is in this interval. A row that had changed once more by then is missing: its
/// later version is above ``until``, and the runs or rows that follow contain it.
struct SegmentRun: Hashable, Sendable {
    let id: Int64
    let since: Int64
    let until: Int64
    let rows: Int64
    /// Milliseconds since 1970.
    let made: Int64
    /// When another run took its place, in milliseconds since 1970; nil if it is in full use.
    let retired: Int64?

    /// The value of ``since`` for a base: the live rows of the partition.
    static let beginning: Int64 = -1

    var isBase: Bool { since == Self.beginning }

    static func newID(_ configuration: ServerConfiguration) -> Int64 { configuration.random(8).reduce(0) { $0 << 8 | Int64($1) } & .max }
}

/// One segment of a run.
struct Segment: Hashable, Sendable {
    /// The SHA-256 of the content in hexadecimal.
    let name: String
    let rows: Int64
    /// The number of bytes of the content.
    let length: Int64
}

/// The segments of one partition in the store.
struct SegmentDirectory {
    let partition: Int64
    let connection: any StateConnection

    /// Returns the runs whose rows have these columns.
    func runs(shape: String) throws -> [SegmentRun] {
        try connection.storedRows(SegmentRunColumn.allCases, "WHERE partition = ?1 AND shape = ?2", [.integer(partition), .text(shape)]).map {
            SegmentRun(
                id: try $0.integer(.run), since: try $0.integer(.since), until: try $0.integer(.until), rows: try $0.integer(.rows),
                made: try $0.integer(.made), retired: try $0.optionalInteger(.retired))
        }
    }

    /// Returns the segments of a run in their order.
    func segments(of run: SegmentRun) throws -> [Segment] {
        try connection.storedRows(
            SegmentColumn.allCases, "WHERE partition = ?1 AND run = ?2 ORDER BY number", [.integer(partition), .integer(run.id)]
        ).map { Segment(name: try $0.text(.name), rows: try $0.integer(.rows), length: try $0.integer(.length)) }
    }

    func add(_ segment: Segment, number: Int, content: [UInt8], run: Int64, made: Int64) throws {
        try connection.execute(
            """
            INSERT INTO _segment (partition, run, number, name, row_count, length, made, content) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            ON CONFLICT (partition, run, number) DO NOTHING
            """,
            [
                .integer(partition), .integer(run), .integer(Int64(number)), .text(segment.name), .integer(segment.rows), .integer(segment.length),
                .integer(made), .blob(content),
            ])
    }

    /// Makes a run usable, whose segments are all in the store.
    func add(_ run: SegmentRun, shape: String) throws {
        try connection.execute(
            "INSERT INTO _segment_run (partition, run, since, until, row_count, shape, made) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            [
                .integer(partition), .integer(run.id), .integer(run.since), .integer(run.until), .integer(run.rows), .text(shape),
                .integer(run.made),
            ])
    }

    /// Notes that others have taken the place of these runs.
    func retire(_ runs: [SegmentRun], now: Int64) throws {
        for run in runs {
            try connection.execute(
                "UPDATE _segment_run SET retired = ?3 WHERE partition = ?1 AND run = ?2 AND retired IS NULL",
                [.integer(partition), .integer(run.id), .integer(now)])
        }
    }

    /// Notes that one run has taken the place of all others, also of those whose rows had other columns.
    func retire(allBut run: Int64, now: Int64) throws {
        try connection.execute(
            "UPDATE _segment_run SET retired = ?3 WHERE partition = ?1 AND run <> ?2 AND retired IS NULL",
            [.integer(partition), .integer(run), .integer(now)])
    }

    /// Removes the runs that were retired before a time, and segments of runs that were never completed.
    /// - Parameter time: milliseconds since 1970.
    func remove(retiredBefore time: Int64) throws {
        let values: [Value] = [.integer(partition), .integer(time)]
        try connection.execute("DELETE FROM _segment_run WHERE partition = ?1 AND retired < ?2", values)
        try connection.execute(
            """
            DELETE FROM _segment WHERE partition = ?1 AND made < ?2
                AND NOT EXISTS (SELECT 1 FROM _segment_run AS r WHERE r.partition = _segment.partition AND r.run = _segment.run)
            """, values)
    }

    /// Removes the segments of a run that was never completed.
    func remove(unused run: Int64) throws {
        try connection.execute(
            """
            DELETE FROM _segment WHERE partition = ?1 AND run = ?2
                AND NOT EXISTS (SELECT 1 FROM _segment_run AS r WHERE r.partition = ?1 AND r.run = ?2)
            """, [.integer(partition), .integer(run)])
    }

    /// Returns the content of a segment of any partition; nil if it is gone.
    static func content(_ name: String, in connection: any StateConnection) throws -> [UInt8]? {
        guard case .blob(let content)? = try connection.first("SELECT content FROM _segment WHERE name = ?1 LIMIT 1", [.text(name)])?.first else {
            return nil
        }
        return content
    }
}
