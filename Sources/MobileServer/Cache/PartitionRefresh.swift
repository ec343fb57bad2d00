internal import MobileModel
internal import MobileStore

/// Updates the cached rows of one partition from its back end, and gives every change the next version.
///
/// The load is copied unchanged into a temporary table, and compared there: rows are equal when all their columns are. All work per row is SQL inside
/// SQLite, so its cost is a few microseconds per row, whether it changed or not.
///
///     load (back end) --copy--> temp._load --key map--> rows of the partition
///
/// The caller holds the cache's write transaction and one read of the back end.
struct PartitionRefresh {
    let object: ObjectPlan
    let partition: Partition
    let package: DeployedPackage
    let cache: PackageCache
    let connection: Connection
    /// The read of the back end.
    let source: Connection
    /// The version of the changes.
    let version: Int64

    /// - Returns: whether anything has changed.
    func run() throws -> Bool {
        let rows = try copyLoad()
        try addKeys()
        for reference in object.references { try addKeys(of: reference) }
        var changed = partition.isLoaded ? try writeChangedRows() : try writeAllRows()
        changed += try removeMissingRows(expected: rows)
        if !object.largeAttributes.isEmpty {
            let values = LargeValueRefresh(
                object: object, objectID: cache.objectIDs[object.name] ?? 0, partition: partition, connection: connection, source: source,
                version: version)
            changed += try values.run()
        }
        _ = try connection.execute("UPDATE _partition SET loaded = ?2 WHERE id = ?1", [.integer(partition.id), .integer(version)])
        _ = try connection.execute("DROP TABLE temp._load")
        return changed > 0 || !partition.isLoaded
    }

    private var sourceColumns: [String] { object.rowAttributes.indices.map { "a\($0)" } }
    private var parentColumns: [String] { object.references.indices.map { "r\($0)" } }

    private func copyLoad() throws -> Int64 {
        let names = ["k"] + sourceColumns + parentColumns
        let parentTypes = object.references.map { package.object(named: $0.target)?.keyType ?? .any }
        let types = [object.keyType] + object.rowAttributes.map(\.cachedType) + parentTypes
        _ = try connection.execute("CREATE TEMP TABLE _load (\(names.joined(separator: ", ")))")
        let copy = TableCopy(
            source: source, statement: object.loadStatement, values: object.loadParameters(partition.parameters), table: "_load",
            columns: names, types: types, connection: connection)
        return try copy.run()
    }

    /// Gives surrogate keys to rows that are new to the cache.
    private func addKeys() throws {
        let first = try cache.nextKey(in: connection)
        let added = try insertOnce(
            """
            INSERT INTO \(object.keyTable) (_sk, k) SELECT ?1 + l.rowid, l.k FROM temp._load AS l
            WHERE NOT EXISTS (SELECT 1 FROM \(object.keyTable) AS m WHERE m.k = l.k)
            """, [.integer(first)])
        if added > 0 { try reserveKeys(of: object.keyTable, from: first) }
    }

    /// Gives a parent its surrogate key when the first child refers to it, even if the parent itself is not in any partition.
    private func addKeys(of reference: ReferencePlan) throws {
        guard let parent = package.object(named: reference.target), let index = object.references.firstIndex(where: { $0.name == reference.name })
        else { return }
        let first = try cache.nextKey(in: connection)
        let added = try connection.execute(
            """
            INSERT INTO \(parent.keyTable) (_sk, k) SELECT ?1 + min(l.rowid), l.r\(index) FROM temp._load AS l
            WHERE l.r\(index) IS NOT NULL AND NOT EXISTS (SELECT 1 FROM \(parent.keyTable) AS m WHERE m.k = l.r\(index)) GROUP BY l.r\(index)
            """, [.integer(first)])
        if added > 0 { try reserveKeys(of: parent.keyTable, from: first) }
    }

    /// Reserves the keys that the loaded rows have received from `first` on. Other keys of the table do not count: devices have assigned some of
    /// them.
    private func reserveKeys(of table: String, from first: Int64) throws {
        let rows = try connection.optionalNumber("SELECT max(rowid) FROM temp._load") ?? 0
        let end = try PackageCache.key(first, plus: rows)
        let last = try connection.optionalNumber("SELECT max(_sk) FROM \(table) WHERE _sk BETWEEN ?1 AND ?2", [.integer(first), .integer(end)])
        if let last { try cache.setNextKey(PackageCache.key(last, plus: 1), in: connection) }
    }

    // MARK: Rows

    /// Surrogate key, attributes and references of the loaded rows.
    private var loadedRows: (columns: [String], tables: String) {
        let references = object.references.indices.map { "p\($0)._sk" }
        let parents = object.references.enumerated().map { index, reference in
            " LEFT JOIN \(package.object(named: reference.target)?.keyTable ?? "") AS p\(index) ON p\(index).k = l.r\(index)"
        }
        return (
            ["m._sk"] + sourceColumns.map { "l.\($0)" } + references,
            "temp._load AS l CROSS JOIN \(object.keyTable) AS m ON m.k = l.k" + parents.joined()
        )
    }

    private var targetColumns: String {
        (["_partition", "_sk"] + object.rowColumns + ["_since", "_version", "_deleted"]).map(SQLText.quoted).joined(separator: ", ")
    }

    private func writeAllRows() throws -> Int {
        let rows = loadedRows
        return try insertOnce(
            """
            INSERT INTO \(object.rowTable) (\(targetColumns))
            SELECT ?1, \(rows.columns.joined(separator: ", ")), ?2, ?2, 0 FROM \(rows.tables)
            """, [.integer(partition.id), .integer(version)])
    }

    /// Inserts rows whose keys occur once, if the load is correct.
    private func insertOnce(_ sql: String, _ values: [Value]) throws -> Int {
        let result = Result { try connection.execute(sql, values) }
        if case .failure(let error as StoreError) = result, error.code == .constraint {
            throw loadError("a row without key, or one key twice", cause: error)
        }
        return try result.get()
    }

    private func writeChangedRows() throws -> Int {
        let rows = loadedRows
        let old = object.rowColumns.map { "o." + SQLText.quoted($0) }
        let differences = zip(old, rows.columns.dropFirst()).map { "\($0) IS NOT \($1)" }
        let changed = (["o._sk IS NULL", "o._deleted"] + differences).joined(separator: " OR ")
        return try connection.execute(
            """
            INSERT OR REPLACE INTO \(object.rowTable) (\(targetColumns))
            SELECT ?1, \(rows.columns.joined(separator: ", ")), iif(o._deleted = 0, o._since, ?2), ?2, 0
            FROM \(rows.tables) LEFT JOIN \(object.rowTable) AS o ON o._partition = ?1 AND o._sk = m._sk WHERE \(changed)
            """, [.integer(partition.id), .integer(version)])
    }

    /// Marks the rows as deleted that were not loaded. All loaded rows are in the partition by now, so it has lost rows exactly if it has more rows
    /// than were loaded.
    private func removeMissingRows(expected: Int64) throws -> Int {
        let live = "_partition = ?1 AND _deleted = 0"
        let count = try connection.number("SELECT count(*) FROM \(object.rowTable) WHERE \(live)", [.integer(partition.id)])
        guard count != expected else { return 0 }
        guard count > expected else { throw loadError("one key twice", cause: nil) }
        _ = try connection.execute("CREATE TEMP TABLE _present (_sk INTEGER PRIMARY KEY)")
        _ = try connection.execute(
            "INSERT INTO temp._present SELECT m._sk FROM temp._load AS l CROSS JOIN \(object.keyTable) AS m ON m.k = l.k")
        let removed = try connection.execute(
            "UPDATE \(object.rowTable) SET _deleted = 1, _version = ?2 WHERE \(live) AND _sk NOT IN (SELECT _sk FROM temp._present)",
            [.integer(partition.id), .integer(version)])
        _ = try connection.execute("DROP TABLE temp._present")
        return removed
    }

    private func loadError(_ found: String, cause: (any Error)?) -> ServerError {
        ServerError(
            .load, "load of \"\(object.name)\" from back end \"\(object.binding.backEnd)\": expected each row's key once, found \(found)",
            cause: cause)
    }
}

extension ObjectPlan {
    /// Returns the values of a partition in the order in which the load names them.
    func loadParameters(_ values: [Value]) -> [Value] {
        guard let load else { return [] }
        return load.names.map { name in
            model.synchronizationParameters.firstIndex { $0.name == name }.map { values[$0] } ?? .null
        }
    }
}

/// Copies the rows of a query of one database into a table of another one. The caller holds the transaction of the latter. The rows go as JSON text
/// from exporter to importer, a piece at a time, without inspection in between.
private struct TableCopy {
    let source: Connection
    let statement: String
    let values: [Value]
    let table: String
    /// The table's columns in the order of the query's.
    let columns: [String]
    /// The type in which each column stores its values.
    let types: [JSONColumnType]
    let connection: Connection

    /// - Returns: the number of rows.
    func run() throws(StoreError) -> Int64 {
        let rows = try source.exporter(statement, values, types: types)
        var options = ImportOptions()
        options.columnRules = Dictionary(uniqueKeysWithValues: zip(columns, types.map { JSONColumnRule($0) }))
        options.maximumRowBytes = .megabytes(256)
        let target = try connection.importer(into: table, columns: columns, mode: .insert, options: options)
        while let piece = try rows.nextChunk() { try target.push(piece) }
        return Int64(try target.finish().rows)
    }
}

extension AttributeModel {
    /// The storage class of a value in the cache, as ``ColumnExpression`` produces it.
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

extension ObjectPlan {
    /// The storage class of a key as one value.
    var keyType: JSONColumnType { keyAttributes.count == 1 ? keyAttributes[0].cachedType : .text }
}
