internal import MobileCrypto
internal import MobileStore

/// A version of a partition, with the era that it was made in. A version alone says nothing in a store that was restored.
struct PartitionPosition: Sendable, Hashable {
    let version: Int64
    /// The name of the era; empty for versions of a release without eras.
    let era: String

    /// Whether this position is known to be later than another one. Versions of two eras cannot be compared.
    func isLater(than other: PartitionPosition) -> Bool { era == other.era && version > other.version }
}

/// The progress of a partition, from its row.
struct PartitionState: Sendable, Hashable {
    /// The partition's row in `_partition`.
    let partition: Int64
    /// The position of the last change.
    let position: PartitionPosition
    /// Whether the rows were loaded at least once.
    let isLoaded: Bool
    /// See ``RefreshMark``; nil if the back end gave none.
    let mark: String?
    /// The time of the last comparison of all rows, in milliseconds since 1970.
    let compared: Int64

    var version: Int64 { position.version }

    /// The columns that it is read from.
    static let columns: [PartitionColumn] = [.id, .version, .era, .isLoaded, .mark, .compared]

    init(_ row: StoredRow<PartitionColumn>) throws {
        partition = try row.integer(.id)
        position = PartitionPosition(version: try row.integer(.version), era: try row.text(.era))
        isLoaded = try row.flag(.isLoaded)
        mark = try row.optionalText(.mark)
        compared = try row.integer(.compared)
    }

    /// Whether all rows are to be compared although the back end knows the changed ones.
    func isComparisonDue(_ now: Int64, _ interval: Duration) -> Bool { nextComparison(interval).map { now >= $0 } ?? true }

    /// The time of the next comparison; nil where each load is one.
    func nextComparison(_ interval: Duration) -> Int64? { mark == nil ? nil : compared + interval.components.seconds * 1000 }

    /// Reads the progress of a partition; nil if there is no such partition.
    /// - Parameter lock: the dialect's, for a transaction that changes the partition.
    static func find(_ partition: Int64, lock: String = "", in connection: any StateConnection) throws -> PartitionState? {
        try connection.storedRow(columns, "WHERE id = ?1" + lock, [.integer(partition)]).map(PartitionState.init)
    }

    /// Whether the store has every change of the partition up to a position. A position of another life of the store, of a later one than this store was
    /// restored from, or of a partition that was removed meanwhile does not hold.
    func holds(_ position: PartitionPosition, in connection: any StateConnection) throws -> Bool {
        if position.era == self.position.era { return position.version <= version }
        // The era has ended, because the partition has versions of a later one.
        let next = try connection.optionalNumber(
            """
            SELECT min(n.first) FROM _partition_era AS o JOIN _partition_era AS n ON n.partition = o.partition AND n.first > o.first
            WHERE o.partition = ?1 AND o.era = ?2
            """, [.integer(partition), .text(position.era)])
        return next.map { position.version < $0 } ?? false
    }
}

extension Partition {
    /// Returns the progress of the partition.
    /// - Throws: ``RequestFailure`` if the row is gone or that of another partition now, because the store was restored since it was found.
    /// - Parameter lock: the dialect's, for a transaction that changes the partition.
    func state(lock: String = "", in connection: any StateConnection) throws -> PartitionState {
        let row = try connection.storedRow(PartitionState.columns + [.digest], "WHERE id = ?1" + lock, [.integer(id)])
        // A process of an earlier release gives a new partition no name.
        guard let row, try row.optionalText(.digest) ?? digest == digest else {
            throw RequestFailure(.unavailable, "the server's state was restored during the request; try again")
        }
        return try PartitionState(row)
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
}

extension Partition {
    /// Returns the keys of the cached rows for which a condition holds.
    func keys(of object: ObjectPlan, _ cache: PackageCache, where holds: (RowKey) -> Bool, in connection: any StateConnection) throws -> [RowKey] {
        var keys: [RowKey] = []
        try connection.forEachRow(
            """
            SELECT CAST(m.k AS TEXT) FROM _row AS r \(connection.dialect.outerJoin) _key AS m ON m.object = ?2 AND m.sk = r.sk
            WHERE r.partition = ?1 AND r.deleted = 0
            """, [.integer(id), .integer(cache.keySpace(of: object))]
        ) { row in
            guard let key = row.value(0).text.flatMap({ KeyText(text: $0).value }).flatMap({ RowKey($0, of: object) }) else { return }
            if holds(key) { keys.append(key) }
        }
        return keys
    }
}

extension PartitionParameters {
    /// Returns the name of a partition in tokens, which is the same in every life of a store.
    /// - Parameter parameters: the values as JSON.
    static func digest(object: String, parameters: String) throws -> String {
        try SHA256.digest(of: "\(object)\n\(parameters)").prefix(16).hexadecimal
    }
}
