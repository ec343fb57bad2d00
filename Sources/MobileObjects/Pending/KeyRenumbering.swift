import MobileExecution
import MobileStore

/// New surrogate keys for rows: for those that the server does not have, after it refused their range, and for those that it knows under other keys.
///
/// **Everything that has a key changes in one transaction**: rows and original states, references to them in all objects, operations of the outbox with
/// their references and submitted values, change log and log records. Ids, batches, digests and order of operations stay.
///
/// An object in memory is stale afterwards. Its relatives are still found, `refresh()` takes the new key, and a write before that is refused.
extension Transaction {
    /// Gives up ranges of this database that belong to another client, and gives keys of other ranges to the rows that the server does not have.
    /// Answers of the server must have been settled before. A range that this database does not have changes nothing.
    /// - Returns: the number of renumbered rows; nil where no range was given up.
    package func renumberKeys(ofRefusedRanges ranges: [Int64]) throws -> Int? {
        var refused: [Int64] = []
        for first in ranges where first >= OwnKeyRange.lowest {
            if try connection.execute("DELETE FROM \"_key_range\" WHERE \"first\" = ?1", [.integer(first)]) > 0 { refused.append(first) }
        }
        guard !refused.isEmpty else { return nil }
        let count = try renumber(refused.flatMap { try unsentKeys(from: $0, through: $0 + OwnKeyRange.size - 1) })
        if count > 0 { database.hasRenumberedRows = true }
        database.environment.console.warn("\(count) rows renumbered: another client has their range of surrogate keys")
        return count
    }

    /// Gives new keys to the rows with these keys.
    /// - Returns: the number of rows.
    func renumber(_ rows: [Int64]) throws -> Int {
        var keys: [Int64: Int64] = [:]
        for key in rows { keys[key] = try nextSharedKey() }
        try renumber(keys)
        return keys.count
    }

    /// Gives rows new keys, by their present ones. No row has one of the new keys.
    func renumber(_ keys: [Int64: Int64]) throws {
        // These refer to rows by their keys, and are done before the keys change.
        try removeReleasedLargeValues()
        try changeLogRecorder()?.write()
        try KeyRenumbering(keys: keys, metadata: metadata, connection: connection).run()
    }

    /// Returns the keys of the rows that the server does not have, in order: pending ones, and those of creates that wait in the outbox although the row
    /// was cancelled or is gone.
    func unsentKeys(from first: Int64, through last: Int64) throws -> [Int64] {
        let range: [Value] = [.integer(first), .integer(last)]
        var keys: Set<Int64> = []
        for entity in metadata.storedEntities where !entity.isLocal {
            keys.formUnion(
                try connection.keys("SELECT \"_sk\" FROM \(entity.sql.originalTable) WHERE \"_sk\" BETWEEN ?1 AND ?2 AND \"_sv\" = 0", range))
            keys.formUnion(
                try connection.keys(
                    """
                    SELECT "sk" FROM "_outbox" WHERE "entity" = ?3 AND "sk" BETWEEN ?1 AND ?2 AND "change" = 'C'
                        AND NOT EXISTS (SELECT 1 FROM \(entity.sql.table) WHERE "_sk" = "_outbox"."sk")
                        AND NOT EXISTS (SELECT 1 FROM \(entity.sql.originalTable) WHERE "_sk" = "_outbox"."sk")
                    """, range + [.text(entity.name)]))
        }
        return keys.sorted()
    }
}

/// One change of keys in all tables.
private struct KeyRenumbering {
    /// The new keys by the former ones. The same key is never that of rows of two objects.
    let keys: [Int64: Int64]
    let metadata: PackageMetadata
    let connection: Connection

    func run() throws {
        guard !keys.isEmpty else { return }
        try connection.execute("CREATE TEMP TABLE \"_renumbered\" (\"old\" INTEGER PRIMARY KEY, \"new\" INTEGER NOT NULL)")
        for (old, new) in keys {
            try connection.execute("INSERT INTO temp.\"_renumbered\" VALUES (?1, ?2)", [.integer(old), .integer(new)])
        }
        try PackageSettings(connection).noteRenumbered(from: "temp.\"_renumbered\"")
        for entity in metadata.storedEntities {
            for table in entity.isLocal ? [entity.sql.table] : [entity.sql.table, entity.sql.originalTable] {
                for column in (entity.isLocal ? [] : ["\"_sk\""]) + entity.sql.referenceColumns { try change(column, of: table) }
            }
        }
        try change("\"sk\"", of: "\"_outbox\"")
        try change("\"sk\"", of: "\"_basis\"")
        try connection.execute(
            "UPDATE OR REPLACE \"_unconfirmed\" SET \"sk\" = r.\"new\" FROM temp.\"_renumbered\" AS r WHERE \"sk\" = r.\"old\"")
        try change("\"sk\"", of: "\"_accepted\"")
        // A row that was removed before it came under another key is gone under the former one.
        try change("\"sk\"", of: "\"_change_log\"", where: "\"change\" <> 'D'")
        try change("\"root_sk\"", of: "\"_change_log\"")
        try connection.execute(
            """
            UPDATE "_log_record" SET "entity_key" = CAST(r."new" AS TEXT) FROM temp."_renumbered" AS r
            WHERE "entity_key" = CAST(r."old" AS TEXT)
            """)
        try renumberOperations()
        try renumberAccepted()
        try connection.execute("DROP TABLE temp.\"_renumbered\"")
    }

    private func change(_ column: String, of table: String, where condition: String = "TRUE") throws {
        try connection.execute(
            "UPDATE \(table) SET \(column) = r.\"new\" FROM temp.\"_renumbered\" AS r WHERE \(column) = r.\"old\" AND \(condition)")
    }

    /// Returns references with the new keys.
    private func renumbered(_ references: JSONObject) -> JSONObject {
        var changed = references
        for member in references { if let key = member.value.integer, let new = keys[key] { changed[member.key] = .integer(new) } }
        return changed
    }

    /// Changes the references inside the contents of accepted operations, which can be lost and submitted again.
    private func renumberAccepted() throws {
        let columns: [AcceptedColumn] = [.id, .client, .references]
        for row in try connection.storedRows(columns, "WHERE \"lost\" > 0") {
            let references = try row.object(.references), changed = renumbered(references)
            guard changed != references else { continue }
            try connection.execute(
                "UPDATE \"_accepted\" SET \"refs\" = ?3 WHERE \"id\" = ?1 AND \"client\" = ?2",
                [.integer(row.integer(.id)), .text(row.text(.client)), .text(JSONValue.object(changed).description)])
        }
    }

    /// Changes the references inside the contents of waiting operations.
    private func renumberOperations() throws {
        var last = Int64.min
        while let row = try connection.storedRow(
            [OutboxColumn.id, .entity, .references, .submitted], "WHERE \"id\" > ?1 ORDER BY \"id\" LIMIT 1", [.integer(last)])
        {
            last = try row.integer(.id)
            let entity = try metadata.entity(named: row.text(.entity)), references = try row.object(.references)
            let text = try row.text(.submitted), changed = renumbered(references)
            var submitted = text.isEmpty ? [] : try SubmittedValues.values(text)
            for position in submitted.indices.dropFirst(entity.attributes.count) {
                if let key = submitted[position].integer, let new = keys[key] { submitted[position] = .integer(new) }
            }
            let newText = text.isEmpty ? "" : SubmittedValues.text(submitted)
            guard changed != references || newText != text else { continue }
            try connection.execute(
                "UPDATE \"_outbox\" SET \"refs\" = ?2, \"submitted\" = ?3 WHERE \"id\" = ?1",
                [.integer(last), .text(JSONValue.object(changed).description), .text(newText)])
        }
    }
}
