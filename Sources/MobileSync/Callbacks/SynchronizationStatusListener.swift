/// Hears in detail how one synchronization proceeds, and may cancel it. SMP 2.3: `SUPSyncStatusListener`.
public protocol SynchronizationStatusListener: AnyObject, Sendable {
    /// Called on the synchronization thread. To cancel, set ``SynchronizationStatusInfo/isCancelled`` before returning.
    /// SMP 2.3: `onGetSyncStatusChange`.
    func onSynchronizationStatusChange(_ info: inout SynchronizationStatusInfo)
}

/// How far a synchronization has come. SMP 2.3: `SUPSyncStatusInfo`.
public struct SynchronizationStatusInfo: Sendable, Equatable {
    /// What is going on.
    public let state: State
    /// Name of the object whose rows or operations are on the way; nil between them.
    public let object: String?
    /// Bytes of the upload so far, as they go over the wire.
    public let bytesSent: Int64
    /// Bytes of the download so far, as they come over the wire.
    public let bytesReceived: Int64
    /// Operations sent so far.
    public let operationsSent: Int
    /// Rows written to the local database so far.
    public let rowsReceived: Int
    /// Set to true to cancel: nothing more is sent or imported, and the synchronization fails with ``SyncError/Code/cancelled``.
    /// What was imported before stays, a group at a time. SMP 2.3: the state `SYNC_STATUS_CANCEL`.
    public var isCancelled = false

    /// What a synchronization is doing. SMP 2.3: `SUPSyncStatusState`, whose numbers these are.
    public enum State: Int, Sendable, CaseIterable {
        case none = 0
        case starting = 1
        case connecting = 2
        case sendingHeader = 3
        case sendingTable = 4
        case sendingData = 5
        case finishingUpload = 6
        case receivingUploadAcknowledgement = 7
        case receivingTable = 8
        case receivingData = 9
        case committingDownload = 10
        case sendingDownloadAcknowledgement = 11
        case disconnecting = 12
        case done = 13
        case error = 14
        case rollingBackDownload = 15
        case unknown = 16
    }
}
