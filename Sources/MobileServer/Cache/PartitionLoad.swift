internal import MobileModel
internal import MobileStore

/// A comparison of one partition with its back end: what it began with, and the rows to compare.
struct PartitionComparison {
    let object: ObjectPlan
    let partition: Partition
    /// The progress of the partition before the read of the back end began. The changes are written only if it is still the same.
    let state: PartitionState
    /// The changed keys; nil if all rows are compared.
    let keys: [RowKey]?
    /// The mark of the back end up to which the partition has all changes afterwards, in the form of its row, see ``RefreshMark``.
    private(set) var mark: String?
    /// The mark as the back end gave it.
    private(set) var markContent: String?
    /// The time in milliseconds since 1970.
    let now: Int64
    /// Whether the mark is made by a load of all rows.
    private(set) var awaitsMark = false
    /// Rows that an earlier look at the back end has found, by their keys; see ``RowsToHold``.
    var held: [KeyText: UnfitRow] = [:]

    /// The load of the rows from a read of the back end.
    func load(from source: any BackEndSnapshot) -> BackEndLoad {
        BackEndLoad(object: object, parameters: partition.parameters, source: source, held: held)
    }

    init(object: ObjectPlan, partition: Partition, state: PartitionState, keys: [RowKey]?, mark: String?, markContent: String?, now: Int64) {
        (self.object, self.partition, self.state, self.keys) = (object, partition, state, keys)
        (self.mark, self.markContent, self.now) = (mark, markContent, now)
    }

    /// A comparison of all rows whose load makes the mark.
    init(awaitingMarkOf object: ObjectPlan, _ partition: Partition, _ state: PartitionState, now: Int64) {
        self.init(object: object, partition: partition, state: state, keys: nil, mark: nil, markContent: nil, now: now)
        awaitsMark = true
    }

    /// Returns the comparison with the mark of its rows.
    /// - Parameter content: the mark as the back end gave it.
    func marked(_ content: String?) throws -> PartitionComparison {
        var comparison = self
        comparison.mark = try content.map { try RefreshMark(object).text(of: $0) }
        (comparison.markContent, comparison.awaitsMark) = (content, false)
        return comparison
    }
}

/// The rows and large values of a comparison in memory, read before the transaction that compares them.
struct PartitionLoad {
    let comparison: PartitionComparison
    private(set) var rows: [LoadedRow] = []
    /// The digests of large values, in the form of their staged table.
    private(set) var digests: [[Value]] = []
    /// The rows that are held back.
    private(set) var unfit = UnfitRows()
    /// Their keys, of those that have one.
    private(set) var heldKeys: [KeyText] = []

    /// The comparison has too many rows for the memory.
    struct TooLarge: Error { let partition: Int64 }

    /// Reads the rows.
    /// - Throws: ``TooLarge``; ``RowsToHold``.
    init(_ comparison: PartitionComparison, _ rules: RefreshRules, backEnd: any BackEnd, _ source: any BackEndSnapshot) throws {
        self.comparison = comparison
        let load = comparison.load(from: source)
        var bytes = 0
        func count(_ length: Int) throws {
            bytes += length
            guard rows.count + heldKeys.count <= rules.rowsInMemory, bytes <= rules.bytesInMemory else {
                throw TooLarge(partition: comparison.partition.id)
            }
        }
        try load.forEachRow(comparison.keys) { row in
            unfit.add(row)
            if let key = row.key { heldKeys.append(key) }
            try count(row.key?.text.utf8.count ?? 0)
        } _: { row in
            rows.append(row)
            try count(row.key.text.utf8.count + row.attributes.utf8.count)
        }
        var keys = Set<KeyText>(minimumCapacity: rows.count)
        let doubled = rows.lazy.map(\.key).filter { !keys.insert($0).inserted }.map { ($0, UnfitRow(doubled: $0, comparison.object)) }
        let found = Dictionary(doubled) { first, _ in first }
        guard found.isEmpty else { throw RowsToHold(partition: comparison.partition.id, rows: found, failure: comparison.object.keyTwice().failure) }
        try LargeValueLoad(load: load, backEnd: backEnd, partition: comparison.partition.id).forEach(comparison.keys) { digests.append($0) }
    }
}
