/// The work in an interval of an interaction. One call is one interval of one type: a save inside a transaction is a separate write, in
/// addition to the transaction around it. SMP 2.3: the interval types of "Tracking KPI".
public enum IntervalType: String, Sendable, Hashable, CaseIterable {
    case httpRequest = "HttpRequest"
    case persistenceRead = "PersistenceRead"
    case persistenceWrite = "PersistenceWrite"
    case submitPending = "SubmitPending"
    case cancelPending = "CancelPending"
    case transaction = "Transaction"
}

/// The sum of all intervals of one type.
public struct IntervalSum: Sendable, Hashable {
    /// The number of intervals.
    public var count = 0
    /// Time by the clock on the wall, waits included.
    public var wallClockTime: Duration = .zero
    /// The time that the process, with all its threads, spent on processors during the intervals.
    public var cpuTime: Duration = .zero
    /// The greatest number of bytes of memory that the process occupied at the beginning or at the end of an interval.
    public var maximumMemory = 0
    /// The sum of the network's work; nil except for ``IntervalType/httpRequest``.
    public var network: NetworkSum?

    /// Creates an empty sum.
    public init() {}
}

/// The sum of the requests' data in addition to their time.
public struct NetworkSum: Sendable, Hashable {
    /// The time of the requests, without the time that this side took to make their bodies and to use those of the answers.
    public var networkTime: Duration = .zero
    /// The number of requests with their answers.
    public var roundTrips = 0
    /// The size of the requests' bodies in bytes.
    public var sentBytes: Int64 = 0
    /// The size of the answers' bodies in bytes.
    public var receivedBytes: Int64 = 0
    /// The size of both in bytes.
    public var totalBytes: Int64 { sentBytes + receivedBytes }

    /// Creates a sum; empty by default.
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
