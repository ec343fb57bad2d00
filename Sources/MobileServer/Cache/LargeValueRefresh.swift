internal import MobileCrypto
internal import MobileModel
internal import MobileStore

/// The digests of a partition's large values, read from its back end. The contents stay there.
struct LargeValueLoad {
    let load: BackEndLoad
    let backEnd: any BackEnd
    let partition: Int64

    /// The columns of a digest in its staged table.
    static func columns(_ dialect: StateDialect) -> [(name: String, type: String)] {
        [("k", "TEXT"), ("attribute", "BIGINT"), ("digest", dialect.bytes), ("length", "BIGINT")]
    }

    /// Takes the digest of every large value from the back end, or reads every value once.
    /// - Parameter keys: the rows whose values may have changed; nil for all.
    /// - Throws: ``RowsToHold`` if texts are not UTF-8.
    func forEach(_ keys: [RowKey]?, _ visit: ([Value]) throws -> Void) throws {
        let object = load.object
        var found: [KeyText: UnfitRow] = [:]
        func hold(_ rows: [KeyText: UnfitRow]) -> RowsToHold {
            let failure = ServerError(
                .load,
                "load of \"\(object.name)\" from back end \"\(object.binding.backEnd)\": more than \(RowsToHold.limit) rows have large texts that are not UTF-8"
            )
            return RowsToHold(partition: partition, rows: rows, failure: failure)
        }
        func note(_ attribute: AttributeModel, _ key: KeyText, _ length: Int64) {
            guard found.count < RowsToHold.limit else { return }
            found[key] = UnfitRow(
                object, key: key, shownKey: key.value ?? .text(key.text), attributes: [attribute], form: nil, value: .text("\(length) bytes"))
        }
        guard !object.largeAttributes.isEmpty else { return }
        let indexes = Dictionary(object.largeAttributes.enumerated().map { ($0.element.name, Int64($0.offset)) }) { $1 }
        let isDone = try load.source.forEachLargeValue(of: object.model, parameters: load.namedParameters, keys: keys) { value in
            guard let index = indexes[value.attribute] else { return }
            let key = KeyText(value.key.value)
            // A row that is held back keeps the values that it has.
            guard load.held[key] == nil else { return }
            guard value.isText != false else { return note(object.largeAttributes[Int(index)], key, value.length) }
            try visit([.text(key.text), .integer(index), .blob(value.digest), .integer(value.length)])
        }
        guard !isDone else {
            guard found.isEmpty else { throw hold(found) }
            return
        }
        try load.forEachRow(keys, unfit: { _ in }) { row in
            guard load.held[row.key] == nil, let key = row.key.value.flatMap({ RowKey($0, of: object) }) else { return }
            for (index, attribute) in object.largeAttributes.enumerated() {
                var digest = try SHA256(), length: Int64 = 0, text = UTF8Check()
                let value = try backEnd.value(of: attribute, in: key, of: object.model) { piece in
                    try digest.update(piece)
                    if attribute.type == .bigString { text.update(piece) }
                    length += Int64(piece.count)
                }
                guard case .content = value else { continue }
                guard text.isComplete else {
                    note(attribute, row.key, length)
                    continue
                }
                try visit([.text(row.key.text), .integer(Int64(index)), .blob(digest.finish()), .integer(length)])
            }
        }
        guard found.isEmpty else { throw hold(found) }
    }
}

/// Records which large values of a partition's rows have changed, by SHA-256 and length.
///
/// The digests are in the temporary table `_digest`, those of a staged comparison that differ in `_digest_difference` and `_digest_gone`. The keys of a
/// comparison of some rows are in `_changed`.
struct LargeValueRefresh {
    let keySpace: Int64
    let partition: Partition
    let connection: any StateConnection
    /// Whether some rows are compared.
    let isKeyed: Bool
    /// Whether the keys of rows that keep their values are in `_held`.
    let hasHeld: Bool

    private var values: [Value] { [.integer(partition.id), .integer(keySpace)] }

    private func keptKey(_ text: String) -> String { connection.dialect.keptKey(text) }

    /// A staged table that is used again has its index.
    private static let makeKey = "CREATE UNIQUE INDEX IF NOT EXISTS _digest_key ON _digest (k, attribute)"

    /// Compares staged digests with the state, and writes nothing.
    func compare() throws {
        try connection.execute(Self.makeKey)
        try connection.stage("_digest_difference", LargeValueLoad.columns(connection.dialect)) { _ in }
        try connection.stage("_digest_gone", [("sk", "BIGINT"), ("attribute", "BIGINT")]) { _ in }
        try connection.execute(
            """
            INSERT INTO _digest_difference (k, attribute, digest, length)
            SELECT d.k, d.attribute, d.digest, d.length FROM _digest AS d
            WHERE NOT EXISTS (
                SELECT 1 FROM _key AS m \(connection.dialect.outerJoin) _large AS o ON o.partition = ?1 AND o.sk = m.sk
                WHERE m.object = ?2 AND m.k = \(keptKey("d.k")) AND o.attribute = d.attribute AND o.digest = d.digest)
            """, values)
        try connection.execute("INSERT INTO _digest_gone (sk, attribute) SELECT sk, attribute FROM _large WHERE \(isGone)", values)
        try connection.countRows(of: ["_digest_difference", "_digest_gone"])
    }

    /// Notes the differences of a staged comparison.
    /// - Returns: the number of changed values.
    func noteDifferences(_ version: Int64) throws -> Int {
        // Not EXISTS: the table has no index, and each engine makes one for IN.
        let gone = "(sk, attribute) IN (SELECT sk, attribute FROM _digest_gone)"
        return try noteContents("_digest_difference", version) + noteNulls("partition = ?1 AND digest IS NOT NULL AND \(gone)", [values[0]], version)
    }

    /// Compares digests with the state, and notes the differences.
    /// - Returns: the number of changed values.
    func run(_ digests: [[Value]], _ version: Int64) throws -> Int {
        try connection.stage("_digest", LargeValueLoad.columns(connection.dialect)) { add in for digest in digests { try add(digest) } }
        try connection.execute(Self.makeKey)
        let changed = try noteContents("_digest", version) + noteNulls(isGone, values, version)
        try connection.unstage("_digest")
        return changed
    }

    /// The condition on a recorded value that the back end does not have any more.
    private var isGone: String {
        let changed = "SELECT m.sk FROM _changed AS c JOIN _key AS m ON m.object = ?2 AND m.k = \(keptKey("c.k"))"
        let isChanged = isKeyed ? " AND sk IN (\(changed))" : ""
        let held = "SELECT m.sk FROM _held AS h JOIN _key AS m ON m.object = ?2 AND m.k = \(keptKey("h.k"))"
        let isLoaded = hasHeld ? " AND sk NOT IN (\(held))" : ""
        return """
            partition = ?1 AND digest IS NOT NULL\(isChanged)\(isLoaded)
                AND NOT EXISTS (
                    SELECT 1 FROM _key AS m JOIN _digest AS d ON d.k = CAST(m.k AS TEXT)
                    WHERE m.object = ?2 AND m.sk = _large.sk AND d.attribute = _large.attribute)
            """
    }

    /// Values of rows that are held back, and that no device has, are noted as well: they are sent with their row. A condition on the rows would make PostgreSQL
    /// expect few values, and read all keys for each one.
    private func noteContents(_ table: String, _ version: Int64) throws -> Int {
        try connection.execute(
            """
            INSERT INTO _large (partition, sk, attribute, digest, length, version)
            SELECT CAST(?1 AS BIGINT), m.sk, d.attribute, d.digest, d.length, CAST(?3 AS BIGINT)
            FROM \(table) AS d \(connection.dialect.outerJoin) _key AS m ON m.object = ?2 AND m.k = \(keptKey("d.k"))
            WHERE NOT EXISTS (
                SELECT 1 FROM _large AS o WHERE o.partition = ?1 AND o.sk = m.sk AND o.attribute = d.attribute AND o.digest = d.digest)
            ON CONFLICT (partition, sk, attribute) DO UPDATE SET digest = excluded.digest, length = excluded.length, version = excluded.version
            """, values + [.integer(version)])
    }

    /// Records values of live rows that have become NULL.
    private func noteNulls(_ condition: String, _ values: [Value], _ version: Int64) throws -> Int {
        try connection.execute(
            """
            UPDATE _large SET digest = NULL, length = NULL, version = ?\(values.count + 1)
            WHERE \(condition) AND EXISTS (SELECT 1 FROM _row AS r WHERE r.partition = ?1 AND r.sk = _large.sk AND r.deleted = 0)
            """, values + [.integer(version)])
    }
}
