internal import MobileCrypto
internal import MobileModel
internal import MobileStore

/// Records which large values of a partition's rows have changed, by SHA-256 and length. The contents stay in the back end.
struct LargeValueRefresh {
    let object: ObjectPlan
    let objectID: Int64
    let partition: Partition
    let connection: any StateConnection
    let source: Connection
    let version: Int64

    /// - Returns: the number of changed values.
    func run() throws -> Int {
        guard let statement = object.largeValuesStatement else { return 0 }
        try connection.stage("_digest", [("k", "TEXT"), ("attribute", "BIGINT"), ("digest", connection.dialect.bytes), ("length", "BIGINT")]) {
            try copyDigests(statement, $0)
        }
        try connection.execute("CREATE UNIQUE INDEX _digest_key ON _digest (k, attribute)")
        let changed = try noteContents() + noteNulls()
        try connection.execute("DROP TABLE _digest")
        return changed
    }

    /// Reads every large value of the partition once, the long ones piece by piece.
    private func copyDigests(_ statement: String, _ add: ([Value]) throws -> Void) throws {
        let query = try source.statement(statement)
        try query.bind(object.loadParameters(partition.parameters))
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
                try add([.text(KeyText(query.value(0)).text), .integer(Int64(index)), .blob(digest.finish()), .integer(length)])
            }
        }
    }

    private var values: [Value] { [.integer(partition.id), .integer(version), .integer(objectID)] }

    private func noteContents() throws -> Int {
        try connection.execute(
            """
            INSERT INTO _large (partition, sk, attribute, digest, length, version)
            SELECT CAST(?1 AS BIGINT), m.sk, d.attribute, d.digest, d.length, CAST(?2 AS BIGINT)
            FROM _digest AS d \(connection.dialect.outerJoin) _key AS m ON m.object = ?3 AND m.k = d.k
            WHERE NOT EXISTS (
                SELECT 1 FROM _large AS o WHERE o.partition = ?1 AND o.sk = m.sk AND o.attribute = d.attribute AND o.digest = d.digest)
            ON CONFLICT (partition, sk, attribute) DO UPDATE SET digest = excluded.digest, length = excluded.length, version = excluded.version
            """, values)
    }

    /// Records the values that have become NULL.
    private func noteNulls() throws -> Int {
        try connection.execute(
            """
            UPDATE _large SET digest = NULL, length = NULL, version = ?2
            WHERE partition = ?1 AND digest IS NOT NULL
                AND EXISTS (SELECT 1 FROM _row AS r WHERE r.partition = ?1 AND r.sk = _large.sk AND r.deleted = 0)
                AND NOT EXISTS (
                    SELECT 1 FROM _key AS m JOIN _digest AS d ON d.k = m.k
                    WHERE m.object = ?3 AND m.sk = _large.sk AND d.attribute = _large.attribute)
            """, values)
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
