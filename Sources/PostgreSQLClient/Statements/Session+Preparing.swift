extension Session {
    /// Finds a statement in the cache, or prepares it.
    func prepared(_ sql: String, until deadline: Deadline) throws(PostgreSQLError) -> PreparedStatement {
        if let known = statements.find(sql) { return known }
        do {
            return try prepared([sql], until: deadline)[0]
        } catch {
            throw error.outsideOfBatch
        }
    }

    /// Finds statements in the cache, or prepares those that are missing, all in one exchange.
    /// - Returns: the statements, in the order of the texts.
    /// - Throws: the server's refusal, with the number of the text in ``PostgreSQLError/batchIndex``.
    func prepared(_ texts: [String], until deadline: Deadline) throws(PostgreSQLError) -> [PreparedStatement] {
        // Held here, because a small cache may drop some of them at once.
        var statements: [String: PreparedStatement] = [:]
        var missing: [(sql: String, index: Int)] = []
        for (index, sql) in texts.enumerated() where statements[sql] == nil && !missing.contains(where: { $0.sql == sql }) {
            if let known = self.statements.find(sql) { statements[sql] = known } else { missing.append((sql, index)) }
        }
        if !missing.isEmpty { statements.merge(try prepare(missing, until: deadline)) { $1 } }
        return texts.map { statements[$0]! }  // found or prepared
    }

    private func prepare(
        _ missing: [(sql: String, index: Int)], until deadline: Deadline
    ) throws(PostgreSQLError) -> [String: PreparedStatement] {
        for text in missing { try text.sql.checkForPostgreSQL() }
        let names = missing.map { _ in statements.newName() }
        // In a failed transaction the server refuses everything; names that wait go with a later preparation.
        let released = wire.transactionState == .failed ? [] : Array(statements.dropped.prefix(100))
        return try exchange(until: deadline) { () throws(PostgreSQLError) in
            try wire.enterPipeline()
            pending = .pipeline(isSynced: false)
            for (text, name) in zip(missing, names) {
                try wire.send(prepare: ParameterTranslation.translate(text.sql), as: name)
                try wire.send(describe: name)
            }
            for name in released { try wire.send(once: "DEALLOCATE \(name)") }
            let answers = try finishPipeline(queued: 2 * missing.count + released.count, until: deadline)
            for (number, text) in missing.enumerated() {
                let failure = answers[2 * number]?.failure ?? answers[2 * number + 1]?.failure
                if let failure { throw failure.with(batchIndex: text.index) }
            }
            let releases = zip(released, answers[(2 * missing.count)...])
            statements.released(releases.filter { $0.1?.kind == .command || $0.1?.failure?.sqlState == "26000" }.map(\.0))
            var prepared: [String: PreparedStatement] = [:]
            for (number, text) in missing.enumerated() {
                guard let description = answers[2 * number + 1] else { throw wire.lost() }
                let statement = PreparedStatement(name: names[number], description: description)
                prepared[text.sql] = statement
                statements.insert(statement, for: text.sql)
            }
            return prepared
        }
    }

    /// Ends a pipeline, and reads the last result of each of its commands.
    private func finishPipeline(queued: Int, until deadline: Deadline) throws(PostgreSQLError) -> [ServerResult?] {
        var answers = [ServerResult?](repeating: nil, count: queued)
        var reader = PipelineReader(queued: queued)
        try wire.sendSync()
        pending = .pipeline(isSynced: true)
        while !reader.isComplete {
            try wire.flush(until: deadline)
            let result = try wire.result(until: deadline)
            if let failure = result?.failure, failure.endsSession { throw failure }
            guard result != nil || wire.isOpen else { throw wire.lost() }
            if let (index, result) = reader.take(result) { answers[index] = result }
        }
        try endPipeline()
        return answers
    }
}

/// Assigns the results of a pipeline to its commands: each command has results and then an end, the pipeline has a last one of its own.
struct PipelineReader {
    /// The number of commands that were queued.
    var queued: Int
    /// The number of commands whose results have been read.
    private(set) var index = 0
    /// Whether the end of the pipeline has been read.
    private(set) var isComplete = false

    init(queued: Int = 0) { self.queued = queued }

    /// - Parameter result: the next result; nil for the end of a command's results.
    /// - Returns: the command's number and its result; nil for ends.
    mutating func take(_ result: ServerResult?) -> (index: Int, result: ServerResult)? {
        guard let result else {
            index += 1
            return nil
        }
        guard result.kind != .sync else {
            isComplete = true
            return nil
        }
        return (index, result)
    }
}
