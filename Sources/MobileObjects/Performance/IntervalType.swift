/// What an interval of an interaction was spent on. One call is one interval of one type: a save inside of a transaction is a write of its
/// own besides the transaction around it. SMP 2.3: the interval types of "Tracking KPI".
public enum IntervalType: String, Sendable, Hashable, CaseIterable {
    case httpRequest = "HttpRequest"
    case persistenceRead = "PersistenceRead"
    case persistenceWrite = "PersistenceWrite"
    case submitPending = "SubmitPending"
    case cancelPending = "CancelPending"
    case transaction = "Transaction"
}

/// What the intervals of one type add up to.
public struct IntervalSum: Sendable, Hashable {
    /// How many intervals there were.
    public var count = 0
    /// Time by the clock on the wall, waits included.
    public var wallClockTime: Duration = .zero
    /// Time that the process, with all its threads, spent on processors meanwhile.
    public var cpuTime: Duration = .zero
    /// The most bytes of memory that the process occupied at the beginning or at the end of an interval.
    public var maximumMemory = 0
    /// What the network did; nil but for ``IntervalType/httpRequest``.
    public var network: NetworkSum?

    /// A sum of nothing.
    public init() {}
}

/// What requests add up to beside their time.
public struct NetworkSum: Sendable, Hashable {
    /// Time of the requests without what this side took to make their bodies and to use those of the answers.
    public var networkTime: Duration = .zero
    /// Requests with their answers.
    public var roundTrips = 0
    /// Bytes of the requests' bodies.
    public var sentBytes: Int64 = 0
    /// Bytes of the answers' bodies.
    public var receivedBytes: Int64 = 0
    /// Both.
    public var totalBytes: Int64 { sentBytes + receivedBytes }

    /// A sum; by default of nothing.
    public init(networkTime: Duration = .zero, roundTrips: Int = 0, sentBytes: Int64 = 0, receivedBytes: Int64 = 0) {
        self.networkTime = networkTime
        self.roundTrips = roundTrips
        self.sentBytes = sentBytes
        self.receivedBytes = receivedBytes
    }

    static func += (left: inout NetworkSum, right: NetworkSum) {
        left.networkTime += right.networkTime
        left.roundTrips += right.roundTrips
        left.sentBytes += right.sentBytes
        left.receivedBytes += right.receivedBytes
    }
}
