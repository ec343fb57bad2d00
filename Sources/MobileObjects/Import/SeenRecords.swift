import MobileStore

/// How far the records of operations of the back ends had come, by era, when the rows of a group were read.
///
/// Each upload returns it. A back end that has not come as far was restored since, and may have given the primary keys of lost rows to other rows. Then
/// the server leads no operation to a row by its primary key alone. **While a change is pending that may have been made before, nothing that was seen is
/// forgotten**, whenever it will be submitted.
struct SeenRecords: Equatable {
    private(set) var numbers: [String: Int64]

    /// The maximum number of eras: that many starts of a server while changes are pending.
    static let limit = 1000

    init(_ numbers: [String: Int64] = [:]) { self.numbers = numbers }

    /// Reads what a group has seen.
    init(ofGroup group: String, _ connection: Connection) throws {
        let row = try connection.storedRow([GroupColumn.records], "WHERE \"name\" = ?1", [.text(group)])
        try self.init(row)
    }

    /// Reads the greatest number of each era that a group of the database has seen.
    init(_ connection: Connection) throws {
        self.init()
        for row in try connection.storedRows([GroupColumn.records]) { numbers.merge(try SeenRecords(row).numbers) { max($0, $1) } }
    }

    private init(_ row: StoredRow<GroupColumn>?) throws {
        self.init()
        guard let row, try row.optionalText(.records) != nil else { return }
        for member in try row.object(.records) {
            guard let number = member.value.integer else { throw row.damaged(.records, try row.value(.records), "numbers by era") }
            numbers[member.key] = number
        }
    }

    /// NULL, or a JSON object.
    var stored: Value {
        guard !numbers.isEmpty else { return .null }
        return .text(JSONValue.object(JSONObject(uniqueKeys: numbers.sorted { $0.key < $1.key }.map { ($0.key, .integer($0.value)) })).description)
    }

    /// Returns what is seen after an import.
    /// - Parameters:
    ///   - records: those of the import; empty where nothing has changed.
    ///   - isPending: whether a change is pending that may be based on what was seen before.
    func seeing(_ records: [String: Int64], while isPending: () throws -> Bool) rethrows -> SeenRecords {
        guard !records.isEmpty else { return self }
        // The usual case: the same era.
        let isCovered = numbers.allSatisfy { number in records[number.key].map { $0 >= number.value } ?? false }
        guard try !isCovered && isPending() else { return SeenRecords(records) }
        let all = numbers.merging(records) { max($0, $1) }
        guard all.count > Self.limit, let first = numbers.keys.min() else { return SeenRecords(all) }
        // No back end has come as far as this: from now on, it counts as restored until nothing is pending.
        return SeenRecords(records.merging([first: .max]) { max($0, $1) })
    }

    /// Makes these numbers seen by another group as well.
    func add(toGroup group: String, _ connection: Connection) throws {
        guard !numbers.isEmpty else { return }
        let all = SeenRecords(try SeenRecords(ofGroup: group, connection).numbers.merging(numbers) { max($0, $1) })
        try connection.execute(
            """
            INSERT INTO "_group" ("name", "records") VALUES (?1, ?2) ON CONFLICT ("name") DO UPDATE SET "records" = excluded."records"
            """, [.text(group), all.stored])
    }
}

extension PackageDatabase {
    /// By era of a back end: the number that its record had reached when rows of this database were read.
    package final var seenRecords: [String: Int64] { get throws { try read { try SeenRecords($0).numbers } } }
}
