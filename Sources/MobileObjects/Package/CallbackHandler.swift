/// What the application wants to hear of. Every method has a default that does nothing, so a handler implements what it needs. Register it
/// with ``PackageDatabase/registerCallbackHandler(_:)`` or ``PackageDatabase/registerCallbackHandler(_:for:)``; registered with both, an
/// event of an object reaches both. SMP 2.3: `SUPCallbackHandler`, `SUPDefaultCallbackHandler`.
///
/// Methods are called on the thread that does the work, never the main thread; all but ``onMessageException(_:)`` inside of the database
/// transaction of the message, when what they report is complete. Objects that are handed over stay on that thread.
public protocol CallbackHandler: Sendable {
    /// An import for `object` was received; messaging synchronization only.
    func onImport(_ object: Entity)
    /// A download is complete.
    func onImportSuccess()
    /// The server accepted a create, update or delete. `object` has the data from before the synchronization.
    func onReplaySuccess(_ object: Entity)
    /// The server rejected it; the log records say why. `object` has the data from before the synchronization.
    func onReplayFailure(_ object: Entity)
    /// Result of a login.
    func onLoginSuccess()
    func onLoginFailure()
    /// Result of a subscribe.
    func onSubscribeSuccess()
    func onSubscribeFailure()
    /// Result of an unsubscribe.
    func onUnsubscribeSuccess()
    func onUnsubscribeFailure()
    /// Result of a suspend.
    func onSuspendSubscriptionSuccess()
    func onSuspendSubscriptionFailure()
    /// Result of a resume.
    func onResumeSubscriptionSuccess()
    func onResumeSubscriptionFailure()
    /// Result of a recover.
    func onRecoverSuccess()
    func onRecoverFailure()
    /// The status of a synchronization of `groups` changed. Default: continue.
    func onSynchronize(_ groups: [String], _ context: SynchronizationContext) -> SynchronizationAction
    /// A transaction that processes a message was committed.
    func onTransactionCommit()
    /// A transaction that processes a message was rolled back.
    func onTransactionRollback()
    /// A reset was successful.
    func onResetSuccess()
    /// The subscription ended; may come at registration.
    func onSubscriptionEnd()
    /// A message is about to be processed; messaging synchronization only, handlers of the database only, before its transaction begins.
    /// - Parameters:
    ///   - size: bytes of its content.
    ///   - method: of its header.
    ///   - object: name of the object it is about; nil where it is about none.
    func onMessageStart(size: Int, method: String, object: String?)
    /// A message could not be processed; before the rollback.
    func onMessageException(_ error: any Error)
    /// The disk under the database runs out of room, or has some again: see ``PackageDatabase/lowStorageLimit``. Called on the thread that
    /// writes, outside of its transaction, once for each change.
    func onStorageSpaceLow()
    func onStorageSpaceRecovered()
    /// Relatives could not be read behind a property, which found nothing instead. The next save, delete or submit of the object throws the error as well.
    /// Called on the thread that asked for the property, once until then.
    /// - Parameter relationship: its modelled name.
    func onReadFailure(_ object: Entity, relationship: String, _ error: ObjectError)
    /// The connection of the package's application changed, in the terms of the 1.5.3 client: connected, disconnected, or waiting to retry.
    /// Called on the application's thread, outside of transactions. SMP 2.3 has it in the application's callback.
    func onConnectionStatusChange(_ status: MessagingConnectionStatus, _ type: MessagingConnectionType)
}

/// What goes on with a synchronization. SMP 2.3: `SUPSynchronizationAction`.
public enum SynchronizationAction: Sendable, Hashable {
    case `continue`
    /// Ends the synchronization before its next step.
    case cancel
}

/// Where a synchronization stands. SMP 2.3: `SUPSynchronizationStatus`.
public enum SynchronizationStatus: Sendable, Hashable {
    case starting, uploading, downloading
    /// Completed successfully.
    case finishing
    /// Failed: see ``SynchronizationContext/error``.
    case error
    /// The operations were uploaded, their results will be announced.
    case asyncReplayUploaded
    /// The server has replayed the operations; synchronize for the results.
    case asyncReplayCompleted
    /// Begun because the server announced changes.
    case startingOnNotification
}

/// What `onSynchronize` is told. SMP 2.3: `SUPSynchronizationContext`.
public struct SynchronizationContext: Sendable {
    /// How far it has come.
    public var status: SynchronizationStatus
    /// What the caller of the synchronization passed; nil where it passed nothing.
    public var userContext: (any Sendable)?
    /// Why it failed; nil unless the status is ``SynchronizationStatus/error``. SMP 2.3: `exception`.
    public var error: (any Error)?

    /// A context; made by who synchronizes, and by tests of handlers.
    public init(status: SynchronizationStatus, userContext: (any Sendable)? = nil, error: (any Error)? = nil) {
        (self.status, self.userContext, self.error) = (status, userContext, error)
    }
}

/// Connection status numbers of the 1.5.3 client.
public enum MessagingConnectionStatus: Int, Sendable, Hashable {
    case wrong = 0, connected, disconnected, flightMode, outOfCoverage, waitingToRetry, roamingNotAllowed, lowStorage
}

/// Connection types of the 1.5.3 client.
public enum MessagingConnectionType: Int, Sendable, Hashable { case wrong = 0, alwaysOn }

extension CallbackHandler {
    public func onImport(_ object: Entity) {}
    public func onImportSuccess() {}
    public func onReplaySuccess(_ object: Entity) {}
    public func onReplayFailure(_ object: Entity) {}
    public func onLoginSuccess() {}
    public func onLoginFailure() {}
    public func onSubscribeSuccess() {}
    public func onSubscribeFailure() {}
    public func onUnsubscribeSuccess() {}
    public func onUnsubscribeFailure() {}
    public func onSuspendSubscriptionSuccess() {}
    public func onSuspendSubscriptionFailure() {}
    public func onResumeSubscriptionSuccess() {}
    public func onResumeSubscriptionFailure() {}
    public func onRecoverSuccess() {}
    public func onRecoverFailure() {}
    public func onSynchronize(_ groups: [String], _ context: SynchronizationContext) -> SynchronizationAction { .continue }
    public func onTransactionCommit() {}
    public func onTransactionRollback() {}
    public func onResetSuccess() {}
    public func onSubscriptionEnd() {}
    public func onMessageStart(size: Int, method: String, object: String?) {}
    public func onMessageException(_ error: any Error) {}
    public func onStorageSpaceLow() {}
    public func onStorageSpaceRecovered() {}
    public func onReadFailure(_ object: Entity, relationship: String, _ error: ObjectError) {}
    public func onConnectionStatusChange(_ status: MessagingConnectionStatus, _ type: MessagingConnectionType) {}
}

/// The handler that does nothing.
public struct DefaultCallbackHandler: CallbackHandler {
    /// The handler.
    public init() {}
}
