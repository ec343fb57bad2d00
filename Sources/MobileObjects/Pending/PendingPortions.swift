import MobileStore

/// How far a submit or a cancel of many rows has come.
public struct PendingProgress: Sendable, Hashable {
    /// The number of pending rows that are done, in committed portions; from 0 to ``total``.
    public let done: Int
    /// The number of pending rows when the call began.
    public let total: Int
}

/// The submit or the cancel of all pending rows of some objects, in portions of ``rows`` rows, each in a transaction of its own.
///
/// **Between two portions the writer is free.** Why: the user continues to work, and the app to import, while 48,000 rows are submitted.
///
/// **A portion of a submit is whole trees, and the portions have the order of all trees.** It builds the forest of its trees again: another writer may
/// have changed them. If you break it: the back end gets half of an order as one transaction, or a row before one that it refers to.
///
/// **A change that began after the call is not cancelled.** If you break it: a row that was cancelled with its parent, and edited by the user since,
/// loses the new edit.
struct PendingPortions: Sendable {
    /// The number of rows after which a portion ends.
    static let rows = 1000

    enum Work: Sendable { case submit, cancelAll, cancelUnsubmitted }

    private struct Row: Sendable {
        let id: RowID
        /// The counter of the row's first change; a row that has another one was changed again.
        let firstChange: Int64
    }

    let work: Work
    private var portions: [[Row]] = []
    /// The number of pending rows in each portion.
    private var sizes: [Int] = []
    private var position = 0
    private(set) var progress: PendingProgress

    /// Plans the portions, on any connection: nothing is written.
    init(_ work: Work, of entities: [EntityMetadata], in transaction: Transaction, isWhole: Bool = false) throws {
        self.work = work
        var rows: [Row] = []
        for entity in entities where !entity.isLocal {
            for values in try transaction.connection.rows("SELECT \"_sk\", \"_fc\" FROM \(entity.sql.originalTable) ORDER BY \"_sk\"") {
                rows.append(Row(id: RowID(entity: entity.index, key: values[0].integer ?? 0), firstChange: values[1].integer ?? 0))
            }
        }
        progress = PendingProgress(done: 0, total: rows.count)
        if isWhole || rows.count <= Self.rows {
            (portions, sizes) = ([rows], [rows.count])
        } else if work == .submit {
            try splitTrees(of: rows, transaction)
        } else {
            for start in stride(from: 0, to: rows.count, by: Self.rows) {
                portions.append(Array(rows[start..<min(start + Self.rows, rows.count)]))
            }
            sizes = portions.map(\.count)
        }
    }

    private mutating func splitTrees(of rows: [Row], _ transaction: Transaction) throws {
        let forest = try transaction.submissionForest(of: rows.map(\.id))
        var portion: [Row] = [], size = 0
        for root in forest.trees {
            portion.append(Row(id: root, firstChange: 0))
            size += forest.changedRows(ofTree: root)
            guard size >= Self.rows else { continue }
            portions.append(portion)
            sizes.append(size)
            (portion, size) = ([], 0)
        }
        if !portion.isEmpty {
            portions.append(portion)
            sizes.append(size)
        }
        // Rows that are submitted already, and wait for their answers, have nothing to submit.
        progress = PendingProgress(done: 0, total: sizes.reduce(0, +))
    }

    var isDone: Bool { position == portions.count }

    /// Performs the next portion.
    func performNext(in transaction: Transaction) throws {
        let rows = portions[position]
        if work == .submit {
            _ = try transaction.submit(rows.map(\.id))
            return
        }
        var touched = TouchedParents()
        let next = portions[(position + 1)...]
        transaction.expectCancel { row in next.contains { $0.contains { $0.id == row } } }
        for row in rows {
            let entity = transaction.metadata.storedEntities[row.id.entity]
            // A row may have been cancelled with its parent already.
            guard try transaction.originalState(of: entity, row.id.key)?.firstChange == row.firstChange else { continue }
            if work == .cancelAll {
                try transaction.cancelTree(of: entity, row.id.key, &touched)
            } else {
                try transaction.cancelUnsubmitted(row.id, &touched)
            }
        }
        try transaction.updateMarks(of: touched.rows)
    }

    /// Moves to the next portion after the commit of this one.
    mutating func advance() {
        progress = PendingProgress(done: progress.done + sizes[position], total: progress.total)
        position += 1
    }

    /// Returns the error for a task that was cancelled.
    func cancelled(_ cause: any Error = CancellationError()) -> ObjectError {
        ObjectError(
            .cancelled,
            "\(label): the task was cancelled after \(progress.done) of \(progress.total) rows, which stay done; call it again for the others",
            cause: cause)
    }

    var label: String { work == .submit ? "submit pending operations" : "cancel pending operations" }
    var measured: IntervalType { work == .submit ? .submitPending : .cancelPending }
}

extension PackageDatabase {
    /// Submits or cancels all pending rows of these objects. In a running transaction of this thread it is part of that one, and one portion.
    final func perform(_ work: PendingPortions.Work, _ entities: [EntityMetadata], _ onProgress: ((PendingProgress) -> Void)?) throws {
        guard TransactionScope.transaction(of: self) == nil else {
            return try write("pending operations", measured: work == .submit ? .submitPending : .cancelPending) { transaction in
                try PendingPortions(work, of: entities, in: transaction, isWhole: true).performNext(in: transaction)
            }
        }
        var portions = try ObjectError.gate {
            try openStore().read { try PendingPortions(work, of: entities, in: Transaction($0, of: self)) }
        }
        while !portions.isDone {
            if Task.isCancelled { throw portions.cancelled() }
            try write(portions.label, measured: portions.measured) { try portions.performNext(in: $0) }
            portions.advance()
            onProgress?(portions.progress)
        }
    }

    /// Does the same without blocking a cooperative thread.
    final func perform(
        _ work: PendingPortions.Work, _ entities: [EntityMetadata], _ onProgress: (@Sendable (PendingProgress) -> Void)?
    ) async throws {
        var portions: PendingPortions
        do {
            portions = try await openStore().read { try PendingPortions(work, of: entities, in: Transaction($0, of: self)) }
        } catch let error as StoreError { throw failure(error) }
        while !portions.isDone {
            if Task.isCancelled { throw portions.cancelled() }
            let next = portions
            do {
                try await write(portions.label, measured: portions.measured) { try next.performNext(in: $0) }
            } catch let error as CancellationError { throw portions.cancelled(error) }
            portions.advance()
            onProgress?(portions.progress)
        }
    }
}
