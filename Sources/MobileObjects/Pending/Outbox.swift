package import MobileStore

/// One submitted operation that waits to be sent, or for its answer. SMP 2.3: the operation replay record.
package struct OutboxRecord: Sendable, Equatable {
    /// The replay counter that the submit made: unique in this database, increasing.
    package var id: Int64
    /// The modelled name of the object; for an operation that is an object of its own, the name of the object that has the operation.
    package var entity: String
    package var surrogateKey: Int64
    package var change: Change
    /// The modelled name of the operation; empty for a create, update or delete that is the object's only one.
    package var operation: String
    /// The values of the operation's parameters by name, including those that attributes fill.
    package var parameters: JSONObject
    /// The id of the first operation of the submitted tree: the server replays the tree in one transaction.
    package var batch: Int64
    /// The attribute values at the submit, without large ones: for an update the changed ones, for a create all; empty for a delete.
    package var attributes: JSONObject
    /// The modelled key in the server's version; empty for a create.
    package var primaryKey: JSONObject
    /// The surrogate keys of the objects referred to, by relationship.
    package var references: JSONObject
    /// The large values that are sent with it, by attribute; nil is NULL.
    package var largeValues: [LargeValue]
    /// The digest of the content at the submit.
    package var digest: String
    /// The row that an update or delete is based on, if the object refuses conflicts.
    package var original: JSONObject?
    /// The submission of the row before this one, if the object refuses conflicts and there was one.
    package var follows: Int64?
    /// The client id under which it is sent; empty for the present one of this database.
    package var client = ""

    package enum Change: String, Sendable { case create = "C", update = "U", delete = "D", other = "O" }

    package struct LargeValue: Sendable, Equatable {
        package var attribute: String
        /// The value's id in the store; nil for NULL.
        package var id: Int64?
    }
}

/// The waiting operations, in the order of their replay.
extension PackageDatabase {
    /// All waiting operations.
    package final var outbox: [OutboxRecord] { get throws { try outbox(after: 0, limit: -1, ofClient: nil) } }

    /// Returns waiting operations with greater ids than `id`, at most `limit` of them; a negative limit means all. An upload of any length so needs
    /// bounded memory.
    /// - Parameter client: a former client id; empty (default) for the present one, nil for all.
    package final func outbox(after id: Int64, limit: Int, ofClient client: String? = "") throws -> [OutboxRecord] {
        try read { connection in
            try connection.storedRows(
                [
                    OutboxColumn.id, .entity, .key, .change, .operation, .batch, .attributes, .primaryKey, .references, .parameters, .digest,
                    .original, .follows, .client,
                ],
                "WHERE \"id\" > ?1 AND (?3 IS NULL OR \"client\" = ?3) ORDER BY \"id\" LIMIT ?2",
                [.integer(id), .integer(Int64(limit)), Value(client)]
            ).map { try record($0, connection) }
        }
    }

    private final func record(_ row: StoredRow<OutboxColumn>, _ connection: Connection) throws -> OutboxRecord {
        let id = try row.integer(.id)
        let large = try connection.storedRows(
            [OutboxLargeValueColumn.attribute, .value], "WHERE \"operation\" = ?1 ORDER BY \"attribute\"", [.integer(id)])
        return OutboxRecord(
            id: id, entity: try metadata.entity(named: row.text(.entity)).serverName, surrogateKey: try row.integer(.key),
            change: try row.kind(.change), operation: try row.text(.operation), parameters: try row.object(.parameters),
            batch: try row.integer(.batch), attributes: try row.object(.attributes), primaryKey: try row.object(.primaryKey),
            references: try row.object(.references),
            largeValues: try large.map { .init(attribute: try $0.text(.attribute), id: try $0.optionalInteger(.value)) },
            digest: try row.text(.digest), original: try row.text(.original).isEmpty ? nil : row.object(.original),
            follows: try row.integer(.follows) == 0 ? nil : row.integer(.follows), client: try row.text(.client))
    }
}

/// An operation to be written to the outbox.
struct Submission {
    let entity: EntityMetadata
    let key: Int64
    let id: Int64
    let batch: Int64
    let change: OutboxRecord.Change
    /// Attributes and references as they are now; nil for a delete.
    let content: [Value]?
    /// The same in the server's version; nil where there is no version.
    let original: [Value]?
    /// The values that were changed since the previous submission.
    let changed: ChangedValues
    let operation: SubmittedOperation
    /// The basis of an update or delete, if the object refuses conflicts.
    let basis: EditBasis?

    func write(in transaction: Transaction) throws {
        let values: [Value] = [
            .text(entity.name), .integer(key), .text(change.rawValue), .text(operation.name), .integer(batch),
            .text(JSONValue.object(attributes).description), .text(JSONValue.object(primaryKey).description),
            .text(JSONValue.object(references).description), .text(JSONValue.object(operation.parameters).description),
        ]
        let large = largeValues, original = basis.map { JSONValue.object($0.original).description } ?? "", follows = basis?.follows ?? 0
        let compared: [Value] = original.isEmpty ? [] : [.text(original), .integer(follows)]
        let digest = try OperationDigest.make(
            of: OperationContent(values: values + compared, largeValues: large.map { ($0.attribute, $0.value.integer) }),
            in: transaction.database.store)
        try transaction.connection.execute(
            """
            INSERT INTO "_outbox" ("id", "entity", "sk", "change", "operation", "batch", "attributes", "primary_key", "refs", "parameters",
                "submitted", "changed", "digest", "imported", "deferrals", "original", "follows", "client")
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, 0, 0, ?14, ?15, '')
            """,
            [.integer(id)] + values + [.text(content.map { SubmittedValues.text($0) } ?? ""), sent.stored, .text(digest)]
                + [.text(original), .integer(follows)])
        for value in large {
            try transaction.connection.execute(
                "INSERT INTO \"_outbox_large\" (\"operation\", \"attribute\", \"value\", \"original\") VALUES (?1, ?2, ?3, ?4)",
                [.integer(id), .text(value.attribute), value.value, value.original])
        }
    }

    /// The large values to send, with those of the server's version.
    private var largeValues: [(attribute: String, value: Value, original: Value)] {
        guard let content, !entity.largeAttributes.isEmpty else { return [] }
        let sent = sent
        return entity.largeAttributes.compactMap { attribute in
            let value = content[attribute], known = original?[attribute] ?? .null
            // Where everything is sent, only large values that differ from the server's are: for a create, those that are not NULL.
            guard sent == .all ? value != known : sent.contains(attribute) else { return nil }
            return (entity.attributes[attribute].name, value, known)
        }
    }

    private var attributes: JSONObject {
        guard let content, change != .other else { return [:] }
        let sent = sent
        return JSONObject(
            uniqueKeys: entity.attributes.filter { !$0.isLarge && sent.contains($0.index) }.map { ($0.name, $0.storage.json(content[$0.index])) })
    }

    /// The values to send: for an update the changed ones, and the attributes that a changed reference stands for.
    private var sent: ChangedValues {
        switch change {
        case .create, .other: return .all
        case .delete: return .nothing
        case .update: break
        }
        let mapped = entity.references.enumerated().flatMap { position, relationship in
            changed.contains(entity.attributes.count + position) ? entity.relationships[relationship].mapping.map(\.source) : []
        }
        return changed.union(.only(Set(mapped)))
    }

    private var primaryKey: JSONObject {
        guard change != .create, let values = original ?? content else { return [:] }
        // The server may have sent no version of an accepted row, because it is not among the device's.
        return JSONObject(
            uniqueKeys: entity.primaryKey.map { index in
                let value = values[index].isNull ? content?[index] ?? .null : values[index]
                return (entity.attributes[index].name, entity.attributes[index].storage.json(value))
            })
    }

    private var references: JSONObject {
        guard let values = content ?? original else { return [:] }
        return JSONObject(
            uniqueKeys: entity.references.enumerated().compactMap { position, relationship in
                values[entity.attributes.count + position].integer.map { (entity.relationships[relationship].name, .integer($0)) }
            })
    }
}

extension Transaction {
    /// Removes an answered operation.
    func removeFromOutbox(_ id: Int64, of entity: EntityMetadata, _ key: Int64) throws {
        for row in try connection.storedRows([OutboxLargeValueColumn.attribute, .value, .original], "WHERE \"operation\" = ?1", [.integer(id)]) {
            let attribute = try entity.attribute(named: row.text(.attribute)).index
            // The server's former value may be in no row any more.
            for value in [try row.optionalInteger(.value), try row.optionalInteger(.original)].compactMap(\.self) {
                release(value, entity, attribute, key)
            }
        }
        try connection.execute("DELETE FROM \"_outbox_large\" WHERE \"operation\" = ?1", [.integer(id)])
        try connection.execute("DELETE FROM \"_outbox\" WHERE \"id\" = ?1", [.integer(id)])
    }
}

extension PackageDatabase {
    /// All operations with smaller ids are settled: the server may forget them. It keeps those that a change follows, because it must know the row
    /// that they left.
    package final var settledBelow: Int64 {
        get throws {
            try read { connection in
                let first = try connection.optionalNumber(
                    """
                    SELECT min("id") FROM (SELECT "id" FROM "_outbox" WHERE "client" = '' UNION ALL SELECT "follows" FROM "_outbox" WHERE "follows" > 0 AND "client" = ''
                        UNION ALL SELECT "follows" FROM "_basis" WHERE "follows" > 0)
                    """)
                return try first ?? connection.lastReplayCounter(metadata) + 1
            }
        }
    }
}
