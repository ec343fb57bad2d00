import MobileStore

/// Which values of a row its pending update has changed: column `_ch` of the original-state table, positions (attributes, then
/// references) joined by commas.
///
/// **An update sends these and no others.** Why: what another device has changed in the same row meanwhile stays, instead of
/// being overwritten by a value that nobody touched here. Empty: not known, and everything is sent; so it is for a create, and
/// for an update that began as one.
enum ChangedValues {
    static let unknown = Value.text("")

    static func stored(_ positions: some Sequence<Int>) -> Value {
        .text(positions.sorted().map(String.init).joined(separator: ","))
    }

    /// The positions in the column; none where they are not known.
    static func positions(_ stored: Value) -> Set<Int> { Set((stored.text ?? "").split(separator: ",").compactMap { Int($0) }) }
}

extension Transaction {
    /// Adds to what the pending update of a row has changed. Where that is not known it stays so.
    func noteChanged(_ positions: [Int], of entity: EntityMetadata, _ key: Int64) throws {
        let known = try changedValues(of: entity, key)
        guard !known.isEmpty, !known.isSuperset(of: positions) else { return }
        try connection.execute(
            "UPDATE \(entity.sql.originalTable) SET \"_ch\" = ?2 WHERE \"_sk\" = ?1", [.integer(key), ChangedValues.stored(known.union(positions))])
    }

    /// The positions of the values that the pending update of a row has changed; empty where that is not known.
    func changedValues(of entity: EntityMetadata, _ key: Int64) throws -> Set<Int> {
        let row = try connection.first("SELECT \"_ch\" FROM \(entity.sql.originalTable) WHERE \"_sk\" = ?1", [.integer(key)])
        return ChangedValues.positions(row?[0] ?? .null)
    }
}
