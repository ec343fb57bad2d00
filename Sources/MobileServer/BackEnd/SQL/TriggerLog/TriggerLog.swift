internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// The log into which triggers of a back end write the keys of changed rows, in the form of one engine.
///
///     statement of any application --trigger--> log --keys since a place--> refresh of the cache
///
/// The log belongs to the back end's owner, who installs it with `mobile capture`. A place in it is only valid in the log that it was taken from: where
/// the log was removed, installed again, pruned beyond the place, or restored from a backup, the place says nothing, and all rows are loaded.
protocol TriggerLog {
    /// Returns what the log has of a table; nil if the table was never captured, or a trigger is missing or switched off.
    func capture(of table: BackEndTable) throws -> TableCapture?

    /// Returns the end of the log as this transaction sees it; nil without a log.
    func end() throws -> JSONValue?

    /// Whether the log has all changes of the table between a place and its present end.
    /// - Parameter pruned: the table's ``TableCapture/pruned`` when the place was taken.
    func isComplete(_ table: BackEndTable, _ capture: TableCapture, since place: JSONValue, pruned: Int64, end: JSONValue) throws -> Bool

    /// Whether a table has changed since a place.
    func hasChanged(_ table: BackEndTable, since place: JSONValue) throws -> Bool

    /// Returns the keys of the object's rows that were written since a place, each once. A key that is NULL stands for the whole table.
    /// - Parameter limit: the maximum number of keys.
    func keys(of object: SQLObject, _ capture: TableCapture, since place: JSONValue, limit: Int) throws -> [Value]

    /// Returns the reason for which changes of a table cannot be captured; nil if they can.
    func obstacle(to table: BackEndTable) throws -> String?

    /// Returns the statements that capture tables, in the engine's own words, for the owner of the back end.
    func installation(of tables: [TableToCapture]) throws -> [String]

    /// Returns the statements that end it.
    func removal(of tables: [BackEndTable]) throws -> [String]

    /// Removes entries that are older than a time, in seconds since 1970.
    func prune(before time: Int64) throws -> Int
}

/// The part of a log that belongs to one table.
struct TableCapture: Sendable {
    /// The life of the table's log: another one after each installation, and where the table itself is another one.
    let history: String
    /// The columns that make up an entry.
    let columns: [String]
    /// The last entry that was removed because of its age, where the log keeps this.
    var pruned: Int64 = 0
}

/// A table that is to be captured.
struct TableToCapture {
    let table: BackEndTable
    /// The columns of the keys of all objects with this table.
    var columns: [String]
}

/// The names in the back end that belong to logs of changes.
enum TriggerLogName {
    /// The table of captured tables.
    static let captures = "mobile_capture"
    /// SQLite: the table with the entries of all tables. PostgreSQL: the beginning of the names of such tables.
    static let changes = "mobile_change"
}

/// The changes of one object in a trigger log.
struct TriggerLogReader {
    let object: SQLObject
    /// The other tables that the object's load reads.
    let otherTables: [BackEndTable]
    let log: any TriggerLog

    /// More keys than this are not worth single look-ups.
    private static let keyLimit = 20_000

    /// Returns the keys of changed rows since a mark, and the present mark.
    func changes(since mark: String?) throws -> BackEndChanges {
        let tables = [object.table] + otherTables
        let captures = try tables.map { try log.capture(of: $0) }
        guard !captures.contains(where: { $0 == nil }), case let captures = captures.compactMap({ $0 }), let end = try log.end() else {
            return .unknown
        }
        let histories = JSONValue.array(captures.map { .string($0.history) }), pruned = JSONValue.array(captures.map { .integer($0.pruned) })
        let present = JSONValue.object(["tables": histories, "pruned": pruned, "end": end]).description
        guard let mark, let known = try? JSONValue(parsing: mark), known["tables"] == histories, let place = known["end"],
            let knownPruned = known["pruned"]?.array, knownPruned.count == tables.count
        else { return BackEndChanges(keys: nil, mark: present) }
        guard place != end else { return BackEndChanges(keys: [], mark: present) }
        for (index, table) in tables.enumerated() {
            let isComplete = try log.isComplete(
                table, captures[index], since: place, pruned: knownPruned[index].integer ?? -1, end: end)
            guard isComplete else { return BackEndChanges(keys: nil, mark: present) }
        }
        for table in otherTables where try log.hasChanged(table, since: place) { return BackEndChanges(keys: nil, mark: present) }
        let found = try log.keys(of: object, captures[0], since: place, limit: Self.keyLimit + 1)
        let keys = found.count > Self.keyLimit || found.contains(.null) ? nil : found.compactMap { RowKey($0, of: object.plan) }
        return BackEndChanges(keys: keys?.count == found.count ? keys : nil, mark: present)
    }
}
