internal import Dispatch
internal import MobileExecution
internal import MobileStore

/// Makes the base of a partition on a thread of its own while its first rows are loaded.
///
///     load --pieces of rows, a few wait--> compress, name --each segment, a short transaction--> store
///
/// Until the run is complete, nothing uses its segments. It is completed by the write that gives the partition its rows. A failure on the way leaves the
/// partition without a base, which is made from the rows then.
final class BaseDraft: Sendable {
    private let need: SegmentNeed
    private let stateStore: any StateStore
    private let rules: SegmentRules
    private let run: Int64
    /// Milliseconds since 1970.
    private let made: Int64

    private struct State {
        var pieces: [(rows: [UInt8], count: Int64)] = []
        var isEnded = false
        var isFailed = false
        /// The rows of the stored segments, once all of them are stored.
        var rows: Int64?
    }

    private let state = SystemLock(State())
    /// Rung for each piece, and for the end.
    private let bell = DispatchSemaphore(value: 0)
    /// Rung for each place of a piece.
    private let places = DispatchSemaphore(value: 0)
    private let isDone = DispatchSemaphore(value: 0)

    private static let waitingPieces = 8

    /// Fails if the system cannot start one more thread.
    init?(_ need: SegmentNeed, stateStore: any StateStore, configuration: ServerConfiguration) {
        (self.need, self.stateStore, rules) = (need, stateStore, configuration.segmentRules)
        (run, made) = (SegmentRun.newID(configuration), configuration.clock())
        for _ in 0..<Self.waitingPieces { places.signal() }
        guard SystemThread.start({ [self] in work() }) else { return nil }
    }

    /// Adds rows in the order of their keys. Waits while too many others do.
    func add(_ rows: [UInt8], count: Int64) {
        places.wait()
        state.withLock { $0.pieces.append((rows, count)) }
        bell.signal()
    }

    /// Waits until all segments are stored. After it, ``add(_:count:)`` must not be called.
    func finish() {
        let isFirst = state.withLock { state in
            defer { state.isEnded = true }
            return !state.isEnded
        }
        guard isFirst else { return }
        bell.signal()
        isDone.wait()
    }

    /// Makes the run usable, in the write of its rows.
    /// - Parameter rows: their number; a base with other rows is not used.
    func complete(_ version: Int64, rows: Int64, in connection: any StateConnection) throws {
        guard state.withLock({ $0.rows }) == rows else { return }
        let directory = SegmentDirectory(partition: need.partition, connection: connection)
        try directory.add(SegmentRun(id: run, since: SegmentRun.beginning, until: version, rows: rows, made: made, retired: nil), shape: need.shape)
        try directory.retire(allBut: run, now: made)
    }

    /// Ends the work, and removes the segments of a run that was not completed.
    func end() {
        finish()
        _ = try? stateStore.write(label: "unused segments", isolation: .locks) {
            try SegmentDirectory(partition: need.partition, connection: $0).remove(unused: run)
        }
    }

    // MARK: The thread

    private func work() {
        var number = 0
        let builder = SegmentBuilder(textBytes: rules.textBytes) { [self] segment, content in
            try store(segment, number: number, content)
            number += 1
        }
        while true {
            bell.wait()
            let (piece, isFailed) = state.withLock { state in (state.pieces.isEmpty ? nil : state.pieces.removeFirst(), state.isFailed) }
            guard let piece else { break }
            places.signal()
            guard !isFailed else { continue }
            do { try builder.add(piece.rows, count: piece.count) } catch { state.withLock { $0.isFailed = true } }
        }
        if !state.withLock({ $0.isFailed }), (try? builder.finish()) != nil {
            let rows = builder.rowCount
            state.withLock { $0.rows = rows }
        }
        isDone.signal()
    }

    private struct PartitionGone: Error {}

    private func store(_ segment: Segment, number: Int, _ content: [UInt8]) throws {
        try stateStore.write(label: "segments", isolation: .locks) { connection in
            // The lock keeps the end of the partition away: it removes the segments that are there.
            guard try PartitionState.find(need.partition, lock: connection.dialect.lock, in: connection) != nil else { throw PartitionGone() }
            try SegmentDirectory(partition: need.partition, connection: connection).add(
                segment, number: number, content: content, run: run, made: made)
        }
    }
}
