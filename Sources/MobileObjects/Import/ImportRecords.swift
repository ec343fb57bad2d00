/// The counts of the imports of one transaction, for their log records.
final class ImportRecords {
    /// The counts by position of the object.
    var counts: [Int: ImportCounts] = [:]
}

/// The counts of the imports of one transaction into one object's table.
struct ImportCounts: Sendable {
    var inserted = 0
    var updated = 0
    var deleted = 0
    var diverted = 0
}

extension Transaction {
    /// Returns the counts so far; their log records are written before the commit. Only called where ``DebugSettings/logRecordOnImport`` is set.
    func importRecords() -> ImportRecords {
        let records = attachment { ImportRecords() }
        atEnd(.importRecords) { try $0.log(records) }
        return records
    }

    private func log(_ records: ImportRecords) throws {
        for (index, rows) in records.counts.sorted(by: { $0.key < $1.key }) {
            let name = metadata.entities[index].name
            let message = "import of \(name): \(rows.inserted) inserted, \(rows.updated) updated, \(rows.deleted) deleted, \(rows.diverted) waiting"
            var record = database.newLogRecord(level: .debug, message: message)
            record.component = name
            record.code = LogRecord.Code.success
            record.operation = "import"
            try store(record)
        }
        records.counts = [:]
    }
}
