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

/// What became of one benchmark.
struct Measurement: Sendable {
    let benchmark: Benchmark
    let subject: Times
    let reference: Times
    /// Growth of the peak of a process that ran the subject alone; nil where it was not measured.
    let peakMemory: Int?
    let outcome: (rows: Int64, bytes: Int)
    /// Rows of the reference; the subject's, unless it is a rate.
    let referenceRows: Int64

    /// Rows per second of the subject; nil where the benchmark counts something else.
    var rowsPerSecond: Double? { benchmark.countsRows ? Double(outcome.rows) / subject.median_s : nil }

    /// Time of the subject by time of the reference, each the median of its runs; of a rate, its rows per second by the reference's.
    var ratio: Double {
        let times = subject.median_s / reference.median_s
        return benchmark.isRate ? Double(outcome.rows) / Double(referenceRows) / times : times
    }
    var isMet: Bool {
        let inTime = benchmark.limit.map { benchmark.isRate ? ratio >= $0 : ratio <= $0 } ?? true
        let inMemory = benchmark.memoryLimit.map { (peakMemory ?? .max) <= $0 } ?? true
        return inTime && inMemory
    }
}

extension Benchmark {
    /// Runs reference and subject in turns after one pair that does not count, so that a machine that gets slower meanwhile is slower for both.
    /// - Throws: ``WrongResult`` when the two do not have the same outcome, and whatever the sides throw.
    func measured(pairs: Int, workspace: Workspace, childMemory: (Benchmark) throws -> Int?) throws -> Measurement {
        try prepare?(workspace)
        var times: (subject: [Duration], reference: [Duration]) = ([], [])
        var last = Outcome(rows: 0, checksum: 0), referenceRows: Int64 = 0
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
            referenceRows = referenceOutcome.rows
            if pair > 0 {
                times.subject.append(subjectTime)
                times.reference.append(referenceTime)
            }
        }
        return Measurement(
            benchmark: self, subject: Times(times.subject), reference: Times(times.reference), peakMemory: try childMemory(self),
            outcome: (last.rows, last.bytes), referenceRows: referenceRows)
    }

    private static func timed(_ side: Side, in workspace: Workspace) throws -> (Duration, Outcome) {
        var watch = Stopwatch()
        let outcome = try side.run(workspace, &watch)
        return (watch.elapsed, outcome)
    }
}
