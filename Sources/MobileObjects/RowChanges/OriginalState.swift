import MobileStore

/// What the device knows about the server's version of a pending row: column `_sv`.
enum ServerVersion: Int64, Sendable {
    /// The server has no such row, as far as we know.
    case absent = 0
    case present = 1
    /// An import said that the server deleted the row.
    case deleted = 2
}

/// The bookkeeping of one row of an original-state table. There is one exactly for every row with a pending change of its own.
struct OriginalState: Equatable, Sendable {
    /// A copy of the row's marks; of a pending delete the only one, because the row itself is gone.
    var replay: ReplayState
    var server: ServerVersion
    /// An import brought a version since the last submit.
    var isImported: Bool
    /// The counter that the row had while it was not pending; 0 for a row that was created here.
    var serverCounter: Int64
    /// The counter of the first change that was not submitted; of a row that waits for its answer, of the first one in its last submission.
    var firstChange: Int64
    /// What was called by its name; nil where a plain create, update or delete is pending.
    var operation: CalledOperation?
}

extension Transaction {
    /// The marks of a row; nil when there is none (a pending delete has left the table).
    func replayState(of entity: EntityMetadata, _ key: Int64) throws -> ReplayState? {
        guard let row = try connection.first(entity.sql.selectState, [.integer(key)]) else { return nil }
        return try ReplayState(StoredRow(StateColumn.marks, row, of: entity.sql.table))
    }

    /// The original state of a row; nil when it has no pending change of its own.
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

    /// Writes the marks of a row into both tables; where a row is missing there is nothing to write.
    func setReplayState(_ replay: ReplayState, of entity: EntityMetadata, _ key: Int64) throws {
        let values = [.integer(key)] + replay.columns
        try connection.execute(entity.sql.setState, values)
        if !entity.isLocal { try connection.execute(entity.sql.setOriginalState, values) }
    }

    /// What the device knows about the server's version.
    func setServerVersion(
        _ server: ServerVersion, isImported: Bool, serverCounter: Int64, of entity: EntityMetadata, _ key: Int64
    ) throws {
        try connection.execute(
            "UPDATE \(entity.sql.originalTable) SET \"_sv\" = ?2, \"_im\" = ?3, \"_sc\" = ?4 WHERE \"_sk\" = ?1",
            [.integer(key), .integer(server.rawValue), .integer(isImported ? 1 : 0), .integer(serverCounter)])
    }

    /// Attributes and references as stored in one of the two tables; nil when there is no row.
    func content(_ table: String, of entity: EntityMetadata, _ key: Int64) throws -> [Value]? {
        guard !entity.sql.content.isEmpty else { return [] }
        return try connection.first(
            "SELECT \(entity.sql.content.joined(separator: ", ")) FROM \(table) WHERE \"_sk\" = ?1", [.integer(key)])
    }

    /// The row was changed under this counter for the first time since its last submit.
    func setFirstChange(_ counter: Int64, of entity: EntityMetadata, _ key: Int64) throws {
        try connection.execute("UPDATE \(entity.sql.originalTable) SET \"_fc\" = ?2 WHERE \"_sk\" = ?1", [.integer(key), .integer(counter)])
    }

    /// Removes the original state of a row, which has no pending change of its own any longer.
    func dropOriginalState(of entity: EntityMetadata, _ key: Int64) throws {
        try keepCounter()
        try connection.execute(entity.sql.deleteOriginal, [.integer(key)])
    }

    /// The keys of rows with a pending change of their own, in order.
    func pendingKeys(of entity: EntityMetadata) throws -> [Int64] {
        guard !entity.isLocal else { return [] }
        return try connection.keys("SELECT \"_sk\" FROM \(entity.sql.originalTable) ORDER BY \"_sk\"")
    }
}

extension ReplayState {
    /// Of a row whose ``StateColumn/marks`` were read.
    init(_ row: StoredRow<StateColumn>) throws(StoreError) {
        self.init(
            change: try row.kind(.change), counter: try row.integer(.counter), submitted: try row.integer(.submitted),
            failed: try row.integer(.failed), accepted: try row.integer(.accepted))
    }

    /// For the columns `_pc`, `_rc`, `_rp`, `_rf`, `_ra`.
    var columns: [Value] { [Int64(change.rawValue), counter, submitted, failed, accepted].map { .integer($0) } }
}
