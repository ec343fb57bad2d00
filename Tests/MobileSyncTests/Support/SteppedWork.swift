import Foundation
import Synchronization

@testable import MobileSync

/// Work that waits until a test lets it go on, one piece after the other, and time that passes when a test says so. All on the test's thread.
final class SteppedWork: SerialWork {
    private struct State {
        var pieces: [@Sendable () -> Void] = []
        var timers: [(delay: Duration, timer: WorkTimer, isBeside: Bool, work: @Sendable () -> Void)] = []
        var isRunning = false
    }
    private let state = Mutex(State())

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

    /// Runs all pieces, also those that come while it does.
    func runAll() { while step() {} }

    /// The delays of all timers that were ever set, in the order in which they were.
    var delays: [Duration] { state.withLock { $0.timers.map(\.delay) } }

    /// The time of all timers has come.
    func elapse() {
        let timers = state.withLock { $0.timers }
        for entry in timers where entry.timer.fire() {
            if entry.isBeside { entry.work() } else { run(entry.work) }
        }
    }
}

/// Comes between two locks of somebody else: once, before the lock that a test has chosen.
final class Intruder: Sendable {
    private struct Plan: Sendable {
        var locksBefore = 0
        var action: (@Sendable () -> Void)?
    }
    private let plan = Mutex(Plan())

    /// For the state whose locks are watched.
    var crossing: Crossing { Crossing { [self] in pass() } }

    /// Lets `action` run before the lock with this number, counted from 0.
    func come(before lock: Int, _ action: @escaping @Sendable () -> Void) {
        plan.withLock { $0 = Plan(locksBefore: lock, action: action) }
    }

    /// Runs the action now if it has not come yet: nobody took as many locks.
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
