public import Foundation

/// The sources of time and chance and the sinks for developers. They are passed in, so that a test can run a year of devices with its own
/// clocks, repeatable by seed.
public struct Environment: Sendable {
    /// The time of day. Default: the system's clock.
    public var now: @Sendable () -> Date
    /// Returns 64 random bits. Default: the system's random source.
    public var random: @Sendable () -> UInt64
    /// The console for developers. Default: a separate console at level ``ConsoleLogLevel/info``.
    public var console: ConsoleLogger
    /// Services that are looked up by their protocol. Default: a separate registry with the texts of errors in English.
    public var services: ServiceRegistry
    /// Returns the free bytes on the disk of a directory; nil where the system does not report them. Default: the system's figure.
    public var freeStorage: @Sendable (String) -> Int64?
    /// The agent that measures interactions; nil (default): none are measured.
    public var performance: PerformanceAgent?
    /// The number of keys that a range of the database's own has; a test makes it smaller than 65,536 to use up ranges.
    package var ownKeyRangeSize: Int64 = 1 << 16

    /// Creates an environment of the real system, except for the given parts.
    public init(
        now: @escaping @Sendable () -> Date = { Date() },
        random: @escaping @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) },
        console: ConsoleLogger = ConsoleLogger(), services: ServiceRegistry = .standard(),
        freeStorage: @escaping @Sendable (String) -> Int64? = { Environment.systemFreeStorage($0) }, performance: PerformanceAgent? = nil
    ) {
        self.freeStorage = freeStorage
        (self.now, self.random, self.console, self.services) = (now, random, console, services)
        self.performance = performance
    }

    /// Returns the bytes that the system reports as free for files in `directory`.
    public static func systemFreeStorage(_ directory: String) -> Int64? {
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: directory.isEmpty ? "." : directory)
        return (attributes?[.systemFreeSize] as? NSNumber)?.int64Value
    }
}

extension Environment {
    /// Returns a random GUID, version 4.
    func randomGUID() -> String {
        var words = (random(), random())
        words.0 = words.0 & ~0xF000 | 0x4000
        words.1 = words.1 & ~(0xC0 << 56) | (0x80 << 56)
        let hex = [words.0, words.1].map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
        var parts: [Substring] = [], rest = Substring(hex)
        for count in [8, 4, 4, 4, 12] {
            parts.append(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        return parts.joined(separator: "-")
    }
}
