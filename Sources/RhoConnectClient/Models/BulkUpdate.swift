internal import Dispatch
internal import MobileExecution
internal import MobileStore

/// A transaction that stays open between calls: a thread of its own runs them in their order.
final class BulkUpdate: Sendable {
    private typealias Job = @Sendable (Connection) -> Bool

    private struct State {
        var jobs: [Job] = []
        var isOver = false
    }
    private let state = SystemLock(State())
    private let news = DispatchSemaphore(value: 0)
    private let end = Promise<Void, RhoConnectError>()

    init(_ database: RhomDatabase) throws(RhoConnectError) {
        let began = Promise<Void, RhoConnectError>()
        let isStarted = SystemThread.start { [self] in
            let result: Result<Void, RhoConnectError>
            do throws(RhoConnectError) {
                try database.write("bulk update") { connection in
                    began.resolve(.success(()))
                    self.work(connection)
                }
                result = .success(())
            } catch {
                result = .failure(error)
            }
            state.withLock { $0.isOver = true }
            began.resolve(result)
            end.resolve(result)
        }
        guard isStarted else { throw RhoConnectError(.runtime, "bulk update: no thread can be started") }
        try began.wait()
    }

    /// Runs jobs until one of them is the last.
    private func work(_ connection: Connection) {
        while true {
            news.wait()
            guard let job = state.withLock({ $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }) else { continue }
            if !job(connection) { return }
        }
    }

    private func post(_ job: @escaping Job) -> Bool {
        let isPosted = state.withLock { state in
            guard !state.isOver else { return false }
            state.jobs.append(job)
            return true
        }
        if isPosted { news.signal() }
        return isPosted
    }

    /// Runs a call in the transaction. One that throws undoes its own changes alone.
    func run<R>(_ body: @escaping (Connection) throws -> R) throws(RhoConnectError) -> R {
        // The caller waits, so only one thread at a time uses the closure and its result.
        nonisolated(unsafe) var outcome: Result<R, RhoConnectError>?
        nonisolated(unsafe) let body = body
        let done = DispatchSemaphore(value: 0)
        let isPosted = post { connection in
            do { outcome = .success(try connection.savepoint { try body(connection) }) } catch { outcome = .failure(RhoConnectError(error)) }
            done.signal()
            return true
        }
        if isPosted { done.wait() }
        guard let outcome else { throw RhoConnectError(.runtime, "bulk update: it is over") }
        return try outcome.get()
    }

    /// Commits.
    func finish() throws(RhoConnectError) {
        _ = post { _ in false }
        try end.wait()
    }
}
