import MobileModel
import MobileStore

/// A table of the framework as queries made at run time see it: its entries' attributes under their documented names.
struct RecordTable {
    /// The name of the table in a query's `from`.
    let name: String
    /// All entries, with the columns `c0`, `c1` and so on.
    let entries: NestedSelect
    /// The order of entries, after that of a query, by those columns.
    let order: [OrderTerm]

    /// - Parameters:
    ///   - attributes: each with its SQL in the rows of `table`.
    ///   - condition: selects the rows that are entries.
    init(
        _ name: String, _ attributes: [(name: String, type: AttributeType, sql: String)], from table: String, where condition: String,
        order: [OrderTerm]
    ) {
        self.name = name
        self.order = order
        let items = attributes.enumerated().map { "\($0.element.sql) AS c\($0.offset)" }.joined(separator: ", ")
        entries = NestedSelect(
            sql: "SELECT \(items) FROM \(EntitySQL.quote(table)) WHERE \(condition)",
            columns: attributes.map { QueryResultColumn(name: $0.name, attribute: $0.name, type: QueryType($0.type)) })
    }

    /// Compiles the statement for the entries that a query finds, with all of their attributes in order.
    /// - Throws: ``ObjectError/Code/invalidQuery`` for a query that selects, joins, groups, filters or prefetches, or has another source; and as
    ///   ``PackageDatabase/executeQuery(_:)``.
    func statement(_ query: Query, in metadata: PackageMetadata) throws -> CompiledQuery {
        guard query.selectItems.isEmpty, query.joinCriteria.isEmpty, query.groupItems.isEmpty, query.havingCriteria == nil,
            query.entityFilter.isEmpty,
            query.prefetches.isEmpty
        else { throw ObjectError(.invalidQuery, "query: it finds whole entries of \(name); leave out select, join, group, filter and prefetch") }
        var alias = name
        switch query.source {
        case nil: break
        case .entity(name, let given): alias = given ?? name
        default: throw ObjectError(.invalidQuery, "query: it does not select from \(name), whose entries are to be found")
        }
        let compiler = QueryCompiler(metadata), scope = QueryScope(outer: nil)
        let source = try compiler.addSource(.select(entries), alias: alias, to: scope)
        var parts = SelectParts(items: ["\(source.name).*"])
        parts.conditions = try compiler.conditions(query, scope)
        parts.order =
            try compiler.order(query, scope, items: [], isGrouped: false, distinct: nil, root: nil)
            + order.map { OrderTerm(sql: "\(source.name).\($0.sql)", isDescending: $0.isDescending) }
        parts.from = try compiler.fromClause(query, scope)
        parts.limit = try compiler.limit(query)
        return CompiledQuery(sql: parts.sql, values: try compiler.checkedValues(), columns: entries.columns)
    }
}

extension RecordTable {
    /// The log records, without those that were deleted here.
    static let logRecords = RecordTable(
        "LogRecord",
        [
            ("messageId", .long, "\"message_id\""), ("level", .int, "\"level\""), ("code", .int, "\"code\""), ("eisCode", .string, "\"eis_code\""),
            ("message", .string, "\"message\""), ("component", .string, "\"component\""), ("entityKey", .string, "\"entity_key\""),
            ("operation", .string, "\"operation\""), ("requestId", .string, "\"request_id\""), ("timestamp", .dateTime, "\"timestamp\""),
            ("isFromClient", .boolean, "\"origin\""), ("isSettled", .boolean, "\"origin\" = 0 AND \"state\" = 2"),
        ], from: FrameworkTables.logRecords, where: "\"state\" < 3",
        order: [OrderTerm(sql: "c9", isDescending: true), OrderTerm(sql: "c0", isDescending: true)])
}

extension PackageDatabase {
    /// Returns the log records that a query finds; without another order the newest come first. The query's conditions and order name the attributes
    /// `messageId`, `level` (a number), `code`, `eisCode`, `message`, `component`, `entityKey`, `operation`, `requestId`, `timestamp`,
    /// `isFromClient` and `isSettled`. SMP 2.3: `getLogRecords:`.
    ///
    ///     try crm.logRecords(Query().where(.equal("component", "Customer") && .greaterEqual("level", 5)))
    /// - Throws: ``ObjectError``: `.noSuchAttribute`, `.invalidValue`, `.invalidQuery` (one that selects, joins or groups), `.store`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func logRecords(_ query: Query) throws -> [LogRecord] {
        let statement = try RecordTable.logRecords.statement(query, in: metadata)
        return try read { try self.logRecords($0, statement.sql, statement.values) }
    }

    /// The same without blocking a cooperative thread.
    public final func logRecords(_ query: Query) async throws -> [LogRecord] {
        let statement = try RecordTable.logRecords.statement(query, in: metadata)
        return try await read { try self.logRecords($0, statement.sql, statement.values) }
    }
}
