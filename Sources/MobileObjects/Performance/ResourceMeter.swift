import MobileStore

/// Where the figures of interactions come from.
public struct ResourceMeter: Sendable {
    /// Time that only grows, from any beginning. Default: the system's monotonic clock.
    public var now: @Sendable () -> Duration
    /// Time that this process has spent on processors. Default: the system's figure, of all threads.
    public var cpuTime: @Sendable () -> Duration
    /// Bytes of memory that this process occupies. Default: what is resident; 0 where the system does not tell.
    public var memory: @Sendable () -> Int

    /// Where a source is nil (default) the system is.
    public init(
        now: (@Sendable () -> Duration)? = nil, cpuTime: (@Sendable () -> Duration)? = nil, memory: (@Sendable () -> Int)? = nil
    ) {
        self.now = now ?? { ProcessTime.monotonic() }
        self.cpuTime = cpuTime ?? { ProcessTime.processors() }
        self.memory = memory ?? { ProcessMemory.resident() ?? 0 }
    }
}
