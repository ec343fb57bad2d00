/// When a lost connection is tried again: after ``initialDelay``, then after twice the last delay, up to ``maximumDelay``.
public struct RetryPolicy: Sendable, Equatable {
    /// Default 1 s.
    public var initialDelay: Duration
    /// Default 60 s.
    public var maximumDelay: Duration

    /// The default: from one second to one minute.
    public init(initialDelay: Duration = .seconds(1), maximumDelay: Duration = .seconds(60)) {
        self.initialDelay = initialDelay
        self.maximumDelay = maximumDelay
    }

    /// - Parameter attempt: 0 for the first repetition.
    func delay(attempt: Int) -> Duration {
        var delay = initialDelay
        for _ in 0..<min(attempt, 32) where delay < maximumDelay { delay = delay * 2 }
        return min(delay, maximumDelay)
    }
}
