internal import MobileCrypto
internal import MobileStore

/// A version of a partition, with the era that it was made in. A version alone says nothing in a store that was restored.
struct PartitionPosition: Sendable, Hashable {
    let version: Int64
    /// The name of the era; empty for versions of a release without eras.
    let era: String
}

/// The progress of a partition, from its row.
struct PartitionState: Sendable, Hashable {
    /// The position of the last change.
    let position: PartitionPosition
    /// Whether the rows were loaded at least once.
    let isLoaded: Bool
    /// Deletions up to this version may have been removed.
    let horizon: Int64

    var version: Int64 { position.version }
}

extension Partition {
    private static let stateColumns: [PartitionColumn] = [.version, .era, .isLoaded, .horizon]

    /// Returns the progress of the partition.
    /// - Parameter lock: the dialect's, for a transaction that changes the partition.
    func state(lock: String = "", in connection: any StateConnection) throws -> PartitionState {
        guard let row = try connection.storedRow(Self.stateColumns, "WHERE id = ?1" + lock, [.integer(id)]) else {
            throw StoreError(.corrupt, "table _partition: row \(id) is gone")
        }
        return try Self.state(row)
    }

    static func state(_ row: StoredRow<PartitionColumn>) throws -> PartitionState {
        PartitionState(
            position: PartitionPosition(version: try row.integer(.version), era: try row.text(.era)), isLoaded: try row.flag(.isLoaded),
            horizon: try row.integer(.horizon))
    }

    /// Stores the version of a change that this transaction has made.
    /// - Parameter state: the progress before it.
    func advance(to version: Int64, from state: PartitionState, eras: Eras, in connection: any StateConnection) throws {
        let era = try eras.current(in: connection)
        try connection.execute(
            "UPDATE _partition SET version = ?2, is_loaded = 1, era = ?3 WHERE id = ?1", [.integer(id), .integer(version), .text(era)])
        guard state.position.era != era else { return }
        let known = state.version > 0 && state.position.era.isEmpty ? [(state.position.era, Int64(1))] : []
        for (name, first) in known + [(era, version)] {
            try connection.execute(
                "INSERT INTO _partition_era (partition, era, first) VALUES (?1, ?2, ?3) ON CONFLICT (partition, era) DO NOTHING",
                [.integer(id), .text(name), .integer(first)])
        }
    }

    /// Whether the store has every change of the partition up to a position, and every deletion after it. A position of another life of the store, of
    /// a later one than this store was restored from, or of a partition that was removed meanwhile does not hold.
    func holds(_ position: PartitionPosition, _ state: PartitionState, in connection: any StateConnection) throws -> Bool {
        guard position.version >= state.horizon else { return false }
        if position.era == state.position.era { return position.version <= state.version }
        // The era has ended, because the partition has versions of a later one.
        let next = try connection.optionalNumber(
            """
            SELECT min(n.first) FROM _partition_era AS o JOIN _partition_era AS n ON n.partition = o.partition AND n.first > o.first
            WHERE o.partition = ?1 AND o.era = ?2
            """, [.integer(id), .text(position.era)])
        return next.map { position.version < $0 } ?? false
    }
}

extension PartitionParameters {
    /// Returns the name of a partition in tokens, which is the same in every life of a store.
    /// - Parameter parameters: the values as JSON.
    static func digest(object: String, parameters: String) throws -> String {
        try SHA256.digest(of: "\(object)\n\(parameters)").prefix(16).hexadecimal
    }
}
