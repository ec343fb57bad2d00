internal import MobileExecution

/// A session that waits in a pool.
struct IdleSession: @unchecked Sendable {  // one thread at a time owns it: it is in the pool's list or with one caller
    let session: Session
    let since: Deadline
}

/// The places of a pool: each is a session, in use or idle, or the right to open one. Callers wait in a queue, first come first served.
final class PoolPlaces: Sendable {
    /// The share of a caller.
    enum Grant: Sendable {
        /// An idle session.
        case session(IdleSession)
        /// The right to open a session.
        case place
    }

    private struct State {
        /// The most recently used one last.
        var idle: [IdleSession] = []
        /// Idle sessions, those in use, and those being opened.
        var count = 0
        var waiting: [Promise<Grant, PostgreSQLError>] = []
        var isClosed = false
        var hasTimer = false
    }

    private let limit: Int
    private let idleTime: Duration
    private let state = SystemLock(State())
    /// Closes idle sessions.
    private let timers = BlockingWork(threads: 1)

    init(limit: Int, idleTime: Duration) {
        self.limit = limit
        self.idleTime = idleTime
    }

    private static let closed = PostgreSQLError(.closed, "the pool of connections was closed")

    /// Takes a place.
    /// - Throws: `.timeout`, `.closed`.
    func take(until deadline: Deadline) throws(PostgreSQLError) -> Grant {
        let turn = try enter()
        if let grant = turn.result { return try grant.get() }
        if let grant = try turn.wait(timeout: deadline - .now) { return grant }
        let isStillWaiting = state.withLock { state in
            guard let place = state.waiting.firstIndex(where: { $0 === turn }) else { return false }
            state.waiting.remove(at: place)
            return true
        }
        // A grant was on its way in the last moment: it is not lost.
        guard isStillWaiting else { return try turn.wait() }
        throw PostgreSQLError(.timeout, "no connection of the pool before the deadline: all \(limit) are in use")
    }

    private func enter() throws(PostgreSQLError) -> Promise<Grant, PostgreSQLError> {
        let turn = Promise<Grant, PostgreSQLError>()
        let grant = try state.withLock { state throws(PostgreSQLError) -> Grant? in
            guard !state.isClosed else { throw Self.closed }
            // Free places and waiting callers do not exist at the same time, so no caller is overtaken.
            if let session = state.idle.popLast() { return .session(session) }
            if state.count < limit {
                state.count += 1
                return .place
            }
            state.waiting.append(turn)
            return nil
        }
        if let grant { turn.resolve(.success(grant)) }
        return turn
    }

    /// Gives back a place whose session is gone.
    func release() {
        let next = state.withLock { state -> Promise<Grant, PostgreSQLError>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.count -= 1
            return nil
        }
        next?.resolve(.success(.place))
    }

    /// Gives back a place with its session.
    func putBack(_ session: IdleSession) {
        // A session that is not kept is closed after the lock.
        enum Next {
            case hand(Promise<Grant, PostgreSQLError>), keep(startsTimer: Bool), drop
        }
        let next = state.withLock { state -> Next in
            if state.isClosed {
                state.count -= 1
                return .drop
            }
            guard state.waiting.isEmpty else { return .hand(state.waiting.removeFirst()) }
            state.idle.append(session)
            defer { state.hasTimer = true }
            return .keep(startsTimer: !state.hasTimer)
        }
        switch next {
        case .hand(let caller): caller.resolve(.success(.session(session)))
        case .keep(startsTimer: true): startTimer(after: idleTime)
        case .keep(startsTimer: false), .drop: break
        }
    }

    private func startTimer(after span: Duration) {
        let timer = timers.start(after: span) { [weak self] in self?.closeIdle() }
        if timer == nil { state.withLock { $0.hasTimer = false } }  // the next session that comes back tries again
    }

    /// Closes the sessions whose time has passed.
    private func closeIdle() {
        let now = Deadline.now
        let (dropped, next) = state.withLock { state -> ([IdleSession], Duration?) in
            let dropped = state.idle.filter { $0.since + idleTime <= now }
            state.idle.removeAll { $0.since + idleTime <= now }
            state.count -= dropped.count
            let next = state.idle.map { $0.since + idleTime - now }.min()
            state.hasTimer = next != nil
            return (dropped, next)
        }
        withExtendedLifetime(dropped) {}
        if let next { startTimer(after: next) }
    }

    /// Closes idle sessions, and refuses callers.
    func close() {
        let (dropped, refused) = state.withLock { state -> ([IdleSession], [Promise<Grant, PostgreSQLError>]) in
            defer {
                state.count -= state.idle.count
                state.isClosed = true
                state.idle = []
                state.waiting = []
            }
            return (state.idle, state.waiting)
        }
        withExtendedLifetime(dropped) {}
        for caller in refused { caller.resolve(.failure(Self.closed)) }
    }

    var usage: PostgreSQLPool.Usage {
        state.withLock { PostgreSQLPool.Usage(connections: $0.count, idle: $0.idle.count, waiting: $0.waiting.count) }
    }
}
