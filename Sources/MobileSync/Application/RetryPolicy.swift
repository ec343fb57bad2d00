/// The delays before temporary failures are tried again: ``initialDelay``, then twice the previous delay each time, up to ``maximumDelay``. A part of
/// each delay is random, so that devices that lost the same server do not return together.
///
/// An ``Application`` uses it to reconnect. Code that repeats synchronizations can use it as well:
///
///     catch let error as SyncError where error.isRecoverable {
///         let delay = policy.delay(failures: failures, retryAfter: error.retryAfter, using: &generator)
///     }
public struct RetryPolicy: Sendable, Equatable {
    /// The first delay; default 1 s.
    public var initialDelay: Duration
    /// The longest delay; default 60 s.
    public var maximumDelay: Duration
    /// The random part of a delay, 0 (none) to 1 (all of it); default 0.5: from half the delay to all of it.
    public var jitter: Double
    /// The longest time that a server may order by `Retry-After`; default 10 minutes. A longer order counts as this.
    public var longestOrder: Duration

    /// Creates a policy; by default from one second to one minute, half of it random.
    public init(
        initialDelay: Duration = .seconds(1), maximumDelay: Duration = .seconds(60), jitter: Double = 0.5, longestOrder: Duration = .seconds(600)
    ) {
        self.initialDelay = initialDelay
        self.maximumDelay = maximumDelay
        self.jitter = jitter
        self.longestOrder = longestOrder
    }

    /// Returns the time until the next attempt.
    /// - Parameters:
    ///   - failures: the number of attempts that failed before the last one, 0 for the first repetition.
    ///   - retryAfter: the delay that the server ordered; nil without an order. The result is never shorter. It is longer by a random part of the
    ///     order or of the policy's own delay, the longer of the two.
    ///   - generator: the source of randomness.
    public func delay(failures: Int, retryAfter: Duration? = nil, using generator: inout some RandomNumberGenerator) -> Duration {
        var delay = initialDelay
        for _ in 0..<min(max(failures, 0), 32) where delay < maximumDelay { delay = delay * 2 }
        delay = min(delay, maximumDelay)
        // Exactly one number of the source, regardless of its value: the library's own function draws again for some numbers.
        let number: UInt64 = generator.next()
        let chance = min(max(jitter, 0), 1) * (Double(number >> 11) / Double((1 << 53) - 1))
        guard let retryAfter else { return delay * (1 - chance) }
        let order = min(retryAfter, longestOrder)
        return order + max(order, delay) * chance
    }
}

/// A replaceable source of random numbers: the system's, or a test's own.
struct RandomNumberSource: RandomNumberGenerator, Sendable {
    let number: @Sendable () -> UInt64

    func next() -> UInt64 { number() }

    /// The system's source.
    static let system = RandomNumberSource { UInt64.random(in: .min ... .max) }
}
