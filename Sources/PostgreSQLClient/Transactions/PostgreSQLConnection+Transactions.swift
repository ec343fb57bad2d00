/// The protection of a transaction from others, as in SQL.
package enum PostgreSQLIsolation: String, Sendable {
    /// Each statement sees what was committed when it began.
    case readCommitted = "READ COMMITTED"
    /// All statements see one snapshot; a change of a row that another transaction has changed since throws `.serialization`.
    case repeatableRead = "REPEATABLE READ"
    /// As if transactions ran one after another; conflicts throw `.serialization`.
    case serializable = "SERIALIZABLE"
}

/// The purpose of a transaction.
package enum PostgreSQLAccess: String, Sendable {
    /// Reading and changing.
    case readWrite = "READ WRITE"
    /// Reading; a change throws `.readOnly`.
    case readOnly = "READ ONLY"
}

extension PostgreSQLConnection {
    /// Runs `body` in a transaction, and commits it; when `body` throws, it is rolled back.
    ///
    /// Statements inside end at the deadline of the transaction at the latest.
    /// - Parameters:
    ///   - isolation: the protection from other transactions.
    ///   - access: whether it changes anything.
    ///   - deadline: the time until which it runs, with its commit; nil (default): each statement has the configuration's time limit.
    ///   - body: receives this connection. It may run again when the caller repeats the call after an error with ``PostgreSQLError/canBeRepeated``.
    /// - Returns: the result of `body`, after the server has confirmed the commit.
    /// - Throws: the error of `body`; ``PostgreSQLError`` `.misuse` (a transaction is open), `.commitUnknown`, `.serialization`, `.constraint` (a
    ///   deferred one), `.transactionFailed` (`body` ignored a failed statement), `.timeout`, `.connectionLost`: after all but `.commitUnknown`
    ///   nothing has changed.
    @discardableResult
    package func transaction<R>(
        isolation: PostgreSQLIsolation = .readCommitted, access: PostgreSQLAccess = .readWrite, deadline: ContinuousClock.Instant? = nil,
        _ body: (PostgreSQLConnection) throws -> R
    ) throws -> R {
        let session = try session()
        try session.begin(isolation, access, until: deadline)
        defer { session.transactionDeadline = nil }
        let result: R
        do {
            result = try body(self)
        } catch {
            session.rollBack()
            throw error
        }
        try session.commit()
        return result
    }

    /// Runs `body` in a savepoint of the open transaction: when it throws, only its own changes are undone, and the transaction can continue.
    /// Savepoints nest.
    /// - Throws: the error of `body`; ``PostgreSQLError`` `.misuse` (no transaction is open), `.connectionLost`, `.timeout`.
    @discardableResult
    package func savepoint<R>(_ body: () throws -> R) throws -> R {
        let session = try session()
        guard session.wire.transactionState != .idle else { throw PostgreSQLError(.misuse, "a savepoint needs an open transaction") }
        try session.run(script: "SAVEPOINT mobile", until: session.deadline(nil))
        let result: R
        do {
            result = try body()
        } catch {
            try session.rollBackToSavepoint()
            throw error
        }
        do {
            try session.run(script: "RELEASE SAVEPOINT mobile", until: session.deadline(nil))
        } catch {
            try session.rollBackToSavepoint()
            throw error
        }
        return result
    }
}

extension Session {
    /// Undoes what a savepoint holds; a connection that cannot do that in the recovery time is closed.
    fileprivate func rollBackToSavepoint() throws(PostgreSQLError) {
        // The server would report a lost connection again; the first error is the reason.
        guard wire.isOpen else { return }
        try run(script: "ROLLBACK TO SAVEPOINT mobile; RELEASE SAVEPOINT mobile", until: recoveryDeadline)
    }
}

extension Session {
    fileprivate func begin(_ isolation: PostgreSQLIsolation, _ access: PostgreSQLAccess, until own: Deadline?) throws(PostgreSQLError) {
        guard wire.transactionState != .open && wire.transactionState != .failed else {
            throw PostgreSQLError(.misuse, "a transaction is open: use a savepoint inside of it")
        }
        try run(script: "BEGIN ISOLATION LEVEL \(isolation.rawValue) \(access.rawValue)", until: deadline(own))
        transactionDeadline = own
    }

    /// Rolls back what is open; a connection that cannot do that in the recovery time is closed.
    func rollBack() {
        transactionDeadline = nil
        guard wire.isOpen, wire.transactionState != .idle else { return }
        do {
            try run(script: "ROLLBACK", until: recoveryDeadline)
        } catch {
            wire.cut()
        }
    }

    fileprivate func commit() throws(PostgreSQLError) {
        // A connection that broke before is found here, so that it does not count as unknown.
        guard isAlive else { throw wire.lost() }
        let tag: String
        do {
            tag = try run(script: "COMMIT", until: deadline(nil))
        } catch {
            tag = try outcome(ofCommit: error)
        }
        guard tag == "COMMIT" else {
            throw PostgreSQLError(.transactionFailed, "a statement of the transaction has failed, so the server rolled back instead of committing")
        }
    }

    /// Finds the outcome of a transaction whose COMMIT was sent.
    ///
    /// | answer | outcome |
    /// |---|---|
    /// | a failure after which the session continues | rolled back |
    /// | a late answer, after the deadline | as it says |
    /// | the session was ended while it waited for a statement | rolled back |
    /// | none, or the end of the session | not known |
    /// - Returns: the server's late answer to the COMMIT.
    private func outcome(ofCommit error: PostgreSQLError) throws(PostgreSQLError) -> String {
        if let late = lateResult, wire.isOpen {
            guard late.failure == nil else { throw error }
            return late.commandTag
        }
        if wire.isOpen || SQLState.isEndOfIdleSession(error.sqlState) { throw error }
        throw error.with(code: .commitUnknown, message: "the connection broke while the transaction was committed: \(error.message)")
    }
}
