extension PostgreSQLConnection {
    /// Runs a statement with parameters.
    /// - Parameters:
    ///   - sql: one statement.
    ///   - values: the values of its parameters, in order.
    ///   - deadline: the time until which it runs; default: the configuration's time limit from now.
    /// - Returns: the number of rows that it inserted, updated, deleted or selected; 0 for other statements.
    /// - Throws: ``PostgreSQLError`` of most kinds. After `.timeout` and `.connectionLost` outside of a transaction, look for the outcome.
    @discardableResult
    package func execute(
        _ sql: String, _ values: [PostgreSQLValue] = [], deadline: ContinuousClock.Instant? = nil
    ) throws(PostgreSQLError) -> Int {
        try session().query(sql, values, until: deadline)?.affectedRows ?? 0
    }

    /// Runs one or several statements without parameters, separated by semicolons, in one implicit transaction. Their rows are dropped, and they are not
    /// kept in the cache.
    /// - Throws: ``PostgreSQLError`` of most kinds; statements before the failed one are undone.
    package func run(script: String, deadline: ContinuousClock.Instant? = nil) throws(PostgreSQLError) {
        try script.checkForPostgreSQL()
        let session = try session()
        try session.run(script: script, until: session.deadline(deadline))
    }

    /// Reads all rows of a statement, for small results. For large ones, see ``forEachRow(_:_:deadline:_:)``.
    package func rows(
        _ sql: String, _ values: [PostgreSQLValue] = [], deadline: ContinuousClock.Instant? = nil
    ) throws(PostgreSQLError) -> [[PostgreSQLValue]] {
        guard let result = try session().query(sql, values, until: deadline) else { return [] }
        return (0..<result.rowCount).map(result.values)
    }

    /// Reads the first row of a statement; nil when there is none. The statement runs to its end: `LIMIT 1` saves the other rows.
    package func first(
        _ sql: String, _ values: [PostgreSQLValue] = [], deadline: ContinuousClock.Instant? = nil
    ) throws(PostgreSQLError) -> [PostgreSQLValue]? {
        guard let result = try session().query(sql, values, until: deadline), result.rowCount > 0 else { return nil }
        return result.values(0)
    }

    /// Reads the rows of a statement one by one, in the memory of one row.
    /// - Parameters:
    ///   - sql: one statement.
    ///   - values: the values of its parameters, in order.
    ///   - deadline: the time until which it runs, with the time that `body` takes; default: the configuration's time limit from now.
    ///   - body: receives each row as it arrives. It must not use this connection. When it throws, the statement is cancelled, and with it its
    ///     transaction.
    /// - Throws: ``PostgreSQLError`` of most kinds, after any number of rows; the error of `body`.
    package func forEachRow(
        _ sql: String, _ values: [PostgreSQLValue] = [], deadline: ContinuousClock.Instant? = nil, _ body: (PostgreSQLRow) throws -> Void
    ) throws {
        var refusal: (any Error)?
        let session = try session()
        let body = { (result: ServerResult, names: [String]) throws(PostgreSQLError) in
            for index in 0..<result.rowCount {
                do {
                    try body(PostgreSQLRow(result, index: index, columnNames: names))
                } catch {
                    refusal = error
                    throw PostgreSQLError(.cancelled, "the receiver of a row has failed")
                }
            }
        }
        do {
            _ = try session.query(sql, values, until: deadline, rows: .single, row: body)
        } catch {
            throw refusal ?? error
        }
    }
}

/// The ways in which rows arrive.
enum RowDelivery {
    /// All rows of a statement in one result.
    case together
    /// Each row in a result of its own, which takes no more memory than one row.
    case single
}

extension Session {
    /// Runs a statement; a prepared one whose plan no longer fits the tables is prepared again, once, where no transaction has failed with it.
    /// - Parameter row: receives each result with rows, and the names of their columns.
    /// - Returns: the last result: with all rows, or, after single rows, with none.
    func query(
        _ sql: String, _ values: [PostgreSQLValue], until own: Deadline?, rows: RowDelivery = .together,
        row: (ServerResult, [String]) throws(PostgreSQLError) -> Void = { _, _ in }
    ) throws(PostgreSQLError) -> ServerResult? {
        let deadline = deadline(own)
        var isRepeated = false
        while true {
            let statement = try prepared(sql, until: deadline)
            let parameters = try EncodedParameters(values, types: statement.parameterTypes)
            do {
                return try exchange(until: deadline) { () throws(PostgreSQLError) in
                    try wire.send(execute: statement.name, parameters, format: statement.format)
                    pending = .statement
                    if rows == .single { wire.setSingleRowMode() }
                    return try results(until: deadline) { (result) throws(PostgreSQLError) in try row(result, statement.columnNames) }
                }
            } catch {
                guard error.isStaleStatement else { throw error }
                statements.forget(sql)
                guard wire.isOpen, wire.transactionState == .idle, !isRepeated else { throw error.with(code: .staleStatement) }
                isRepeated = true
            }
        }
    }
}

extension PostgreSQLError {
    /// Whether the server refused a prepared statement before running it: its columns have other types now, or it does not exist.
    var isStaleStatement: Bool { sqlState == "26000" || (sqlState == "0A000" && routine == "RevalidateCachedQuery") }
}
