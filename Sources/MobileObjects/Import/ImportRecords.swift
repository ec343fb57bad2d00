/// What the imports of one transaction did, for their log records.
final class ImportRecords {
    /// By position of the object.
    var counts: [Int: ImportCounts] = [:]
}

/// What the imports of one transaction did to one object's table.
struct ImportCounts: Sendable {
    var inserted = 0
    var updated = 0
    var deleted = 0
    var diverted = 0
}

extension Transaction {
    /// What was imported so far; log records of it are written before the commit. Only asked for where ``DebugSettings/logRecordOnImport`` is set.
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
