internal import Dispatch
internal import Synchronization

/// The result of work that goes on elsewhere: given once, awaited by any number of threads and tasks.
package final class Promise<Value: Sendable, Failure: Error>: Sendable {
    private struct State {
        var result: Result<Value, Failure>?
        var observers: [@Sendable (Result<Value, Failure>) -> Void] = []
    }
    private let state = Mutex(State())

    /// There is no result yet.
    package init() {}

    /// The result; nil as long as there is none.
    package var result: Result<Value, Failure>? { state.withLock { $0.result } }

    /// Gives the result; a second one is ignored.
    package func resolve(_ result: Result<Value, Failure>) {
        let observers = state.withLock { state -> [@Sendable (Result<Value, Failure>) -> Void] in
            guard state.result == nil else { return [] }
            state.result = result
            defer { state.observers = [] }
            return state.observers
        }
        for observer in observers { observer(result) }
    }

    /// Calls `observer` once there is a result: at once if there is one already, else where it is given.
    package func observe(_ observer: @escaping @Sendable (Result<Value, Failure>) -> Void) {
        let known = state.withLock { state in
            if state.result == nil { state.observers.append(observer) }
            return state.result
        }
        if let known { observer(known) }
    }

    /// Blocks the calling thread until there is a result.
    package func wait() throws(Failure) -> Value {
        arrival?.wait()
        return try result!.get()  // whose arrival was signalled
    }

    /// Blocks the calling thread until there is a result; nil when `timeout` passes first.
    package func wait(timeout: Duration) throws(Failure) -> Value? {
        _ = arrival?.wait(timeout: .now() + timeout / .seconds(1))
        return try result?.get()
    }

    /// What is signalled when there is a result; nil where there is one.
    private var arrival: DispatchSemaphore? {
        guard result == nil else { return nil }
        let arrival = DispatchSemaphore(value: 0)
        observe { _ in arrival.signal() }
        return arrival
    }

    /// The result, awaited without blocking a thread.
    package var value: Value {
        get async throws(Failure) {
            let result = await withCheckedContinuation { continuation in observe { continuation.resume(returning: $0) } }
            return try result.get()
        }
    }
}
