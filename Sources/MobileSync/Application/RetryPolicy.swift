/// When something that failed for the moment is tried again: after ``initialDelay``, then after twice the last delay, up to ``maximumDelay``;
/// a part of each delay is left to chance, so that devices which lost the same server do not come back together.
///
/// An ``Application`` reconnects by it. Whoever repeats synchronizations takes the same:
///
///     catch let error as SyncError where error.isRecoverable {
///         let delay = policy.delay(failures: failures, retryAfter: error.retryAfter, using: &generator)
///     }
public struct RetryPolicy: Sendable, Equatable {
    /// Default 1 s.
    public var initialDelay: Duration
    /// Default 60 s.
    public var maximumDelay: Duration
    /// The part of a delay that is left to chance, 0 (none) to 1 (all of it); default 0.5: from half the delay to all of it.
    public var jitter: Double
    /// The longest time that a server may order by `Retry-After`; default 10 minutes. A longer one counts as this.
    public var longestOrder: Duration

    /// The default: from one second to one minute, half of it by chance.
    public init(
        initialDelay: Duration = .seconds(1), maximumDelay: Duration = .seconds(60), jitter: Double = 0.5, longestOrder: Duration = .seconds(600)
    ) {
        self.initialDelay = initialDelay
        self.maximumDelay = maximumDelay
        self.jitter = jitter
        self.longestOrder = longestOrder
    }

    /// The time until the next attempt.
    /// - Parameters:
    ///   - failures: how many attempts failed before the last one, 0 for the first repetition.
    ///   - retryAfter: what the server ordered; nil without an order. It is never undercut, and what chance adds is spread over as long a time again.
    ///   - generator: the source of chance.
    public func delay(failures: Int, retryAfter: Duration? = nil, using generator: inout some RandomNumberGenerator) -> Duration {
        var delay = initialDelay
        for _ in 0..<min(max(failures, 0), 32) where delay < maximumDelay { delay = delay * 2 }
        delay = min(delay, maximumDelay)
        // One number of the source, whatever it is: the library's own way asks again for numbers that it does not like.
        let number: UInt64 = generator.next()
        let chance = min(max(jitter, 0), 1) * (Double(number >> 11) / Double((1 << 53) - 1))
        guard let retryAfter else { return delay * (1 - chance) }
        let order = min(retryAfter, longestOrder)
        return order + max(order, delay) * chance
    }
}

/// Chance that is passed in: the system's, or a test's own.
struct RandomSource: RandomNumberGenerator, Sendable {
    let number: @Sendable () -> UInt64

    func next() -> UInt64 { number() }

    /// The system's.
    static let system = RandomSource { UInt64.random(in: .min ... .max) }
}
