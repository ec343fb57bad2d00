import MobileStore

/// The state of the server's version of a pending row, as far as the device knows: column `_sv`.
enum ServerVersion: Int64, Sendable {
    /// The server has no such row, as far as the device knows.
    case absent = 0
    case present = 1
    /// An import reported that the server deleted the row.
    case deleted = 2
}

/// The bookkeeping of one row of an original-state table. Exactly the rows with their own pending change have one.
struct OriginalState: Equatable, Sendable {
    /// A copy of the row's marks; the only one for a pending delete, because the row itself is gone.
    var replay: ReplayState
    var server: ServerVersion
    /// Whether an import brought a version since the last submit.
    var isImported: Bool
    /// The row's counter while it was not pending; 0 for a row that was created here.
    var serverCounter: Int64
    /// The counter of the first change that was not submitted; for a row that waits for its answer, of the first one in its last submission.
    var firstChange: Int64
    /// The named operation; nil where a plain create, update or delete is pending.
    var operation: CalledOperation?
}

extension Transaction {
    /// Returns the marks of a row; nil when there is no row (a pending delete has removed it from the table).
    func replayState(of entity: EntityMetadata, _ key: Int64) throws -> ReplayState? {
        guard let row = try connection.first(entity.sql.selectState, [.integer(key)]) else { return nil }
        return try ReplayState(StoredRow(StateColumn.marks, row, of: entity.sql.table))
    }

    /// Returns the original state of a row; nil when the row has no pending change of its own.
    func originalState(of entity: EntityMetadata, _ key: Int64) throws -> OriginalState? {
        guard !entity.isLocal, let row = try connection.first(entity.sql.selectOriginal, [.integer(key)]) else { return nil }
        let state = StoredRow(StateColumn.original, row, of: entity.sql.originalTable)
        return OriginalState(
            replay: try ReplayState(state), server: try state.kind(.server), isImported: try state.flag(.isImported),
            serverCounter: try state.integer(.serverCounter), firstChange: try state.integer(.firstChange),
            operation: try calledOperation(of: entity, state))
    }

    private func calledOperation(of entity: EntityMetadata, _ state: StoredRow<StateColumn>) throws -> CalledOperation? {
        let name = try state.text(.operation)
        guard !name.isEmpty else { return nil }
        return CalledOperation(name: name, kind: try entity.operation(named: name).kind, parameters: try state.object(.parameters))
    }

    /// Writes the marks of a row to both tables, as far as they have the row.
    func setReplayState(_ replay: ReplayState, of entity: EntityMetadata, _ key: Int64) throws {
        let values = [.integer(key)] + replay.columns
        try connection.execute(entity.sql.setState, values)
        if !entity.isLocal { try connection.execute(entity.sql.setOriginalState, values) }
    }

    /// Writes the state of the server's version.
    func setServerVersion(
        _ server: ServerVersion, isImported: Bool, serverCounter: Int64, of entity: EntityMetadata, _ key: Int64
    ) throws {
        try connection.execute(
            "UPDATE \(entity.sql.originalTable) SET \"_sv\" = ?2, \"_im\" = ?3, \"_sc\" = ?4 WHERE \"_sk\" = ?1",
            [.integer(key), .integer(server.rawValue), .integer(isImported ? 1 : 0), .integer(serverCounter)])
    }

    /// Returns the stored attributes and references from one of the two tables; nil when there is no row.
    func content(_ table: String, of entity: EntityMetadata, _ key: Int64) throws -> [Value]? {
        guard !entity.sql.content.isEmpty else { return [] }
        return try connection.first(
            "SELECT \(entity.sql.content.joined(separator: ", ")) FROM \(table) WHERE \"_sk\" = ?1", [.integer(key)])
    }

    /// Notes the counter of the row's first change since its last submit.
    func setFirstChange(_ counter: Int64, of entity: EntityMetadata, _ key: Int64) throws {
        try connection.execute("UPDATE \(entity.sql.originalTable) SET \"_fc\" = ?2 WHERE \"_sk\" = ?1", [.integer(key), .integer(counter)])
    }

    /// Removes the original state of a row that no longer has a pending change of its own.
    func dropOriginalState(of entity: EntityMetadata, _ key: Int64) throws {
        try keepCounter()
        try connection.execute(entity.sql.deleteOriginal, [.integer(key)])
        try dropBasis(of: entity, key)
    }

    /// Returns the keys of rows with a pending change of their own, in order.
    func pendingKeys(of entity: EntityMetadata) throws -> [Int64] {
        guard !entity.isLocal else { return [] }
        return try connection.keys("SELECT \"_sk\" FROM \(entity.sql.originalTable) ORDER BY \"_sk\"")
    }
}

extension ReplayState {
    /// Creates the state of a row whose ``StateColumn/marks`` were read.
    init(_ row: StoredRow<StateColumn>) throws(StoreError) {
        self.init(
            change: try row.kind(.change), counter: try row.integer(.counter), submitted: try row.integer(.submitted),
            failed: try row.integer(.failed), accepted: try row.integer(.accepted))
    }

    /// The values of the columns `_pc`, `_rc`, `_rp`, `_rf`, `_ra`.
    var columns: [Value] { [Int64(change.rawValue), counter, submitted, failed, accepted].map { .integer($0) } }
}
