internal import MobileCrypto
internal import MobileModel
internal import MobileStore

/// Records which large values of a partition's rows have changed, by SHA-256 and length. The contents stay in the back end.
struct LargeValueRefresh {
    let object: ObjectPlan
    let objectID: Int64
    let partition: Partition
    let connection: Connection
    let source: Connection
    let version: Int64

    /// - Returns: the number of changed values.
    func run() throws -> Int {
        guard let statement = object.largeValuesStatement else { return 0 }
        _ = try connection.execute(
            "CREATE TEMP TABLE _digest (k, attribute INTEGER, digest BLOB, length INTEGER, PRIMARY KEY (k, attribute)) WITHOUT ROWID")
        defer { _ = try? connection.execute("DROP TABLE IF EXISTS temp._digest") }
        try copyDigests(statement)
        return try noteContents() + noteNulls()
    }

    /// Reads every large value of the partition once, the long ones piece by piece.
    private func copyDigests(_ statement: String) throws {
        let query = try source.statement(statement)
        try query.bind(object.loadParameters(partition.parameters))
        let insert = try connection.statement("INSERT OR REPLACE INTO temp._digest VALUES (?1, ?2, ?3, ?4)")
        var readers = [ColumnValueReader?](repeating: nil, count: object.largeAttributes.count)
        while try query.step() {
            for (index, attribute) in object.largeAttributes.enumerated() {
                let column = 2 + 2 * index
                guard query.text(column) != "null" else { continue }
                var digest = try SHA256()
                var length: Int64 = 0
                if let bytes = query.blob(column + 1) {
                    try digest.update(bytes)
                    length = Int64(bytes.count)
                } else {
                    let reader = try object.valueReader(of: attribute, row: query.integer(1), in: source, reusing: readers[index])
                    readers[index] = reader
                    while let piece = try reader.nextChunk() { try digest.update(piece) }
                    length = reader.byteCount
                }
                _ = try insert.run([query.value(0), .integer(Int64(index)), .blob(digest.finish()), .integer(length)])
            }
        }
    }

    private func noteContents() throws -> Int {
        try connection.execute(
            """
            INSERT INTO _large (object, _sk, attribute, digest, length, version)
            SELECT ?1, m._sk, d.attribute, d.digest, d.length, ?2 FROM temp._digest AS d CROSS JOIN \(object.keyTable) AS m ON m.k = d.k
            WHERE NOT EXISTS (
                SELECT 1 FROM _large AS o WHERE o.object = ?1 AND o._sk = m._sk AND o.attribute = d.attribute AND o.digest IS d.digest)
            ON CONFLICT (object, _sk, attribute) DO UPDATE SET digest = excluded.digest, length = excluded.length, version = excluded.version
            """, [.integer(objectID), .integer(version)])
    }

    /// Records the values that have become NULL.
    private func noteNulls() throws -> Int {
        try connection.execute(
            """
            UPDATE _large SET digest = NULL, length = NULL, version = ?2
            WHERE object = ?1 AND digest IS NOT NULL
                AND EXISTS (SELECT 1 FROM \(object.rowTable) AS r WHERE r._partition = ?3 AND r._sk = _large._sk AND r._deleted = 0)
                AND NOT EXISTS (
                    SELECT 1 FROM \(object.keyTable) AS m JOIN temp._digest AS d ON d.k = m.k
                    WHERE m._sk = _large._sk AND d.attribute = _large.attribute)
            """, [.integer(objectID), .integer(version), .integer(partition.id)])
    }
}

extension ObjectPlan {
    /// Returns a reader at the beginning of a large value: a new one, or `reader` moved there, which is cheaper.
    func valueReader(
        of attribute: AttributeModel, row: Int64, in source: Connection, reusing reader: ColumnValueReader? = nil
    ) throws -> ColumnValueReader {
        if let reader {
            try reader.move(toRow: row)
            return reader
        }
        return try source.valueReader(table: table.name, column: tableColumn(attribute.name)?.name ?? attribute.name, row: row)
    }
}
