public import Foundation
internal import MobileExecution
import MobileStore
import Synchronization

/// Measures the work of the databases and connections that share it, between the start and the stop of an interaction. Put the agent into
/// their ``Environment``. While no interaction runs, it only reads a flag.
///
///     let agent = PerformanceAgent(directory: reports)
///     let crm = try CRM.open(profile, environment: Environment(performance: agent))
///     try agent.startInteraction("Interaction 1")
///     ...
///     try agent.stopInteraction()            // reports/Interaction 1.txt
///
/// SMP 2.3: `SUPPerformanceAgentService`, `SUPPerfAgentServiceImpl`.
public final class PerformanceAgent: Sendable {
    private let meter: ResourceMeter
    private let clock: @Sendable () -> Date
    private let directory: URL?
    private let isRunning = Atomic(false)
    private let interaction = SystemLock<Interaction?>(nil)

    private struct Interaction {
        let name: String
        let started: Date
        let begin: Duration
        /// The interaction's number: intervals of an earlier interaction do not count in the next one.
        let number: Int
        var sums: [IntervalType: IntervalSum] = [:]
    }

    private let lastNumber = Atomic(0)

    /// - Parameters:
    ///   - directory: the directory of the summaries, one text file per interaction; it is made if needed. Nil (default): no files.
    ///   - meter: the source of the figures; default: the system.
    ///   - clock: the time of day; default the system's.
    public init(directory: URL? = nil, meter: ResourceMeter = ResourceMeter(), clock: @escaping @Sendable () -> Date = { Date() }) {
        (self.directory, self.meter, self.clock) = (directory, meter, clock)
    }

    /// Starts an interaction. SMP 2.3: `startInteraction:`.
    /// - Throws: ``ObjectError/Code/misuse`` while another interaction runs. That one continues.
    public func startInteraction(_ name: String) throws {
        try interaction.withLock { running in
            if let running { throw ObjectError(.misuse, "start of interaction \"\(name)\": \"\(running.name)\" is running; stop it first") }
            let number = lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
            running = Interaction(name: name, started: clock(), begin: meter.now(), number: number)
        }
        isRunning.store(true, ordering: .relaxed)
    }

    /// Stops the interaction and writes the summary. Intervals that have not ended do not count. SMP 2.3: `stopInteraction`.
    /// - Throws: ``ObjectError/Code/misuse`` when no interaction runs; ``ObjectError/Code/file`` when the summary cannot be written. The
    ///   interaction is then over nevertheless.
    @discardableResult
    public func stopInteraction() throws -> InteractionSummary {
        let summary = try interaction.withLock { running in
            guard let ended = running else { throw ObjectError(.misuse, "stop of an interaction: none is running; start one first") }
            running = nil
            return InteractionSummary(name: ended.name, started: ended.started, duration: meter.now() - ended.begin, sums: ended.sums)
        }
        isRunning.store(false, ordering: .relaxed)
        if let directory { try write(summary, to: directory) }
        return summary
    }

    // MARK: Intervals

    /// One interval during its measurement.
    package struct Interval: Sendable {
        fileprivate let type: IntervalType
        fileprivate let interaction: Int
        fileprivate let begin: Duration
        fileprivate let cpuTime: Duration
        fileprivate let memory: Int
    }

    /// Begins an interval; returns nil while no interaction runs.
    package func begin(_ type: IntervalType) -> Interval? {
        guard isRunning.load(ordering: .relaxed), let number = interaction.withLock({ $0?.number }) else { return nil }
        return Interval(type: type, interaction: number, begin: meter.now(), cpuTime: meter.cpuTime(), memory: meter.memory())
    }

    /// Returns the time on the clock of the intervals.
    package func now() -> Duration { meter.now() }

    /// Ends an interval and adds it to the sums of its interaction, if that is still running.
    /// - Parameters:
    ///   - sentBytes, receivedBytes: sizes of a request's and its answer's bodies.
    ///   - localTime: the time that this side spent while a request ran. It does not count as network time.
    package func end(_ interval: Interval?, sentBytes: Int64 = 0, receivedBytes: Int64 = 0, localTime: Duration = .zero) {
        guard let interval else { return }
        var sum = IntervalSum()
        sum.count = 1
        sum.wallClockTime = meter.now() - interval.begin
        sum.cpuTime = meter.cpuTime() - interval.cpuTime
        sum.maximumMemory = max(interval.memory, meter.memory())
        if interval.type == .httpRequest {
            sum.network = NetworkSum(
                networkTime: max(.zero, sum.wallClockTime - localTime), roundTrips: 1, sentBytes: sentBytes, receivedBytes: receivedBytes)
        }
        interaction.withLock { running in
            guard running?.number == interval.interaction else { return }
            running?.sums[interval.type, default: IntervalSum()].add(sum)
        }
    }

    // MARK: The report

    /// Returns the summaries in the directory, by their names.
    /// - Throws: ``ObjectError/Code/file`` for a directory or file that cannot be read.
    package func summaries() throws -> [(name: String, text: String)] {
        guard let directory, FileManager.default.fileExists(atPath: directory.path) else { return [] }
        do {
            return try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
                .filter { $0.pathExtension == "txt" }.sorted { $0.lastPathComponent < $1.lastPathComponent }
                .map { (name: $0.deletingPathExtension().lastPathComponent, text: String(decoding: try Data(contentsOf: $0), as: UTF8.self)) }
        } catch {
            throw ObjectError(.file, "read the summaries of interactions in \"\(directory.path)\": \(error.localizedDescription)", cause: error)
        }
    }

    private func write(_ summary: InteractionSummary, to directory: URL) throws {
        let name = String(summary.name.map { $0.isLetter || $0.isNumber || " -_.".contains($0) ? $0 : "_" }.prefix(100))
        var file = directory.appending(path: (name.isEmpty || name.hasPrefix(".") ? "_" : "") + name + ".txt"), number = 1
        do {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            while FileManager.default.fileExists(atPath: file.path) {
                number += 1
                file = directory.appending(path: "\(name) (\(number)).txt")
            }
            try Data(summary.text.utf8).write(to: file, options: .withoutOverwriting)
        } catch {
            throw ObjectError(
                .file, "write the summary of interaction \"\(summary.name)\" to \"\(file.path)\": \(error.localizedDescription)", cause: error)
        }
    }
}

/// The sources of the figures of interactions.
public struct ResourceMeter: Sendable {
    /// The time of a clock that only moves forward, from any beginning. Default: the system's monotonic clock.
    public var now: @Sendable () -> Duration
    /// The time that this process has spent on processors. Default: the system's figure, of all threads.
    public var cpuTime: @Sendable () -> Duration
    /// The bytes of memory that this process occupies. Default: its resident memory; 0 where the system does not report it.
    public var memory: @Sendable () -> Int

    /// Creates a meter. A source that is nil (default) is the system's.
    public init(
        now: (@Sendable () -> Duration)? = nil, cpuTime: (@Sendable () -> Duration)? = nil, memory: (@Sendable () -> Int)? = nil
    ) {
        self.now = now ?? { ProcessTime.monotonic() }
        self.cpuTime = cpuTime ?? { ProcessTime.processors() }
        self.memory = memory ?? { ProcessMemory.resident() ?? 0 }
    }
}
