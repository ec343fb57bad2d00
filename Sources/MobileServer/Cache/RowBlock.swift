internal import MobileModel
internal import MobileStore

/// Writes a block of the first rows of a partition. The caller holds the lock of the back end's row.
struct RowBlock {
    let refresh: PartitionRefresh
    /// Whether rows of the block may have keys already.
    let mayBeKnown: Bool

    private var connection: any StateConnection { refresh.connection }
    private var object: ObjectPlan { refresh.object }

    /// Gives keys to the rows that have none, and writes all.
    /// - Parameter visit: receives each row as it travels, in the order of the new keys.
    /// - Throws: ``ServerError/Code/load`` for a row that was loaded twice.
    func write(_ rows: [LoadedRow], _ visit: (String) -> Void) throws {
        let isWritten = try writeByRows(rows, visit)
        if !isWritten { try writeBySets(rows, visit) }
    }

    // MARK: By sets

    private func writeBySets(_ rows: [LoadedRow], _ visit: (String) -> Void) throws {
        try connection.stage("_load", refresh.columns) { add in
            for (index, row) in rows.enumerated() { try add(refresh.values(of: row, number: Int64(index + 1))) }
        }
        try refresh.addKeys(rows: Int64(rows.count), isNew: !mayBeKnown)
        var count = 0
        try connection.forEachRow(
            """
            INSERT INTO _row (partition, sk, version, since, deleted, body)
            SELECT CAST(?1 AS BIGINT), m.sk, CAST(?2 AS BIGINT), CAST(?2 AS BIGINT), 0, \(refresh.body)
            FROM _load AS l JOIN _key AS m ON m.object = ?3 AND m.k = l.k\(refresh.parents) ORDER BY m.sk
            ON CONFLICT (partition, sk) DO NOTHING RETURNING body
            """, [.integer(refresh.partition.id), .integer(refresh.version), refresh.objectID]
        ) { row in
            count += 1
            if let text = row.value(0).text { visit(text) }
        }
        guard count == rows.count else { throw object.loadError("one key twice") }
        try connection.execute("DROP TABLE _load")
    }

    // MARK: By rows

    private typealias RowStatement = (_ values: [Value]) throws -> Int

    /// - Returns: false if the engine has no statements for single rows.
    private func writeByRows(_ rows: [LoadedRow], _ visit: (String) -> Void) throws -> Bool {
        let insertKey = try connection.rowStatement("INSERT INTO _key (object, k, sk) VALUES (?1, ?2, ?3) ON CONFLICT (object, k) DO NOTHING")
        let insertRow = try connection.rowStatement(
            "INSERT INTO _row (partition, sk, version, since, deleted, body) VALUES (?1, ?2, ?3, ?3, 0, ?4) ON CONFLICT (partition, sk) DO NOTHING")
        guard let insertKey, let insertRow else { return false }
        // Before those of the parents: a row may refer to another one of its block.
        let keys = try keys(of: rows.map(\.key), objectID: refresh.objectID, mayBeKnown: mayBeKnown, insertKey)
        let parents = try object.references.enumerated().map { try parentKeys(of: rows, $0.offset, $0.element, insertKey) }
        let partition = Value.integer(refresh.partition.id), version = Value.integer(refresh.version)
        for (row, key) in zip(rows, keys) {
            var text = "["
            text.reserveCapacity(row.attributes.utf8.count + 22 * (parents.count + 1))
            text += String(key)
            text += ","
            text += row.attributes
            for (reference, keys) in zip(row.references, parents) {
                text += ","
                text += reference.flatMap { keys[$0] }.map { String($0) } ?? "null"
            }
            text += "]"
            guard try insertRow([partition, .integer(key), version, .text(text)]) == 1 else { throw object.loadError("one key twice") }
            visit(text)
        }
        return true
    }

    /// Returns the surrogate keys of all parents that the rows refer to.
    private func parentKeys(
        of rows: [LoadedRow], _ index: Int, _ reference: ReferencePlan, _ insertKey: RowStatement
    ) throws -> [KeyText: Int64] {
        guard let parent = refresh.package.object(named: reference.target) else { return [:] }
        var known = Set<KeyText>()
        let texts = rows.compactMap { $0.references[index] }.filter { known.insert($0).inserted }
        let keys = try keys(of: texts, objectID: .integer(refresh.cache.id(of: parent)), mayBeKnown: true, insertKey)
        return Dictionary(uniqueKeysWithValues: zip(texts, keys))
    }

    /// Returns the surrogate keys of rows, and gives new ones to those that have none.
    /// - Parameter texts: the keys in the back end.
    private func keys(of texts: [KeyText], objectID: Value, mayBeKnown: Bool, _ insertKey: RowStatement) throws -> [Int64] {
        var keys = mayBeKnown ? try texts.map { try key(of: $0, objectID) } : [Int64?](repeating: nil, count: texts.count)
        let count = keys.count { $0 == nil }
        if count > 0 {
            var next = try refresh.cache.takeKeys(Int64(count), in: connection).first
            for (index, text) in texts.enumerated() where keys[index] == nil {
                // A parent's key may have come with a child, and a device's key at any time.
                let isNew = try insertKey([objectID, .text(text.text), .integer(next)]) == 1
                keys[index] = isNew ? next : try key(of: text, objectID)
                if isNew { next += 1 }
            }
        }
        return keys.map { $0 ?? 0 }
    }

    private func key(of text: KeyText, _ objectID: Value) throws -> Int64? {
        try connection.optionalNumber("SELECT sk FROM _key WHERE object = ?1 AND k = ?2", [objectID, .text(text.text)])
    }
}
