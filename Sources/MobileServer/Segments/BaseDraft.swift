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
    private let files: SegmentFiles
    private let run: Int64
    /// Milliseconds since 1970.
    private let made: Int64
    private let texts = ReusedValues { RowTexts() }
    /// Takes rows, and nil after the last ones.
    private let worker: ItemWorker<SystemLock<RowTexts>?>
    private struct Stored {
        /// The names of the stored segments.
        var names: [String] = []
        /// The number of their rows, once all of them are stored.
        var rows: Int64?
        /// Whether a write has made the run usable; it may have failed afterwards.
        var isCompleted = false
    }

    private let stored: SystemLock<Stored>

    /// Compressing takes half of the time of writing, so rows hardly ever wait.
    private static let waitingTexts = 1

    private let log: @Sendable (String) -> Void

    /// Fails if the system cannot start one more thread.
    init?(_ need: SegmentNeed, stateStore: any StateStore, files: SegmentFiles, configuration: ServerConfiguration) {
        let run = SegmentRun.newID(configuration), made = configuration.clock(), textBytes = configuration.segmentRules.textBytes
        let stored = SystemLock(Stored()), kept = 4 * max(1 << 18, textBytes / 4)
        let worker = ItemWorker<SystemLock<RowTexts>?>(capacity: Self.waitingTexts) { [texts] in
            var number = 0
            let builder = Result {
                try SegmentBuilder(textBytes: textBytes) { segment, content in
                    try Self.store(segment, number: number, content, need.partition, run: run, made: made, stateStore)
                    number += 1
                    stored.withLock { $0.names.append(segment.name) }
                    // Now, while the next rows are read: the first device waits for the files, and the last write for the disk. Both are done again if
                    // need be.
                    files.add(content, named: segment.name)
                    stateStore.flushDrafts()
                }
            }
            return { rows in
                let builder = try builder.get()
                guard let rows else {
                    try builder.finish()
                    return stored.withLock { $0.rows = builder.rowCount }
                }
                // Segments end between pieces.
                try rows.withLock { rows in
                    for piece in rows.pieces(length: min(65_536, textBytes / 4)) { try builder.add(piece.text, count: piece.rows) }
                    rows.removeAll(keeping: kept)
                }
                texts.giveBack(rows)
            }
        }
        guard let worker else { return nil }
        (self.need, self.stateStore, self.files, self.run, self.made) = (need, stateStore, files, run, made)
        (self.worker, self.stored, log) = (worker, stored, configuration.log)
    }

    /// Adds rows in the order of their keys. Waits while too many others do.
    /// - Parameter write: writes the rows, and leaves their texts.
    func add(_ write: (inout RowTexts) throws -> Void) throws {
        let rows = texts.take()
        try rows.withLock { try write(&$0) }
        try? worker.add(rows)
    }

    /// Waits until all segments are stored. After it, ``add(_:)`` has no effect.
    func finish() {
        do {
            try worker.add(nil)
            try worker.finish()
        } catch { log("the segments of a first load could not be made while it ran, and are made from its rows: \(error)") }
    }

    /// Whether a write has made the run usable.
    var isCompleted: Bool { stored.withLock { $0.isCompleted } }

    /// Makes the run usable, in the write that makes its rows valid.
    /// - Parameter rows: their number; a base with other rows is not used.
    func complete(_ version: Int64, rows: Int64, in connection: any StateConnection) throws {
        guard stored.withLock({ $0.rows }) == rows else { return }
        let directory = SegmentDirectory(partition: need.partition, connection: connection)
        try directory.add(SegmentRun(id: run, since: SegmentRun.beginning, until: version, rows: rows, made: made, retired: nil), shape: need.shape)
        try directory.retire(allBut: run, now: made)
        stored.withLock { $0.isCompleted = true }
    }

    /// Ends the work of a run that was not completed, and removes its segments; and their files, unless another run has the same contents.
    func discard() {
        worker.cancel()
        try? worker.finish()
        let names = stored.withLock { $0.names }
        let unused = try? stateStore.write(label: "unused segments", isolation: .locks) { connection in
            try SegmentDirectory(partition: need.partition, connection: connection).remove(unused: run)
            return try names.filter { try !connection.exists("SELECT 1 FROM _segment WHERE name = ?1 LIMIT 1", [.text($0)]) }
        }
        files.remove(unused ?? [])
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
