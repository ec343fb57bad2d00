internal import MobileExecution
import MobileStore

/// The indexes that are made again at the end of a transaction.
private final class RenewedSearchIndexes {
    var entities: Set<Int> = []
}

extension Transaction {
    /// Updates the indexes of all objects whose searchable text has changed in this transaction.
    func updateSearchIndexes() throws {
        for entity in metadata.searchableEntities {
            guard let search = entity.search else { continue }
            let renewed = attachment { RenewedSearchIndexes() }
            if renewed.entities.remove(entity.index) != nil {
                try connection.withoutReporting {
                    for statement in search.dropTriggers + search.rebuild + search.triggerStatements { try connection.execute(statement) }
                }
            } else if try connection.number(search.hasNotes) == 1 {
                try connection.withoutReporting { for statement in search.update { try connection.execute(statement) } }
            }
        }
    }

    /// Prepares an import of rows: one into an empty table notes no rows.
    func expectSearchableRows(of entity: EntityMetadata) throws {
        guard let search = entity.search else { return }
        let renewed = attachment { RenewedSearchIndexes() }
        guard !renewed.entities.contains(entity.index), try connection.number("SELECT EXISTS (SELECT 1 FROM \(entity.sql.table))") == 0 else {
            return
        }
        try connection.withoutReporting { for statement in search.dropTriggers { try connection.execute(statement) } }
        renewed.entities.insert(entity.index)
    }
}

extension PackageDatabase {
    /// Makes a search inside a running transaction of this thread find what the transaction has changed.
    final func prepareSearch(_ searches: Bool) throws {
        guard searches, let running = TransactionScope.transaction(of: self) else { return }
        do { try running.updateSearchIndexes() } catch let error as StoreError { throw failure(error) }
    }
}
