internal import MobileExecution
import MobileStore

/// The indexes of one transaction, by the positions of their objects.
final class TransactionSearchIndexes {
    /// Those that are made again at its end.
    fileprivate(set) var renewed: Set<Int> = []
    /// Those that it has written, or has tried to.
    fileprivate(set) var written: Set<Int> = []
}

/// The indexes that a transaction has written that was then rolled back.
///
/// **The next write of such an index makes all of it again.** Why: SQLite rolls back a full disk's transaction while FTS5 is at work, and FTS5 keeps the
/// sums of lengths that it has counted until then, as those of its next transaction (SQLite 3.40).
private final class RolledBackSearchIndexes: Sendable {
    let entities = SystemLock<Set<Int>>([])
}

extension Transaction {
    /// Updates the indexes of all objects whose searchable text has changed in this transaction.
    func updateSearchIndexes() throws {
        for entity in metadata.searchableEntities {
            guard let search = entity.search else { continue }
            let statements: [String]
            if searchIndexes.renewed.remove(entity.index) != nil {
                statements = search.dropTriggers + search.rebuild + search.triggerStatements
            } else if try connection.number(search.hasNotes) == 1 {
                let isRolledBack = database.rolledBackSearchIndexes.entities.withLock { $0.remove(entity.index) != nil }
                statements = isRolledBack ? search.rebuild : search.update
            } else {
                continue
            }
            searchIndexes.written.insert(entity.index)
            try connection.withoutReporting { for statement in statements { try connection.execute(statement) } }
        }
    }

    /// Prepares an import of rows: one into an empty table notes no rows.
    func expectSearchableRows(of entity: EntityMetadata) throws {
        guard let search = entity.search else { return }
        guard !searchIndexes.renewed.contains(entity.index), try connection.number("SELECT EXISTS (SELECT 1 FROM \(entity.sql.table))") == 0 else {
            return
        }
        try connection.withoutReporting { for statement in search.dropTriggers { try connection.execute(statement) } }
        searchIndexes.renewed.insert(entity.index)
    }

    /// Notes the indexes that a transaction has written before it was rolled back.
    func noteRolledBackSearchIndexes() {
        guard !searchIndexes.written.isEmpty else { return }
        database.rolledBackSearchIndexes.entities.withLock { for index in searchIndexes.written { $0.insert(index) } }
    }
}

extension PackageDatabase {
    fileprivate final var rolledBackSearchIndexes: RolledBackSearchIndexes { attachment { RolledBackSearchIndexes() } }

    /// Makes a search inside a running transaction of this thread find what the transaction has changed.
    final func prepareSearch(_ searches: Bool) throws {
        guard searches, let running = TransactionScope.transaction(of: self) else { return }
        do { try running.updateSearchIndexes() } catch let error as StoreError { throw failure(error) }
    }
}
