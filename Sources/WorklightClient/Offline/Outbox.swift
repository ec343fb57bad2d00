internal import MobileExecution
internal import MobileStore

/// The calls that wait for the server, in the store of the client, and their replay, one after another in the order of the calls.
final class Outbox: Sendable {
    typealias Completion = @Sendable (WLRequest.Outcome) -> Void

    let results: ResultCache
    private let engine: WLEngine
    private struct State {
        /// The callbacks of calls of this run of the program, by their number.
        var completions: [Int64: (context: (any Sendable)?, completion: Completion)] = [:]
        var isReplaying = false
        /// The place of the last call; nil: not read yet.
        var lastPlace: Int64?
        /// The number of waiting calls; nil: not counted yet.
        var count: Int?
        var delegate: (any WLReplayDelegate)?
        var send: (@Sendable (WLProcedureInvocationData, WLProcedureOptions, @escaping Completion) -> Void)?
    }
    private let state = SystemLock(State())

    init(_ engine: WLEngine) {
        self.engine = engine
        results = ResultCache(engine: engine)
    }

    /// One waiting call.
    struct Call {
        let id: Int64
        let data: WLProcedureInvocationData
        let isRepeatable: Bool
        let wasSent: Bool
    }

    var delegate: (any WLReplayDelegate)? {
        get { state.withLock { $0.delegate } }
        set { state.withLock { $0.delegate = newValue } }
    }

    /// The way to send a call.
    func use(_ send: @escaping @Sendable (WLProcedureInvocationData, WLProcedureOptions, @escaping Completion) -> Void) {
        state.withLock { $0.send = send }
    }

    /// The number of waiting calls.
    var count: Int {
        if let count = state.withLock({ $0.count }) { return count }
        let count = engine.keep(or: 0) { try engine.store?.database.read { Int(try $0.number("SELECT count(*) FROM wl_outbox")) } ?? 0 }
        return state.withLock { state in
            state.count = state.count ?? count
            return state.count ?? count
        }
    }

    /// Whether a new call has to wait: there is no connection, or others wait and come first.
    func mustWait(isConnected: Bool) -> Bool { engine.store != nil && (!isConnected || count > 0) }

    /// Returns the place of a call that may have to wait, after those of all earlier calls.
    func nextPlace() -> Int64 {
        let known = state.withLock { $0.lastPlace != nil }
        let last =
            known
            ? 0 : engine.keep(or: 0) { try engine.store?.database.read { try $0.number("SELECT coalesce(max(id), 0) FROM wl_outbox") } ?? 0 }
        return state.withLock { state in
            let place = (state.lastPlace ?? last) + 1
            state.lastPlace = place
            return place
        }
    }

    /// Adds a call.
    /// - Parameter place: from ``nextPlace()``, taken when the call was made.
    func add(_ data: WLProcedureInvocationData, _ options: WLProcedureOptions, at place: Int64, _ completion: @escaping Completion) {
        guard let store = engine.store else {
            let failure = WLFailResponse(.unresponsiveHost, "the call cannot wait: the client has no store", context: options.invocationContext)
            return engine.mailbox.later { completion(.failure(failure)) }
        }
        do {
            _ = count
            let id = try store.database.write(label: "call that waits") { connection in
                try connection.execute(
                    "INSERT INTO wl_outbox (id, adapter, procedure, parameters, repeatable, sent) VALUES (?, ?, ?, ?, ?, 0)",
                    [
                        .integer(place), .text(data.adapter), .text(data.procedure), .text(JSONValue.array(data.parameters).description),
                        Value(options.replay == .repeatable),
                    ])
                return connection.lastInsertedKey
            }
            state.withLock { state in
                state.completions[id] = (options.invocationContext, completion)
                state.count = (state.count ?? 0) + 1
            }
        } catch {
            let failure = WLFailResponse(.unexpectedError, "the call could not be kept", context: options.invocationContext, cause: error)
            engine.mailbox.later { completion(.failure(failure)) }
        }
    }

    /// Sends the waiting calls. A replay in progress continues.
    func replay() {
        let isFirst = state.withLock { state in
            defer { state.isReplaying = true }
            return !state.isReplaying
        }
        if isFirst { next() }
    }

    private func next() {
        guard count > 0 else {
            state.withLock { $0.isReplaying = false }
            // A call that was added meanwhile found the replay in progress.
            return count > 0 ? replay() : ()
        }
        guard let call = engine.keep(or: nil, first), let send = state.withLock({ $0.send }) else {
            return state.withLock { $0.isReplaying = false }
        }
        if call.wasSent, !call.isRepeatable {
            // The program ended after the call was sent and before its answer was noted.
            return end(call, .failure(WLFailResponse(.unexpectedError, "the call was sent before, and its answer was lost")))
        }
        guard engine.keep(or: false, { try mark(call, isSent: true) }) else { return state.withLock { $0.isReplaying = false } }
        let context = state.withLock { $0.completions[call.id]?.context }
        send(call.data, WLProcedureOptions(invocationContext: context)) { outcome in
            if case .failure(let failure) = outcome, failure.isNotSent || call.isRepeatable && failure.isOutOfReach {
                _ = self.engine.keep(or: false) { try self.mark(call, isSent: false) }
                return self.state.withLock { $0.isReplaying = false }
            }
            self.end(call, outcome)
        }
    }

    private func end(_ call: Call, _ outcome: WLRequest.Outcome) {
        let isRemoved = engine.keep(or: false) {
            try engine.store?.database.write(label: "call that waited") {
                try $0.execute("DELETE FROM wl_outbox WHERE id = ?", [.integer(call.id)])
            }
            return true
        }
        let (completion, delegate) = state.withLock { state in
            if isRemoved { state.count = max(0, (state.count ?? 1) - 1) }
            if !isRemoved { state.isReplaying = false }
            return (state.completions.removeValue(forKey: call.id)?.completion, state.delegate)
        }
        engine.mailbox.later {
            if let completion { completion(outcome) } else { delegate?.replayed(call.data, outcome) }
            if isRemoved { self.next() }
        }
    }

    private func first() throws -> Call? {
        let row = try engine.store?.database.read { connection in
            try connection.first("SELECT id, adapter, procedure, parameters, repeatable, sent FROM wl_outbox ORDER BY id LIMIT 1")
        }
        guard let row, let id = row[0].integer else { return nil }
        let parameters = try JSONValue(parsing: row[3].text ?? "[]", maximumDepth: 1024).array ?? []
        return Call(
            id: id, data: WLProcedureInvocationData(adapter: row[1].text ?? "", procedure: row[2].text ?? "", parameters: parameters),
            isRepeatable: row[4].integer == 1, wasSent: row[5].integer == 1)
    }

    private func mark(_ call: Call, isSent: Bool) throws -> Bool {
        try engine.store?.database.write(label: "call that waits") {
            try $0.execute("UPDATE wl_outbox SET sent = ? WHERE id = ?", [Value(isSent), .integer(call.id)])
        } == 1
    }
}

/// Receives the results of calls that waited in the outbox and were made by an earlier run of the program, whose delegates exist no more.
public protocol WLReplayDelegate: AnyObject, Sendable {
    /// A call was sent, and its result came.
    func replayed(_ data: WLProcedureInvocationData, _ outcome: Result<WLResponse, WLFailResponse>)
}

/// Work without a network.
extension WLClient {
    /// Receives the results of waiting calls of earlier runs of the program; nil (default): they are only removed. The client keeps it alive.
    public var replayDelegate: (any WLReplayDelegate)? {
        get { outbox.delegate }
        set { outbox.delegate = newValue }
    }

    /// The number of calls that wait in the outbox.
    public var waitingCalls: Int { outbox.count }

    /// Sends the waiting calls, one after another; also done after each successful connect. Stops at the first one that cannot be sent. Without a
    /// connection, nothing happens.
    public func replayWaitingCalls() { if isConnected { outbox.replay() } }

    /// Removes stored results of procedures.
    /// - Parameter scope: those of one scope; nil (default) for all.
    /// - Throws: `StoreError`.
    public func clearStoredResults(scope: String? = nil) throws { try outbox.results.clear(scope: scope) }
}
