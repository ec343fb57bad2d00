internal import MobileExecution

/// Cancels the running statement of a connection. Any thread may use it; it has no effect on later users of a pooled connection.
package final class PostgreSQLCancellation: Sendable {
    private struct State {
        var isRunning = false
        var wasRequested = false
        /// The end of the statement, when a caller waits for it.
        var end: Promise<Void, Never>?
        /// Requests on their way to the server. They delay the end of the statement, so that they cannot meet the next one.
        var requests: [Promise<Void, PostgreSQLError>] = []
    }
    private let state = SystemLock(State())
    private let handle: CancelHandle

    /// libpq sends a request on a blocking connection, which a stopped server can hold without a limit.
    private static let threads = BlockingWork(threads: 32)

    init(_ handle: CancelHandle) { self.handle = handle }

    /// Asks the server to cancel the running statement, which then throws ``PostgreSQLError/Code/cancelled`` on its own thread, unless it ends before.
    /// - Parameter deadline: the time until which the call waits for the end of the statement.
    /// - Returns: false when no statement is running, or it has not ended in time.
    @discardableResult
    package func cancel(deadline: ContinuousClock.Instant) -> Bool {
        let end = state.withLock { state -> Promise<Void, Never>? in
            guard state.isRunning else { return nil }
            let end = state.end ?? Promise()
            state.end = end
            state.wasRequested = true
            return end
        }
        guard let end else { return false }
        // A request that arrives before the statement has no effect, so it is repeated.
        var pause = Duration.milliseconds(20)
        while end.result == nil, .now < deadline {
            guard request(until: deadline) else { break }
            _ = end.wait(timeout: min(pause, deadline - .now))
            pause *= 2
        }
        return end.result != nil
    }

    /// Sends one request.
    /// - Returns: false when no statement is running, or the request did not reach the server in time.
    func request(until deadline: Deadline) -> Bool {
        let request = Promise<Void, PostgreSQLError>()
        let isRunning = state.withLock { state in
            if state.isRunning { state.requests.append(request) }
            return state.isRunning
        }
        guard isRunning else { return false }
        let handle = handle
        Self.threads.start { request.resolve(Result { () throws(PostgreSQLError) in try handle.cancel() }) }
        return (try? request.wait(timeout: deadline - .now)) != nil
    }

    /// A statement begins to run.
    func begin() {
        state.withLock { state in
            state.isRunning = true
            state.wasRequested = false
        }
    }

    /// Whether a caller has cancelled the statement that runs.
    var wasRequested: Bool { state.withLock { $0.wasRequested } }

    /// The statement has ended.
    /// - Returns: false when a request is still on its way at the deadline: it may meet the connection's next statement.
    func end(until deadline: @autoclosure () -> Deadline) -> Bool {
        let (requests, end) = state.withLock { state in
            state.isRunning = false
            defer { (state.requests, state.end) = ([], nil) }
            return (state.requests, state.end)
        }
        end?.resolve(.success(()))
        guard !requests.isEmpty else { return true }
        let deadline = deadline()
        return requests.allSatisfy { request in
            _ = try? request.wait(timeout: deadline - .now)
            return request.result != nil
        }
    }
}
