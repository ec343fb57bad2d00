public import Foundation
internal import MobileExecution
import MobileModel
public import MobileStore

/// An operation that the server had accepted, and that its back end does not have any more, because it was restored from an older backup. It is listed
/// until the application submits it again or forgets it. See `PackageDatabase.lostOperations()`.
public struct LostOperation: Sendable, Hashable {
    /// The operation's id.
    public let id: Int64
    /// The client id under which it was accepted; empty for the present one of this database.
    package let client: String
    /// The modelled name of the object.
    public let entity: String
    /// The row's surrogate key.
    public let surrogateKey: Int64
    /// `C`, `U`, `D` or `O`: create, update, delete, or another operation.
    public let change: String
    /// The modelled name of the operation; empty for a create, update or delete that is the object's only one.
    public let operation: String
    /// The values that it wrote, by attribute, without large ones; for an operation with parameters these.
    public let values: JSONObject
    /// The time of its acceptance.
    public let accepted: Date
}

/// The place of an accepted operation in the record of a back end.
package struct AcceptanceReceipt: Sendable, Equatable {
    package var era: String
    package var number: Int64
    package init(era: String, number: Int64) { (self.era, self.number) = (era, number) }
}

// MARK: The record of accepted operations

extension Transaction {
    /// The number of accepted operations whose contents are kept, and the time for which they are.
    static let acceptedLimit = 1000, acceptedTime: TimeInterval = 30 * 86_400

    /// Keeps the content of an operation that was accepted, until its back end has long been backed up.
    func keepAccepted(_ id: Int64, _ receipt: AcceptanceReceipt) throws {
        let now = RetryTime.stored(database.environment.now())
        try connection.execute(
            """
            INSERT OR REPLACE INTO "_accepted" ("id", "client", "entity", "sk", "change", "operation", "attributes", "primary_key", "refs",
                "parameters", "digest", "era", "number", "accepted", "lost")
            SELECT "id", "client", "entity", "sk", "change", "operation", "attributes", "primary_key", "refs", "parameters", "digest", ?2, ?3, ?4, 0
            FROM "_outbox" WHERE "id" = ?1
            """, [.integer(id), .text(receipt.era), .integer(receipt.number), .integer(now)])
        try connection.execute(
            """
            DELETE FROM "_accepted" WHERE "lost" = 0 AND ("accepted" < ?1 OR "rowid" <= (
                SELECT "rowid" FROM "_accepted" ORDER BY "rowid" DESC LIMIT 1 OFFSET ?2))
            """, [.integer(now - Int64(Self.acceptedTime * 1000)), .integer(Int64(Self.acceptedLimit))])
    }

    /// Lists operations as lost: those of an era above the number that the back end has reached in it.
    /// - Returns: the groups of their rows, which still show what the operations wrote; none if all of them were listed before.
    package func noteLost(_ reached: [String: Int64]) throws -> Set<String> {
        var count = 0
        for (era, number) in reached {
            count += try connection.execute(
                "UPDATE \"_accepted\" SET \"lost\" = 1 WHERE \"era\" = ?1 AND \"number\" > ?2 AND \"lost\" = 0", [.text(era), .integer(number)])
        }
        guard count > 0 else { return [] }
        database.environment.console.warn(
            "\(count) accepted operations are lost: the server's back end was restored from a backup; see lostOperations()")
        let entities = try connection.storedRows([AcceptedColumn.entity], "WHERE \"lost\" = 1 GROUP BY \"entity\"")
        // An object may be gone since, with a newer model.
        let names = Set(try entities.map { try $0.text(.entity) })
        return Set(metadata.entities.filter { names.contains($0.name) }.map(\.model.synchronizationGroup))
    }

    /// Notes that the server knows of lost operations.
    package func reportedLost(_ operations: [LostOperation]) throws {
        for operation in operations {
            try connection.execute(
                "UPDATE \"_accepted\" SET \"lost\" = 2 WHERE \"id\" = ?1 AND \"client\" = ?2", [.integer(operation.id), .text(operation.client)])
        }
    }

    /// Returns the columns `original` and `follows` of a lost operation that is submitted again as `id`.
    fileprivate func compared(ofRepeated operation: [Value], _ id: Int64) throws -> [Value] {
        let row = try connection.storedRow(
            [AcceptedColumn.entity, .key, .change], "WHERE \"id\" = ?1 AND \"client\" = ?2 AND \"lost\" > 0", operation)
        guard let row, try row.text(.change) != OutboxRecord.Change.other.rawValue else { return [.text(""), .integer(0)] }
        let basis = try basis(ofRepeated: id, of: metadata.entity(named: row.text(.entity)), row.integer(.key))
        guard let basis, try row.text(.change) != OutboxRecord.Change.create.rawValue else { return [.text(""), .integer(0)] }
        return [.text(JSONValue.object(basis.original).description), .integer(basis.follows)]
    }

    /// Returns the columns `attributes` and `primary_key` of a lost operation that is submitted again. Of rows that are not here any more they have no
    /// generated keys: the restored back end may have given these to other rows.
    fileprivate func keysHere(ofRepeated operation: [Value]) throws -> [Value] {
        let columns: [AcceptedColumn] = [.entity, .key, .change, .attributes, .primaryKey, .references]
        guard let row = try connection.storedRow(columns, "WHERE \"id\" = ?1 AND \"client\" = ?2", operation) else {
            return [.text("{}"), .text("{}")]
        }
        let entity = try metadata.entity(named: row.text(.entity)), references = try row.object(.references)
        var attributes = try row.object(.attributes)
        for relationship in entity.references.map({ entity.relationships[$0] }) {
            guard let key = references[relationship.name]?.integer, try isGone(metadata.entities[relationship.targetIndex], key) else { continue }
            // The server fills them if it knows the parent, and rejects the operation otherwise.
            for name in relationship.mapping.map({ entity.attributes[$0.source].name }) where attributes[name] != nil { attributes[name] = .null }
        }
        let isGone = try row.text(.change) != OutboxRecord.Change.other.rawValue && isGone(entity, row.integer(.key))
        return [.text(JSONValue.object(attributes).description), isGone ? .text("{}") : try row.value(.primaryKey)]
    }

    /// Whether a row with a generated key is not in this database.
    private func isGone(_ entity: EntityMetadata, _ key: Int64) throws -> Bool {
        guard metadata.model.hasGeneratedKey(entity.model) else { return false }
        return try [entity.sql.table, entity.sql.originalTable].allSatisfy {
            try connection.first("SELECT 1 FROM \($0) WHERE \"_sk\" = ?1", [.integer(key)]) == nil
        }
    }

    /// Gives the row of an inherited create another key, unless the server has the row again: then the key is the row's.
    fileprivate func renumberInherited(_ operation: LostOperation, _ key: [Value]) throws {
        let row = try connection.storedRow([AcceptedColumn.key, .change], "WHERE \"id\" = ?1 AND \"client\" = ?2", key)
        guard !operation.client.isEmpty, let row, try row.text(.change) == "C" else { return }
        let entity = try metadata.entity(named: operation.entity), surrogateKey = try row.integer(.key)
        for table in [entity.sql.table, entity.sql.originalTable] {
            guard try connection.first("SELECT 1 FROM \(table) WHERE \"_sk\" = ?1", [.integer(surrogateKey)]) == nil else { return }
        }
        _ = try renumber([surrogateKey])
    }
}

extension PackageDatabase {
    /// By era: the last number of the operations whose acceptance is remembered.
    package final var receipts: [String: Int64] {
        get throws {
            try read { connection in
                let rows = try connection.rows("SELECT \"era\", max(\"number\") FROM \"_accepted\" WHERE \"lost\" = 0 GROUP BY \"era\"")
                return Dictionary(rows.compactMap { row in row[0].text.flatMap { era in row[1].integer.map { (era, $0) } } }) { $1 }
            }
        }
    }

    /// The lost operations that the server has no report of yet.
    package final var unreportedLostOperations: [LostOperation] { get throws { try lostOperations("\"lost\" = 1") } }

    /// Returns the operations that the server had accepted and that its back end has lost, the oldest first. The rows show the values of the back end.
    ///
    /// The contents of the last 1,000 operations that were accepted within 30 days are kept for this, without large values.
    /// - Throws: ``ObjectError/Code/store``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func lostOperations() throws -> [LostOperation] { try lostOperations("\"lost\" > 0") }

    /// The same without blocking a cooperative thread.
    public final func lostOperations() async throws -> [LostOperation] {
        try await BlockingWork.run { try self.lostOperations() }
    }

    private final func lostOperations(_ condition: String) throws -> [LostOperation] {
        try read { connection in
            let columns: [AcceptedColumn] = [.id, .client, .entity, .key, .change, .operation, .attributes, .parameters, .accepted]
            return try connection.storedRows(columns, "WHERE \(condition) ORDER BY \"id\"").map { row in
                let parameters = try row.object(.parameters), attributes = try row.object(.attributes)
                return LostOperation(
                    id: try row.integer(.id), client: try row.text(.client), entity: try row.text(.entity), surrogateKey: try row.integer(.key),
                    change: try row.text(.change), operation: try row.text(.operation), values: attributes.isEmpty ? parameters : attributes,
                    accepted: RetryTime.date(try row.integer(.accepted)))
            }
        }
    }

    /// Submits a lost operation again, under a new id: the next synchronization sends it as it was, without its large values. The row takes part again
    /// when its answer comes. It is listed no longer. If the object refuses conflicts, the operation is based on the row as it is here at this time.
    ///
    /// A primary key that the back end has generated is sent only for a row that is here: the restored back end may have given that of another one to a new
    /// row. So an operation on a lost row, or below one, is rejected, unless the create of that row was submitted again before it.
    ///
    /// The copy of a database gives a row that its original has created another surrogate key, because the key was granted to the original.
    /// - Throws: ``ObjectError/Code/notFound`` for an operation that is not listed.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func submitAgain(_ operation: LostOperation) throws {
        try write("submit a lost operation again") { transaction in
            let key: [Value] = [.integer(operation.id), .text(operation.client)]
            try transaction.renumberInherited(operation, key)
            let id = try transaction.nextCounter()
            try transaction.keepCounter()
            let compared = try transaction.compared(ofRepeated: key, id), keys = try transaction.keysHere(ofRepeated: key)
            let count = try transaction.connection.execute(
                """
                INSERT INTO "_outbox" ("id", "entity", "sk", "change", "operation", "batch", "attributes", "primary_key", "refs", "parameters",
                    "submitted", "changed", "imported", "digest", "deferrals", "original", "follows", "client")
                SELECT ?3, "entity", "sk", "change", "operation", ?3, ?6, ?7, "refs", "parameters", '', '', 0, "digest", 0,
                    ?4, ?5, ''
                FROM "_accepted" WHERE "id" = ?1 AND "client" = ?2 AND "lost" > 0
                """, key + [.integer(id)] + compared + keys)
            guard count == 1 else { throw ObjectError(.notFound, "operation \(operation.id) of \(operation.entity) is not listed as lost") }
            try transaction.connection.execute("DELETE FROM \"_accepted\" WHERE \"id\" = ?1 AND \"client\" = ?2", key)
        }
    }

    /// Removes a lost operation from the list without submitting it. No effect if it is not listed.
    /// - Throws: ``ObjectError/Code/store``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func forget(_ operation: LostOperation) throws {
        try write("forget a lost operation") { transaction in
            try transaction.connection.execute(
                "DELETE FROM \"_accepted\" WHERE \"id\" = ?1 AND \"client\" = ?2", [.integer(operation.id), .text(operation.client)])
        }
    }

    /// Submits a lost operation again without blocking a cooperative thread.
    public final func submitAgain(_ operation: LostOperation) async throws {
        try await BlockingWork.run { try self.submitAgain(operation) }
    }

    /// Removes a lost operation from the list without blocking a cooperative thread.
    public final func forget(_ operation: LostOperation) async throws {
        try await BlockingWork.run { try self.forget(operation) }
    }
}
