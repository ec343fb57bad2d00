import MobileStore

/// Attributes that are the key of another row, where the back end makes that key.
///
/// **A reference and its attributes are two views of one fact, also where the key comes later than the reference.** A row that is made here knows its parent
/// before the back end has given the parent a key. When the key has come, rows that this device has changed get it in the attributes of the reference. Other rows
/// come from the server with it. *If you break it*: a row shows no key, or 0, while its reference leads to the parent, and one that is in none of the device's
/// partitions shows it forever.
extension Transaction {
    /// Notes that rows of an object, which the back end gives their keys, come in this transaction.
    func expectKeys(of target: EntityMetadata) { arrivedKeys.targets.insert(target.index) }

    /// Notes that rows of an object have got values in this transaction that were submitted before the keys of their parents were known.
    func expectKeysOfParents(of entity: EntityMetadata) {
        if entity.refersToGeneratedKeys { arrivedKeys.entities.insert(entity.index) }
    }

    private final class ArrivedKeys {
        var targets: Set<Int> = [], entities: Set<Int> = []
    }

    private var arrivedKeys: ArrivedKeys {
        attachment {
            atEnd(.referenceKeys) { try $0.fillReferenceKeys() }
            return ArrivedKeys()
        }
    }

    private func fillReferenceKeys() throws {
        let arrived = arrivedKeys
        for entity in metadata.storedEntities where entity.refersToGeneratedKeys {
            let pending = """
                SELECT "_sk" FROM \(entity.sql.originalTable)
                UNION ALL SELECT "sk" FROM "_unconfirmed" WHERE "entity" = \(EntitySQL.literal(entity.name))
                """
            for relationship in entity.references.map({ entity.relationships[$0] }) {
                guard arrived.entities.contains(entity.index) || arrived.targets.contains(relationship.targetIndex) else { continue }
                for key in try fill(relationship, of: entity, in: entity.sql.table, where: "c.\"_sk\" IN (\(pending))") {
                    try changeLogRecorder()?.updated(entity, key)
                }
                _ = try fill(relationship, of: entity, in: entity.sql.originalTable, where: "c.\"_sv\" = \(ServerVersion.present.rawValue)")
            }
        }
    }

    /// Gives the attributes of a reference the key of the row to which the reference leads, where they have none.
    /// - Returns: the rows that have got one.
    private func fill(_ relationship: RelationshipMetadata, of entity: EntityMetadata, in table: String, where isMeant: String) throws -> [Int64] {
        let target = metadata.entities[relationship.targetIndex]
        guard target.hasGeneratedKey, let sources = relationship.keySources, let reference = relationship.referenceIndex else { return [] }
        let columns = sources.map { entity.sql.attributeColumns[$0] }, keys = target.primaryKey.map { target.sql.attributeColumns[$0] }
        let list = keys.joined(separator: ", "), original = target.sql.originalTable
        // The server's versions: a new row may show a number of this device.
        let known = """
            (SELECT "_sk", \(list) FROM \(target.sql.table) WHERE "_sk" NOT IN (SELECT "_sk" FROM \(original))
            UNION ALL SELECT "_sk", \(list) FROM \(original) WHERE "_sv" = \(ServerVersion.present.rawValue))
            """
        let made = zip(target.primaryKey, zip(columns, keys)).filter { target.attributes[$0.0].isGenerated }.map(\.1)
        let isEmpty = made.map { "(c.\($0.0) IS NULL OR c.\($0.0) = 0) AND t.\($0.1) IS NOT NULL AND t.\($0.1) <> 0" }.joined(separator: " AND ")
        let rows = try connection.rows(
            """
            SELECT c."_sk", \(keys.map { "t.\($0)" }.joined(separator: ", "))
            FROM \(table) AS c JOIN \(known) AS t ON t."_sk" = c.\(entity.sql.referenceColumns[reference]) WHERE \(isMeant) AND \(isEmpty)
            """)
        let assignments = columns.enumerated().map { "\($0.element) = ?\($0.offset + 2)" }.joined(separator: ", ")
        for row in rows { try connection.execute("UPDATE \(table) SET \(assignments) WHERE \"_sk\" = ?1", row) }
        return rows.compactMap { $0[0].integer }
    }
}
