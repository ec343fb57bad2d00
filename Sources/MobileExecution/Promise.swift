internal import Dispatch

/// The result of work in another place: given once, awaited by any number of threads and tasks.
package final class Promise<Value: Sendable, Failure: Error>: Sendable {
    private struct State {
        var result: Result<Value, Failure>?
        var observers: [@Sendable (Result<Value, Failure>) -> Void] = []
    }
    private let state = SystemLock(State())

    /// Makes a promise without a result.
    package init() {}

    /// The result; nil before it is given.
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

    /// Calls `observer` once with the result: immediately if it exists, otherwise on the thread that gives it.
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
        return try result!.get()  // its arrival was signalled
    }

    /// Blocks the calling thread until there is a result; nil when `timeout` passes first.
    package func wait(timeout: Duration) throws(Failure) -> Value? {
        _ = arrival?.wait(timeout: .now() + timeout / .seconds(1))
        return try result?.get()
    }

    /// A semaphore that is signalled when the result is given; nil if it already exists.
    private var arrival: DispatchSemaphore? {
        guard result == nil else { return nil }
        let arrival = DispatchSemaphore(value: 0)
        observe { _ in arrival.signal() }
        return arrival
    }

    /// The result, awaited without blocking a thread.
    package var value: Value {
        get async throws(Failure) { try await settled.get() }
    }

    private var settled: Result<Value, Failure> {
        get async { await withCheckedContinuation { continuation in observe { continuation.resume(returning: $0) } } }
    }

    /// The result, awaited without blocking a thread, until the task is cancelled.
    /// - Parameter onCancel: called once when the task is cancelled. It can give the promise a result; an error that it returns ends the wait of
    ///   this caller alone.
    package func value(onCancel: @escaping @Sendable () -> Failure?) async throws(Failure) -> Value {
        let mine = Promise()
        observe { mine.resolve($0) }
        let result = await withTaskCancellationHandler {
            await mine.settled
        } onCancel: {
            if let error = onCancel() { mine.resolve(.failure(error)) }
        }
        return try result.get()
    }
}
