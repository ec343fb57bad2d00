/// The figures of a synchronization, for people and programs.
public struct SynchronizationResult: Sendable, Equatable {
    /// The names of the synchronized groups, in the order of the model.
    public internal(set) var groups: [String] = []
    /// The number of sent operations; an operation counts in each synchronization that sends it.
    public internal(set) var operationsSent = 0
    /// The number of operations that the server accepted, by the answers to this synchronization.
    public internal(set) var operationsAccepted = 0
    /// The number of operations that the server rejected: their objects show the replay failure and have log records.
    public internal(set) var operationsRejected = 0
    /// The number of operations that the server deferred, because the back end was busy or out of reach. They are sent again later, see
    /// `PackageDatabase.deferredOperations()`. An operation counts in each synchronization that defers it.
    public internal(set) var operationsDeferred = 0
    /// The number of rows that were received and inserted or updated.
    public internal(set) var rowsImported = 0
    /// The number of rows that the server deleted. They were removed, or the deletion was noted if a local change is pending.
    public internal(set) var rowsDeleted = 0
    /// The number of large values that were received.
    public internal(set) var largeValuesImported = 0
    /// Bytes of the upload as sent over the network, without the headers of HTTP.
    public internal(set) var bytesSent: Int64 = 0
    /// Bytes of the download as received over the network, without the headers of HTTP.
    public internal(set) var bytesReceived: Int64 = 0
    /// The time from the start to the last byte received.
    public internal(set) var networkDuration: Duration = .zero
    /// The time from the last byte received to the end of the import and its answers.
    public internal(set) var importDuration: Duration = .zero
    /// The total time.
    public internal(set) var duration: Duration = .zero

    /// Creates the result of a synchronization that did nothing.
    public init() {}

    /// The number of rows inserted, updated or deleted per second of import; 0 if nothing was imported.
    public var rowsPerSecond: Double {
        let seconds = importDuration / .seconds(1)
        return seconds > 0 ? Double(rowsImported + rowsDeleted) / seconds : 0
    }
}
