public import MobileProtocol

/// What a server says of a request when its header is there, before a byte of its body is taken.
public enum RequestAdmission {
    /// The body may come, within limits.
    case body(BodyLimits)
    /// This is the answer; the body is not wanted, and the connection is closed behind it.
    case answer(ServerResponse)
}

/// What the body of one request may take up.
public struct BodyLimits: Sendable {
    /// The longest body in bytes. ``HTTPServer/Configuration/maximumBodyLength`` counts as well.
    public var maximumLength: Int
    /// What a longer body is answered with; nil (default) for code 413.
    public var refusal: ProtocolFailure?

    /// Limits of a body.
    public init(maximumLength: Int, refusal: ProtocolFailure? = nil) {
        self.maximumLength = maximumLength
        self.refusal = refusal
    }
}
