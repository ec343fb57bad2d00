import Foundation
import MobileExecution

@testable import MobileSync

/// Work whose pieces run, and timers that fire, only when the test requests it. Everything runs on the test's thread.
final class SteppedWork: SerialWork {
    private struct State {
        var pieces: [@Sendable () -> Void] = []
        var timers: [(delay: Duration, timer: WorkTimer, isBeside: Bool, work: @Sendable () -> Void)] = []
        var isRunning = false
    }
    private let state = SystemLock(State())

    var isCurrent: Bool { state.withLock { $0.isRunning } }

    func run(_ work: @escaping @Sendable () -> Void) { state.withLock { $0.pieces.append(work) } }

    func sync(_ work: () -> Void) {
        runAll()
        work()
    }

    func run(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> WorkTimer { add(delay, isBeside: false, work) }
    func timer(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> WorkTimer { add(delay, isBeside: true, work) }

    private func add(_ delay: Duration, isBeside: Bool, _ work: @escaping @Sendable () -> Void) -> WorkTimer {
        let timer = WorkTimer()
        state.withLock { $0.timers.append((delay, timer, isBeside, work)) }
        return timer
    }

    /// Runs the next piece; false when there is none.
    @discardableResult
    func step() -> Bool {
        let next: (@Sendable () -> Void)? = state.withLock { state in
            guard !state.pieces.isEmpty else { return nil }
            state.isRunning = true
            return state.pieces.removeFirst()
        }
        guard let next else { return false }
        next()
        state.withLock { $0.isRunning = false }
        return true
    }

    /// Runs all pieces, including those added meanwhile.
    func runAll() { while step() {} }

    /// The delays of all timers that were set, in order.
    var delays: [Duration] { state.withLock { $0.timers.map(\.delay) } }

    /// Fires all timers.
    func elapse() {
        let timers = state.withLock { $0.timers }
        for entry in timers where entry.timer.fire() {
            if entry.isBeside { entry.work() } else { run(entry.work) }
        }
    }
}

/// Runs an action once between two locks of other code, before the lock that a test has chosen.
final class Intruder: Sendable {
    private struct Plan: Sendable {
        var locksBefore = 0
        var action: (@Sendable () -> Void)?
    }
    private let plan = SystemLock(Plan())

    /// The crossing for the state whose locks are watched.
    var crossing: Crossing { Crossing { [self] in pass() } }

    /// Sets the action that runs before the lock with this number, counted from 0.
    func come(before lock: Int, _ action: @escaping @Sendable () -> Void) {
        plan.withLock { $0 = Plan(locksBefore: lock, action: action) }
    }

    /// Runs the action now if it has not run yet, because fewer locks were taken.
    func comeAtLast() { take(always: true)?() }

    private func pass() { take(always: false)?() }

    private func take(always: Bool) -> (@Sendable () -> Void)? {
        plan.withLock { plan in
            guard let action = plan.action else { return nil }
            guard always || plan.locksBefore == 0 else {
                plan.locksBefore -= 1
                return nil
            }
            plan.action = nil
            return action
        }
    }
}
