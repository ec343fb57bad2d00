import MobileStore

/// The values of a row that were changed here, by position (attributes, then references).
///
/// Column `_ch` of the original-state table has those that were changed **since the row was last submitted**. A submission moves the list
/// to its record in the outbox, and a new list begins. An acceptance ends the moved list, a rejection brings it back.
///
/// **An update sends only the values in the list.** Why: the server then keeps the values that another device has written
/// or the back end has computed meanwhile. An unchanged or already accepted value must not overwrite them.
enum ChangedValues: Equatable, Sendable {
    /// The values of a create.
    case all
    case only(Set<Int>)

    static let nothing = ChangedValues.only([])

    /// Reads the stored form: positions joined by commas; `*` for all. Nil for another text.
    init?(stored text: String) {
        guard text != "*" else {
            self = .all
            return
        }
        let parts = text.split(separator: ","), positions = parts.compactMap { Int($0) }
        guard positions.count == parts.count, positions.allSatisfy({ $0 >= 0 }) else { return nil }
        self = .only(Set(positions))
    }

    var stored: Value {
        switch self {
        case .all: .text("*")
        case .only(let positions): .text(positions.sorted().map(String.init).joined(separator: ","))
        }
    }

    var isEmpty: Bool { self == .nothing }

    func contains(_ position: Int) -> Bool {
        switch self {
        case .all: true
        case .only(let positions): positions.contains(position)
        }
    }

    func union(_ other: ChangedValues) -> ChangedValues {
        guard case .only(let left) = self, case .only(let right) = other else { return .all }
        return .only(left.union(right))
    }

    /// - Parameter count: the number of values in the row.
    func subtracting(_ other: ChangedValues, of count: Int) -> ChangedValues {
        switch (self, other) {
        case (_, .all): .nothing
        case (_, .only(let right)) where right.isEmpty: self
        case (_, .only(let right)): .only(positions(of: count).subtracting(right))
        }
    }

    /// Returns the positions themselves, in a row with `count` values.
    func positions(of count: Int) -> Set<Int> {
        switch self {
        case .all: Set(0..<count)
        case .only(let positions): positions
        }
    }
}

extension StoredRow {
    /// Returns the list of changed values in a column.
    func changedValues(_ column: Column) throws -> ChangedValues {
        let text = try text(column)
        guard let changed = ChangedValues(stored: text) else { throw damaged(column, .text(text), "a list of positions") }
        return changed
    }
}

/// A submission that waits for its answer, with its list of changed values.
struct UnansweredSubmission {
    let id: Int64
    let changed: ChangedValues
}

extension Transaction {
    /// Adds to the values that were changed in a pending row since it was last submitted.
    func noteChanged(_ changed: ChangedValues, of entity: EntityMetadata, _ key: Int64) throws {
        let known = try changedValues(of: entity, key), all = known.union(changed)
        guard all != known else { return }
        try connection.execute("UPDATE \(entity.sql.originalTable) SET \"_ch\" = ?2 WHERE \"_sk\" = ?1", [.integer(key), all.stored])
    }

    /// Returns the values that were changed in a pending row since it was last submitted.
    func changedValues(of entity: EntityMetadata, _ key: Int64) throws -> ChangedValues {
        let row = try connection.first("SELECT \"_ch\" FROM \(entity.sql.originalTable) WHERE \"_sk\" = ?1", [.integer(key)])
        return try row.map { try StoredRow([StateColumn.changed], $0, of: entity.sql.originalTable).changedValues(.changed) } ?? .nothing
    }

    /// Returns the other submissions of a row that have changes and no answer yet, in their order.
    func unanswered(of entity: EntityMetadata, _ key: Int64, besides id: Int64) throws -> [UnansweredSubmission] {
        try connection.storedRows(
            [OutboxColumn.id, .changed], "WHERE \"entity\" = ?1 AND \"sk\" = ?2 AND \"id\" <> ?3 AND \"changed\" <> '' ORDER BY \"id\"",
            [.text(entity.name), .integer(key), .integer(id)]
        ).map { UnansweredSubmission(id: try $0.integer(.id), changed: try $0.changedValues(.changed)) }
    }

    /// Makes the values of a submission pending again, except those that later submissions have.
    func takeBack(_ submission: UnansweredSubmission, _ others: [UnansweredSubmission], of entity: EntityMetadata, _ key: Int64) throws {
        let back = others.lazy.filter { $0.id > submission.id }.reduce(submission.changed) { back, later in
            back.subtracting(later.changed, of: entity.sql.content.count)
        }
        try noteChanged(back, of: entity, key)
    }

    /// Removes the changed values from a row's unanswered submissions. Their answers no longer affect the row.
    func letGoOfSubmissions(of entity: EntityMetadata, _ key: Int64) throws {
        try connection.execute(
            "UPDATE \"_outbox\" SET \"changed\" = '' WHERE \"entity\" = ?1 AND \"sk\" = ?2 AND \"changed\" <> ''",
            [.text(entity.name), .integer(key)])
    }
}
