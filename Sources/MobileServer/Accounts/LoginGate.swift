internal import Dispatch
internal import MobileExecution

/// Limits the number of concurrent and of waiting logins. Checking a password takes 0.1 s and 32 MB on purpose: without a limit, a few requests would
/// occupy all processors and all memory.
final class LoginGate: Sendable {
    private let slots: DispatchSemaphore
    private let waiting: SystemLock<Int>
    private let patience: Duration
    static let longestQueue = 64

    /// - Parameters:
    ///   - slots: the maximum number of concurrent logins, 1 or more.
    ///   - patience: the time that a login waits for its turn.
    init(slots: Int, patience: Duration = .seconds(10)) {
        self.slots = DispatchSemaphore(value: slots)
        self.patience = patience
        waiting = SystemLock(0)
    }

    /// Runs a login when it is its turn.
    /// - Throws: ``RequestFailure`` 503 if too many logins wait or the turn does not come in time; and the errors of the login.
    func run<Result>(_ login: () throws -> Result) throws -> Result {
        let hasRoom = waiting.withLock { waiting in
            guard waiting < Self.longestQueue else { return false }
            waiting += 1
            return true
        }
        guard hasRoom else { throw Self.busy }
        let outcome = slots.wait(timeout: .now() + patience / .seconds(1))
        waiting.withLock { $0 -= 1 }
        guard outcome == .success else { throw Self.busy }
        defer { slots.signal() }
        return try login()
    }

    private static var busy: RequestFailure { RequestFailure(.unavailable, "too many logins at once; try again") }
}
