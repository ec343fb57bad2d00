internal import MobileExecution
public import MobileObjects

extension PackageDatabase {
    final var synchronizer: PackageSynchronizer { attachment { PackageSynchronizer() } }

    // MARK: Configuration

    /// The application whose registration this package uses. Set it before registering or starting the connection.
    /// SMP 2.3: `setApplication` of the database class.
    public final var application: Application? {
        get { synchronizer.state.withLock { $0.application } }
        set {
            synchronizer.state.withLock { state in
                // With the lock held, so that the last caller's application is the one that knows the package.
                state.application?.packages.remove(self)
                newValue?.packages.add(self)
                state.application = newValue
            }
        }
    }

    /// The synchronization settings of this package. The profile is a value: set the properties that are to change. SMP 2.3:
    /// `getSynchronizationProfile`.
    public final var synchronizationProfile: SynchronizationProfile {
        get { synchronizer.state.withLock { $0.profile } }
        set { synchronizer.state.withLock { $0.profile = newValue } }
    }

    /// Another name of ``synchronizationProfile``, from the connection profile.
    /// SMP 2.3: `syncProfile` of `SUPConnectionProfile`.
    public final var syncProfile: SynchronizationProfile {
        get { synchronizationProfile }
        set { synchronizationProfile = newValue }
    }

    /// The events of the callback handlers, as values, from now on. See also ``MobileObjects/CallbackHandler``.
    public final var events: AsyncStream<PackageEvent> { synchronizer.events.stream() }

    /// Allows synchronizations again. SMP 2.3: `enableSync`.
    public final func enableSync() { synchronizer.state.withLock { $0.queue.enable() } }

    /// Refuses new synchronizations, cancels those that run or wait, and returns when none of them runs any longer (at once if a callback of a
    /// synchronization calls it). Call it before the application goes to the background, before the database is closed or deleted, or while it
    /// recovers. SMP 2.3: `disableSync`.
    @available(*, noasync, message: "it blocks the thread: write `await`, in an async function")
    public final func disableSync() {
        synchronizer.disable()
        if !synchronizer.work.isCurrent { synchronizer.work.sync {} }
    }

    /// Does the same without blocking a cooperative thread. When the task is cancelled it returns at once: synchronization is disabled then, and
    /// cancelled ones may still be ending.
    public final func disableSync() async {
        synchronizer.disable()
        let ended = Promise<Void, SyncError>()
        synchronizer.work.run { ended.resolve(.success(())) }
        // It is never resolved with an error.
        try? await ended.value {
            ended.resolve(.success(()))
            return nil
        }
    }

    // MARK: Blocking and asynchronous

    /// Sends the submitted operations, receives their results and the changes on the server, and writes them to the local database. Blocks.
    ///
    /// After an interruption at any point, it can simply be called again: nothing is lost and nothing is done twice. A rejected operation is not an
    /// error, see ``SynchronizationResult/operationsRejected``.
    /// - Parameters:
    ///   - groups: names joined by commas; nil (default) means all.
    ///   - listener: receives the detailed progress, and may cancel the synchronization.
    /// - Returns: the figures of the synchronization.
    /// - Throws: ``SyncError`` of kind ``SyncError/Kind/synchronize`` with the server's code, ``SyncError/Code/serverNotReached``,
    ///   ``SyncError/Code/synchronizationCommunication``, ``SyncError/Code/cancelled``, ``SyncError/Code/invalidState`` (not subscribed, no
    ///   application, disabled, or called by a callback of the same synchronization), ``SyncError/Code/applicationNotRegistered``; of kind
    ///   ``SyncError/Kind/persistence`` if the local database fails. The groups that were imported before remain.
    /// SMP 2.3: `synchronize`, `synchronize:`, `synchronizeWithListener:`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    @discardableResult
    public final func synchronize(
        _ groups: String? = nil, listener: (any SynchronizationStatusListener)? = nil
    ) throws(SyncError) -> SynchronizationResult {
        let request = try request(groups, listener)
        guard !synchronizer.work.isCurrent else {
            throw SyncError(.synchronize, .invalidState, "a callback of a synchronization cannot wait for another one: use beginSynchronize")
        }
        try synchronizer.add(request, of: self)
        return try request.outcome.wait()
    }

    /// Does the same without blocking a cooperative thread. Cancelling the task cancels the synchronization.
    @discardableResult
    public final func synchronize(
        _ groups: String? = nil, listener: (any SynchronizationStatusListener)? = nil
    ) async throws(SyncError) -> SynchronizationResult {
        let request = try request(groups, listener)
        try synchronizer.add(request, of: self)
        let synchronizer = synchronizer, name = metadata.name
        return try await request.outcome.value {
            guard synchronizer.leave(request) else { return nil }
            return SyncError(.synchronize, .cancelled, "synchronization of \(name): cancelled")
        }
    }

    private final func request(_ groups: String?, _ listener: (any SynchronizationStatusListener)?) throws(SyncError) -> SynchronizationRequest {
        let names = groups?.split(separator: ",").map { part in
            String(part.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
        }
        return SynchronizationRequest(groups: try groupNames(names), listener: listener)
    }

    // MARK: In the background

    /// Queues a synchronization and returns at once. The callback handlers receive its statuses in `onSynchronize`: first `starting`, last
    /// `finishing` or `error`. One thread per package works through the queue; one synchronization serves adjacent requests.
    /// - Parameters:
    ///   - groups: nil (default) means all.
    ///   - context: passed to the handlers with every status.
    ///   - isUploadOnly: sends the outbox and receives the answers, but downloads no rows; default false.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidState`` while synchronization is disabled.
    /// SMP 2.3: `beginSynchronize`, `beginSynchronize:withContext:`, `beginSynchronize:withContext:withUploadOnly:`.
    public final func beginSynchronize(
        _ groups: [SynchronizationGroup]? = nil, context: String? = nil, isUploadOnly: Bool = false
    ) throws(SyncError) {
        let names = try groupNames(groups?.map(\.name))
        try synchronizer.add(SynchronizationRequest(groups: names, context: context, isUploadOnly: isUploadOnly), of: self)
    }

    // MARK: State

    /// Whether the package is subscribed, as far as this device knows. SMP 2.3: `isSubscribed`.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/localDatabase``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func isSubscribed() throws(SyncError) -> Bool {
        try SyncError.local("read the subscription of \(metadata.name)") { try isSubscribedLocally }
    }

    /// Does the same without blocking a cooperative thread.
    public final func isSubscribed() async throws(SyncError) -> Bool {
        try await SyncError.elsewhere { () throws(SyncError) in try self.isSubscribed() }
    }
}

extension SyncError {
    /// Runs work on the local database and converts its errors.
    static func local<R>(_ action: String, _ body: () throws -> R) throws(SyncError) -> R {
        do { return try body() } catch let error as SyncError { throw error } catch {
            throw SyncError(.persistence, .localDatabase, "cannot \(action): \(error)", cause: error)
        }
    }

    /// Runs work on the local database on another thread, so that no cooperative thread waits for it.
    static func elsewhere<R: Sendable>(_ body: @escaping @Sendable () throws(SyncError) -> R) async throws(SyncError) -> R {
        do { return try await BlockingWork.run(body) } catch let error as SyncError { throw error } catch {
            throw SyncError(.persistence, .localDatabase, "cannot use the local database: \(error)", cause: error)
        }
    }
}
