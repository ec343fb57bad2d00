internal import MobileStore

/// The first load of a partition. If it has many rows, they get their surrogate keys while they are loaded, so that their segments can be made at the
/// same time.
///
///     keys of the counter, block by block, each in a short transaction
///     rows under their keys --> _load                 nobody else sees them
///                           --> segments              not in use before the write
///
/// Keys of the counter are given once. Those that a load does not use, because it failed or the rows have others already, are never given.
final class FirstLoad {
    private let comparison: PartitionComparison
    private let refresher: CacheRefresher
    private var base: BaseDraft?
    /// The first rows: few ones need no segments, and get keys when they are written.
    private var waiting: [LoadedRow] = []
    private var waitingBytes = 0
    /// The keys of the block in use that are left.
    private var keys: ClosedRange<Int64>?
    private var taken: Int64 = 0
    /// The rows for the next piece of a segment.
    private var piece: [UInt8] = []
    private var pieceRows: Int64 = 0

    /// Whether the rows have keys.
    private(set) var hasKeys = false
    /// Whether the rows were written under these keys.
    var isWritten = false
    /// The greatest key that was taken.
    private(set) var lastKey: Int64 = 0

    /// A loaded row has got another key meanwhile, or two rows have the same one.
    struct KeysTaken: Error {}

    /// Limits of the rows that wait, and of a block of keys.
    private static let waitingBytes = 1 << 20, keysAtLeast: Int64 = 4096, keysAtMost: Int64 = 1 << 18
    private static let pieceBytes = 65_536

    init(_ comparison: PartitionComparison, _ refresher: CacheRefresher) { (self.comparison, self.refresher) = (comparison, refresher) }

    private var rules: SegmentRules { refresher.configuration.segmentRules }

    /// Takes a loaded row.
    /// - Parameter add: receives each row with its key.
    func take(_ row: LoadedRow, _ add: (LoadedRow, Int64) throws -> Void) throws {
        if hasKeys { return try give(row, add) }
        waiting.append(row)
        waitingBytes += row.attributes.utf8.count + row.key.text.utf8.count
        guard waiting.count >= rules.leastRows || waitingBytes >= Self.waitingBytes else { return }
        hasKeys = true
        // The texts of others contain the keys of their parents, and some of these may be new.
        if rules.isOn, comparison.object.references.isEmpty {
            base = BaseDraft(
                SegmentNeed(partition: comparison.partition.id, shape: comparison.object.shape), stateStore: refresher.stateStore,
                configuration: refresher.configuration)
        }
        for row in waiting { try give(row, add) }
        waiting = []
    }

    /// Takes the rows that wait for others.
    /// - Parameter add: receives each row with its place in the load.
    func takeRest(_ add: (LoadedRow, Int64) throws -> Void) throws {
        for (index, row) in waiting.enumerated() { try add(row, Int64(index + 1)) }
        waiting = []
        flush()
    }

    private func give(_ row: LoadedRow, _ add: (LoadedRow, Int64) throws -> Void) throws {
        let key = try nextKey()
        if base != nil {
            if pieceRows > 0 { piece.append(UInt8(ascii: ",")) }
            piece.append(UInt8(ascii: "["))
            piece += key.description.utf8
            piece.append(UInt8(ascii: ","))
            piece += row.attributes.utf8
            piece.append(UInt8(ascii: "]"))
            pieceRows += 1
            // Segments end between pieces.
            if piece.count >= min(Self.pieceBytes, rules.textBytes / 4) { flush() }
        }
        try add(row, key)
    }

    private func flush() {
        guard pieceRows > 0 else { return }
        base?.add(piece, count: pieceRows)
        piece.removeAll(keepingCapacity: true)
        pieceRows = 0
    }

    /// Takes a key. The blocks grow with the load, so that at most as many keys are left over as were used.
    private func nextKey() throws -> Int64 {
        guard let left = keys else {
            let count = min(max(taken, Self.keysAtLeast), Self.keysAtMost)
            let block = try refresher.stateStore.write(label: "keys of new rows", isolation: .locks) {
                try refresher.cache.takeKeys(count, in: $0)
            }
            taken += count
            keys = block.first < block.last ? block.first + 1...block.last : nil
            lastKey = block.last
            return block.first
        }
        keys = left.lowerBound < left.upperBound ? left.lowerBound + 1...left.upperBound : nil
        return left.lowerBound
    }

    /// Waits until the segments are stored.
    func finish() { base?.finish() }

    /// Makes the segments usable, in the write of the rows.
    func completeBase(_ version: Int64, rows: Int64, in connection: any StateConnection) throws {
        if rows >= rules.leastRows { try base?.complete(version, rows: rows, in: connection) }
    }

    /// Ends the load. Segments for a write that did not take place are removed.
    func end() { if !isWritten { base?.end() } }
}
