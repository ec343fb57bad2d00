internal import MobileExecution
internal import MobileStore

/// Makes the base of a partition on a thread of its own while its first rows are written.
///
///     written rows --pieces, a few wait--> compress, name --each segment, a short transaction--> store
///
/// Until the run is complete, nothing uses its segments. It is completed by the write that makes the rows valid. A failure on the way leaves the
/// partition without a base, which is made from the rows then.
final class BaseDraft: Sendable {
    private let need: SegmentNeed
    private let stateStore: any StateStore
    private let run: Int64
    /// Milliseconds since 1970.
    private let made: Int64
    /// Takes pieces, and nil after the last one.
    private let worker: ItemWorker<RowPiece?>
    /// The rows of the stored segments, once all of them are stored.
    private let rows: SystemLock<Int64?>

    private static let waitingPieces = 8

    /// Fails if the system cannot start one more thread.
    init?(_ need: SegmentNeed, stateStore: any StateStore, configuration: ServerConfiguration) {
        let run = SegmentRun.newID(configuration), made = configuration.clock(), textBytes = configuration.segmentRules.textBytes
        let rows = SystemLock<Int64?>(nil)
        let worker = ItemWorker<RowPiece?>(capacity: Self.waitingPieces) {
            var number = 0
            let builder = SegmentBuilder(textBytes: textBytes) { segment, content in
                try Self.store(segment, number: number, content, need.partition, run: run, made: made, stateStore)
                number += 1
            }
            return { piece in
                if let piece { return try builder.add(piece.text, count: piece.rows) }
                try builder.finish()
                rows.withLock { $0 = builder.rowCount }
            }
        }
        guard let worker else { return nil }
        (self.need, self.stateStore, self.run, self.made, self.worker, self.rows) = (need, stateStore, run, made, worker, rows)
    }

    /// Adds rows in the order of their keys. Waits while too many others do.
    func add(_ piece: RowPiece) { try? worker.add(piece) }

    /// Waits until all segments are stored. After it, ``add(_:)`` has no effect.
    func finish() {
        try? worker.add(nil)
        try? worker.finish()
    }

    /// Makes the run usable, in the write that makes its rows valid.
    /// - Parameter rows: their number; a base with other rows is not used.
    func complete(_ version: Int64, rows: Int64, in connection: any StateConnection) throws {
        guard self.rows.withLock({ $0 }) == rows else { return }
        let directory = SegmentDirectory(partition: need.partition, connection: connection)
        try directory.add(SegmentRun(id: run, since: SegmentRun.beginning, until: version, rows: rows, made: made, retired: nil), shape: need.shape)
        try directory.retire(allBut: run, now: made)
    }

    /// Ends the work of a run that was not completed, and removes its segments.
    func discard() {
        try? worker.finish()
        _ = try? stateStore.write(label: "unused segments", isolation: .locks) {
            try SegmentDirectory(partition: need.partition, connection: $0).remove(unused: run)
        }
    }

    private struct PartitionGone: Error {}

    private static func store(
        _ segment: Segment, number: Int, _ content: [UInt8], _ partition: Int64, run: Int64, made: Int64, _ stateStore: any StateStore
    ) throws {
        try stateStore.draft(label: "segments") { connection in
            // The lock keeps the end of the partition away: it removes the segments that are there.
            guard try PartitionState.find(partition, lock: connection.dialect.lock, in: connection) != nil else { throw PartitionGone() }
            try SegmentDirectory(partition: partition, connection: connection).add(segment, number: number, content: content, run: run, made: made)
        }
    }
}
