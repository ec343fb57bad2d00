import MobileStore

/// OPS-22: one row per modelled key. A create, an update of the key, and a cancel that brings a key back are refused where another row has it.
///
/// A key that the back end assigns is not known yet and not compared. The same applies to a key from a parent whose own key is not known. **A key that another
/// device has used comes with an import, which nothing refuses**: the row that the server has is then found first (``EntitySQL/byPrimaryKey``).
///
/// *If you break it*: lists show a row twice, finders return either one, and the server refuses every change of the second one.
extension Transaction {
    /// - Parameters:
    ///   - content: the row's values as they are, or will be.
    ///   - advice: the end of the error's message.
    /// - Throws: ``ObjectError/Code/duplicateKey``.
    func checkKeyIsFree(_ verb: String, _ entity: EntityMetadata, _ key: Int64, _ content: [Value], advice: String = "") throws {
        guard entity.sql.hasKey, !entity.hasGeneratedKey else { return }
        let values = entity.primaryKey.map { content[$0] }
        guard !values.contains(.null), try !takesKeyFromUnknownParent(entity, content),
            try connection.first(entity.sql.keyExistsElsewhere, values + [.integer(key)]) != nil
        else { return }
        let names = entity.primaryKey.map { entity.attributes[$0].name }.joined(separator: ", ")
        throw ObjectError(.duplicateKey, "\(verb) of \(entity.name): a row with this key (\(names)) exists already\(advice)")
    }

    /// Checks the key that an update gives to a row, which has its former values yet.
    func checkNewKeyIsFree(_ entity: EntityMetadata, _ key: Int64, _ changes: [(index: Int, value: Value)]) throws {
        guard changes.contains(where: { entity.primaryKey.contains($0.index) }), let former = try content(entity.sql.table, of: entity, key) else {
            return
        }
        var content = former
        for change in changes { content[change.index] = change.value }
        guard entity.primaryKey.contains(where: { content[$0] != former[$0] }) else { return }
        try checkKeyIsFree("update", entity, key, content)
    }

    /// Notes that a cancel brings back a row, or values of it: the row must not have the key of another one then. That is known before the commit alone,
    /// because the same transaction may cancel the other row too.
    func expectFreeKey(_ entity: EntityMetadata, _ key: Int64) throws {
        guard entity.sql.hasKey, !entity.hasGeneratedKey else { return }
        let row = RowID(entity: entity.index, key: key), rows = returningKeys
        guard rows.formerKeys[row] == nil else { return }
        rows.formerKeys[row] = try modelledKey(of: row)
    }

    /// Notes which rows other transactions will cancel next: their keys count as free.
    func expectCancel(next isCancelledNext: @escaping (RowID) -> Bool) { returningKeys.isCancelledNext = isCancelledNext }

    private final class ReturningKeys {
        /// The keys before the cancel; empty for a row that was deleted.
        var formerKeys: [RowID: [Value]] = [:]
        var isCancelledNext: (RowID) -> Bool = { _ in false }
    }

    private var returningKeys: ReturningKeys {
        attachment {
            atEnd(.keys) { try $0.checkReturnedKeys() }
            return ReturningKeys()
        }
    }

    private func modelledKey(of row: RowID) throws -> [Value] {
        let entity = metadata.storedEntities[row.entity]
        guard let content = try content(entity.sql.table, of: entity, row.key) else { return [] }
        return entity.primaryKey.map { content[$0] }
    }

    private func checkReturnedKeys() throws {
        let rows = returningKeys
        for (row, former) in rows.formerKeys {
            let entity = metadata.storedEntities[row.entity], now = try modelledKey(of: row)
            guard !now.isEmpty, now != former, let content = try content(entity.sql.table, of: entity, row.key) else { continue }
            let other = try connection.first(entity.sql.keyExistsElsewhere, now + [.integer(row.key)])?.first?.integer
            if let other, rows.isCancelledNext(RowID(entity: row.entity, key: other)) { continue }
            try checkKeyIsFree("cancel", entity, row.key, content, advice: "; delete or cancel that row first")
        }
    }
}
