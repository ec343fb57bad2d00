/// What a synchronization did: figures for people and programs.
public struct SynchronizationResult: Sendable, Equatable {
    /// Names of the synchronized groups, in the order of the model.
    public internal(set) var groups: [String] = []
    /// Operations sent, each once per synchronization that sent it.
    public internal(set) var operationsSent = 0
    /// Operations that the server accepted, by the answers that came now.
    public internal(set) var operationsAccepted = 0
    /// Operations that the server rejected: their objects show the replay failure and have log records.
    public internal(set) var operationsRejected = 0
    /// Rows that came and were written, inserted or updated.
    public internal(set) var rowsImported = 0
    /// Rows that the server deleted and that left, or were noted where a local change is pending.
    public internal(set) var rowsDeleted = 0
    /// Large values that came.
    public internal(set) var largeValuesImported = 0
    /// Bytes of the upload as they went over the wire, headers of HTTP not counted.
    public internal(set) var bytesSent: Int64 = 0
    /// Bytes of the download as they came over the wire, headers of HTTP not counted.
    public internal(set) var bytesReceived: Int64 = 0
    /// From the first byte sent to the last byte received.
    public internal(set) var networkDuration: Duration = .zero
    /// Spent in the transactions that import and settle.
    public internal(set) var importDuration: Duration = .zero
    /// Altogether.
    public internal(set) var duration: Duration = .zero

    /// A synchronization that did nothing.
    public init() {}

    /// Rows per second of import, inserted, updated or deleted; 0 when nothing was imported.
    public var rowsPerSecond: Double {
        let seconds = importDuration / .seconds(1)
        return seconds > 0 ? Double(rowsImported + rowsDeleted) / seconds : 0
    }
}
