/// What one request may take up, by what it is for.
public struct RequestLimits: Sendable {
    /// Messages in one request; default 64. Only one of them may register or log in.
    public var messages = 64
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
    /// Registrations and logins at a time, each of which takes the memory of ``ServerConfiguration/passwordParameters``; default 4. Others wait, 64
    /// at most and ten seconds at most.
    public var logins = 4

    /// The defaults.
    public init() {}
}
