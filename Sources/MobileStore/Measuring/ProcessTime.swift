#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#else
    internal import Glibc
#endif

/// Clocks of this process, for those who measure it.
package enum ProcessTime {
    /// Time that only grows, from an unknown beginning.
    package static func monotonic() -> Duration { read(CLOCK_MONOTONIC) }

    /// Time that all threads of this process have spent on processors since its start.
    package static func processors() -> Duration { read(CLOCK_PROCESS_CPUTIME_ID) }

    private static func read(_ clock: clockid_t) -> Duration {
        var time = timespec()
        // Both clocks are there on every system that this is built for: it cannot fail.
        _ = unsafe clock_gettime(clock, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}
