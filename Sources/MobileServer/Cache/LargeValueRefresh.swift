internal import MobileCrypto
internal import MobileModel
internal import MobileStore

/// Records which large values of a partition's rows have changed, by SHA-256 and length. The contents stay in the back end.
struct LargeValueRefresh {
    let object: ObjectPlan
    let objectID: Int64
    let partition: Partition
    let connection: any StateConnection
    let backEnd: any BackEnd
    let source: any BackEndSnapshot
    let version: Int64

    /// - Returns: the number of changed values.
    func run() throws -> Int {
        try connection.stage("_digest", [("k", "TEXT"), ("attribute", "BIGINT"), ("digest", connection.dialect.bytes), ("length", "BIGINT")]) {
            try copyDigests($0)
        }
        try connection.execute("CREATE UNIQUE INDEX _digest_key ON _digest (k, attribute)")
        let changed = try noteContents() + noteNulls()
        try connection.execute("DROP TABLE _digest")
        return changed
    }

    /// Takes the digest of every large value of the partition from the back end, or reads every value once.
    private func copyDigests(_ add: ([Value]) throws -> Void) throws {
        let load = BackEndLoad(object: object, parameters: partition.parameters, source: source)
        let indexes = Dictionary(object.largeAttributes.enumerated().map { ($0.element.name, Int64($0.offset)) }) { $1 }
        let isDone = try source.forEachLargeValue(of: object.model, parameters: load.namedParameters) { value in
            guard let index = indexes[value.attribute] else { return }
            try add([.text(KeyText(value.key.value).text), .integer(index), .blob(value.digest), .integer(value.length)])
        }
        guard !isDone else { return }
        try load.forEachRow { row in
            guard let key = row.key.value.flatMap({ RowKey($0, of: object) }) else { return }
            for (index, attribute) in object.largeAttributes.enumerated() {
                var digest = try SHA256(), length: Int64 = 0
                let found = try backEnd.value(of: attribute, in: key, of: object.model) { piece in
                    try digest.update(piece)
                    length += Int64(piece.count)
                }
                guard case .content = found else { continue }
                try add([.text(row.key.text), .integer(Int64(index)), .blob(digest.finish()), .integer(length)])
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
