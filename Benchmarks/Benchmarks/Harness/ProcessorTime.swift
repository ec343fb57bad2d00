import Foundation

/// The time that processes have used processors.
enum ProcessorTime {
    /// Returns the user and system time of all threads of a process, also of those that have ended; zero for a process that has gone.
    static func of(_ process: Int32) -> Duration {
        var clock = clockid_t(), time = timespec()
        guard clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0 else { return .zero }
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
