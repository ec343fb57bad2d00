public import MobileObjects

/// The events of a package's callback handlers, as values that may cross isolations: see `PackageDatabase.events`.
public enum PackageEvent: Sendable {
    /// The status of a synchronization changed. The error is present with `SynchronizationStatus.error` only.
    case synchronization(groups: [String], status: SynchronizationStatus, context: String?, error: SyncError?)
    /// A download is complete.
    case importSuccess
    /// The server accepted an operation on the row with this surrogate key.
    case replaySuccess(object: String, surrogateKey: Int64)
    /// The server rejected an operation on the row with this surrogate key; the log records contain the reason.
    case replayFailure(object: String, surrogateKey: Int64)
    /// The server could not decide about an operation on the row with this surrogate key yet; it is sent again later.
    case replayDeferred(object: String, surrogateKey: Int64)
    /// Result of a login.
    case login(succeeded: Bool)
    /// Result of a subscribe.
    case subscribe(succeeded: Bool)
    /// Result of an unsubscribe.
    case unsubscribe(succeeded: Bool)
    /// Result of a suspend.
    case suspend(succeeded: Bool)
    /// Result of a resume.
    case resume(succeeded: Bool)
    /// Result of a recover.
    case recover(succeeded: Bool)
}
