import MobileStore

/// Notes the server's changes in one transaction, and writes them to the change log before the commit.
///
/// Changes are noted in a temporary table, each with its nearest known ancestor: for a present row the row itself, for a deleted
/// one its former parent. At the end all entries climb from there to the top of their composite tree together.
/// **Not while rows are imported**: children may come before their parents, and parents may leave before their children.
final class ChangeRecorder {
    /// The maximum number of levels to climb in a composite tree. At this height the ancestor that was reached counts as the top. Only a tree
    /// that has itself as a child is higher than the model's objects.
    private static let maximumHeight = 64

    private let connection: Connection
    private let metadata: PackageMetadata
    private var watched: Set<Int> = []
    private var isEmpty = true

    init(_ connection: Connection, _ metadata: PackageMetadata) throws {
        (self.connection, self.metadata) = (connection, metadata)
        try connection.execute(
            """
            CREATE TEMP TABLE IF NOT EXISTS "_changed" (
                "entity" TEXT NOT NULL, "sk" INTEGER NOT NULL, "change" TEXT NOT NULL, "root_entity" TEXT NOT NULL, "root_sk" INTEGER NOT NULL,
                PRIMARY KEY ("entity", "sk"))
            """)
    }

    /// Notes a change of a present row.
    func updated(_ entity: EntityMetadata, _ key: Int64) throws {
        try add(entity, key, .update, above: RowID(entity: entity.index, key: key))
    }

    /// Notes a row that is gone, with its former composite parents.
    func deleted(_ entity: EntityMetadata, _ key: Int64, owners: [RowID]) throws {
        try add(entity, key, .delete, above: owners.first ?? RowID(entity: entity.index, key: key))
    }

    /// Forgets what was noted about a row.
    func forget(_ entity: EntityMetadata, _ key: Int64) throws {
        guard !isEmpty else { return }
        try connection.execute("DELETE FROM temp.\"_changed\" WHERE \"entity\" = ?1 AND \"sk\" = ?2", [.text(entity.name), .integer(key)])
    }

    private func add(_ entity: EntityMetadata, _ key: Int64, _ change: ChangeLog.Operation, above: RowID) throws {
        isEmpty = false
        try connection.execute(
            "INSERT OR REPLACE INTO temp.\"_changed\" VALUES (?1, ?2, ?3, ?4, ?5)",
            [
                .text(entity.name), .integer(key), .text(String(change.rawValue)), .text(metadata.entities[above.entity].name), .integer(above.key),
            ])
    }

    /// Starts to note each row that leaves the table of an object, with its parent, which is not known afterwards.
    func watchDeletions(of entity: EntityMetadata) throws {
        isEmpty = false
        watched.insert(entity.index)
        let owner = OwnerSQL(entity, metadata, row: "OLD")
        try connection.execute(
            """
            CREATE TEMP TRIGGER IF NOT EXISTS \(Self.trigger(entity.index)) BEFORE DELETE ON main.\(entity.sql.table) BEGIN
                INSERT OR REPLACE INTO "_changed" VALUES (\(EntitySQL.literal(entity.name)), OLD."_sk", 'D', \(owner.entity), \(owner.key));
            END
            """)
    }

    /// Writes the noted changes to the log, with the entries of the rows at the top.
    func write() throws {
        guard !isEmpty else { return }
        try climb()
        for entity in metadata.entities where !entity.composites.isEmpty {
            try connection.execute(
                """
                INSERT INTO temp."_changed" SELECT DISTINCT "root_entity", "root_sk", 'U', "root_entity", "root_sk" FROM temp."_changed" AS c
                WHERE "root_entity" = ?1 AND ("entity" <> "root_entity" OR "sk" <> "root_sk")
                    AND EXISTS (SELECT 1 FROM \(entity.sql.table) AS r WHERE r."_sk" = c."root_sk") ON CONFLICT DO NOTHING
                """, [.text(entity.name)])
        }
        try connection.execute(
            """
            INSERT OR REPLACE INTO "_change_log" ("entity", "sk", "change", "root_entity", "root_sk")
            SELECT "entity", "sk", "change", "root_entity", "root_sk" FROM temp."_changed"
            """)
        try connection.execute("DELETE FROM temp.\"_changed\" WHERE TRUE")
        isEmpty = watched.isEmpty
    }

    /// Finishes before the commit of the transaction.
    func finish() throws {
        try write()
        for index in watched { try connection.execute("DROP TRIGGER IF EXISTS temp.\(Self.trigger(index))") }
        watched = []
    }

    /// Lifts all entries to the top, a level at a time.
    private func climb() throws {
        let children = metadata.entities.filter { !$0.owners.isEmpty }
        for _ in 0..<Self.maximumHeight {
            var climbed = 0
            for entity in children { climbed += try climb(over: entity) }
            if climbed == 0 { return }
        }
    }

    /// Lifts the entries that have reached rows of `entity`: to the parent of a present row, or to the place that a deleted row's entry has
    /// reached.
    private func climb(over entity: EntityMetadata) throws -> Int {
        let owner = OwnerSQL(entity, metadata, row: "o"), table = entity.sql.table, name = Value.text(entity.name)
        let present = try connection.execute(
            """
            UPDATE temp."_changed" SET ("root_entity", "root_sk") =
                (SELECT \(owner.entity), \(owner.key) FROM \(table) AS o WHERE o."_sk" = "root_sk")
            WHERE "root_entity" = ?1 AND EXISTS (SELECT 1 FROM \(table) AS o WHERE o."_sk" = "root_sk" AND \(owner.exists))
            """, [name])
        let gone = """
            (SELECT "sk", "root_entity" AS "e", "root_sk" AS "k" FROM temp."_changed" WHERE "entity" = ?1 AND "change" = 'D'
            UNION ALL SELECT "sk", "root_entity", "root_sk" FROM main."_change_log" WHERE "entity" = ?1 AND "change" = 'D')
            """
        let absent = try connection.execute(
            """
            UPDATE temp."_changed" AS c SET ("root_entity", "root_sk") =
                (SELECT g."e", g."k" FROM \(gone) AS g WHERE g."sk" = c."root_sk" AND (g."e" <> ?1 OR g."k" <> g."sk") LIMIT 1)
            WHERE "root_entity" = ?1 AND NOT EXISTS (SELECT 1 FROM \(table) AS o WHERE o."_sk" = c."root_sk")
                AND EXISTS (SELECT 1 FROM \(gone) AS g WHERE g."sk" = c."root_sk" AND (g."e" <> ?1 OR g."k" <> g."sk"))
            """, [name])
        return present + absent
    }

    private static func trigger(_ index: Int) -> String { EntitySQL.quote("_changed_\(index)") }
}

/// The composite parent of a row as SQL expressions; the row itself where it has none.
private struct OwnerSQL {
    let entity: String
    let key: String
    /// The test for a composite parent.
    let exists: String

    init(_ child: EntityMetadata, _ metadata: PackageMetadata, row: String) {
        var entities = "", keys: [String] = []
        for index in child.owners {
            let relationship = child.relationships[index]
            let column = "\(row).\(child.sql.referenceColumns[relationship.referenceIndex ?? 0])"
            entities += "WHEN \(column) IS NOT NULL THEN \(EntitySQL.literal(metadata.entities[relationship.targetIndex].name)) "
            keys.append(column)
        }
        let own = EntitySQL.literal(child.name), ownKey = "\(row).\"_sk\""
        entity = keys.isEmpty ? own : "CASE \(entities)ELSE \(own) END"
        key = keys.isEmpty ? ownKey : "coalesce(\((keys + [ownKey]).joined(separator: ", ")))"
        exists = keys.isEmpty ? "0" : "coalesce(\((keys + ["NULL"]).joined(separator: ", "))) IS NOT NULL"
    }
}

extension Transaction {
    /// Returns the recorder of changes for the change log; nil where the log is disabled. It is for the server's changes, not for the user's.
    func changeLogRecorder() throws -> ChangeRecorder? {
        let recording = changeRecording
        guard try recording.isOn ?? readLogsChanges() else { return nil }
        if let recorder = recording.recorder { return recorder }
        let recorder = try ChangeRecorder(connection, metadata)
        recording.recorder = recorder
        // Its table and triggers belong to the transaction or the savepoint that is undone.
        onRollback { recording.recorder = nil }
        atEnd(.changeLog) { _ in try recording.recorder?.finish() }
        return recorder
    }

    private func readLogsChanges() throws -> Bool {
        let isOn = try PackageSettings(connection).integer(.changeLog) == 1
        changeRecording.isOn = isOn
        return isOn
    }

    var changeRecording: ChangeRecording { attachment { ChangeRecording() } }
}

/// A transaction's state of the change log.
final class ChangeRecording {
    /// The recorder, after the first change: see ``changeLogRecorder()``.
    var recorder: ChangeRecorder?
    /// Whether the change log is enabled; nil until it was read.
    var isOn: Bool?
}
