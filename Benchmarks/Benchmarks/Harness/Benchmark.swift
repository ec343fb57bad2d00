import Foundation

/// One row of the table: one of our subjects and the reference that it is measured against, both on the same data.
struct Benchmark: Sendable {
    /// Stable name, with dots from the general to the special: `import.plain.upsert.4096`.
    let id: String
    /// The meaning of the figure, in one sentence.
    let shows: String
    /// The highest permitted ratio of the subject's time to the reference's, for a rate the lowest; nil: shown only.
    let limit: Double?
    /// Whether the ratio is that of rows per second, higher is better. The subject may then read the reference's rows several times.
    var isRate = false
    /// Whether ``Outcome/rows`` counts rows. For large values it counts bytes, characters or chunks, and the table shows no rows per second.
    var countsRows = true
    /// The largest number of bytes by which the subject may raise the peak of a process; nil: shown only.
    var memoryLimit: Int? = nil
    /// The largest number of bytes by which the subject may raise the peak of its server's process; nil: shown only, or there is no server.
    var serverMemoryLimit: Int? = nil
    /// The number of pairs that the median is taken from; nil: the number in the options. Jobs of more than ten seconds take 3.
    var pairs: Int? = nil
    /// The position of the figure in a plot; nil: the figure is not plotted.
    var point: PlotPoint? = nil
    /// Further information about the figure.
    var note: String? = nil
    /// Prepares the common data of both sides outside of their measured time; nil: no preparation.
    var prepare: (@Sendable (Workspace) throws -> Void)? = nil
    let reference: Side
    let subject: Side
}

/// One of the two pieces of work of a benchmark.
struct Side: Sendable {
    let name: String
    /// The number of threads of the measured work. A limit applies to one thread, unless the contract's row defines otherwise.
    let threads: Int
    /// Prepares, measures the relevant work with a ``Stopwatch``, and verifies its result. Writes are measured until their database is
    /// closed: without the last checkpoint they are not complete.
    let run: @Sendable (Workspace, inout Stopwatch) throws -> Outcome

    init(_ name: String, threads: Int = 1, run: @escaping @Sendable (Workspace, inout Stopwatch) throws -> Outcome) {
        self.name = name
        self.threads = threads
        self.run = run
    }
}

/// The result of a side. The two sides of a benchmark must agree on all fields except the bytes, and the rows of a rate.
struct Outcome: Equatable {
    /// The number of rows, or of other units where ``Benchmark/countsRows`` is false.
    var rows: Int64
    /// The check sum of all values that were written or read.
    var checksum: UInt64
    /// The size of the input in bytes; 0 without input.
    var bytes = 0
    /// The growth of the peak of the server's process, in bytes; nil without one.
    var serverMemory: Int? = nil
}

/// Adds up the time of the measured work only.
struct Stopwatch {
    private(set) var elapsed: Duration = .zero
    private var started: ContinuousClock.Instant?

    mutating func measure<R>(_ work: () throws -> R) rethrows -> R {
        let start = ContinuousClock.now
        defer { elapsed += ContinuousClock.now - start }
        return try work()
    }

    /// Adds a figure that is measured by other means.
    mutating func add(_ figure: Duration) { elapsed += figure }

    /// Starts the watch, for work in several parts: their input is made while the watch is stopped.
    mutating func start() { started = .now }

    mutating func stop() {
        guard let started else { return }
        elapsed += ContinuousClock.now - started
        self.started = nil
    }
}

/// The error of a benchmark with a wrong result. Its figure would be worthless, so the run ends.
struct WrongResult: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
