internal import Foundation
internal import Synchronization

/// The result of work that goes on elsewhere: given once, awaited by any number of threads and tasks.
final class Outcome<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, any Error>?
        var continuations: [CheckedContinuation<Value, any Error>] = []
        var observers: [@Sendable () -> Void] = []
    }
    private let state = Mutex(State())
    private let condition = NSCondition()

    /// Gives the result; a second one is ignored.
    func resolve(_ result: Result<Value, any Error>) {
        let waiting: ([CheckedContinuation<Value, any Error>], [@Sendable () -> Void])? = state.withLock { state in
            guard state.result == nil else { return nil }
            state.result = result
            defer { (state.continuations, state.observers) = ([], []) }
            return (state.continuations, state.observers)
        }
        guard let waiting else { return }
        condition.lock()
        condition.broadcast()
        condition.unlock()
        for continuation in waiting.0 { continuation.resume(with: result) }
        for observer in waiting.1 { observer() }
    }

    var result: Result<Value, any Error>? { state.withLock { $0.result } }

    /// Blocks the calling thread until there is a result; nil when `timeout` passes first. A nil timeout waits for ever.
    func wait(timeout: Duration? = nil) throws -> Value? {
        let deadline = timeout.map { Date(timeIntervalSinceNow: $0 / .seconds(1)) }
        condition.lock()
        defer { condition.unlock() }
        while true {
            if let result { return try result.get() }
            if let deadline {
                if !condition.wait(until: deadline) { return try result?.get() }
            } else {
                condition.wait()
            }
        }
    }

    /// The result, awaited without blocking a thread.
    var value: Value {
        get async throws {
            try await withCheckedThrowingContinuation { continuation in
                let known: Result<Value, any Error>? = state.withLock { state in
                    if state.result == nil { state.continuations.append(continuation) }
                    return state.result
                }
                if let known { continuation.resume(with: known) }
            }
        }
    }

    /// Calls `observer` once there is a result: at once if there is one already.
    func observe(_ observer: @escaping @Sendable () -> Void) {
        let known = state.withLock { state in
            if state.result == nil { state.observers.append(observer) }
            return state.result != nil
        }
        if known { observer() }
    }
}
