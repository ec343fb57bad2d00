public import Foundation

/// Time, chance and where to tell developers something, passed in: a test runs a year of devices with clocks of its own, repeatable by seed.
public struct Environment: Sendable {
    /// The time of day. Default: the system's clock.
    public var now: @Sendable () -> Date
    /// 64 random bits. Default: the system's random source.
    public var random: @Sendable () -> UInt64
    /// What developers are told. Default: a console of its own, at level ``ConsoleLogLevel/info``.
    public var console: ConsoleLogger
    /// Services that are looked up by their protocol. Default: a registry of its own with the texts of errors in English.
    public var services: ServiceRegistry
    /// Free bytes on the disk of a directory; nil where the system does not tell. Default: what the system says.
    public var freeStorage: @Sendable (String) -> Int64?
    /// Measures interactions; nil (default): nobody does.
    public var performance: PerformanceAgent?

    /// The real world, but for what is given.
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

    /// What the system says is free for files in `directory`.
    public static func systemFreeStorage(_ directory: String) -> Int64? {
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: directory.isEmpty ? "." : directory)
        return (attributes?[.systemFreeSize] as? NSNumber)?.int64Value
    }
}
