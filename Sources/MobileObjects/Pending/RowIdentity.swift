import MobileModel
import MobileStore

/// Surrogate keys of rows that the server knows under other ones: after an upgrade to another version of the package, after the server has lost its state,
/// and where another device has created the row again.
///
/// **A row is its object and its modelled key; the surrogate key is a name that the server gives it.** Where a row comes under another surrogate key than the
/// pending row with its modelled key has here, the pending row takes the new one before the commit, with all that refers to it, and the row that came is the
/// server's version of it. *If you break it*: the user sees the row twice, and a row that was deleted here comes back.
///
/// **A key that the back end makes identifies a row only where all rows are sent again.** Why: the back end may give the number of a deleted row to another
/// one, and a pending change must not reach that. The server knows the row by its surrogate key as long as it has its state. A pending row that the server has
/// deleted gives up such a key when another row has it.
extension Transaction {
    /// Notes that rows of an object come or go in this transaction.
    func expectRows(of entity: EntityMetadata) {
        guard entity.sql.hasKey, entity.otherOperation == nil else { return }
        arrivals.insert(entity.index)
        if entity.hasGeneratedKey { expectKeys(of: entity) }
    }

    /// Notes the keys of rows of an object before all are removed: of those that something refers to, and of the pending ones.
    func noteFormerRows(of entity: EntityMetadata) throws {
        guard entity.sql.hasKey, entity.otherOperation == nil else { return }
        arrivals.insert(entity.index)
        let columns = (["\"_sk\""] + entity.keyColumns).joined(separator: ", "), original = entity.sql.originalTable
        let named = namedKeys(of: entity).joined(separator: " UNION ALL ")
        try connection.execute("DROP TABLE IF EXISTS temp.\(entity.formerRows)")
        try connection.execute(
            """
            CREATE TEMP TABLE \(entity.formerRows) AS
            SELECT \(columns) FROM \(entity.sql.table) WHERE "_sk" IN (\(named)) AND "_sk" NOT IN (SELECT "_sk" FROM \(original))
            UNION ALL SELECT \(columns) FROM \(original) WHERE "_sv" <> \(ServerVersion.absent.rawValue)
            """)
    }

    /// Returns the queries for keys of an object's rows that are elsewhere. They may give keys of other objects too: no two rows share one.
    private func namedKeys(of entity: EntityMetadata) -> [String] {
        let name = EntitySQL.literal(entity.name)
        let own = [
            "SELECT \"sk\" FROM \"_outbox\" WHERE \"entity\" = \(name)", "SELECT \"sk\" FROM \"_accepted\" WHERE \"entity\" = \(name)",
            "SELECT CAST(\"entity_key\" AS INTEGER) FROM \"_log_record\" WHERE \"component\" = \(name)",
        ]
        let sent = ["\"_outbox\"", "\"_accepted\""].map { "SELECT j.\"value\" FROM \($0) AS o, json_each(o.\"refs\") AS j" }
        let references = metadata.storedEntities.flatMap { child in
            child.references.map { child.relationships[$0] }.filter { $0.targetIndex == entity.index }.flatMap { relationship in
                let column = child.sql.referenceColumns[relationship.referenceIndex ?? 0], table = child.sql.table
                guard !child.isLocal else { return ["SELECT \(column) FROM \(table)"] }
                let original = child.sql.originalTable
                return [
                    "SELECT \(column) FROM \(table) WHERE \"_sk\" IN (SELECT \"_sk\" FROM \(original))", "SELECT \(column) FROM \(original)",
                ]
            }
        }
        return own + sent + references
    }

    private var arrivals: Arrivals {
        attachment {
            atEnd(.identities) { try $0.identifyRows() }
            return Arrivals()
        }
    }

    /// The objects whose rows come in a transaction.
    private final class Arrivals {
        private(set) var objects: Set<Int> = []

        func insert(_ index: Int) { objects.insert(index) }
    }

    /// Gives rows the keys under which they came.
    private func identifyRows() throws {
        var keys: [Int64: Int64] = [:]
        var reset: Set<Int> = []
        // No two rows get one key.
        var taken: Set<Int64> = []
        for index in arrivals.objects.sorted() {
            let entity = metadata.entities[index]
            let isReset = try connection.first("SELECT 1 FROM temp.sqlite_schema WHERE \"name\" = ?1", [.text(entity.formerRowsName)]) != nil
            for pair in try arrivedRows(of: entity, isReset: isReset) {
                guard let known = pair[0].integer, let arrived = pair[1].integer, keys[known] == nil, taken.insert(arrived).inserted else { continue }
                guard try !isKeyUnknown(entity, known) else { continue }
                // The values that were imported with the row refer to it by its present key.
                if keys.isEmpty { try removeReleasedLargeValues() }
                if try originalState(of: entity, known) != nil { try unite(entity, known, with: arrived) }
                keys[known] = arrived
            }
            try giveUpKeys(of: entity)
            if isReset {
                reset.insert(index)
                try connection.execute("DROP TABLE temp.\(entity.formerRows)")
            }
            for key in try rejectedCreates(of: entity) where keys[key] == nil {
                if keys.isEmpty { try removeReleasedLargeValues() }
                keys[key] = try nextSharedKey()
            }
        }
        for reference in resetReferences(reset) {
            for pair in try namedRows(by: reference) where keys[pair.known] == nil && taken.insert(pair.key).inserted { keys[pair.known] = pair.key }
        }
        if !keys.isEmpty {
            database.hasRenumberedRows = true
            try renumber(keys)
        }
        for reference in resetReferences(reset) { try keepByValue(reference) }
    }

    /// A reference whose attributes are the whole key of the other row.
    private struct KeyedReference {
        let entity: EntityMetadata, target: EntityMetadata
        let column: String
        /// The condition that the attributes of a row `c` are the key of a row `k`, and that they have values.
        let isNamed: String, isSet: String
        let isTargetReset: Bool
    }

    /// Returns the references from or to objects all of whose rows have come again: their surrogate keys may mean nothing any more.
    private func resetReferences(_ reset: Set<Int>) -> [KeyedReference] {
        guard !reset.isEmpty else { return [] }
        return metadata.storedEntities.filter { !$0.isLocal }.flatMap { entity in
            entity.references.compactMap { position in
                let relationship = entity.relationships[position], target = metadata.entities[relationship.targetIndex]
                guard reset.contains(entity.index) || reset.contains(target.index), let sources = relationship.keySources,
                    let index = relationship.referenceIndex
                else { return nil }
                let pairs = zip(sources.map { entity.sql.attributeColumns[$0] }, target.keyColumns)
                return KeyedReference(
                    entity: entity, target: target, column: entity.sql.referenceColumns[index],
                    isNamed: pairs.map { "c.\($0) = k.\($1)" }.joined(separator: " AND "),
                    isSet: pairs.map { "\($0.0) IS NOT NULL" }.joined(separator: " AND "), isTargetReset: reset.contains(target.index))
            }
        }
    }

    /// Lets references of pending rows that lead to no row wait for the row that their attributes name.
    private func keepByValue(_ reference: KeyedReference) throws {
        let (table, column) = (reference.entity.sql.table, reference.column), target = reference.target.sql
        let count = try connection.execute(
            """
            UPDATE \(table) SET \(column) = NULL
            WHERE "_sk" IN (SELECT "_sk" FROM \(reference.entity.sql.originalTable)) AND \(reference.isSet)
                AND \(column) NOT IN (SELECT "_sk" FROM \(target.table)) AND \(column) NOT IN (SELECT "_sk" FROM \(target.originalTable))
            """)
        guard count > 0 else { return }
        referencesWait()
        linkWaitingRows(to: reference.target)
    }

    /// Returns the keys of known rows, each with that of the row that came with the same modelled key.
    private func arrivedRows(of entity: EntityMetadata, isReset: Bool) throws -> [[Value]] {
        let (table, original) = (entity.sql.table, entity.sql.originalTable)
        func query(_ source: String, _ condition: String) -> String {
            """
            SELECT k."_sk", t."_sk" FROM \(source) AS k JOIN \(table) AS t ON \(entity.equalKeys("t", "k"))
            WHERE \(condition) AND t."_sk" <> k."_sk" AND t."_sk" NOT IN (SELECT "_sk" FROM \(original))
            """
        }
        var rows: [[Value]] = []
        if isReset {
            // A removed row that came again under its own key has kept it.
            let isGone = "k.\"_sk\" NOT IN (SELECT \"_sk\" FROM \(table) WHERE \"_sk\" NOT IN (SELECT \"_sk\" FROM \(original)))"
            rows += try connection.rows(query("temp.\(entity.formerRows)", isGone))
        }
        guard !metadata.model.hasGeneratedKey(entity.model), try connection.first("SELECT 1 FROM \(original) LIMIT 1") != nil else { return rows }
        rows += try connection.rows(query(original, "k.\"_sv\" <> \(ServerVersion.absent.rawValue)"))
        // The server has no version of a new row: its key is its own.
        let new = "(SELECT r.* FROM \(original) AS o JOIN \(table) AS r ON r.\"_sk\" = o.\"_sk\" WHERE o.\"_pc\" = \(PendingChange.create.rawValue))"
        return rows + (try connection.rows(query(new, "TRUE")))
    }

    /// Returns the pending rows that the server has not sent, with the keys under which it knows them: rows that it has sent refer to them.
    private func namedRows(by reference: KeyedReference) throws -> [(known: Int64, key: Int64)] {
        let (entity, target, column) = (reference.entity.sql, reference.target.sql, "c.\(reference.column)")
        guard reference.isTargetReset || !metadata.model.hasGeneratedKey(reference.target.model),
            try connection.first("SELECT 1 FROM \(target.originalTable) LIMIT 1") != nil
        else { return [] }
        let content = entity.content.joined(separator: ", ")
        let found = try connection.rows(
            """
            SELECT k."_sk", min(\(column)) FROM (
                SELECT \(content) FROM \(entity.table) WHERE "_sk" NOT IN (SELECT "_sk" FROM \(entity.originalTable))
                UNION ALL SELECT \(content) FROM \(entity.originalTable) WHERE "_sv" = \(ServerVersion.present.rawValue)) AS c
            JOIN \(target.originalTable) AS k ON \(reference.isNamed)
            WHERE k."_sv" <> \(ServerVersion.absent.rawValue) AND \(column) <> k."_sk"
                AND \(column) NOT IN (SELECT "_sk" FROM \(target.table)) AND \(column) NOT IN (SELECT "_sk" FROM \(target.originalTable))
            GROUP BY 1
            """)
        return found.compactMap { row in row[0].integer.flatMap { known in row[1].integer.map { (known, $0) } } }
    }

    /// Takes keys that the back end has made from rows that the server has deleted, and that are pending, where another row has the key now: the rows are
    /// without a key, as new ones are. A row that comes again has its key again.
    private func giveUpKeys(of entity: EntityMetadata) throws {
        let columns = entity.primaryKey.filter { entity.attributes[$0].isGenerated }.map { entity.sql.attributeColumns[$0] }
        let (table, original) = (entity.sql.table, entity.sql.originalTable), isGone = "\"_sv\" = \(ServerVersion.deleted.rawValue)"
        guard !columns.isEmpty, try connection.first("SELECT 1 FROM \(original) LIMIT 1") != nil else { return }
        let list = columns.joined(separator: ", "), made = columns.map { "\($0) = NULL" }
        try connection.execute(
            """
            UPDATE \(table) SET (\(list)) = (SELECT \(list) FROM \(original) AS o WHERE o."_sk" = \(table)."_sk")
            WHERE \(columns.map { "\($0) IS NULL" }.joined(separator: " AND "))
                AND "_sk" IN (SELECT "_sk" FROM \(original) WHERE "_sv" = \(ServerVersion.present.rawValue))
            """)
        guard try connection.first("SELECT 1 FROM \(original) WHERE \(isGone) LIMIT 1") != nil else { return }
        func isTaken(_ source: String) -> String {
            """
            EXISTS (SELECT 1 FROM \(table) AS n WHERE \(entity.equalKeys("n", source)) AND n."_sk" <> \(source)."_sk"
                AND n."_sk" NOT IN (SELECT "_sk" FROM \(original)))
            """
        }
        let keys = try connection.keys(
            "SELECT \"_sk\" FROM \(table) WHERE \"_sk\" IN (SELECT \"_sk\" FROM \(original) WHERE \(isGone)) AND \(isTaken(table))")
        let nothing = made.joined(separator: ", "), recorder = try changeLogRecorder()
        for key in keys {
            try connection.execute("UPDATE \(table) SET \(nothing) WHERE \"_sk\" = ?1", [.integer(key)])
            try recorder?.updated(entity, key)
        }
        // After a reset, its former key would make it that row.
        try connection.execute("UPDATE \(original) SET \(nothing) WHERE \(isGone) AND \(isTaken(original))")
    }

    /// Takes the server's version from new rows whose modelled key was that of another row, which is gone now: the server may take them. A row whose create was
    /// accepted has gone itself, and a second create would make it again.
    /// - Returns: their keys, which are those of the other rows.
    private func rejectedCreates(of entity: EntityMetadata) throws -> [Int64] {
        let original = entity.sql.originalTable,
            isFree = """
                "_pc" = \(PendingChange.create.rawValue) AND "_rp" = 0 AND "_ra" = 0 AND "_sv" = \(ServerVersion.deleted.rawValue)
                    AND NOT EXISTS (SELECT 1 FROM "_outbox" AS w WHERE w."entity" = \(EntitySQL.literal(entity.name)) AND w."sk" = \(original)."_sk")
                """
        let keys = try connection.keys("SELECT \"_sk\" FROM \(original) WHERE \(isFree)")
        for key in keys {
            try releaseLargeValues(of: entity, key)
            let nothing = entity.sql.content.map { "\($0) = NULL" } + ["\"_sv\" = \(ServerVersion.absent.rawValue)", "\"_im\" = 0", "\"_sc\" = 0"]
            try connection.execute("UPDATE \(original) SET \(nothing.joined(separator: ", ")) WHERE \"_sk\" = ?1", [.integer(key)])
        }
        if !keys.isEmpty { try removeReleasedLargeValues() }
        return keys
    }

    /// Makes the row that came the server's version of the pending one, and removes it.
    private func unite(_ entity: EntityMetadata, _ pending: Int64, with arrived: Int64) throws {
        let (table, original) = (entity.sql.table, entity.sql.originalTable), keys = [Value.integer(pending), .integer(arrived)]
        try releaseLargeValues(of: entity, pending)
        let changed = try unanswered(of: entity, pending, besides: 0).reduce(changedValues(of: entity, pending)) { $0.union($1.changed) }
        for column in entity.largeAttributes.filter({ !changed.contains($0) }).map({ entity.sql.attributeColumns[$0] }) {
            try connection.execute("UPDATE \(table) SET \(column) = (SELECT \(column) FROM \(table) WHERE \"_sk\" = ?2) WHERE \"_sk\" = ?1", keys)
        }
        let content = entity.sql.content.joined(separator: ", ")
        try connection.execute(
            """
            UPDATE \(original) SET (\(content), "_sc") = (SELECT \(content), iif(\(original)."_sc" = 0, a."_rc", \(original)."_sc")
                FROM \(table) AS a WHERE a."_sk" = ?2), "_sv" = \(ServerVersion.present.rawValue), "_im" = 1 WHERE "_sk" = ?1
            """, keys)
        try removeReleasedLargeValues()
        try connection.execute(entity.sql.delete, [.integer(arrived)])
        // For the application it is a row that it knows.
        try changeLogRecorder()?.forget(entity, arrived)
    }
}

extension EntityMetadata {
    fileprivate var keyColumns: [String] { primaryKey.map { sql.attributeColumns[$0] } }

    /// The temporary table with the keys of removed rows.
    fileprivate var formerRowsName: String { "_former_\(index)" }
    fileprivate var formerRows: String { EntitySQL.quote(formerRowsName) }

    /// Returns the condition that rows of two sources have the same modelled key. Indexes of the left one serve it.
    fileprivate func equalKeys(_ left: String, _ right: String) -> String {
        keyColumns.map { "\(left).\($0) = \(right).\($0)" }.joined(separator: " AND ")
    }
}
