import MobileStore

/// Operations in the outbox whose large values are gone.
///
/// **A record that cannot be sent ends as a failed one, and never stops the upload of others.** The repair is with the user, who writes the value again;
/// the log record says so. If you break it: one such record ends each synchronization of the device, and no cancel of the user's helps.
extension PackageDatabase {
    /// Settles these operations, and those of their trees, as rejected: the server can do none of them.
    /// - Returns: the effects, in the order of the operations; mostly none.
    package final func rejectOperationsWithoutLargeValues() throws -> [ReplayOutcome] {
        guard try !read({ try $0.operationsWithoutLargeValues() }).isEmpty else { return [] }
        return try write("reject operations without large values") { transaction in
            // Again, because another synchronization may have settled them meanwhile.
            let operations = try transaction.connection.operationsWithoutLargeValues()
            // Log records first, so that a handler of the rejection finds them.
            for operation in operations { try transaction.store(record(of: operation)) }
            return try transaction.settle(operations.map { ReplayAnswer(id: $0.id, .rejected) })
        }
    }

    private final func record(of operation: LostLargeValueOperation) throws -> LogRecord {
        let entity = try metadata.entity(named: operation.entity)
        let reason =
            operation.attribute.map { "its \($0) is gone from this device; write the value again, or cancel" }
            ?? "it was submitted together with a change that cannot be sent"
        return makeLogRecord(
            level: .error, code: LogRecord.Code.failure, eisCode: nil, message: "\(entity.serverName) \(operation.key): \(reason)",
            component: entity.serverName, entityKey: String(operation.key), operation: operation.name, requestID: String(operation.id),
            timestamp: environment.now())
    }
}

/// An operation that cannot be sent.
private struct LostLargeValueOperation {
    let id: Int64
    let entity: String
    let key: Int64
    let name: String
    /// The attribute whose value is gone; nil where it is one of another operation of the tree.
    let attribute: String?
}

extension Connection {
    fileprivate func operationsWithoutLargeValues() throws -> [LostLargeValueOperation] {
        // The server replays the tree in one transaction, so its other operations are nothing alone.
        try rows(
            """
            WITH "lost" AS (
                SELECT "operation", min("attribute") AS "attribute" FROM "_outbox_large" AS l WHERE "value" IS NOT NULL
                    AND NOT EXISTS (SELECT 1 FROM "_mc_value" AS v WHERE v."id" = l."value" AND v."state" = 1)
                GROUP BY "operation")
            SELECT o."id", o."entity", o."sk", o."operation", l."attribute" FROM "_outbox" AS o LEFT JOIN "lost" AS l ON l."operation" = o."id"
            WHERE o."batch" IN (SELECT b."batch" FROM "_outbox" AS b JOIN "lost" ON "lost"."operation" = b."id") ORDER BY o."id"
            """, []
        ).map { row in
            LostLargeValueOperation(
                id: row[0].integer ?? 0, entity: row[1].text ?? "", key: row[2].integer ?? 0, name: row[3].text ?? "", attribute: row[4].text)
        }
    }
}
