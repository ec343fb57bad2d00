internal import MobileModel
internal import MobileStore
internal import PostgreSQLClient

/// Updates the cached rows of one partition from its back end, and gives every change the next version of the partition.
///
/// The load is copied into a temporary table, and compared there: rows are equal when the texts that travel are.
///
///     load (back end) --copy--> _load --keys--> rows of the partition
///
/// Where the back end knows the keys of changed rows, it loads only these.
///
/// The caller holds the store's write transaction, the lock of the back end's row, and one read of the back end that began after the lock.
struct PartitionRefresh {
    let object: ObjectPlan
    let partition: Partition
    let package: DeployedPackage
    let cache: PackageCache
    let connection: any StateConnection
    let backEnd: any BackEnd
    /// The read of the back end.
    let source: any BackEndSnapshot
    /// The time in milliseconds since 1970.
    let now: Int64
    /// The time after which all rows are compared although the back end knows the changed ones.
    let comparisonInterval: Duration

    /// - Returns: whether the partition has a new version.
    func run() throws -> Bool {
        let state = try partition.state(in: connection), mark = RefreshMark(object)
        let isDue = !state.isLoaded || state.isComparisonDue(now, comparisonInterval)
        let parameters = BackEndLoad(object: object, parameters: partition.parameters, source: source).namedParameters
        let known = isDue ? nil : try mark.content(of: state, in: connection)
        let changes = try source.changes(of: object.model, parameters: parameters, since: known)
        var keys = isDue ? nil : changes.keys
        if let covers = changes.covers { keys = try keys.map { try $0 + vanishedKeys(covers, present: $0) } }
        guard isDue || !changes.areNone else { return false }
        let version = state.version + 1
        let changed = try keys.map { try refresh($0, version) } ?? refreshAll(version, isNew: !state.isLoaded)
        let isChanged = changed > 0 || !state.isLoaded, next = try changes.mark.map { try mark.text(of: $0) }
        if isChanged { try partition.advance(to: version, from: state, eras: cache.eras, in: connection) }
        if next != state.mark || keys == nil && next != nil {
            try connection.execute(
                "UPDATE _partition SET mark = ?2, compared = ?3 WHERE id = ?1",
                [.integer(partition.id), Value(next), .integer(keys == nil ? now : state.compared)])
            try mark.store(changes.mark, of: partition.id, in: connection)
        }
        return isChanged
    }

    /// Compares all rows of the partition.
    /// - Returns: the number of changed rows and values.
    private func refreshAll(_ version: Int64, isNew: Bool) throws -> Int {
        let rows = try copyLoad(nil)
        try addKeys(rows: rows, isNew: isNew)
        for (index, reference) in object.references.enumerated() { try addKeys(ofParents: index, reference) }
        var changed = try writeRows(version)
        changed += try removeMissingRows(expected: rows, version)
        changed += try refreshLargeValues(nil, version)
        try connection.execute("DROP TABLE _load")
        return changed
    }

    /// Compares the rows with these keys. One that is not loaded is not in the partition.
    private func refresh(_ keys: [RowKey], _ version: Int64) throws -> Int {
        let keys = Array(Set(keys))
        let rows = try copyLoad(keys)
        guard rows <= keys.count else { throw object.loadError("one key twice") }
        try connection.stage("_changed", [("k", "TEXT")]) { add in for key in keys { try add([.text(KeyText(key.value).text)]) } }
        try addKeys(rows: rows, isNew: false)
        for (index, reference) in object.references.enumerated() { try addKeys(ofParents: index, reference) }
        var changed = try writeRows(version)
        changed += try connection.execute(
            """
            UPDATE _row SET deleted = 1, version = ?2, body = ''
            WHERE partition = ?1 AND deleted = 0 AND sk IN (
                SELECT m.sk FROM _changed AS c \(connection.dialect.outerJoin) _key AS m ON m.object = ?3 AND m.k = c.k
                WHERE NOT EXISTS (SELECT 1 FROM _load AS l WHERE l.k = c.k))
            """, [.integer(partition.id), .integer(version), .integer(cache.id(of: object))])
        changed += try refreshLargeValues(keys, version)
        try connection.execute("DROP TABLE _changed")
        try connection.execute("DROP TABLE _load")
        return changed
    }

    /// Returns the keys of rows that the partition had, and that are gone from the back end.
    private func vanishedKeys(_ covers: (RowKey) -> Bool, present: [RowKey]) throws -> [RowKey] {
        let present = Set(present)
        var vanished: [RowKey] = []
        try connection.forEachRow(
            """
            SELECT m.k FROM _row AS r \(connection.dialect.outerJoin) _key AS m ON m.object = ?2 AND m.sk = r.sk
            WHERE r.partition = ?1 AND r.deleted = 0
            """, [.integer(partition.id), .integer(cache.id(of: object))]
        ) { row in
            guard let key = row.value(0).text.flatMap({ KeyText(text: $0).value }).flatMap({ RowKey($0, of: object) }) else { return }
            if covers(key), !present.contains(key) { vanished.append(key) }
        }
        return vanished
    }

    private func refreshLargeValues(_ keys: [RowKey]?, _ version: Int64) throws -> Int {
        guard !object.largeAttributes.isEmpty else { return 0 }
        return try LargeValueRefresh(
            object: object, objectID: cache.id(of: object), partition: partition, connection: connection, backEnd: backEnd, source: source,
            version: version, keys: keys
        ).run()
    }

    /// - Returns: the number of rows.
    private func copyLoad(_ keys: [RowKey]?) throws -> Int64 {
        let references = object.references.indices.map { (name: "r\($0)", type: "TEXT") }
        var count: Int64 = 0
        try connection.stage("_load", [("n", "BIGINT"), ("k", "TEXT")] + references + [("body", "TEXT")]) { add in
            try BackEndLoad(object: object, parameters: partition.parameters, source: source).forEachRow(keys) { row in
                count += 1
                try add([.integer(count), .text(row.key.text)] + row.references.map { Value($0?.text) } + [.text(row.attributes)])
            }
        }
        return count
    }

    // MARK: Keys

    /// Gives surrogate keys to rows that are new to the cache.
    /// - Parameter isNew: whether all rows may be new; their number is not looked up then.
    private func addKeys(rows: Int64, isNew: Bool) throws {
        let id = Value.integer(cache.id(of: object))
        let isUnknown = "NOT EXISTS (SELECT 1 FROM _key AS m WHERE m.object = ?1 AND m.k = l.k)"
        let count = isNew ? rows : try connection.number("SELECT count(*) FROM _load AS l WHERE \(isUnknown)", [id])
        guard count > 0 else { return }
        let first = try cache.takeKeys(count, in: connection).first
        try connection.execute(
            """
            INSERT INTO _key (object, k, sk)
            SELECT CAST(?1 AS BIGINT), l.k, CAST(?2 AS BIGINT) + row_number() OVER (ORDER BY l.n) - 1 FROM _load AS l WHERE \(isUnknown)
            ON CONFLICT (object, k) DO NOTHING
            """, [id, .integer(first)])
    }

    /// Gives a parent its surrogate key when the first child refers to it, even if the parent itself is not in any partition.
    private func addKeys(ofParents index: Int, _ reference: ReferencePlan) throws {
        guard let parent = package.object(named: reference.target) else { return }
        let id = Value.integer(cache.id(of: parent)), column = "l.r\(index)"
        let unknown = """
            SELECT min(l.n) AS n, \(column) AS k FROM _load AS l
            WHERE \(column) IS NOT NULL AND NOT EXISTS (SELECT 1 FROM _key AS m WHERE m.object = ?1 AND m.k = \(column)) GROUP BY \(column)
            """
        let count = try connection.number("SELECT count(*) FROM (\(unknown)) AS u", [id])
        guard count > 0 else { return }
        let first = try cache.takeKeys(count, in: connection).first
        try connection.execute(
            """
            INSERT INTO _key (object, k, sk)
            SELECT CAST(?1 AS BIGINT), u.k, CAST(?2 AS BIGINT) + row_number() OVER (ORDER BY u.n) - 1 FROM (\(unknown)) AS u WHERE true
            ON CONFLICT (object, k) DO NOTHING
            """, [id, .integer(first)])
    }

    // MARK: Rows

    /// The loaded rows with their surrogate keys `m.sk`, and their texts.
    private var loadedRows: (tables: String, body: String) {
        var tables = "_load AS l \(connection.dialect.outerJoin) _key AS m ON m.object = ?3 AND m.k = l.k"
        var body = "'[' || CAST(m.sk AS TEXT) || ',' || l.body"
        for (index, reference) in object.references.enumerated() {
            let parent = package.object(named: reference.target).map { cache.id(of: $0) } ?? 0
            tables += " LEFT JOIN _key AS p\(index) ON p\(index).object = \(parent) AND p\(index).k = l.r\(index)"
            body += " || ',' || coalesce(CAST(p\(index).sk AS TEXT), 'null')"
        }
        return (tables, body + " || ']'")
    }

    /// Writes the rows that are new or have changed.
    private func writeRows(_ version: Int64) throws -> Int {
        let rows = loadedRows
        return try onceEach {
            try connection.execute(
                """
                INSERT INTO _row (partition, sk, version, since, deleted, body)
                SELECT CAST(?1 AS BIGINT), m.sk, CAST(?2 AS BIGINT), CAST(?2 AS BIGINT), 0, \(rows.body)
                FROM \(rows.tables) LEFT JOIN _row AS o ON o.partition = ?1 AND o.sk = m.sk
                WHERE o.sk IS NULL OR o.deleted = 1 OR o.body <> \(rows.body)
                ON CONFLICT (partition, sk) DO UPDATE SET version = excluded.version,
                    since = CASE WHEN _row.deleted = 0 THEN _row.since ELSE excluded.since END, deleted = 0, body = excluded.body
                """, [.integer(partition.id), .integer(version), .integer(cache.id(of: object))])
        }
    }

    /// PostgreSQL refuses to write a row twice in one statement; SQLite does it, and the number of rows is wrong afterwards.
    private func onceEach(_ body: () throws -> Int) throws -> Int {
        do { return try body() } catch let error as PostgreSQLError where error.sqlState == "21000" {
            throw object.loadError("one key twice", cause: error)
        }
    }

    /// Marks the rows as deleted that were not loaded. All loaded rows are in the partition by now, so it has lost rows exactly if it has more rows
    /// than were loaded.
    private func removeMissingRows(expected: Int64, _ version: Int64) throws -> Int {
        let id = Value.integer(partition.id), live = "partition = ?1 AND deleted = 0"
        let count = try connection.number("SELECT count(*) FROM _row WHERE \(live)", [id])
        guard count != expected else { return 0 }
        guard count > expected else { throw object.loadError("one key twice") }
        try connection.execute("CREATE TEMP TABLE _present (sk BIGINT PRIMARY KEY)")
        let present = try connection.execute(
            "INSERT INTO _present SELECT m.sk FROM _load AS l JOIN _key AS m ON m.object = ?1 AND m.k = l.k WHERE true ON CONFLICT DO NOTHING",
            [.integer(cache.id(of: object))])
        guard Int64(present) == expected else { throw object.loadError("one key twice") }
        let removed = try connection.execute(
            """
            UPDATE _row SET deleted = 1, version = ?2, body = ''
            WHERE \(live) AND NOT EXISTS (SELECT 1 FROM _present AS p WHERE p.sk = _row.sk)
            """, [id, .integer(version)])
        try connection.execute("DROP TABLE _present")
        return removed
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
