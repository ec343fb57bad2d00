internal import MobileExecution

/// The pending work of an application's connection, as a value: the wish to be connected, and the stops that precede it.
///
///     none --register, start--> running --network lost--> waiting --time, start--> running
///                                  |                         |
///                                  +---- done, refused ------+---- stop, unregister ----> none
///
/// One wish at a time: a caller with the same wish joins it, and the latest call wins. A stop cancels earlier calls, never later ones. An attempt
/// that is in progress ends by itself and finds that its wish is gone.
///
/// The registration is either used by any number of synchronizations, or being given back: never both.
struct ConnectionPlan: Sendable {
    /// The wish to be connected, of any number of callers.
    struct Wish: Sendable {
        enum Kind: Sendable { case registration, connection }
        let kind: Kind
        /// The result that the callers wait for.
        let outcome = Promise<Void, SyncError>()
        /// Resolved when the first attempt has been reported as connecting, or when the wish has ended before.
        let begun = Promise<Void, Never>()

        init(kind: Kind) {
            self.kind = kind
            outcome.observe { [begun] _ in begun.resolve(.success(())) }
        }
    }

    private enum Attempt: Sendable {
        case none
        /// The attempt is queued or in progress.
        case running(Wish, failures: Int)
        /// The attempt waits for its time.
        /// - Parameter isOrdered: whether the server has ordered the delay.
        case waiting(Wish, failures: Int, timer: WorkTimer, isOrdered: Bool)

        var current: (wish: Wish, failures: Int)? {
            switch self {
            case .none: nil
            case .running(let wish, let failures), .waiting(let wish, let failures, _, _): (wish, failures)
            }
        }
    }

    private enum RegistrationUse: Sendable {
        case used(synchronizations: Int)
        case ending(Promise<Void, SyncError>)
    }

    private var attempt = Attempt.none
    private var registrationUse = RegistrationUse.used(synchronizations: 0)
    /// The number of stops and unregistrations in the queue: they will end the present connection.
    private var disconnections = 0

    // MARK: Connect

    /// The consequence of a call.
    enum Answer: Sendable {
        /// The caller has to begin the work.
        case begin(Wish)
        /// The work is already in progress.
        case join(Wish)
        /// There is nothing to do.
        case done
    }

    /// Whether a registration is in progress, with the identifier at the time of the call.
    var isRegistering: Bool { attempt.current?.wish.kind == .registration }

    /// `register` was called.
    mutating func register() -> Answer {
        if let current = attempt.current?.wish, current.kind == .registration { return .join(current) }
        let wish = Wish(kind: .registration)
        if let former = takeBack() {
            // Callers that wanted a connection receive the one that comes with the registration.
            wish.outcome.observe { former.outcome.resolve($0) }
        }
        attempt = .running(wish, failures: 0)
        return .begin(wish)
    }

    /// `startConnection` was called, or a lost connection is to be restored.
    mutating func start(isConnected: Bool) -> Answer {
        switch attempt {
        case .running(let wish, _): return .join(wish)
        case .waiting(let wish, _, _, _): return hurry() == nil ? .join(wish) : .begin(wish)
        case .none where isConnected && disconnections == 0: return .done
        case .none:
            let wish = Wish(kind: .connection)
            attempt = .running(wish, failures: 0)
            return .begin(wish)
        }
    }

    /// The turn of a wish has come. Returns false if the wish was cancelled in the meantime.
    mutating func begin(_ wish: Wish) -> Bool {
        guard let current = attempt.current, current.wish.outcome === wish.outcome else { return false }
        attempt = .running(wish, failures: current.failures)
        return true
    }

    /// The attempt found no server: the wish waits for a timer, which `makeTimer` sets for the given number of failures.
    /// - Parameter isOrdered: whether the server has ordered the delay, so that no attempt comes earlier.
    mutating func wait(_ wish: Wish, isOrdered: Bool, makeTimer: (_ failures: Int) -> WorkTimer) {
        guard let current = attempt.current, current.wish.outcome === wish.outcome else { return }
        attempt = .waiting(wish, failures: current.failures + 1, timer: makeTimer(current.failures), isOrdered: isOrdered)
    }

    /// Ends the delay of a waiting wish, unless the server has ordered it.
    /// - Returns: the wish, which the caller has to begin; nil if none waits or its delay was ordered.
    mutating func hurry() -> Wish? {
        guard case .waiting(let wish, let failures, let timer, isOrdered: false) = attempt, timer.fire() else { return nil }
        attempt = .running(wish, failures: failures)
        return wish
    }

    /// The wish was fulfilled, or has failed for good.
    mutating func end(_ wish: Wish) {
        if attempt.current?.wish.outcome === wish.outcome { attempt = .none }
    }

    // MARK: Disconnect

    /// `stopConnection` was called: the caller has to disconnect, and then calls ``disconnected()``.
    /// - Returns: the wish that was cancelled.
    mutating func stop() -> Wish? {
        disconnections += 1
        return takeBack()
    }

    /// The turn of a stop or an unregistration has come.
    mutating func disconnected() { disconnections -= 1 }

    private mutating func takeBack() -> Wish? {
        defer { attempt = .none }
        if case .waiting(_, _, let timer, _) = attempt { timer.cancel() }
        return attempt.current?.wish
    }

    // MARK: The registration and its users

    /// The consequence of a call of `unregister`.
    enum Unregistration: Sendable {
        /// The caller has to disconnect, as after ``stop()``, and to give the registration back.
        case begin(Promise<Void, SyncError>, ended: Wish?)
        case join(Promise<Void, SyncError>)
        /// A synchronization runs.
        case refused
    }

    /// `unregister` was called.
    mutating func unregister() -> Unregistration {
        switch registrationUse {
        case .ending(let outcome): return .join(outcome)
        case .used(synchronizations: 0):
            let outcome = Promise<Void, SyncError>()
            registrationUse = .ending(outcome)
            return .begin(outcome, ended: stop())
        case .used: return .refused
        }
    }

    /// Whether the registration is being given back.
    var isUnregistering: Bool {
        if case .ending = registrationUse { true } else { false }
    }

    /// The registration was given back, or that failed.
    mutating func endUnregistration() {
        precondition(isUnregistering, "no unregistration is in progress")
        registrationUse = .used(synchronizations: 0)
    }

    /// A synchronization begins. Returns false while the registration is being given back.
    mutating func beginSynchronization() -> Bool {
        guard case .used(let synchronizations) = registrationUse else { return false }
        registrationUse = .used(synchronizations: synchronizations + 1)
        return true
    }

    mutating func endSynchronization() {
        guard case .used(let synchronizations) = registrationUse, synchronizations > 0 else {
            preconditionFailure("no synchronization runs")
        }
        registrationUse = .used(synchronizations: synchronizations - 1)
    }
}
