internal import MobileExecution

/// State behind a lock. A decision and its effects happen in one `withLock`: state that was read in an earlier one may have changed since.
///
/// Tests check that with ``Crossing``: they run another caller before each lock.
final class StateLock<State>: Sendable {
    private let state: SystemLock<State>
    private let crossing: Crossing

    init(_ state: sending State, _ crossing: Crossing = .none) {
        self.state = SystemLock(state)
        self.crossing = crossing
    }

    func withLock<Result, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        crossing.pass()
        return try state.withLock(body)
    }
}

/// The point where one caller may run between two locks of another one.
struct Crossing: Sendable {
    /// Called before a lock is taken, on the thread that is about to take it.
    let pass: @Sendable () -> Void

    /// No other caller runs there.
    static let none = Crossing {}
}
