#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#endif

/// The memory that a process occupies, for benchmarks, the demonstration and tests. Only this file reads `/proc`; on systems without
/// it, the peak comes from `getrusage` and the rest is nil.
package enum ProcessMemory {
    /// Returns the number of bytes that process `pid` (nil: this one) occupies now; nil when the system does not report it.
    package static func resident(of pid: Int32? = nil) -> Int? { status("VmRSS:", of: pid) }

    /// Returns the largest number of bytes that process `pid` (nil: this one) has occupied since its start or since ``resetPeak()``; nil
    /// when the system does not report it.
    package static func peak(of pid: Int32? = nil) -> Int? {
        if let peak = status("VmHWM:", of: pid) { return peak }
        guard pid == nil else { return nil }
        var usage = rusage()
        // RUSAGE_SELF is 0 everywhere, but its type differs between C libraries.
        guard unsafe getrusage(.init(0), &usage) == 0 else { return nil }
        #if canImport(Darwin)
            return usage.ru_maxrss
        #else
            return Int(usage.ru_maxrss) * 1024
        #endif
    }

    /// Resets the peak of this process to the memory that it occupies now.
    /// - Returns: false when the system does not support this; the peak is then the one since the start.
    @discardableResult package static func resetPeak() -> Bool {
        guard let file = unsafe fopen("/proc/self/clear_refs", "w") else { return false }
        let written = unsafe fputs("5", file) >= 0
        return unsafe fclose(file) == 0 && written
    }

    /// Reads one line of the process's status file, in kilobytes, and returns it in bytes.
    private static func status(_ name: String, of pid: Int32?) -> Int? {
        guard let file = unsafe fopen("/proc/\(pid.map { String($0) } ?? "self")/status", "r") else { return nil }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while unsafe fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard text.hasPrefix(name) else { continue }
            return text.dropFirst(name.count).split(whereSeparator: { $0 == " " || $0 == "\t" }).first.flatMap { Int($0) }.map { $0 * 1024 }
        }
        return nil
    }
}

/// The clocks of this process, for measurements.
package enum ProcessTime {
    /// Returns the time of a monotonic clock, from an unknown beginning.
    package static func monotonic() -> Duration { read(CLOCK_MONOTONIC) }

    /// Returns the processor time of all threads of this process since its start.
    package static func processors() -> Duration { read(CLOCK_PROCESS_CPUTIME_ID) }

    private static func read(_ clock: clockid_t) -> Duration {
        var time = timespec()
        // Every supported system has both clocks, so the call cannot fail.
        _ = unsafe clock_gettime(clock, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}
