internal import MobileModel
internal import MobileStore

/// The record of a partition's rows that their attributes cannot hold.
///
/// **Such a row is held back, by itself.** No other row waits for it; devices keep the version of the row that they have, and get the present one as soon as it
/// fits. Why: one value of another application, such as `infinity` in a date, would stop each device, or arrive as another value. If you break it: the
/// worlds with unfit values fail.
struct Quarantine {
    let object: ObjectPlan
    let objectID: Int64
    let partition: Partition
    let connection: any StateConnection

    /// Brings the record into line with what a comparison has found.
    /// - Parameters:
    ///   - keys: the keys of the compared rows; nil for all.
    ///   - now: milliseconds since 1970.
    /// - Returns: lines for the log: one for each row that is new in the record, or is held back for another reason now.
    func update(_ found: UnfitRows, keys: [RowKey]?, now: Int64) throws -> [String] {
        let known = try connection.storedRows(QuarantineColumn.allCases, "WHERE partition = ?1", [.integer(partition.id)])
        if known.isEmpty && found.isEmpty && keys != nil { return [] }
        var records = Dictionary(try known.map { (try $0.text(.name), $0) }) { $1 }, lines: [String] = [], unrecorded = found.others
        let present = Dictionary(found.first.map { ($0.name, $0) }) { first, _ in first }
        let compared = keys.map { Set($0.flatMap(UnfitRow.names)) }
        for name in records.keys where present[name] == nil && compared?.contains(name) ?? true {
            try connection.execute("DELETE FROM _quarantine WHERE partition = ?1 AND name = ?2", [.integer(partition.id), .text(name)])
            records[name] = nil
        }
        var room =
            present.isEmpty
            ? 0 : UnfitRows.limit - Int(try connection.number("SELECT count(*) FROM _quarantine WHERE object = ?1", [.integer(objectID)]))
        // In the order of the load.
        for row in found.first where present[row.name] == row {
            let former = try records[row.name].map {
                (attribute: try $0.text(.attribute), value: try $0.text(.value), expected: try $0.text(.expected))
            }
            if former == nil, room <= 0 {
                unrecorded += 1
                continue
            }
            if let former, former == (row.attribute, row.value, row.expected) { continue }
            if former == nil { room -= 1 }
            try record(row, now)
            if former?.attribute != row.attribute, try !isInOtherPartition(row) { lines.append(row.sentence(object) + Self.consequence) }
        }
        return try lines + countRest(unrecorded, isWhole: keys == nil)
    }

    /// Returns the surrogate keys of rows that are held back while devices have earlier versions, by the number of their partition; the first ones, at most
    /// `limit`. Rows with keys that are too long for their name are left out.
    static func earlierVersions(in partitions: [Int64], limit: Int, _ connection: any StateConnection) throws -> [Int64: [Int64]] {
        let dialect = connection.dialect, list = JSONValue.array(partitions.map { .integer($0) }).description
        var keys: [Int64: [Int64]] = [:]
        try connection.forEachRow(
            """
            SELECT q.partition, k.sk FROM _quarantine AS q JOIN _key_space AS s ON s.object = q.object JOIN _key AS k ON k.object = s.space AND k.k = \(dialect.keptKey("q.name"))
            JOIN _row AS r ON r.partition = q.partition AND r.sk = k.sk
            WHERE q.partition IN (\(dialect.numbers("?1"))) AND r.deleted = 0 ORDER BY k.sk LIMIT ?2
            """, [.text(list), .integer(Int64(limit))]
        ) { row in
            guard let partition = row.value(0).integer, let key = row.value(1).integer else { return }
            keys[partition, default: []].append(key)
        }
        return keys
    }

    /// Rows are held back.
    struct NotEmpty: Error {}

    /// Whether rows of an object are held back.
    static func hasRows(of object: Int64, in connection: any StateConnection) throws -> Bool {
        try connection.exists("SELECT 1 FROM _quarantine WHERE object = ?1 LIMIT 1", [.integer(object)])
    }

    private static let consequence = "; the row is held back until it fits"

    private func record(_ row: UnfitRow, _ now: Int64) throws {
        try connection.execute(
            """
            INSERT INTO _quarantine (partition, name, object, row_key, source, place, attribute, value, expected, noted)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
            ON CONFLICT (partition, name) DO UPDATE SET row_key = excluded.row_key, source = excluded.source, place = excluded.place,
                attribute = excluded.attribute, value = excluded.value, expected = excluded.expected, noted = excluded.noted
            """,
            [
                .integer(partition.id), .text(row.name), .integer(objectID), .text(row.shownKey), .text(row.table), .text(row.column),
                .text(row.attribute), .text(row.value), .text(row.expected), .integer(now),
            ])
    }

    private func isInOtherPartition(_ row: UnfitRow) throws -> Bool {
        try connection.exists(
            "SELECT 1 FROM _quarantine WHERE object = ?1 AND name = ?2 AND partition <> ?3 AND attribute = ?4 LIMIT 1",
            [.integer(objectID), .text(row.name), .integer(partition.id), .text(row.attribute)])
    }

    /// Notes the number of rows without a record. A comparison of some rows may count a row again; one of all rows corrects this.
    private func countRest(_ unrecorded: Int, isWhole: Bool) throws -> [String] {
        guard isWhole || unrecorded > 0 else { return [] }
        let place = Value.integer(partition.id)
        let known = Int(try connection.optionalNumber("SELECT row_count FROM _quarantine_rest WHERE partition = ?1", [place]) ?? 0)
        let count = isWhole ? unrecorded : known + unrecorded
        guard count != known else { return [] }
        try connection.execute("DELETE FROM _quarantine_rest WHERE partition = ?1", [place])
        guard count > 0 else { return [] }
        try connection.execute(
            "INSERT INTO _quarantine_rest (partition, object, row_count) VALUES (?1, ?2, ?3)", [place, .integer(objectID), .integer(Int64(count))])
        guard known == 0 else { return [] }
        return ["load of \"\(object.name)\" from back end \"\(object.binding.backEnd)\": \(count) more rows are held back, without a record of each"]
    }
}
