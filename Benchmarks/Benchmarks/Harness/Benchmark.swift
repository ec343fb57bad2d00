import Foundation

/// One row of the table: a subject of ours beside the reference that it is measured against, both on the same data.
struct Benchmark: Sendable {
    /// Stable name, with dots from the general to the special: `import.plain.upsert.4096`.
    let id: String
    /// What the figure tells, in one sentence.
    let shows: String
    /// The highest ratio of the subject's time to the reference's that counts as met, of a rate the lowest; nil: shown only.
    let limit: Double?
    /// Whether the ratio is that of rows per second, higher is better. The subject may then read the reference's rows several times.
    var isRate = false
    /// Whether ``Outcome/rows`` counts rows. Of large values it counts bytes, characters or chunks: the table shows no rows per second then.
    var countsRows = true
    /// The most bytes by which the subject may raise the peak of a process; nil: shown only.
    var memoryLimit: Int? = nil
    /// The number of pairs that the median is taken from; nil: what the options say. Jobs over ten seconds take 3.
    var pairs: Int? = nil
    /// Where the figure stands in a plot; nil: in none.
    var point: PlotPoint? = nil
    /// What else a reader of the figure should know.
    var note: String? = nil
    /// Makes what both sides need and what neither shall pay for; nil: nothing.
    var prepare: (@Sendable (Workspace) throws -> Void)? = nil
    let reference: Side
    let subject: Side
}

/// One of the two pieces of work of a benchmark.
struct Side: Sendable {
    let name: String
    /// How many threads do what is measured. A limit holds for one, unless the contract's row says otherwise.
    let threads: Int
    /// Prepares, measures with a ``Stopwatch`` exactly what counts, and verifies what came of it. What writes is measured until its
    /// database is closed: who leaves the last checkpoint to somebody else has not written everything yet.
    let run: @Sendable (Workspace, inout Stopwatch) throws -> Outcome

    init(_ name: String, threads: Int = 1, run: @escaping @Sendable (Workspace, inout Stopwatch) throws -> Outcome) {
        self.name = name
        self.threads = threads
        self.run = run
    }
}

/// What a side has done. Two sides of one benchmark must agree on all of it except the bytes, and the rows of a rate.
struct Outcome: Equatable {
    /// Rows; what else it counts where ``Benchmark/countsRows`` is false.
    var rows: Int64
    /// Over everything that was written or read.
    var checksum: UInt64
    /// Bytes of input; 0 where there are none.
    var bytes = 0
}

/// Adds up the time of what is measured, and only of that.
struct Stopwatch {
    private(set) var elapsed: Duration = .zero
    private var started: ContinuousClock.Instant?

    mutating func measure<R>(_ work: () throws -> R) rethrows -> R {
        let start = ContinuousClock.now
        defer { elapsed += ContinuousClock.now - start }
        return try work()
    }

    /// Starts, for work that waits for its input between two parts of it: the input is made while the watch is stopped.
    mutating func start() { started = .now }

    mutating func stop() {
        guard let started else { return }
        elapsed += ContinuousClock.now - started
        self.started = nil
    }
}

/// A benchmark whose result is not what it must be. The figure is worthless then, so the run ends.
struct WrongResult: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
