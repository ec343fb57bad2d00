/// The limits of one request, by its purpose.
public struct RequestLimits: Sendable {
    /// The maximum number of messages in one request; default 64. Only one of them may register or log in.
    public var messages = 64
    /// The maximum size of messages without a session, in bytes; default 64 KB. Such messages can only register or log in.
    public var strangerBytes = 64 << 10
    /// The maximum size of one upload, in bytes; default 4 GB.
    public var uploadBytes = 4 << 30
    /// The time within which messages without a session must be complete; default one minute.
    public var strangerTime: Duration = .seconds(60)
    /// The time within which any body that belongs to a session must be complete; default one hour.
    public var uploadTime: Duration = .seconds(3600)
    /// The minimum average rate of a body after ``grace``, in bytes per second; default 256.
    public var leastRate = 256
    /// The time for which a body may arrive more slowly than ``leastRate``, or not at all; default 30 seconds.
    public var grace: Duration = .seconds(30)
    /// The maximum number of concurrent registrations and logins; default 4. Each takes the memory of ``ServerConfiguration/passwordParameters``. At
    /// most 64 others wait, each for at most ten seconds.
    public var logins = 4

    /// The defaults.
    public init() {}
}
