import MobileExecution
import MobileStore

/// References by value: their attributes name a row that is not on the device. The server finds it. If it comes to the device first, the reference leads
/// to it from then on, so that lists, queries and the order of submission know it.
extension Transaction {
    /// Returns the row that the parts of a key name; nil where there is none, or the back end has yet to assign its key.
    func key(ofReference relationship: RelationshipMetadata, _ parts: [AttributeValue]) throws -> Int64? {
        let target = metadata.entities[relationship.targetIndex]
        var values: [Value] = []
        for (part, index) in zip(parts, target.primaryKey) {
            let storage = target.attributes[index].storage
            guard let value = storage.stored(storage.meant(part)), !value.isNull else { return nil }
            values.append(value)
        }
        if let key = try connection.first(target.sql.keyExists, values)?.first?.integer, try !isKeyUnknown(target, key) { return key }
        referencesWait()
        return nil
    }

    /// Notes that there are references by value.
    func referencesWait() { database.referencesByValue.setExist(true) }

    /// Lets references by value lead to new rows of an object, before the commit.
    func linkWaitingRows(to target: EntityMetadata) {
        attachment { NewRows() }.objects.insert(target.index)
        guard !closes(with: .references) else { return }
        atEnd(.references) { transaction in
            guard try transaction.hasReferencesByValue() else { return }
            for target in transaction.attachment({ NewRows() }).objects {
                for (entity, relationship) in transaction.metadata.references(to: target) where relationship.keySources != nil {
                    try transaction.link(entity, relationship)
                }
            }
            transaction.database.referencesByValue.setExist(nil)
        }
    }

    /// The objects that have got rows in a transaction.
    private final class NewRows {
        var objects: Set<Int> = []
    }

    private func hasReferencesByValue() throws -> Bool {
        if let known = database.referencesByValue.exist { return known }
        let exist = try metadata.storedEntities.contains { entity in
            try entity.references.contains { index in
                guard let waiting = entity.waitingForRows(of: entity.relationships[index]) else { return false }
                return try connection.first("SELECT 1 FROM \(entity.sql.table) AS c WHERE \(waiting) LIMIT 1") != nil
            }
        }
        database.referencesByValue.setExist(exist)
        // Rows that this transaction has removed come back.
        onRollback { [database] in database.referencesByValue.setExist(nil) }
        return exist
    }

    private func link(_ entity: EntityMetadata, _ relationship: RelationshipMetadata) throws {
        let target = metadata.entities[relationship.targetIndex]
        guard let sources = relationship.keySources, let reference = relationship.referenceIndex,
            let waiting = entity.waitingForRows(of: relationship)
        else { return }
        let equal = zip(sources, target.primaryKey).map { "t.\(target.sql.attributeColumns[$1]) = c.\(entity.sql.attributeColumns[$0])" }
        let found = try connection.rows(
            """
            SELECT c."_sk", min(t."_sk") FROM \(entity.sql.table) AS c JOIN \(target.sql.table) AS t ON \(equal.joined(separator: " AND "))
            WHERE \(waiting) GROUP BY 1
            """)
        for row in found {
            guard let key = row[0].integer, let found = row[1].integer, try !isKeyUnknown(target, found) else { continue }
            try connection.execute(
                "UPDATE \(entity.sql.table) SET \(entity.sql.referenceColumns[reference]) = ?2 WHERE \"_sk\" = ?1", row)
            if !entity.isLocal { try markOwners(of: entity, key) }
        }
    }
}

/// Whether rows have references by value, so that most transactions need not look for them.
private final class ReferencesByValue: ClosingObserver, Sendable {
    private let known = SystemLock<Bool?>(nil)

    /// Nil before it was looked up, and after rows may have found theirs.
    var exist: Bool? { known.withLock { $0 } }

    func setExist(_ exist: Bool?) { known.withLock { $0 = exist } }

    /// The file may be another one when it is opened again, for example from a backup.
    func closed(_ store: Database) { setExist(nil) }
}

extension PackageDatabase {
    fileprivate final var referencesByValue: ReferencesByValue { attachment { ReferencesByValue() } }
}

extension EntityMetadata {
    /// The condition for pending rows `c` whose reference is by value; nil for a relationship without such.
    fileprivate func waitingForRows(of relationship: RelationshipMetadata) -> String? {
        guard let sources = relationship.keySources, let reference = relationship.referenceIndex else { return nil }
        let named = sources.map { "c.\(sql.attributeColumns[$0]) IS NOT NULL" } + ["c.\(sql.referenceColumns[reference]) IS NULL"]
        let pending = isLocal ? [] : ["c.\"_sk\" IN (SELECT \"_sk\" FROM \(sql.originalTable))"]
        return (pending + named).joined(separator: " AND ")
    }
}

extension PackageMetadata {
    /// The relationships whose rows refer to those of an object.
    func references(to target: Int) -> [(EntityMetadata, RelationshipMetadata)] {
        storedEntities.flatMap { entity in
            entity.references.map { (entity, entity.relationships[$0]) }.filter { $0.1.targetIndex == target }
        }
    }
}
