internal import MobileCore

/// Passes the closures of an import through C, and keeps the error that they threw.
@safe final class ImportReport {
    private let progress: ((ImportProgress) throws -> Void)?
    private let changes: ((ImportChange) throws -> Void)?
    /// The numbers of the key's columns, per table.
    private let keys: [[Int]]
    private(set) var failure: (any Error)?

    /// Returns nil without closures.
    init?(_ tables: [ImportTable], _ options: ImportOptions) {
        guard options.progress != nil || options.changes != nil else { return nil }
        progress = options.progress
        changes = options.changes
        keys = tables.map { table in
            if table.keyColumns.isEmpty { return Array(0..<(table.mode == .delete ? table.columns.count : 1)) }
            return table.keyColumns.compactMap(table.columns.firstIndex)
        }
    }

    /// Reports the progress. Returns whether the import may continue.
    func tell(_ counts: mc_import_counts) -> Bool {
        attempt { try progress?(ImportProgress(counts)) }
    }

    /// Reports the changes of a batch; `kinds` has one byte per row. Returns whether the import may continue.
    func tell(_ batch: mc_row_batch, _ kinds: UnsafePointer<UInt8>) -> Bool {
        attempt {
            let (rowCount, columnCount) = unsafe (batch.row_count, batch.column_count)
            let (table, firstRow) = unsafe (batch.member, Int(batch.first_row))
            for row in 0..<rowCount {
                let cells = unsafe batch.cells + row * columnCount
                let key = keys[table].map { column in unsafe Value(cells[column]) }
                let kind = ImportChangeKind(rawValue: Int(unsafe kinds[row]))!  // the core knows no others
                try changes?(ImportChange(table: table, row: firstRow + row, kind: kind, key: key))
            }
        }
    }

    private func attempt(_ body: () throws -> Void) -> Bool {
        do {
            try body()
            return true
        } catch {
            failure = error
            return false
        }
    }
}

extension ImportProgress {
    init(_ counts: mc_import_counts) {
        self.init(
            rows: Int(counts.rows), inserted: Int(counts.inserted), updated: Int(counts.updated), diverted: Int(counts.diverted),
            deleted: Int(counts.deleted), committed: Int(counts.committed), bytes: counts.bytes, inflatedBytes: counts.inflated_bytes)
    }
}
