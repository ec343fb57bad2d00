import MobileStore

/// The trees of pending rows that are submitted together, and their order.
///
/// **Trees are ordered by the time of their first unsubmitted change, rows of a tree by the walk over the tree; but nothing goes before the rows that
/// it needs.** Why: the back end does one operation after the other. It refuses or loses a reference to a row that it does not have yet, or does not
/// have any more. Rows that must go first:
/// - a row that was created here and is not submitted, before every row that refers to it;
/// - a row that no longer refers to a row that is deleted here, or is deleted itself, before that delete. It referred to it in the server's version, or in
///   a submission that waits: the back end has done that one by then;
/// - a row that has released its partner in a one-to-one relationship, before the row that has the partner now;
/// - a row that has given up its modelled key, by its delete or otherwise, before the row that has the key now. A row that referred to the one and refers to
///   the other goes last: for the back end it refers to the same key.
///
/// Such rows are submitted along (``LeavingRows``).
///
/// Between rows of two trees this is an order of the trees, because a tree is one transaction of the back end. Between rows of one tree it is an
/// order of two children of one row, in whose subtrees they are.
///
/// **Rows that need each other cannot all come second.** In a cycle, the row from which the others are reached first, by time, goes last: its own
/// references are known to the back end then, and the one that closes the cycle is not: it follows with an update, if it may be NULL (`PendingSubmission`).
struct SubmissionForest {
    /// A row that is pending, or has pending children.
    struct Node {
        let parent: RowID?
        var children: [RowID] = []
        /// The counter of the first change that was not submitted; nil where there is nothing to submit.
        let firstChange: Int64?
        let isDelete: Bool
    }

    fileprivate(set) var nodes: [RowID: Node] = [:]
    fileprivate var roots: [(row: RowID, firstChange: Int64)] = []
    /// By row: its siblings, or other roots, that go before it.
    private var earlier: [RowID: [RowID]] = [:]

    /// The trees in their order, by their topmost rows.
    var trees: [RowID] { ordered(roots.sorted { $0.firstChange < $1.firstChange }.map(\.row)) }

    /// Returns the number of rows of a tree that have something to submit.
    func changedRows(ofTree root: RowID) -> Int {
        var count = 0, waiting = [root], seen: Set<RowID> = []
        while let row = waiting.popLast() {
            guard seen.insert(row).inserted, let node = nodes[row] else { continue }
            if node.firstChange != nil { count += 1 }
            waiting += node.children
        }
        return count
    }

    /// Returns the children of a row in their order: from first to last, unless a reference requires another order.
    func children(of row: RowID) -> [RowID] { ordered(nodes[row]?.children ?? []) }

    /// Requires that `first` goes before `second`.
    fileprivate mutating func order(_ first: RowID, before second: RowID) {
        let ways = (way(to: first), way(to: second))
        guard let fork = zip(ways.0, ways.1).first(where: { $0 != $1 }) else { return }
        earlier[fork.1, default: []].append(fork.0)
    }

    /// Returns the rows from the root of its tree down to a row.
    private func way(to row: RowID) -> [RowID] {
        var way = [row]
        while let parent = nodes[way[way.count - 1]]?.parent { way.append(parent) }
        return way.reversed()
    }

    /// Returns the same rows, each after the rows that go before it. Walks along `earlier` without recursion: a chain may be as long as the number of
    /// rows.
    private func ordered(_ rows: [RowID]) -> [RowID] {
        guard rows.count > 1, rows.contains(where: { earlier[$0] != nil }) else { return rows }
        let places = Dictionary(uniqueKeysWithValues: rows.enumerated().map { ($0.element, $0.offset) })
        var result: [RowID] = [], entered: Set<RowID> = [], left: Set<RowID> = []
        for row in rows {
            var way = [row]
            while let last = way.last {
                if entered.insert(last).inserted {
                    let needed = (earlier[last] ?? []).filter { !entered.contains($0) && places[$0] != nil }
                    way += needed.sorted { places[$0] ?? 0 > places[$1] ?? 0 }
                } else {
                    way.removeLast()
                    if left.insert(last).inserted { result.append(last) }
                }
            }
        }
        return result
    }
}

extension Transaction {
    /// Returns the trees that these rows belong to, from their topmost composite parents on, and those of rows that must go first: without rows created here
    /// the server could not resolve the references to them, and a row that was left, or a key that was given up, is not free before.
    func submissionForest(of rows: [RowID]) throws -> SubmissionForest {
        var forest = SubmissionForest(), waiting = Array(rows.reversed()), leaving = LeavingRows()
        while let row = waiting.popLast() {
            guard forest.nodes[row] == nil else { continue }
            for row in try addTree(of: try root(of: row), to: &forest) {
                waiting += try rowsNeeded(by: row, forest, &leaving).filter { forest.nodes[$0] == nil }
            }
        }
        try orderRows(of: &forest)
        return forest
    }

    private func rowsNeeded(by row: RowID, _ forest: SubmissionForest, _ leaving: inout LeavingRows) throws -> [RowID] {
        guard forest.nodes[row]?.isDelete == false else { return try rowsThatLeft(row, &leaving) }
        var needed = try rowsThatGaveUpKey(of: row)
        for reference in try references(of: row, in: metadata.storedEntities[row.entity].sql.table) {
            if try forest.nodes[reference.target] == nil && isUnsubmittedCreate(reference.target) { needed.append(reference.target) }
            if isOneToOne(reference) { needed += try rowsThatLeft(reference.target, by: reference, &leaving) }
        }
        return needed
    }

    /// Returns the topmost composite parent that exists.
    private func root(of row: RowID) throws -> RowID {
        var root = row, seen: Set<RowID> = [row]
        while let owner = try owners(of: metadata.storedEntities[root.entity], root.key).first(where: { !seen.contains($0) }), try exists(owner) {
            seen.insert(owner)
            root = owner
        }
        return root
    }

    private func exists(_ row: RowID) throws -> Bool {
        let entity = metadata.storedEntities[row.entity]
        if try replayState(of: entity, row.key) != nil { return true }
        return try originalState(of: entity, row.key) != nil
    }

    /// Adds a tree.
    /// - Returns: its rows that have something to submit.
    private func addTree(of root: RowID, to forest: inout SubmissionForest) throws -> [RowID] {
        var waiting: [(row: RowID, parent: RowID?)] = [(root, nil)], changed: [RowID] = [], first = Int64.max
        while let (row, parent) = waiting.popLast() {
            guard forest.nodes[row] == nil else { continue }
            let entity = metadata.storedEntities[row.entity]
            let original = try originalState(of: entity, row.key), children = try children(of: entity, row.key, .pending)
            let change = original.flatMap { $0.replay.needsSubmit ? $0.firstChange : nil }
            let isDelete = original?.replay.change == .delete
            forest.nodes[row] = .init(parent: parent, children: children, firstChange: change, isDelete: isDelete)
            waiting += children.map { ($0, row) }
            guard let change else { continue }
            first = min(first, change)
            changed.append(row)
        }
        if first < .max { forest.roots.append((root, first)) }
        return changed
    }

    func isUnsubmittedCreate(_ row: RowID) throws -> Bool {
        let entity = metadata.entities[row.entity]
        guard let original = try originalState(of: entity, row.key), original.replay.change == .create, original.replay.needsSubmit,
            original.server == .absent
        else { return false }
        return try !hasUnansweredCreate(entity, row.key)
    }
}

// MARK: References

/// A row that another one refers to.
struct RowReference: Hashable {
    /// The object that refers, and the position of its relationship.
    let entity: Int
    let relationship: Int
    let target: RowID
}

extension Transaction {
    private func orderRows(of forest: inout SubmissionForest) throws {
        var released: [RowReference: [RowID]] = [:], taken: [(reference: RowReference, row: RowID)] = [], successors: [RowID: RowID] = [:]
        for (row, node) in forest.nodes where node.firstChange != nil && !node.isDelete {
            for former in try rowsThatGaveUpKey(of: row) where forest.nodes[former] != nil {
                forest.order(former, before: row)
                successors[former] = row
            }
        }
        for (row, node) in forest.nodes where node.firstChange != nil {
            let entity = metadata.storedEntities[row.entity]
            guard entity.referenceCount > 0 else { continue }
            let now = node.isDelete ? [] : try references(of: row, in: entity.sql.table)
            for reference in now where try forest.nodes[reference.target] != nil && isUnsubmittedCreate(reference.target) {
                forest.order(reference.target, before: row)
            }
            for reference in try formerReferences(of: row) where !now.contains(reference) {
                let successor = successors[reference.target].map {
                    RowReference(entity: row.entity, relationship: reference.relationship, target: $0)
                }
                if let target = forest.nodes[reference.target], target.isDelete, target.firstChange != nil, successor.map(now.contains) != true {
                    forest.order(row, before: reference.target)
                }
                if isOneToOne(reference) { released[reference, default: []].append(row) }
            }
            taken += now.filter(isOneToOne).map { ($0, row) }
        }
        for (reference, row) in taken {
            for former in released[reference] ?? [] where former != row { forest.order(former, before: row) }
        }
    }

    func isOneToOne(_ reference: RowReference) -> Bool {
        metadata.entities[reference.entity].relationships[reference.relationship].isOneToOne
    }

    /// Returns the rows that a row refers to, in one of its two tables.
    func references(of row: RowID, in table: String) throws -> [RowReference] {
        let entity = metadata.storedEntities[row.entity]
        guard entity.referenceCount > 0 else { return [] }
        let columns = entity.sql.referenceColumns.joined(separator: ", ")
        let values = try connection.first("SELECT \(columns) FROM \(table) WHERE \"_sk\" = ?1", [.integer(row.key)]) ?? []
        return zip(entity.references, values).compactMap { relationship, value in
            guard let key = value.integer else { return nil }
            let target = RowID(entity: entity.relationships[relationship].targetIndex, key: key)
            return target == row ? nil : RowReference(entity: row.entity, relationship: relationship, target: target)
        }
    }
}
