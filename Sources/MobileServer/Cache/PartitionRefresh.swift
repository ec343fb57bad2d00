internal import MobileModel
internal import MobileStore
internal import PostgreSQLClient

/// Updates the cached rows of one partition from loaded ones, and gives every change the next version of the partition.
///
/// The rows are copied into a temporary table, and compared there: rows are equal when the texts that travel are.
///
///     loaded rows --copy--> _load --keys--> rows of the partition
///
/// Few rows are copied and compared in the transaction that writes. Many are staged before it (see ``StagedRefresh``), and it takes those that differ.
///
/// The caller holds the lock of the back end's row, and has made sure that the partition is as it was before the rows were loaded.
struct PartitionRefresh {
    let comparison: PartitionComparison
    let package: DeployedPackage
    let cache: PackageCache
    let connection: any StateConnection
    /// The temporary table of the rows.
    var table = "_load"

    var object: ObjectPlan { comparison.object }
    var partition: Partition { comparison.partition }
    /// The number under which `_key` has the keys of the rows.
    var keySpace: Value { .integer(cache.keySpace(of: object)) }
    var version: Int64 { comparison.state.version + 1 }

    /// The result of a comparison.
    struct Written {
        /// Whether the partition has a new version.
        var isChanged: Bool
        /// Lines for the log, about rows that are held back.
        var lines: [String]
    }

    /// Compares rows in memory.
    func run(_ load: PartitionLoad) throws -> Written {
        let rows = Int64(load.rows.count)
        try connection.stage("_load", columns) { add in
            for (index, row) in load.rows.enumerated() { try add(values(of: row, number: Int64(index + 1))) }
        }
        let heldKeys = Set(load.heldKeys), hasHeld = !heldKeys.isEmpty || !comparison.held.isEmpty
        if hasHeld { try connection.stage("_held", Self.heldColumns) { add in for key in heldKeys { try add([.text(key.text)]) } } }
        if let keys = comparison.keys {
            guard rows <= keys.count else { throw object.keyTwice() }
            try stage(keys: keys, except: heldKeys)
        }
        try addKeys(rows: rows, isNew: comparison.keys == nil && !comparison.state.isLoaded)
        var changed = try writeRows()
        changed += try comparison.keys == nil ? removeMissingRows(loaded: rows, hasHeld: hasHeld) : removeMissingKeys()
        if !object.largeAttributes.isEmpty { changed += try largeValues.run(load.digests, version) }
        if comparison.keys != nil { try connection.unstage("_changed") }
        if hasHeld { try connection.unstage("_held") }
        try connection.unstage("_load")
        return try finish(changed, unfit: load.unfit)
    }

    /// Takes over what a staged comparison has found.
    /// - Parameter rows: the number of rows in ``table``; nil if not all of them are new.
    func takeDifferences(newRows rows: Int64?, unfit: UnfitRows) throws -> Written {
        try addKeys(rows: rows ?? 0, isNew: rows != nil)
        var changed = try writeRows()
        if let rows {
            let live = try connection.number("SELECT count(*) FROM _row WHERE partition = ?1 AND deleted = 0", [.integer(partition.id)])
            guard live == rows else { throw object.keyTwice() }
        } else {
            changed += try remove("sk IN (SELECT sk FROM _missing)")
        }
        if !object.largeAttributes.isEmpty { changed += try largeValues.noteDifferences(version) }
        return try finish(changed, unfit: unfit)
    }

    /// Stores the new version and mark, and the rows that are held back.
    func finish(_ changed: Int, unfit: UnfitRows) throws -> Written {
        let state = comparison.state, isChanged = changed > 0 || !state.isLoaded
        if isChanged { try partition.advance(to: version, from: state, eras: cache.eras, in: connection) }
        if comparison.mark != state.mark || comparison.keys == nil && comparison.mark != nil {
            try connection.execute(
                "UPDATE _partition SET mark = ?2, compared = ?3 WHERE id = ?1",
                [.integer(partition.id), Value(comparison.mark), .integer(comparison.keys == nil ? comparison.now : state.compared)])
            try RefreshMark(object).store(comparison.markContent, of: partition.id, in: connection)
        }
        let quarantine = Quarantine(object: object, objectID: cache.id(of: object), partition: partition, connection: connection)
        return Written(isChanged: isChanged, lines: try quarantine.update(unfit, keys: comparison.keys, now: comparison.now))
    }

    var largeValues: LargeValueRefresh {
        LargeValueRefresh(
            keySpace: cache.keySpace(of: object), partition: partition, connection: connection, isKeyed: comparison.keys != nil,
            hasHeld: !comparison.held.isEmpty)
    }

    // MARK: Temporary tables

    /// The columns of a loaded row: its place in the load, its key, those of its parents, and its attributes as they travel.
    var columns: [(name: String, type: String)] {
        [("n", "BIGINT"), ("k", "TEXT")] + object.references.indices.map { (name: "r\($0)", type: "TEXT") } + [("body", "TEXT")]
    }

    /// Returns the values of a loaded row for these columns.
    /// - Parameter number: its place in the load, from 1.
    func values(of row: LoadedRow, number: Int64) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(3 + row.references.count)
        values.append(.integer(number))
        values.append(.text(row.key.text))
        for reference in row.references { values.append(Value(reference?.text)) }
        values.append(.text(row.attributes))
        return values
    }

    /// The columns of the keys of rows that are held back.
    static let heldColumns = [(name: "k", type: "TEXT")]

    /// Copies the keys that are compared.
    /// - Parameter held: those of rows that are held back: their former versions stay.
    func stage(keys: [RowKey], except held: Set<KeyText> = []) throws {
        try connection.stage("_changed", [("k", "TEXT")]) { add in
            for key in Set(keys.map { KeyText($0.value) }) where !held.contains(key) { try add([.text(key.text)]) }
        }
    }

    /// The live rows of the partition that are held back, `?1` and their key space `?2`. A row that is loaded under such a key is none of them.
    private var heldRows: String {
        """
        SELECT DISTINCT r.sk FROM _held AS h JOIN _key AS m ON m.object = ?2 AND m.k = \(keptKey("h.k"))
        JOIN _row AS r ON r.partition = ?1 AND r.sk = m.sk AND r.deleted = 0 WHERE h.k NOT IN (SELECT k FROM _load)
        """
    }

    /// Returns values for the columns of `_load` with the key of a row that is held back: they have no body.
    func values(ofHeld key: KeyText) -> [Value] {
        [.integer(0), .text(key.text)] + [Value](repeating: .null, count: object.references.count) + [.null]
    }

    /// Moves such keys to their own table: only one is filled at a time.
    func moveHeld() throws {
        try connection.execute("INSERT INTO _held SELECT DISTINCT k FROM _load WHERE body IS NULL")
        try connection.execute("DELETE FROM _load WHERE body IS NULL")
        try connection.countRows(of: ["_held"])
    }

    /// Whether rows that are held back stay as they were. Of a partition that was not loaded yet, no device has any: an attempt to load it has left them.
    private var keepsHeld: Bool { comparison.state.isLoaded }

    /// Returns the number of rows of the partition that are held back, and stay.
    func heldCount() throws -> Int64 {
        guard keepsHeld else { return 0 }
        // The usual case costs no join.
        guard try connection.exists("SELECT 1 FROM _held LIMIT 1", []) else { return 0 }
        return try connection.number("SELECT count(*) FROM (\(heldRows)) AS held", [.integer(partition.id), keySpace])
    }

    /// A query of the compared keys that were not loaded; `?2` is the key space. Such a row is not in the partition.
    var missingKeyed: String {
        """
        SELECT m.sk FROM _changed AS c \(connection.dialect.outerJoin) _key AS m ON m.object = ?2 AND m.k = \(keptKey("c.k"))
        WHERE c.k NOT IN (SELECT k FROM _load)
        """
    }

    // MARK: Keys

    private func keptKey(_ text: String) -> String { connection.dialect.keptKey(text) }

    /// Gives surrogate keys to rows that are new to the cache, and to parents when the first child refers to them, even if the parent itself is not in
    /// any partition.
    /// - Parameter isNew: whether all rows may be new; their number is not looked up then.
    func addKeys(rows: Int64, isNew: Bool) throws {
        let isUnknown = "NOT EXISTS (SELECT 1 FROM _key AS m WHERE m.object = ?1 AND m.k = \(keptKey("l.k")))"
        let count = isNew ? rows : try connection.number("SELECT count(*) FROM \(table) AS l WHERE \(isUnknown)", [keySpace])
        if count > 0 {
            let first = try cache.takeKeys(count, in: connection).first
            try connection.execute(
                """
                INSERT INTO _key (object, k, sk)
                SELECT CAST(?1 AS BIGINT), \(keptKey("l.k")), CAST(?2 AS BIGINT) + row_number() OVER (ORDER BY l.n) - 1 FROM \(table) AS l
                WHERE \(isUnknown)
                ON CONFLICT (object, k) DO NOTHING
                """, [keySpace, .integer(first)])
        }
        for (index, reference) in object.references.enumerated() { try addKeys(ofParents: index, reference) }
    }

    private func addKeys(ofParents index: Int, _ reference: ReferencePlan) throws {
        guard let parent = package.object(named: reference.target) else { return }
        let id = Value.integer(cache.keySpace(of: parent)), column = "l.r\(index)"
        let unknown = """
            SELECT min(l.n) AS n, \(column) AS k FROM \(table) AS l
            WHERE \(column) IS NOT NULL AND NOT EXISTS (SELECT 1 FROM _key AS m WHERE m.object = ?1 AND m.k = \(keptKey(column)))
            GROUP BY \(column)
            """
        let count = try connection.number("SELECT count(*) FROM (\(unknown)) AS u", [id])
        guard count > 0 else { return }
        let first = try cache.takeKeys(count, in: connection).first
        try connection.execute(
            """
            INSERT INTO _key (object, k, sk)
            SELECT CAST(?1 AS BIGINT), \(keptKey("u.k")), CAST(?2 AS BIGINT) + row_number() OVER (ORDER BY u.n) - 1 FROM (\(unknown)) AS u
            WHERE true
            ON CONFLICT (object, k) DO NOTHING
            """, [id, .integer(first)])
    }

    // MARK: Rows

    /// The text of a loaded row `l`, with its surrogate key `m.sk` and those of its parents `p0.sk`, ...
    var body: String {
        let parents = object.references.indices.map { " || ',' || coalesce(CAST(p\($0).sk AS TEXT), 'null')" }
        return "'[' || CAST(m.sk AS TEXT) || ',' || l.body" + parents.joined() + " || ']'"
    }

    /// The joins of a loaded row with the keys of its parents.
    var parents: String {
        object.references.enumerated().map { index, reference in
            let parent = package.object(named: reference.target).map { cache.keySpace(of: $0) } ?? 0
            return " LEFT JOIN _key AS p\(index) ON p\(index).object = \(parent) AND p\(index).k = \(keptKey("l.r\(index)"))"
        }.joined()
    }

    /// Writes the rows that are new or have changed.
    private func writeRows() throws -> Int {
        // Of an empty table, the planner knows nothing.
        guard try connection.exists("SELECT 1 FROM \(table) LIMIT 1") else { return 0 }
        return try onceEach {
            try connection.execute(
                """
                INSERT INTO _row (partition, sk, version, since, deleted, body)
                SELECT CAST(?1 AS BIGINT), m.sk, CAST(?2 AS BIGINT), CAST(?2 AS BIGINT), 0, \(body)
                FROM \(table) AS l \(connection.dialect.outerJoin) _key AS m ON m.object = ?3 AND m.k = \(keptKey("l.k"))\(parents)
                    LEFT JOIN _row AS o ON o.partition = ?1 AND o.sk = m.sk
                WHERE o.sk IS NULL OR o.deleted = 1 OR o.body <> \(body)
                ON CONFLICT (partition, sk) DO UPDATE SET version = excluded.version,
                    since = CASE WHEN _row.deleted = 0 THEN _row.since ELSE excluded.since END, deleted = 0, body = excluded.body
                """, [.integer(partition.id), .integer(version), keySpace])
        }
    }

    /// PostgreSQL refuses to write a row twice in one statement; SQLite does it, and the number of rows is wrong afterwards. Both refuse two digests of one
    /// value.
    func onceEach<R>(_ body: () throws -> R) throws -> R {
        do { return try body() } catch let error as PostgreSQLError where ["21000", "23505"].contains(error.sqlState) {
            throw object.keyTwice(cause: error)
        } catch let error as StoreError where error.code == .constraint {
            throw object.keyTwice(cause: error)
        }
    }

    /// Marks live rows as deleted.
    /// - Parameter values: those of the condition, from `?2`.
    private func remove(_ condition: String, _ values: [Value] = []) throws -> Int {
        try connection.execute(
            "UPDATE _row SET deleted = 1, version = ?\(values.count + 2), body = '' WHERE partition = ?1 AND deleted = 0 AND \(condition)",
            [.integer(partition.id)] + values + [.integer(version)])
    }

    /// Marks the rows as deleted whose keys were compared and not loaded. Few of them are deleted one by one: without statistics of a partition that has
    /// just been loaded, PostgreSQL would read all of its rows.
    private func removeMissingKeys() throws -> Int {
        let missing = try connection.rows(missingKeyed.replacing("?2", with: "?1") + " LIMIT \(Self.singleDeletes + 1)", [keySpace])
        guard missing.count <= Self.singleDeletes else { return try remove("sk IN (\(missingKeyed))", [keySpace]) }
        return try missing.reduce(0) { try $0 + remove("sk = ?2", [$1[0]]) }
    }

    private static let singleDeletes = 100

    /// Marks the rows as deleted that were not loaded. All loaded rows are in the partition by now, so it has lost rows exactly if it has more rows
    /// than were loaded, and are held back.
    private func removeMissingRows(loaded: Int64, hasHeld: Bool) throws -> Int {
        let expected = hasHeld ? try loaded + heldCount() : loaded
        let count = try connection.number("SELECT count(*) FROM _row WHERE partition = ?1 AND deleted = 0", [.integer(partition.id)])
        guard count != expected else { return 0 }
        guard count > expected else { throw object.keyTwice() }
        let present = try stagePresent(hasHeld: hasHeld)
        guard present == expected else { throw object.keyTwice() }
        let removed = try remove("NOT EXISTS (SELECT 1 FROM _present AS p WHERE p.sk = _row.sk)")
        try connection.unstage("_present")
        return removed
    }

    /// Collects the surrogate keys of the loaded rows, as far as they have some, and of those that are held back.
    /// - Returns: their number.
    func stagePresent(hasHeld: Bool) throws -> Int64 {
        try connection.stage("_present", [("sk", "BIGINT PRIMARY KEY")]) { _ in }
        let loaded = try connection.execute(
            """
            INSERT INTO _present SELECT m.sk FROM _load AS l JOIN _key AS m ON m.object = ?1 AND m.k = \(keptKey("l.k")) WHERE true
            ON CONFLICT DO NOTHING
            """, [keySpace])
        guard hasHeld, keepsHeld, try connection.exists("SELECT 1 FROM _held LIMIT 1", []) else { return Int64(loaded) }
        return try Int64(loaded + connection.execute("INSERT INTO _present \(heldRows) ON CONFLICT DO NOTHING", [.integer(partition.id), keySpace]))
    }
}

extension AttributeModel {
    /// The storage class of a value in the back end's normalized form, as ``ColumnExpression`` produces it.
    var cachedType: JSONColumnType {
        switch type {
        case .byte, .short, .int, .long, .integer, .boolean: .integer
        case .float, .double: .real
        case .decimal: (precision ?? 18) <= ColumnExpression.scaledDigits ? .integer : .text
        case .binary, .bigBinary: .blob
        case .string, .char, .date, .time, .dateTime, .structure, .list, .nullableList, .bigString: .text
        }
    }

    /// The type of the value in a download.
    var wireType: JSONColumnType {
        switch type {
        case .boolean: .boolean
        case .decimal: .decimal(precision: precision ?? 18, scale: scale ?? 2)
        default: cachedType
        }
    }
}
