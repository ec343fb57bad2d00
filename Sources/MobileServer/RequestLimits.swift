/// What one request may take up, by what it is for.
public struct RequestLimits: Sendable {
    /// Bytes of messages without a session, which can only register or log in; default 64 KB.
    public var strangerBytes = 64 << 10
    /// Bytes of one upload; default 4 GB.
    public var uploadBytes = 4 << 30

    /// The defaults.
    public init() {}
}
