internal import MobileExecution
internal import MobileObjects
internal import MobileTransport

extension PackageDatabase {
    /// Runs a request on the package's own thread and waits for it. Callbacks run on that thread, and requests keep their order.
    final func run<R: Sendable>(_ body: @escaping @Sendable (PackageDatabase) throws(SyncError) -> R) throws(SyncError) -> R {
        // A callback that calls this is already on that thread.
        if synchronizer.work.isCurrent { return try body(self) }
        return try begin(body).wait()
    }

    /// Does the same without blocking a cooperative thread. When the task is cancelled, a request that waits for its turn is dropped at once, and
    /// one that is on its way ends on the network. The result is then ``SyncError/Code/cancelled``, unless the answer came first.
    final func run<R: Sendable>(_ body: @escaping @Sendable (PackageDatabase) throws(SyncError) -> R) async throws(SyncError) -> R {
        let cancellation = TransportCancellation(), turn = PackageTurn()
        let outcome = begin(body, cancelledBy: cancellation, turn: turn)
        let name = metadata.name
        return try await outcome.value {
            if turn.drop() { return SyncError(.synchronize, .cancelled, "request of \(name): cancelled before it was sent") }
            cancellation.cancel()
            return nil
        }
    }

    /// Runs a request on the package's own thread.
    @discardableResult
    final func begin<R: Sendable>(
        _ body: @escaping @Sendable (PackageDatabase) throws(SyncError) -> R, cancelledBy cancellation: TransportCancellation? = nil,
        turn: PackageTurn = PackageTurn()
    ) -> Promise<R, SyncError> {
        let outcome = Promise<R, SyncError>()
        synchronizer.work.run { [self] in
            guard turn.take() else { return }
            synchronizer.state.withLock { $0.cancellation = cancellation }
            defer { synchronizer.state.withLock { $0.cancellation = nil } }
            do throws(SyncError) { outcome.resolve(.success(try body(self))) } catch { outcome.resolve(.failure(error)) }
        }
        return outcome
    }
}

/// The turn of a request on its package's thread: the request takes it, or its cancelled caller drops it, whichever is first.
final class PackageTurn: Sendable {
    private let isOver = SystemLock(false)

    /// Returns true if the request may begin.
    func take() -> Bool { end() }

    /// Returns true if the request had not begun, and will not.
    func drop() -> Bool { end() }

    private func end() -> Bool {
        isOver.withLock { isOver in
            defer { isOver = true }
            return !isOver
        }
    }
}
