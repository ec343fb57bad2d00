internal import MobileCore
package import MobileExecution

extension Database {
    /// Does the same as ``write(timeout:label:interruption:_:)``, but waits without a thread and runs `body` on one of the database's
    /// own threads. Cancelling the task ends the wait, or interrupts the work and rolls it back.
    /// - Throws: `CancellationError` when the task is cancelled; otherwise the errors of the blocking function.
    @discardableResult
    public func write<R: Sendable>(
        timeout: Duration? = nil, label: String = "", _ body: @escaping @Sendable (Connection) throws -> R
    ) async throws -> R {
        try await run(.write, timeout: timeout, label: label, body)
    }

    /// Does the same as ``read(length:timeout:label:interruption:_:)``, but waits without a thread and runs `body` on one of the
    /// database's own threads. Cancelling the task ends the wait or interrupts the work.
    /// - Throws: `CancellationError` when the task is cancelled; otherwise the errors of the blocking function.
    public func read<R: Sendable>(
        length: ReadLength = .short, timeout: Duration? = nil, label: String = "",
        _ body: @escaping @Sendable (Connection) throws -> R
    ) async throws -> R {
        try await run(length == .short ? .read : .longRead, timeout: timeout, label: label, body)
    }

    /// Runs `body` on a reader that is free, on one of the database's own threads, for a caller that is likely to need the result.
    /// - Returns: a promise of the result, which is nil when no reader is free.
    package func readAhead<R: Sendable>(_ body: @escaping @Sendable (Connection) throws -> R) -> Promise<R?, any Error> {
        let result = Promise<R?, any Error>()
        queue.start {
            do {
                result.resolve(.success(try self.read(timeout: .zero, body)))
            } catch let error as StoreError where error.code == .timeout {
                result.resolve(.success(nil))
            } catch {
                result.resolve(.failure(error))
            }
        }
        return result
    }

    /// Does the same as the blocking ``close()``, without blocking a cooperative thread.
    public func close() async throws {
        try await queue.run { try self.closeAndWait() }
    }

    /// Calls the blocking close: in an `async` context the plain name means the `async` function.
    private func closeAndWait() throws { try unsafe StoreError.check { unsafe mc_pool_close(pool, $0) } }

    private func run<R: Sendable>(
        _ purpose: Lease.Purpose, timeout: Duration?, label: String, _ body: @escaping @Sendable (Connection) throws -> R
    ) async throws -> R {
        let interruption = try Interruption(), timeout = timeout ?? connectionTimeout
        do {
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<R, any Error>) in
                    let job = Job(database: self, interruption: interruption) { lease in
                        continuation.resume(with: Result { try lease.get().transaction(body) })
                    }
                    job.start(purpose, timeout: timeout, label: label)
                }
            } onCancel: {
                interruption.interrupt()
            }
        } catch let error as StoreError where error.code == .interrupted && Task.isCancelled {
            throw CancellationError()
        }
    }
}

/// A unit of work that waits for a connection without a thread.
private final class Job: Sendable {
    private let database: Database
    private let interruption: Interruption
    private let finish: @Sendable (Result<Lease, any Error>) -> Void
    private let timer = SystemLock<BlockingWork.Timer?>(nil)

    init(database: Database, interruption: Interruption, finish: @escaping @Sendable (Result<Lease, any Error>) -> Void) {
        self.database = database
        self.interruption = interruption
        self.finish = finish
    }

    /// Requests the connection on the database's own threads, because the pool may have to open a new reader.
    func start(_ purpose: Lease.Purpose, timeout: Duration?, label: String) {
        database.queue.start {
            do {
                if let timeout { try self.startTimer(timeout) }
            } catch {
                return self.finish(.failure(error))
            }
            unsafe label.withCString { label in
                var checkout = unsafe mc_checkout(
                    size: MemoryLayout<mc_checkout>.size, version: MC_VERSION_NUMBER, writer: purpose == .write, is_long: purpose == .longRead,
                    loose: false, timeout_ns: timeout.wait, label: label,
                    ticket: self.interruption.ticket)
                unsafe mc_pool_checkout_later(
                    self.database.pool, &checkout, Job.granted, Unmanaged.passRetained(self).toOpaque())
            }
        }
    }

    private func startTimer(_ timeout: Duration) throws(StoreError) {
        let interruption = interruption
        guard let timer = database.queue.start(after: timeout, { interruption.timeOut(waited: timeout) }) else {
            throw StoreError(.noMemory, "no thread can be started")
        }
        self.timer.withLock { $0 = timer }
    }

    /// Only queues the work, because it runs on the thread that returned the connection.
    private static let granted: mc_granted = { context, connection, error in
        guard let context = unsafe context else { return }
        let job = unsafe Unmanaged<Job>.fromOpaque(context).takeRetainedValue()
        job.timer.withLock { _ = $0?.cancel() }
        if let connection = unsafe connection {
            nonisolated(unsafe) let connection = unsafe connection  // one thread uses it at a time: this one, then the queue's
            job.database.queue.start { unsafe job.run(connection) }
        } else {
            let failure = unsafe error.map { unsafe StoreError($0.pointee) }
            job.finish(.failure(failure ?? StoreError.usedOutside))
        }
    }

    private func run(_ connection: OpaquePointer) {
        unsafe mc_connection_adopt(connection)
        unsafe finish(.success(Lease(connection, of: database, interruption: interruption)))
    }
}
