public import MobileObjects
internal import MobileProtocol
internal import MobileStore

extension PackageDatabase {
    // MARK: Subscribe

    /// Subscribes the package on the server, with the synchronization parameters and personalization that are stored on the device. Blocks. Needed
    /// before the first synchronization; may be repeated after a failure. If the synchronization profile has a user and a password, they are logged
    /// in first.
    /// - Throws: ``SyncError``, after `onSubscribeFailure`: with the server's code (401, 403, 404), ``SyncError/Code/serverNotReached``,
    ///   ``SyncError/Code/applicationNotRegistered``, ``SyncError/Code/invalidState`` without an application.
    /// SMP 2.3: `subscribe`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func subscribe() throws(SyncError) { try run { package throws(SyncError) in try package.performSubscribe() } }

    /// Does the same without blocking a cooperative thread.
    public final func subscribe() async throws(SyncError) { try await run { package throws(SyncError) in try package.performSubscribe() } }

    private final func performSubscribe() throws(SyncError) {
        try exchange(
            .subscribe,
            content: {
                try SubscribeContent(subscriptions: self.wireSubscriptions(), personalization: self.personalizationValues).json.object ?? [:]
            },
            succeeded: { transaction in
                try transaction.setSubscribed(true)
                transaction.database.notify { $0.onSubscribeSuccess() }
            }, failed: { $0.onSubscribeFailure() }, event: PackageEvent.subscribe(succeeded:))
        changeNotifications.reconsider()
    }

    // MARK: Unsubscribe

    /// Ends the subscription, on the server and on the device. Removes the local data of the package; local objects stay. Changes that wait for the server would
    /// be lost: while there are any, the subscription stays.
    ///
    ///     do { try package.unsubscribe() } catch where error.code == .pendingChanges {
    ///         try package.submitPendingOperations()
    ///         try package.synchronize()
    ///     }
    /// - Parameter discardingPending: whether pending changes, and submitted operations without an answer, are removed as well. Default false. A change that is made
    ///   while the call runs is removed in either case.
    /// - Throws: ``SyncError``, after `onUnsubscribeFailure`: ``SyncError/Code/invalidState`` without a subscription, ``SyncError/Code/pendingChanges``,
    ///   otherwise as ``subscribe()-(_)``.
    /// SMP 2.3: `unsubscribe`, which discards pending changes.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func unsubscribe(discardingPending: Bool = false) throws(SyncError) {
        try run { package throws(SyncError) in try package.performUnsubscribe(discardingPending) }
    }

    /// Does the same without blocking a cooperative thread.
    public final func unsubscribe(discardingPending: Bool = false) async throws(SyncError) {
        try await run { package throws(SyncError) in try package.performUnsubscribe(discardingPending) }
    }

    private final func performUnsubscribe(_ isDiscarding: Bool) throws(SyncError) {
        try exchange(
            .unsubscribe, needsSubscription: true,
            check: { () throws(SyncError) in
                guard !isDiscarding, try SyncError.local("look for pending changes", { try self.hasPendingOperations() }) else { return }
                throw SyncError(
                    .synchronize, .pendingChanges,
                    "package \(self.metadata.name) has changes that wait for the server: submit and synchronize them, cancel them, or discard them with the subscription"
                )
            },
            succeeded: { transaction in
                try transaction.cleanAllData()
                transaction.database.notify { $0.onUnsubscribeSuccess() }
            }, failed: { $0.onUnsubscribeFailure() }, event: PackageEvent.unsubscribe(succeeded:))
    }

    // MARK: Suspend and resume

    /// Suspends the subscription: the server stops delivering changes; operations are still uploaded and answered.
    /// - Throws: ``SyncError``, after `onSuspendSubscriptionFailure`, as ``unsubscribe()-(_)``.
    /// SMP 2.3: `suspendSubscription`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func suspendSubscription() throws(SyncError) { try run { package throws(SyncError) in try package.performSuspend() } }

    /// Does the same without blocking a cooperative thread.
    public final func suspendSubscription() async throws(SyncError) { try await run { package throws(SyncError) in try package.performSuspend() } }

    private final func performSuspend() throws(SyncError) {
        try exchange(
            .suspend, needsSubscription: true, succeeded: { $0.database.notify { $0.onSuspendSubscriptionSuccess() } },
            failed: { $0.onSuspendSubscriptionFailure() }, event: PackageEvent.suspend(succeeded:))
    }

    /// Resumes the subscription: the next synchronization brings the changes since the suspension.
    /// - Throws: ``SyncError``, after `onResumeSubscriptionFailure`, as ``unsubscribe()-(_)``.
    /// SMP 2.3: `resumeSubscription`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func resumeSubscription() throws(SyncError) { try run { package throws(SyncError) in try package.performResume() } }

    /// Does the same without blocking a cooperative thread.
    public final func resumeSubscription() async throws(SyncError) { try await run { package throws(SyncError) in try package.performResume() } }

    private final func performResume() throws(SyncError) {
        try exchange(
            .resume, needsSubscription: true, succeeded: { $0.database.notify { $0.onResumeSubscriptionSuccess() } },
            failed: { $0.onResumeSubscriptionFailure() }, event: PackageEvent.resume(succeeded:))
    }

    // MARK: Recover

    /// Requests all data of the package again, which the next synchronization brings. Pending changes stay.
    /// - Throws: ``SyncError``, after `onRecoverFailure`, as ``unsubscribe()-(_)``.
    /// SMP 2.3: `recover`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func recover() throws(SyncError) { try run { package throws(SyncError) in try package.performRecover() } }

    /// Does the same without blocking a cooperative thread.
    public final func recover() async throws(SyncError) { try await run { package throws(SyncError) in try package.performRecover() } }

    private final func performRecover() throws(SyncError) {
        try exchange(
            .recover, needsSubscription: true,
            succeeded: { transaction in
                try transaction.forgetTokens()
                transaction.database.notify { $0.onRecoverSuccess() }
            }, failed: { $0.onRecoverFailure() }, event: PackageEvent.recover(succeeded:))
    }

    // MARK: The common part

    /// Sends one message about this package, and handles its answer and the callbacks in one transaction.
    private final func exchange(
        _ method: MessageMethod, needsSubscription: Bool = false, check: () throws(SyncError) -> Void = {},
        content: () throws -> JSONObject = { [:] },
        succeeded: (Transaction) throws -> Void, failed: (any CallbackHandler) -> Void, event: (Bool) -> PackageEvent
    ) throws(SyncError) {
        do throws(SyncError) {
            if needsSubscription, try !isSubscribed() {
                throw SyncError(.synchronize, .invalidState, "package \(metadata.name) is not subscribed")
            }
            try check()
            let content = try SyncError.local("prepare \(method.rawValue)", content)
            try send(method, content)
            try SyncError.local("settle the answer to \(method.rawValue)") { try write(method.rawValue, succeeded) }
        } catch {
            notify(failed)
            synchronizer.events.send(event(false))
            throw error
        }
        notify { $0.onTransactionCommit() }
        synchronizer.events.send(event(true))
    }

    /// Sends a message in the session of the application. A session that the server does not know is renewed once.
    private final func send(_ method: MessageMethod, _ content: JSONObject) throws(SyncError) {
        let (application, profile) = try synchronizer.connected(self)
        try logInWithProfile(application, profile)
        let session = try application.session()
        let server = try synchronizer.server(application, profile, session.properties, for: self)
        let client = try SyncError.local("read the client id") { try clientID }
        let message = Message(server.header(method, package: wireName, client: client), content: content)
        var records: [LogRecordEntry] = []
        let result = Result { () throws(SyncError) in
            do throws(SyncError) { _ = try server.send(message, token: session.token) { records += $0 } } catch
                where error.code == .authenticationFailed
            {
                let token = try application.renewSession(
                    insteadOf: session.token, credentials: profile.credentials, cancellation: synchronizer.cancellation)
                _ = try server.send(message, token: token) { records += $0 }
            }
        }
        if !records.isEmpty {
            try SyncError.local("store log records") { try write("log") { for record in records { try $0.store(logRecord(record)) } } }
        }
        do throws(SyncError) { try result.get() } catch {
            application.connectionWasLost(error)
            throw error
        }
    }
}
