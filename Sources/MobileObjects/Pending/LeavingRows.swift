import MobileStore

/// Rows that are to be submitted and have left others: their references lead to them no longer, or they have given up their keys.
///
/// **What the back end has when an operation reaches it is the server's version and all that was submitted before.** A row refers to another one in its
/// original state, or in an operation that waits for its answer. *If you break it*: a delete overtakes the update that releases the row. The back end refuses
/// it, or deletes the other row as well, which no user deleted.
struct LeavingRows {
    /// The rows that were changed again while an answer is awaited, by the rows to which their operations refer; nil before it was looked up.
    fileprivate var changedAgain: [RowID: [RowID]]?
}

extension Transaction {
    /// Returns the rows that have something to submit and do not refer to a row any more, or are deleted, but do for the back end.
    /// - Parameter reference: the reference to the row; nil (default) for all.
    func rowsThatLeft(_ target: RowID, by reference: RowReference? = nil, _ leaving: inout LeavingRows) throws -> [RowID] {
        var rows: [RowID] = []
        for (entity, relationship) in metadata.references(to: target.entity) where !entity.isLocal {
            guard reference.map({ $0.entity == entity.index && $0.relationship == relationship.index }) != false,
                let leaves = entity.mayLeave(relationship), let index = relationship.referenceIndex
            else { continue }
            let column = entity.sql.referenceColumns[index]
            let keys = try connection.keys(
                "SELECT \"_sk\" FROM \(entity.sql.originalTable) WHERE \(column) = ?1 AND \(leaves) ORDER BY \"_sk\"", [.integer(target.key)])
            rows += keys.map { RowID(entity: entity.index, key: $0) }
        }
        let changedAgain = try leaving.changedAgain ?? rowsChangedAgain()
        leaving.changedAgain = changedAgain
        rows += changedAgain[target] ?? []
        return try rows.filter { row in
            guard row != target else { return false }
            return try !references(of: row, in: metadata.storedEntities[row.entity].sql.table).contains { now in
                now.target == target && reference.map { $0.entity == now.entity && $0.relationship == now.relationship } != false
            }
        }
    }

    private func rowsChangedAgain() throws -> [RowID: [RowID]] {
        var rows: [RowID: [RowID]] = [:]
        for entity in metadata.storedEntities where !entity.isLocal && entity.referenceCount > 0 {
            let keys = try connection.keys("SELECT \"_sk\" FROM \(entity.sql.originalTable) WHERE \(entity.isChangedAgain) ORDER BY \"_sk\"")
            for row in keys.map({ RowID(entity: entity.index, key: $0) }) {
                for target in Set(try submittedReferences(of: row).map(\.target)) { rows[target, default: []].append(row) }
            }
        }
        return rows
    }

    /// Returns the rows to which a row refers for the back end: in the server's version, and in its operations that wait.
    func formerReferences(of row: RowID) throws -> [RowReference] {
        let original = try references(of: row, in: metadata.storedEntities[row.entity].sql.originalTable)
        return try original + submittedReferences(of: row).filter { !original.contains($0) }
    }

    /// Returns the rows to which operations of a row that wait for their answers refer, each once.
    private func submittedReferences(of row: RowID) throws -> [RowReference] {
        let entity = metadata.storedEntities[row.entity]
        guard entity.referenceCount > 0 else { return [] }
        var found: [RowReference] = []
        let operations = try connection.storedRows(
            [OutboxColumn.references], "WHERE \"entity\" = ?1 AND \"sk\" = ?2 ORDER BY \"id\"", [.text(entity.name), .integer(row.key)])
        for operation in operations {
            let references = try operation.object(.references)
            for relationship in entity.references.map({ entity.relationships[$0] }) {
                guard let key = references[relationship.name]?.integer else { continue }
                let reference = RowReference(
                    entity: row.entity, relationship: relationship.index, target: RowID(entity: relationship.targetIndex, key: key))
                if reference.target != row, !found.contains(reference) { found.append(reference) }
            }
        }
        return found
    }

    /// Returns the rows that have something to submit and had the modelled key of a row, which they have no longer.
    func rowsThatGaveUpKey(of row: RowID) throws -> [RowID] {
        let entity = metadata.storedEntities[row.entity]
        guard !entity.isLocal, entity.otherOperation == nil, let givesUp = entity.mayGiveUpKey else { return [] }
        let columns = entity.primaryKey.map { entity.sql.attributeColumns[$0] }
        let key = try connection.first("SELECT \(columns.joined(separator: ", ")) FROM \(entity.sql.table) WHERE \"_sk\" = ?1", [.integer(row.key)])
        guard let key, !key.contains(.null) else { return [] }
        let isKey = columns.enumerated().map { "\($0.element) = ?\($0.offset + 1)" }.joined(separator: " AND ")
        let keys = try connection.keys("SELECT \"_sk\" FROM \(entity.sql.originalTable) WHERE \(isKey) AND \(givesUp) ORDER BY \"_sk\"", key)
        return keys.filter { $0 != row.key }.map { RowID(entity: row.entity, key: $0) }
    }
}
