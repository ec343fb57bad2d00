internal import Synchronization

/// State behind a lock. What is decided and what follows from it happen in one `withLock`: whatever was looked at in an earlier one may have
/// changed since.
///
/// Tests show that by ``Crossing``: they let another caller in before each lock.
final class StateLock<State>: Sendable {
    private let state: Mutex<State>
    private let crossing: Crossing

    init(_ state: sending State, _ crossing: Crossing = .none) {
        self.state = Mutex(state)
        self.crossing = crossing
    }

    func withLock<Result, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        crossing.pass()
        return try state.withLock(body)
    }
}

/// Where one caller may come between two locks of another one.
struct Crossing: Sendable {
    /// Called before a lock is taken, on the thread that is about to take it.
    let pass: @Sendable () -> Void

    /// Nobody waits there.
    static let none = Crossing {}
}
