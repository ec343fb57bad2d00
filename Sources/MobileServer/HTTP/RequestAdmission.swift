public import MobileProtocol

/// A server's decision about a request when its header is complete, before a byte of its body is read.
public enum RequestAdmission {
    /// The body is accepted, within limits.
    case body(BodyLimits)
    /// The answer. The body is not read, and the connection is closed after the answer.
    case answer(ServerResponse)
}

/// The limits of the body of one request: bytes and time.
public struct BodyLimits: Sendable {
    /// The maximum length of the body in bytes. ``HTTPServer/Configuration/maximumBodyLength`` applies as well.
    public var maximumLength: Int
    /// The answer to a longer body; nil (default) for code 413.
    public var refusal: ProtocolFailure?
    /// The time within which the body must be complete; default one hour.
    public var time: Duration
    /// The minimum average rate of the body after ``grace``, in bytes per second; default 256, which the slowest mobile networks reach.
    public var leastRate: Int
    /// The time for which the body may arrive more slowly than ``leastRate``, or not at all; default 30 seconds.
    public var grace: Duration

    /// Creates the limits of a body.
    public init(
        maximumLength: Int, refusal: ProtocolFailure? = nil, time: Duration = .seconds(3600), leastRate: Int = 256, grace: Duration = .seconds(30)
    ) {
        self.maximumLength = maximumLength
        self.refusal = refusal
        self.time = time
        self.leastRate = leastRate
        self.grace = grace
    }
}
