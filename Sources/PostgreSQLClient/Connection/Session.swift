/// A session at the server, with what belongs to it: prepared statements, and what was sent and not yet answered.
///
/// Each exchange with the server goes through ``exchange(until:_:)``, which leaves the session ready for the next one, or closed.
final class Session {
    let wire: Wire
    let configuration: PostgreSQLConfiguration
    let cancelHandle: CancelHandle
    var statements: StatementCache

    /// The cancellation of the present user of the session.
    var cancellation: PostgreSQLCancellation

    /// The name of the database's history, once it was read; see ``PostgreSQLConnection/historyID()``.
    var historyID: String?

    /// The deadline of the transaction that runs; nil outside of one.
    var transactionDeadline: Deadline?

    /// Whether an exchange is under way.
    private var isBusy = false

    /// The answers that the server still owes, or the rows for which it waits.
    enum Pending: Equatable {
        case nothing, statement, copy, pipeline(isSynced: Bool)
    }
    var pending = Pending.nothing

    /// The last result of a statement that passed its deadline, and whose end was awaited; nil when it is not known.
    private(set) var lateResult: ServerResult?

    init(_ wire: Wire, _ configuration: PostgreSQLConfiguration) throws(PostgreSQLError) {
        self.wire = wire
        self.configuration = configuration
        cancelHandle = try wire.cancelHandle()
        cancellation = PostgreSQLCancellation(cancelHandle)
        statements = StatementCache(capacity: configuration.statementCacheSize)
    }

    /// The deadline of a call: its own or the usual one, cut by that of the transaction.
    func deadline(_ own: Deadline?) -> Deadline {
        let usual = own ?? .now + configuration.timeLimit
        return transactionDeadline.map { min($0, usual) } ?? usual
    }

    /// The deadline of work that follows a failure.
    var recoveryDeadline: Deadline { .now + configuration.recoveryTime }

    // MARK: Exchanges

    /// Runs one exchange with the server. When `body` fails before the server has answered everything, what runs is cancelled, and the rest of the
    /// answer is dropped; when that takes longer than the recovery time, the connection is closed.
    func exchange<R>(until deadline: Deadline, _ body: () throws(PostgreSQLError) -> R) throws(PostgreSQLError) -> R {
        guard !isBusy else {
            throw PostgreSQLError(.misuse, "the connection is in the middle of another statement: use a second connection inside of its closure")
        }
        guard wire.isOpen else { throw wire.lost() }
        isBusy = true
        lateResult = nil
        let start = Deadline.now
        cancellation.begin()
        defer {
            if !cancellation.end(until: recoveryDeadline) { wire.cut() }
            isBusy = false
        }
        do {
            return try body()
        } catch {
            if error.endsSession { wire.cut() }
            recover()
            throw refined(error, start: start)
        }
    }

    /// Names the reason of a cancelled statement.
    private func refined(_ error: PostgreSQLError, start: Deadline) -> PostgreSQLError {
        switch (error.code, error.sqlState) {
        case (.timeout, nil):
            return error.with(message: wire.isOpen ? "\(error.message); the statement was cancelled" : "\(error.message); the connection was closed")
        case (.cancelled, "57014") where !cancellation.wasRequested:
            let isLate = configuration.statementTimeout.map { start.duration(to: .now) >= $0 } ?? false
            return isLate ? error.with(code: .timeout) : error
        default: return error
        }
    }

    private func recover() {
        guard wire.isOpen, pending != .nothing else { return }
        let deadline = recoveryDeadline
        do {
            if pending == .copy { try wire.endCopy(refusing: "the rows did not arrive in time") }
            if pending == .pipeline(isSynced: false) { try wire.sendSync() }
            var pause = Duration.milliseconds(20)
            while pending != .nothing {
                _ = cancellation.request(until: deadline)
                // A request that arrives before the statement has no effect, so it is repeated.
                try drain(until: min(.now + pause, deadline), last: deadline)
                pause *= 2
            }
        } catch {
            wire.cut()
        }
    }

    /// Drops the results of everything that was sent, and keeps the last one as ``lateResult``.
    /// - Parameters:
    ///   - pause: the time at which it returns, also when more results are due.
    ///   - deadline: the time at which it throws `.timeout` instead.
    private func drain(until pause: Deadline, last deadline: Deadline) throws(PostgreSQLError) {
        do {
            try drain(until: pause)
        } catch {
            guard error.code == .timeout, pause < deadline, .now < deadline else { throw error }
        }
    }

    private func drain(until deadline: Deadline) throws(PostgreSQLError) {
        while pending != .nothing {
            guard wire.isOpen else { throw wire.lost() }
            try wire.flush(until: deadline)
            let result = try wire.result(until: deadline)
            if let failure = result?.failure, failure.endsSession { throw failure }
            switch result?.kind {
            case .sync: try endPipeline()
            case nil where !wire.isPipeline: pending = .nothing
            case .copyIn: try wire.endCopy(refusing: "the rows are not needed any more")
            case .unsupported: throw wire.lost()
            default: lateResult = result ?? lateResult
            }
        }
    }

    func endPipeline() throws(PostgreSQLError) {
        try wire.exitPipeline()
        pending = .nothing
    }

    // MARK: Results

    /// Sends what is queued, and reads the results of one statement, or of the statements of a script.
    /// - Parameter row: called for each result with rows, single or complete.
    /// - Returns: the last result.
    func results(until deadline: Deadline, row: (ServerResult) throws(PostgreSQLError) -> Void = { _ in }) throws(PostgreSQLError) -> ServerResult? {
        pending = .statement
        var last: ServerResult?, failure: PostgreSQLError?
        try wire.flush(until: deadline)
        while let result = try wire.result(until: deadline) {
            switch result.kind {
            case .failure: failure = failure ?? result.error
            case .copyIn:
                try wire.endCopy(refusing: "no rows")
                try wire.flush(until: deadline)
                failure = failure ?? PostgreSQLError(.misuse, "a COPY cannot run as a statement: use copy(into:columns:)")
            case .unsupported:
                wire.cut()
                throw PostgreSQLError(.misuse, "this direction of COPY is not supported; the connection was closed")
            case .singleRow: try row(result)
            case .rows:
                if result.rowCount > 0 { try row(result) }
                last = result
            default: last = result
            }
        }
        pending = .nothing
        if let failure { throw failure }
        guard wire.isOpen else { throw wire.lost() }
        return last
    }

    /// Runs one or several statements without parameters.
    /// - Returns: the last one's command tag.
    @discardableResult
    func run(script: String, until deadline: Deadline) throws(PostgreSQLError) -> String {
        try exchange(until: deadline) { () throws(PostgreSQLError) in
            try wire.send(script: script)
            return try results(until: deadline)?.commandTag ?? ""
        }
    }

    /// Whether the server has not ended the session, as far as that has arrived here.
    var isAlive: Bool {
        do {
            while wire.isOpen {
                guard try wire.awaitInput(until: .now) else { return true }
            }
            return false
        } catch {
            return false
        }
    }
}

extension ServerResult {
    /// The failure that the result reports; nil for a success.
    var failure: PostgreSQLError? { kind == .failure ? error : nil }
}
