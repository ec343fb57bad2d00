#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#endif

/// How much memory a process occupies, for benchmarks, the demonstration and tests. The only place that looks into `/proc`;
/// where there is none, the peak comes from `getrusage` and the rest is nil.
package enum ProcessMemory {
    /// Bytes of memory that process `pid` (nil: this one) occupies now; nil where the system does not tell.
    package static func resident(of pid: Int32? = nil) -> Int? { status("VmRSS:", of: pid) }

    /// The most bytes that process `pid` (nil: this one) has occupied since its start, or since ``resetPeak()``; nil where the
    /// system does not tell.
    package static func peak(of pid: Int32? = nil) -> Int? {
        if let peak = status("VmHWM:", of: pid) { return peak }
        guard pid == nil else { return nil }
        var usage = rusage()
        // RUSAGE_SELF is 0 everywhere, but of another type in each C library.
        guard unsafe getrusage(.init(0), &usage) == 0 else { return nil }
        #if canImport(Darwin)
            return usage.ru_maxrss
        #else
            return Int(usage.ru_maxrss) * 1024
        #endif
    }

    /// Lets the peak of this process begin anew at what it occupies now.
    /// - Returns: false where the system cannot do that; the peak is then the one since the start.
    @discardableResult package static func resetPeak() -> Bool {
        guard let file = unsafe fopen("/proc/self/clear_refs", "w") else { return false }
        let written = unsafe fputs("5", file) >= 0
        return unsafe fclose(file) == 0 && written
    }

    /// The value of one line of the process's status file, which states kilobytes.
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
