/// Receives the detailed progress of one synchronization, and may cancel it. SMP 2.3: `SUPSyncStatusListener`.
public protocol SynchronizationStatusListener: AnyObject, Sendable {
    /// Called on the synchronization thread. To cancel, set ``SynchronizationStatusInfo/isCancelled`` before returning.
    /// SMP 2.3: `onGetSyncStatusChange`.
    func onSynchronizationStatusChange(_ info: inout SynchronizationStatusInfo)
}

/// The progress of a synchronization. SMP 2.3: `SUPSyncStatusInfo`.
public struct SynchronizationStatusInfo: Sendable, Equatable {
    /// The present step of the synchronization.
    public let state: State
    /// The name of the object whose rows or operations are being transferred; nil between objects.
    public let object: String?
    /// Bytes of the upload so far, as sent over the network.
    public let bytesSent: Int64
    /// Bytes of the download so far, as received over the network.
    public let bytesReceived: Int64
    /// Bytes of the download that have arrived or are known to come: grows while the server lists them, then stays. Contents that an earlier attempt has
    /// brought already do not arrive again.
    public let bytesExpected: Int64
    /// Operations sent so far.
    public let operationsSent: Int
    /// Rows written to the local database so far.
    public let rowsReceived: Int
    /// Rows of the download: grows while it arrives, and is complete before the first row is written.
    public let rowsExpected: Int
    /// Set to true to cancel: no further data is sent or imported, and the synchronization fails with ``SyncError/Code/cancelled``. Groups that were
    /// imported before remain. SMP 2.3: the state `SYNC_STATUS_CANCEL`.
    public var isCancelled = false

    /// The steps of a synchronization. SMP 2.3: `SUPSyncStatusState`, with the same numbers.
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
