public import MobileProtocol

/// What a server says of a request when its header is there, before a byte of its body is taken.
public enum RequestAdmission {
    /// The body may come, within limits.
    case body(BodyLimits)
    /// This is the answer; the body is not wanted, and the connection is closed behind it.
    case answer(ServerResponse)
}

/// What the body of one request may take up: bytes and time.
public struct BodyLimits: Sendable {
    /// The longest body in bytes. ``HTTPServer/Configuration/maximumBodyLength`` counts as well.
    public var maximumLength: Int
    /// What a longer body is answered with; nil (default) for code 413.
    public var refusal: ProtocolFailure?
    /// How long it may take until the body is complete; default an hour.
    public var time: Duration
    /// Bytes per second that must come on average, from ``grace`` on; default 256, which the slowest mobile networks reach.
    public var leastRate: Int
    /// How long a body may come slower than ``leastRate``, or not at all; default 30 seconds.
    public var grace: Duration

    /// Limits of a body.
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
