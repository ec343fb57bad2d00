import Foundation
package import MobileStore

/// Imports the server's data of one object into its table: in the same pass, rows with a pending change are diverted to the original-state table. A
/// session lives inside of one transaction.
package struct ImportSession {
    private let transaction: Transaction
    private let entity: EntityMetadata

    init(_ entity: EntityMetadata, in transaction: Transaction) { (self.entity, self.transaction) = (entity, transaction) }

    /// All columns that rows of an import may have, the surrogate key first: small attributes, then references.
    package var columns: [String] {
        ["_sk"] + entity.attributes.filter { !$0.isLarge }.map(\.name) + entity.references.map { "_ref_" + entity.relationships[$0].name }
    }

    /// Returns the importer for rows that were created or changed on the server.
    /// - Parameters:
    ///   - columns: names in the order of the values; some of ``columns``, `_sk` first.
    ///   - progress: called after each batch of rows; throwing cancels.
    /// - Throws: ``ObjectError/Code/noSuchAttribute`` for a column that the object does not have.
    package func rows(_ columns: [String], progress: ((ImportProgress) throws -> Void)? = nil) throws -> BulkImporter {
        let known = self.columns
        guard columns.first == "_sk" else { throw ObjectError(.noSuchAttribute, "import of \(entity.name): its first column is not \"_sk\"") }
        for column in columns where !known.contains(column) {
            throw ObjectError(.noSuchAttribute, "import of \(entity.name): the object has no column \"\(column)\"")
        }
        try transaction.watchMarks(entity)
        transaction.linkWaitingRows(to: entity)
        transaction.expectRows(of: entity)
        try ObjectError.gate {
            try transaction.noteGoneRows(of: entity)
            try transaction.expectSearchableRows(of: entity)
        }
        var options = options(.present, progress)
        options.onInsert = [("_rc", .integer(transaction.clockSeconds))]
        for column in columns { options.columnRules[column] = rule(column) }
        if let recorder = try transaction.changeLogRecorder() {
            options.changes = { [entity] change in
                guard change.kind == .inserted || change.kind == .updated, let key = change.key.first?.integer else { return }
                try recorder.updated(entity, key)
            }
        }
        return try ObjectError.gate { try transaction.connection.importer(into: entity.name, columns: columns, mode: .upsert, options: options) }
    }

    /// Returns the importer for the surrogate keys of rows that the server does not have for this device any longer.
    package func deletions(progress: ((ImportProgress) throws -> Void)? = nil) throws -> BulkImporter {
        if !entity.largeAttributes.isEmpty { transaction.sweepsLargeValues = true }
        try transaction.watchMarks(entity)
        transaction.expectRows(of: entity)
        try transaction.changeLogRecorder()?.watchDeletions(of: entity)
        var options = options(.deleted, progress)
        options.columnRules["_sk"] = JSONColumnRule(.integer, isNullable: false)
        return try ObjectError.gate { try transaction.connection.importer(into: entity.name, columns: ["_sk"], mode: .delete, options: options) }
    }

    /// Removes every row: the server does not know which rows this device has, and afterwards sends all that it should have. Rows with a pending
    /// change of their own are noted as deleted on the server until they come again. A parent of pending children goes like any other row, and is
    /// marked again when it comes; if it does not come, its children are as after any deletion of a parent.
    /// - Parameter keepsKeys: whether rows that come are found by their surrogate keys alone, if the back end makes their primary keys; default false.
    /// - Returns: the number of removed rows.
    package func removeAll(keepsKeys: Bool = false) throws -> Int {
        if !entity.largeAttributes.isEmpty { transaction.sweepsLargeValues = true }
        let (table, original) = (entity.sql.table, entity.sql.originalTable)
        try transaction.watchMarks(entity)
        try transaction.changeLogRecorder()?.watchDeletions(of: entity)
        return try ObjectError.gate {
            if !keepsKeys { try transaction.noteFormerRows(of: entity) }
            try transaction.connection.execute("DELETE FROM \"_unconfirmed\" WHERE \"entity\" = ?1", [.text(entity.name)])
            try forgetLargeValues()
            try transaction.connection.execute(
                "UPDATE \(original) SET \"_sv\" = ?1, \"_im\" = 1 WHERE \"_sv\" = ?2",
                [.integer(ServerVersion.deleted.rawValue), .integer(ServerVersion.present.rawValue)])
            let count = try transaction.connection.execute(
                "DELETE FROM \(table) WHERE \"_sk\" NOT IN (SELECT \"_sk\" FROM \(original))", [])
            if count > 0, !keepsKeys { transaction.database.hasReplacedRows = true }
            return count
        }
    }

    /// Takes their large values from the server's versions of pending rows: a row that comes again brings those that are not NULL.
    private func forgetLargeValues() throws {
        guard !entity.largeAttributes.isEmpty else { return }
        let rows = try transaction.connection.rows(
            "SELECT \"_sk\" FROM \(entity.sql.originalTable) WHERE \"_sv\" = ?1", [.integer(ServerVersion.present.rawValue)])
        for key in rows.compactMap({ $0.first?.integer }) {
            for attribute in entity.largeAttributes { try setLargeValue(nil, of: entity.attributes[attribute].name, key: key) }
        }
    }

    /// Makes `value` (NULL for nil) the server's value of a large attribute. A pending row keeps a value of its own.
    /// - Throws: ``ObjectError/Code/noSuchAttribute``.
    package func setLargeValue(_ value: LargeValue?, of attribute: String, key: Int64) throws {
        let attribute = try entity.attribute(named: attribute)
        guard attribute.isLarge else {
            throw ObjectError(.noSuchAttribute, "import of \(entity.name): \"\(attribute.name)\" is not a large attribute")
        }
        if let value { transaction.hold(value) }
        try setLargeValue(value?.id, of: attribute, key: key)
    }

    /// Makes the value that an operation of this device had submitted the server's value of a large attribute.
    /// - Returns: false if the operation is not in the outbox any more, or submitted no such value.
    package func setLargeValue(ofOperation id: Int64, of attribute: String, key: Int64) throws -> Bool {
        let attribute = try entity.attribute(named: attribute)
        let row = try transaction.connection.first(
            """
            SELECT l."value" FROM "_outbox_large" AS l JOIN "_outbox" AS o ON o."id" = l."operation"
            WHERE l."operation" = ?1 AND l."attribute" = ?2 AND o."entity" = ?3
            """, [.integer(id), .text(attribute.name), .text(entity.name)])
        guard attribute.isLarge, let value = row?.first?.integer else { return false }
        try setLargeValue(value, of: attribute, key: key)
        return true
    }

    private func setLargeValue(_ id: Int64?, of attribute: AttributeMetadata, key: Int64) throws {
        transaction.noteLargeValue(attribute.index, of: entity, key)
        let connection = transaction.connection, column = entity.sql.attributeColumns[attribute.index]
        let new = Value(id)
        // Removed again at the end unless a row refers to it.
        if let id { transaction.release(id, entity, attribute.index, key) }
        try transaction.releaseLargeValues(of: entity, key)
        let change = "UPDATE \(entity.sql.table) SET \(column) = ?2 WHERE \"_sk\" = ?1"
        guard try connection.first("SELECT 1 FROM \(entity.sql.originalTable) WHERE \"_sk\" = ?1", [.integer(key)]) != nil else {
            if try connection.execute(change, [.integer(key), new]) > 0 { try transaction.changeLogRecorder()?.updated(entity, key) }
            return
        }
        // A value is the row's own if it is in the list of a change that waits, also where it equals the server's old one: NULL may have been set again
        // after another value was submitted.
        let pending = try transaction.unanswered(of: entity, key, besides: 0).reduce(transaction.changedValues(of: entity, key)) {
            $0.union($1.changed)
        }
        if !pending.contains(attribute.index), try connection.execute(change, [.integer(key), new]) > 0 {
            try transaction.changeLogRecorder()?.updated(entity, key)
        }
        try connection.execute("UPDATE \(entity.sql.originalTable) SET \(column) = ?2 WHERE \"_sk\" = ?1", [.integer(key), new])
    }

    private func options(_ server: ServerVersion, _ progress: ((ImportProgress) throws -> Void)?) -> ImportOptions {
        var options = ImportOptions()
        options.keyColumns = ["_sk"]
        options.pending = PendingProtection(
            originalTable: entity.name + "_os", keyColumn: "_sk", assignments: [("_sv", .integer(server.rawValue)), ("_im", .integer(1))])
        options.progress = transaction.database.debugSettings.contains(.logRecordOnImport) ? counting(progress) : progress
        return options
    }

    /// Counts the rows of an import for its log record.
    private func counting(_ progress: ((ImportProgress) throws -> Void)?) -> (ImportProgress) throws -> Void {
        let records = transaction.importRecords()
        let before = records.counts[entity.index] ?? ImportCounts()
        records.counts[entity.index] = before
        return { [entity] counts in
            var sum = before
            sum.inserted += counts.inserted
            sum.updated += counts.updated
            sum.deleted += counts.deleted
            sum.diverted += counts.diverted
            records.counts[entity.index] = sum
            try progress?(counts)
        }
    }

    private func rule(_ column: String) -> JSONColumnRule {
        guard let attribute = entity.attributes.first(where: { $0.name == column }) else {
            return JSONColumnRule(.integer, isNullable: column != "_sk")
        }
        let type: JSONColumnType =
            switch attribute.storage {
            case .integer, .large: .integer
            case .boolean: .boolean
            case .scaledDecimal(let precision, let scale), .textDecimal(let precision, let scale): .decimal(precision: precision, scale: scale)
            case .real: .real
            case .binary: .blob
            case .text, .date, .time, .dateTime, .json: .text
            }
        return JSONColumnRule(type, isNullable: attribute.isNullable || attribute.isGenerated)
    }
}

extension Transaction {
    /// Returns the import of one object of the model, by its name.
    /// - Throws: ``ObjectError/Code/noSuchClass``; ``ObjectError/Code/misuse`` for a local object.
    package func importSession(for name: String) throws -> ImportSession {
        let entity = try metadata.entity(named: name)
        guard !entity.isLocal else { throw ObjectError(.misuse, "import of \(name): it is a local object, which no server knows") }
        return ImportSession(entity, in: self)
    }
}
