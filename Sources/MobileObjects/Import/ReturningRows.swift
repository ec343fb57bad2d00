import MobileStore

/// Large values of pending rows that come again after the server had reported them as gone.
///
/// **A row that comes brings its large values that are not NULL.** So those that it does not bring are NULL, where the device would keep what it had. *If you
/// break it*: a photo that was removed while the row was away is shown again.
extension Transaction {
    /// Notes the pending rows of an object that are gone on the server, before rows of it come.
    func noteGoneRows(of entity: EntityMetadata) throws {
        guard !entity.largeAttributes.isEmpty else { return }
        let gone = try connection.keys(
            "SELECT \"_sk\" FROM \(entity.sql.originalTable) WHERE \"_sv\" = \(ServerVersion.deleted.rawValue)")
        guard !gone.isEmpty else { return }
        returning.gone[entity.index, default: []].formUnion(gone)
    }

    /// Notes that a row brings a large value, which may be NULL.
    func noteLargeValue(_ attribute: Int, of entity: EntityMetadata, _ key: Int64) {
        guard returning.gone[entity.index]?.contains(key) == true else { return }
        returning.brought[RowID(entity: entity.index, key: key), default: []].insert(attribute)
    }

    private var returning: ReturningRows {
        attachment {
            atEnd(.largeValues) { try $0.forgetLargeValues() }
            return ReturningRows()
        }
    }

    private func forgetLargeValues() throws {
        for (index, gone) in returning.gone.sorted(by: { $0.key < $1.key }) {
            let entity = metadata.entities[index], session = ImportSession(entity, in: self)
            for attribute in entity.largeAttributes {
                let known = try connection.keys(
                    """
                    SELECT "_sk" FROM \(entity.sql.originalTable)
                    WHERE "_sv" = \(ServerVersion.present.rawValue) AND \(entity.sql.attributeColumns[attribute]) IS NOT NULL
                    """)
                for key in known where gone.contains(key) && returning.brought[RowID(entity: index, key: key)]?.contains(attribute) != true {
                    try session.setLargeValue(nil, of: entity.attributes[attribute].name, key: key)
                }
            }
        }
    }

    /// The pending rows of a transaction that were gone on the server before, by object, and the large values that they have got since.
    private final class ReturningRows {
        var gone: [Int: Set<Int64>] = [:]
        var brought: [RowID: Set<Int>] = [:]
    }
}
