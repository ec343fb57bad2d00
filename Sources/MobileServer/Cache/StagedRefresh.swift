internal import MobileModel
internal import MobileStore

/// A refresh of one partition with many rows, on a connection of its own. The write at its end is as long as the differences:
///
///     back end --slow--> _load                               no lock, no snapshot of the state
///     _load, rows of the partition --> _difference, _missing   one snapshot of the state
///     _difference, _missing --> rows of the partition          the write
///
/// The partition may have changed in between, or rows may have got other keys: ``write(in:)`` is only called when they have not.
struct StagedRefresh {
    let comparison: PartitionComparison
    let package: DeployedPackage
    let cache: PackageCache
    let staging: any StagingConnection
    /// The number of loaded rows; those to write, if all of them are new.
    private var rows: Int64 = 0
    private var newRows: Int64?
    /// The rows that are held back; the keys of all of them are in `_held`.
    private var unfit = UnfitRows()

    init(_ comparison: PartitionComparison, package: DeployedPackage, cache: PackageCache, staging: any StagingConnection) {
        (self.comparison, self.package, self.cache, self.staging) = (comparison, package, cache, staging)
    }

    /// Loads the rows and large values. The state is not read.
    /// - Parameter check: is called with each row; throws to end the load.
    mutating func load(backEnd: any BackEnd, _ source: any BackEndSnapshot, check: () throws -> Void) throws {
        let load = comparison.load(from: source)
        (rows, unfit) = try staging.prepare { connection in
            let refresh = refresh(connection)
            var rows: Int64 = 0, unfit = UnfitRows()
            try connection.stage("_load", refresh.columns) { add in
                try load.forEachRow(comparison.keys) { row in
                    try check()
                    unfit.add(row)
                    if let key = row.key { try add(refresh.values(ofHeld: key)) }
                } _: { row in
                    try check()
                    rows += 1
                    try add(refresh.values(of: row, number: rows))
                }
            }
            try connection.stage("_held", PartitionRefresh.heldColumns) { _ in }
            if !unfit.isEmpty { try refresh.moveHeld() }
            if let keys = comparison.keys {
                try refresh.stage(keys: keys)
                if !unfit.isEmpty { try connection.execute("DELETE FROM _changed WHERE k IN (SELECT k FROM _held)") }
            }
            if !comparison.object.largeAttributes.isEmpty {
                try connection.stage("_digest", LargeValueLoad.columns(connection.dialect)) { add in
                    try LargeValueLoad(load: load, backEnd: backEnd, partition: comparison.partition.id).forEach(comparison.keys) { digest in
                        try check()
                        try add(digest)
                    }
                }
            }
            return (rows, unfit)
        }
    }

    /// Finds what differs from the state.
    mutating func compare() throws {
        newRows = try staging.prepare { connection in
            let refresh = refresh(connection)
            if !comparison.object.largeAttributes.isEmpty { try refresh.onceEach { try refresh.largeValues.compare() } }
            if try comparison.keys == nil && refresh.isEmpty { return rows }
            try refresh.compare(rows: rows)
            return nil
        }
    }

    /// Returns the rows with one key, after ``KeyTwice``; nil if there are none.
    func doubledRows() throws -> RowsToHold? {
        let keys = try staging.prepare { connection in
            try connection.rows("SELECT k FROM _load GROUP BY k HAVING count(*) > 1 LIMIT \(RowsToHold.limit)", []).compactMap { $0[0].text }
        }
        guard !keys.isEmpty else { return nil }
        let rows = keys.map { KeyText(text: $0) }.map { ($0, UnfitRow(doubled: $0, comparison.object)) }
        return RowsToHold(
            partition: comparison.partition.id, rows: Dictionary(rows) { first, _ in first }, failure: comparison.object.keyTwice().failure)
    }

    /// Writes the differences.
    func write(in connection: any StateConnection) throws -> PartitionRefresh.Written {
        var refresh = refresh(connection)
        if newRows == nil { refresh.table = "_difference" }
        return try refresh.takeDifferences(newRows: newRows, unfit: unfit)
    }

    private func refresh(_ connection: any StateConnection) -> PartitionRefresh {
        PartitionRefresh(comparison: comparison, package: package, cache: cache, connection: connection)
    }
}

extension PartitionRefresh {
    /// Whether the partition has no rows at all.
    fileprivate var isEmpty: Bool {
        get throws { try !connection.exists("SELECT 1 FROM _row WHERE partition = ?1 LIMIT 1", [.integer(partition.id)]) }
    }

    /// Collects the rows to write in `_difference`, with those whose own key or a parent's is new, and the rows that are gone in `_missing`.
    fileprivate func compare(rows: Int64) throws {
        try connection.stage("_difference", columns + [("live", "BIGINT")]) { _ in }
        try connection.stage("_missing", [("sk", "BIGINT")]) { _ in }
        let names = columns.map { "l." + $0.name }.joined(separator: ", ")
        let newParents = object.references.indices.map { " OR l.r\($0) IS NOT NULL AND p\($0).sk IS NULL" }.joined()
        let differences = try connection.execute(
            """
            INSERT INTO _difference SELECT \(names), CASE WHEN o.deleted = 0 THEN 1 ELSE 0 END
            FROM _load AS l LEFT JOIN _key AS m ON m.object = ?2 AND m.k = \(connection.dialect.keptKey("l.k"))\(parents)
                LEFT JOIN _row AS o ON o.partition = ?1 AND o.sk = m.sk
            WHERE o.sk IS NULL OR o.deleted = 1 OR o.body <> \(body)\(newParents)
            """, [.integer(partition.id), keySpace])
        let distinct = try connection.number("SELECT count(DISTINCT k) FROM _difference")
        guard distinct == differences else { throw object.keyTwice() }
        if comparison.keys != nil {
            try connection.execute(
                """
                INSERT INTO _missing SELECT r.sk FROM _row AS r WHERE r.partition = ?1 AND r.deleted = 0 AND r.sk IN (\(missingKeyed))
                """, [.integer(partition.id), keySpace])
        } else {
            try compareMissing(rows: rows, differences: Int64(differences))
        }
        try connection.countRows(of: ["_difference", "_missing"])
    }

    private func compareMissing(rows: Int64, differences: Int64) throws {
        // Each loaded row that equals a live one, or replaces it, is one of these, and each that is held back.
        let matched =
            try rows - differences + connection.number("SELECT CAST(coalesce(sum(live), 0) AS BIGINT) FROM _difference") + heldCount()
        let live = try connection.number("SELECT count(*) FROM _row WHERE partition = ?1 AND deleted = 0", [.integer(partition.id)])
        guard live != matched else { return }
        guard live > matched else { throw object.keyTwice() }
        _ = try stagePresent(hasHeld: true)
        try connection.execute(
            """
            INSERT INTO _missing SELECT r.sk FROM _row AS r
            WHERE r.partition = ?1 AND r.deleted = 0 AND NOT EXISTS (SELECT 1 FROM _present AS p WHERE p.sk = r.sk)
            """, [.integer(partition.id)])
        let missing = try connection.number("SELECT count(*) FROM _missing")
        guard live - missing == matched else { throw object.keyTwice() }
    }
}
