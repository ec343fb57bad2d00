/// The application's handler of events. Every method has a default that does nothing, so a handler implements only those it needs. Register it
/// with ``PackageDatabase/registerCallbackHandler(_:)`` or ``PackageDatabase/registerCallbackHandler(_:for:)``. A handler registered with both
/// receives an event of an object twice. SMP 2.3: `SUPCallbackHandler`, `SUPDefaultCallbackHandler`.
///
/// Methods are called on the thread that does the work, never the main thread, after the reported event is complete. Replay callbacks are called inside
/// the database transaction of the message; an error after them rolls it back, which ``onMessageException(_:)`` and ``onTransactionRollback()`` report,
/// the first before the rollback, the second after it. Objects that are handed over stay on that thread.
public protocol CallbackHandler: Sendable {
    /// Reports an import for `object`; messaging synchronization only.
    func onImport(_ object: Entity)
    /// Reports a complete download.
    func onImportSuccess()
    /// Reports that the server accepted a create, update or delete. `object` has the data from before the synchronization.
    func onReplaySuccess(_ object: Entity)
    /// Reports that the server rejected a change; the log records have the reason. `object` has the data from before the synchronization.
    func onReplayFailure(_ object: Entity)
    /// Reports that the server could not decide about a change yet, because the back end was busy or out of reach: the change stays submitted and is
    /// sent again. `deferredOperations()` of the object has the reason. `object` has the data from before the synchronization. The original platforms
    /// have no such callback.
    func onReplayDeferred(_ object: Entity)
    /// Reports the result of a login.
    func onLoginSuccess()
    func onLoginFailure()
    /// Reports the result of a subscribe.
    func onSubscribeSuccess()
    func onSubscribeFailure()
    /// Reports the result of an unsubscribe.
    func onUnsubscribeSuccess()
    func onUnsubscribeFailure()
    /// Reports the result of a suspend.
    func onSuspendSubscriptionSuccess()
    func onSuspendSubscriptionFailure()
    /// Reports the result of a resume.
    func onResumeSubscriptionSuccess()
    func onResumeSubscriptionFailure()
    /// Reports the result of a recover.
    func onRecoverSuccess()
    func onRecoverFailure()
    /// Reports a change of the status of a synchronization of `groups`. Default: continue.
    func onSynchronize(_ groups: [String], _ context: SynchronizationContext) -> SynchronizationAction
    /// Reports the commit of a transaction that processes a message.
    func onTransactionCommit()
    /// Reports the rollback of a transaction that processes a message.
    func onTransactionRollback()
    /// Reports a successful reset.
    func onResetSuccess()
    /// Reports the end of the subscription; may be called at registration.
    func onSubscriptionEnd()
    /// Reports a message that is about to be processed; messaging synchronization only, handlers of the database only, before its transaction.
    /// - Parameters:
    ///   - size: the size of its content in bytes.
    ///   - method: the method in its header.
    ///   - object: the name of its object; nil where it has none.
    func onMessageStart(size: Int, method: String, object: String?)
    /// Reports a message that could not be processed; before the rollback.
    func onMessageException(_ error: any Error)
    /// Reports that the disk of the database runs out of room, or has room again: see ``PackageDatabase/lowStorageLimit``. Called on the thread
    /// that writes, outside its transaction, once for each change.
    func onStorageSpaceLow()
    func onStorageSpaceRecovered()
    /// Reports relatives that could not be read for a property, which then found nothing. The next save, delete or submit of the object throws
    /// the error as well.
    /// Called on the thread that read the property, once until then.
    /// - Parameters:
    ///   - object: the object with the property.
    ///   - relationship: the modelled name of the relationship.
    ///   - error: the reason.
    func onReadFailure(_ object: Entity, relationship: String, _ error: ObjectError)
    /// Reports a change of the application's connection, in the terms of the 1.5.3 client: connected, disconnected, or waiting to retry.
    /// Called on the application's thread, outside transactions. In SMP 2.3 it is in the application's callback.
    func onConnectionStatusChange(_ status: MessagingConnectionStatus, _ type: MessagingConnectionType)
}

/// The next action of a synchronization. SMP 2.3: `SUPSynchronizationAction`.
public enum SynchronizationAction: Sendable, Hashable {
    case `continue`
    /// Ends the synchronization before its next step.
    case cancel
}

/// The status of a synchronization. SMP 2.3: `SUPSynchronizationStatus`.
public enum SynchronizationStatus: Sendable, Hashable {
    case starting, uploading, downloading
    /// Completed successfully.
    case finishing
    /// Failed: see ``SynchronizationContext/error``.
    case error
    /// The operations were uploaded. Their results will be announced.
    case asyncReplayUploaded
    /// The server has replayed the operations; synchronize for the results.
    case asyncReplayCompleted
    /// Started because the server announced changes.
    case startingOnNotification
}

/// The context of a call of `onSynchronize`. SMP 2.3: `SUPSynchronizationContext`.
public struct SynchronizationContext: Sendable {
    /// The current status.
    public var status: SynchronizationStatus
    /// The value that the caller of the synchronization passed; nil without one.
    public var userContext: (any Sendable)?
    /// The reason of the failure; nil unless the status is ``SynchronizationStatus/error``. SMP 2.3: `exception`.
    public var error: (any Error)?

    /// Creates a context, for synchronizations and for tests of handlers.
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
    public func onReplayDeferred(_ object: Entity) {}
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
    /// Creates the handler.
    public init() {}
}
