/// What one request may take up, by what it is for.
public struct RequestLimits: Sendable {
    /// Bytes of messages without a session, which can only register or log in; default 64 KB.
    public var strangerBytes = 64 << 10
    /// Bytes of one upload; default 4 GB.
    public var uploadBytes = 4 << 30
    /// How long messages without a session may take until they are complete; default a minute.
    public var strangerTime: Duration = .seconds(60)
    /// How long any body that comes with a session may take until it is complete; default an hour.
    public var uploadTime: Duration = .seconds(3600)
    /// Bytes per second that must come on average after ``grace``; default 256.
    public var leastRate = 256
    /// How long a body may come slower than ``leastRate``, or not at all; default 30 seconds.
    public var grace: Duration = .seconds(30)

    /// The defaults.
    public init() {}
}
