internal import MobileExecution
internal import MobileObjects

extension PackageDatabase {
    /// Runs a request on the package's own thread and waits for it. Callbacks run on that thread, and requests keep their order.
    final func run<R: Sendable>(_ body: @escaping @Sendable (PackageDatabase) throws(SyncError) -> R) throws(SyncError) -> R {
        // A callback that calls this is already on that thread.
        if synchronizer.work.isCurrent { return try body(self) }
        return try begin(body).wait()
    }

    /// Does the same without blocking a cooperative thread.
    final func run<R: Sendable>(_ body: @escaping @Sendable (PackageDatabase) throws(SyncError) -> R) async throws(SyncError) -> R {
        try await begin(body).value
    }

    /// Runs a request on the package's own thread.
    @discardableResult
    final func begin<R: Sendable>(_ body: @escaping @Sendable (PackageDatabase) throws(SyncError) -> R) -> Promise<R, SyncError> {
        let outcome = Promise<R, SyncError>()
        synchronizer.work.run { [self] in
            do throws(SyncError) { outcome.resolve(.success(try body(self))) } catch { outcome.resolve(.failure(error)) }
        }
        return outcome
    }
}
