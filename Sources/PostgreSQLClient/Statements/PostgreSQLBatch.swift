/// Statements that go to the server together.
package struct PostgreSQLBatch {
    var statements: [(sql: String, values: [PostgreSQLValue])] = []

    /// Adds a statement.
    /// - Parameters:
    ///   - sql: one statement. All statements of a batch are prepared before the first one runs, so none may depend on a table that another one creates.
    ///   - values: the values of its parameters, in order.
    package mutating func add(_ sql: String, _ values: [PostgreSQLValue] = []) { statements.append((sql, values)) }

    /// The number of statements.
    package var count: Int { statements.count }

    /// The result of one statement.
    package struct Result: Sendable {
        /// The number of rows that it inserted, updated, deleted or selected; 0 for other statements.
        package let affectedRows: Int
        /// The rows that it returned.
        package let rows: [[PostgreSQLValue]]
    }
}

extension PostgreSQLConnection {
    /// Runs statements one after another, without waiting for the server between them: in two round trips at most (one, if all are prepared).
    ///
    /// They run in the open transaction, otherwise in one of their own. After the first failure no further one runs.
    /// - Parameters:
    ///   - deadline: the time until which all of them run; default: the configuration's time limit from now.
    ///   - build: adds the statements.
    /// - Returns: a result per statement.
    /// - Throws: ``PostgreSQLError`` of the first failed statement, whose number is ``PostgreSQLError/batchIndex``; `.timeout` and `.connectionLost` without a
    ///   number, and outside of a transaction with an unknown outcome; the error of `build`, and then nothing was sent.
    @discardableResult
    package func batch(
        deadline: ContinuousClock.Instant? = nil, _ build: (inout PostgreSQLBatch) throws -> Void
    ) throws -> [PostgreSQLBatch.Result] {
        var batch = PostgreSQLBatch()
        try build(&batch)
        return try session().run(batch, until: deadline)
    }
}

extension Session {
    fileprivate func run(_ batch: PostgreSQLBatch, until own: Deadline?) throws(PostgreSQLError) -> [PostgreSQLBatch.Result] {
        guard batch.count > 0 else { return [] }
        let deadline = deadline(own)
        let prepared = try prepared(batch.statements.map(\.sql), until: deadline)
        // Encoded before the first one is sent, so that a wrong value leaves nothing half done; kept in their short form only.
        var commands: [(name: String, parameters: EncodedParameters, format: Int32)] = []
        commands.reserveCapacity(batch.count)
        for (index, statement) in prepared.enumerated() {
            do {
                let parameters = try EncodedParameters(batch.statements[index].values, types: statement.parameterTypes)
                commands.append((statement.name, parameters, statement.format))
            } catch {
                throw error.with(batchIndex: index)
            }
        }
        var results = BatchResults(count: batch.count)
        do {
            return try exchange(until: deadline) { () throws(PostgreSQLError) in
                try wire.enterPipeline()
                pending = .pipeline(isSynced: false)
                for command in commands {
                    try wire.send(execute: command.name, command.parameters, format: command.format)
                    results.reader.queued += 1
                    // A server that cannot send its results stops reading, so results are taken while statements are sent.
                    while try !wire.flush() {
                        try wire.receive([.read, .write], until: deadline)
                        try takeArrived(&results)
                    }
                }
                try wire.sendSync()
                pending = .pipeline(isSynced: true)
                while !results.reader.isComplete {
                    if try !wire.flush() {
                        try wire.receive([.read, .write], until: deadline)
                        try takeArrived(&results)
                    } else {
                        try results.take(try wire.result(until: deadline), isOpen: wire.isOpen)
                    }
                }
                try endPipeline()
                if let failure = results.failure { throw failure }
                return results.complete
            }
        } catch {
            guard error.isStaleStatement, let index = error.batchIndex else { throw error }
            statements.forget(batch.statements[index].sql)
            throw error.with(code: .staleStatement)
        }
    }

    private func takeArrived(_ results: inout BatchResults) throws(PostgreSQLError) {
        while results.reader.index < results.reader.queued, wire.hasResult { try results.take(wire.result(), isOpen: wire.isOpen) }
    }
}

/// The results of a batch, as they arrive.
private struct BatchResults {
    var reader = PipelineReader()
    private(set) var failure: PostgreSQLError?
    private var results: [PostgreSQLBatch.Result] = []

    init(count: Int) { results.reserveCapacity(count) }

    /// The results of all statements, when none has failed.
    var complete: [PostgreSQLBatch.Result] { results }

    mutating func take(_ result: ServerResult?, isOpen: Bool) throws(PostgreSQLError) {
        guard result != nil || isOpen else { throw PostgreSQLError(.connectionLost, "the connection to PostgreSQL broke", endsSession: true) }
        guard let (index, result) = reader.take(result) else { return }
        switch result.kind {
        case .failure:
            let error = result.error.with(batchIndex: index)
            guard !error.endsSession else { throw error }
            failure = failure ?? error
        case .skipped: break
        case .copyIn, .unsupported:
            // A pipeline cannot carry the rows of a COPY, and does not end without them.
            throw PostgreSQLError(.misuse, "a COPY cannot run in a batch; the connection was closed", batchIndex: index, endsSession: true)
        default: results.append(PostgreSQLBatch.Result(affectedRows: result.affectedRows, rows: (0..<result.rowCount).map(result.values)))
        }
    }
}
