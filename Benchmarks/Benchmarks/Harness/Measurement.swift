import Foundation

/// The times of one side in seconds.
struct Times: Codable, Sendable {
    var median_s: Double
    var min_s: Double
    var max_s: Double

    init(_ durations: [Duration]) {
        let seconds = durations.map { $0 / .seconds(1) }.sorted()
        let middle = seconds.count / 2
        median_s = seconds.count % 2 == 1 ? seconds[middle] : (seconds[middle - 1] + seconds[middle]) / 2
        min_s = seconds[0]
        max_s = seconds[seconds.count - 1]
    }
}

/// The result of one benchmark.
struct Measurement: Sendable {
    let benchmark: Benchmark
    let subject: Times
    let reference: Times
    /// The growth of the peak of a process that ran only the subject, in bytes; nil if not measured.
    let peakMemory: Int?
    /// The largest growth of the peak of the server's process, in bytes; nil without one.
    let serverPeakMemory: Int?
    let outcome: (rows: Int64, bytes: Int)
    /// The rows of the reference; the same as the subject's, unless the benchmark is a rate.
    let referenceRows: Int64

    /// The subject's rows per second; nil where the benchmark counts other units.
    var rowsPerSecond: Double? { benchmark.countsRows ? Double(outcome.rows) / subject.median_s : nil }

    /// The subject's time divided by the reference's, each the median of its runs; for a rate, its rows per second divided by the reference's.
    var ratio: Double {
        let times = subject.median_s / reference.median_s
        return benchmark.isRate ? Double(outcome.rows) / Double(referenceRows) / times : times
    }
    var isMet: Bool {
        let inTime = benchmark.limit.map { benchmark.isRate ? ratio >= $0 : ratio <= $0 } ?? true
        let inMemory = benchmark.memoryLimit.map { (peakMemory ?? .max) <= $0 } ?? true
        let inServerMemory = benchmark.serverMemoryLimit.map { (serverPeakMemory ?? .max) <= $0 } ?? true
        return inTime && inMemory && inServerMemory
    }
}

extension Benchmark {
    /// Runs reference and subject alternately after one pair that does not count, so that a machine that slows down affects both.
    /// - Throws: ``WrongResult`` when the two do not have the same outcome, and the errors of the sides.
    func measured(pairs: Int, workspace: Workspace, childMemory: (Benchmark) throws -> Int?) throws -> Measurement {
        try prepare?(workspace)
        var times: (subject: [Duration], reference: [Duration]) = ([], [])
        var last = Outcome(rows: 0, checksum: 0), referenceRows: Int64 = 0, serverMemory: Int?
        for pair in 0...pairs {
            let (referenceTime, referenceOutcome) = try Self.timed(reference, in: workspace)
            let (subjectTime, subjectOutcome) = try Self.timed(subject, in: workspace)
            let rowsAgree = subjectOutcome.rows == referenceOutcome.rows || (isRate && subjectOutcome.rows % referenceOutcome.rows == 0)
            guard rowsAgree, subjectOutcome.checksum == referenceOutcome.checksum else {
                throw WrongResult(
                    "\(id): \(subject.name) gave \(subjectOutcome.rows) rows with check sum \(subjectOutcome.checksum), "
                        + "\(reference.name) gave \(referenceOutcome.rows) with \(referenceOutcome.checksum)")
            }
            last = subjectOutcome
            serverMemory = subjectOutcome.serverMemory.map { max($0, serverMemory ?? 0) }
            referenceRows = referenceOutcome.rows
            if pair > 0 {
                times.subject.append(subjectTime)
                times.reference.append(referenceTime)
            }
        }
        return Measurement(
            benchmark: self, subject: Times(times.subject), reference: Times(times.reference), peakMemory: try childMemory(self),
            serverPeakMemory: serverMemory, outcome: (last.rows, last.bytes), referenceRows: referenceRows)
    }

    private static func timed(_ side: Side, in workspace: Workspace) throws -> (Duration, Outcome) {
        var watch = Stopwatch()
        let outcome = try side.run(workspace, &watch)
        return (watch.elapsed, outcome)
    }
}
