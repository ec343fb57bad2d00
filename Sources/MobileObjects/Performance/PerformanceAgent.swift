public import Foundation
import MobileStore
import Synchronization

/// Measures what the databases and connections that share it do between the start and the stop of an interaction. Put it into the
/// ``Environment`` of what is to be measured; while no interaction runs it costs a look at a flag.
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
    private let interaction = Mutex<Interaction?>(nil)

    private struct Interaction {
        let name: String
        let started: Date
        let begin: Duration
        /// Intervals of an interaction that has ended do not count in the next one.
        let number: Int
        var sums: [IntervalType: IntervalSum] = [:]
    }

    private let lastNumber = Atomic(0)

    /// - Parameters:
    ///   - directory: where summaries are written, one text file per interaction; it is made if needed. Nil (default): nowhere.
    ///   - meter: where the figures come from; default the system.
    ///   - clock: the time of day; default the system's.
    public init(directory: URL? = nil, meter: ResourceMeter = ResourceMeter(), clock: @escaping @Sendable () -> Date = { Date() }) {
        (self.directory, self.meter, self.clock) = (directory, meter, clock)
    }

    /// Begins to measure. SMP 2.3: `startInteraction:`.
    /// - Throws: ``ObjectError/Code/misuse`` while another interaction runs, which goes on.
    public func startInteraction(_ name: String) throws {
        try interaction.withLock { running in
            if let running { throw ObjectError(.misuse, "start of interaction \"\(name)\": \"\(running.name)\" is running; stop it first") }
            let number = lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
            running = Interaction(name: name, started: clock(), begin: meter.now(), number: number)
        }
        isRunning.store(true, ordering: .relaxed)
    }

    /// Ends the measuring and writes the summary. Intervals that have not ended do not count. SMP 2.3: `stopInteraction`.
    /// - Throws: ``ObjectError/Code/misuse`` when no interaction runs; ``ObjectError/Code/file`` when the summary cannot be written, the
    ///   interaction is over then all the same.
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

    /// One interval that is being measured.
    package struct Interval: Sendable {
        fileprivate let type: IntervalType
        fileprivate let interaction: Int
        fileprivate let begin: Duration
        fileprivate let cpuTime: Duration
        fileprivate let memory: Int
    }

    /// Begins an interval; nil while no interaction runs.
    package func begin(_ type: IntervalType) -> Interval? {
        guard isRunning.load(ordering: .relaxed), let number = interaction.withLock({ $0?.number }) else { return nil }
        return Interval(type: type, interaction: number, begin: meter.now(), cpuTime: meter.cpuTime(), memory: meter.memory())
    }

    /// Time as intervals are measured.
    package func now() -> Duration { meter.now() }

    /// Ends it and adds it to the sums of its interaction, if that is still running.
    /// - Parameters:
    ///   - sentBytes, receivedBytes: of a request.
    ///   - localTime: of a request: what was spent on this side while it ran, and is no time of the network's.
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

    /// The summaries that were written to the directory and are still there, by their names.
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
