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
    /// - Parameter pieceBytes: the length from which on a piece is followed by another one.
    /// - Returns: the rows as they travel, in the order of the new keys.
    /// - Throws: ``ServerError/Code/load`` for a row that was loaded twice.
    func write(_ rows: PackedRows, pieceBytes: Int) throws -> [RowPiece] {
        var pieces = RowPieces(length: pieceBytes)
        if !(try writeByRows(rows, &pieces)) { try writeBySets(rows, &pieces) }
        return pieces.pieces
    }

    // MARK: By sets

    private func writeBySets(_ rows: PackedRows, _ pieces: inout RowPieces) throws {
        try connection.stage("_load", refresh.columns) { add in
            for index in 0..<rows.count { try add(refresh.values(of: rows[index], number: Int64(index + 1))) }
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
            _ = pieces.add { $0 += row.bytes(0) }
        }
        guard count == rows.count else { throw object.loadError("one key twice") }
        try connection.execute("DROP TABLE _load")
    }

    // MARK: By rows

    /// - Returns: false if the engine has no statements for single rows.
    private func writeByRows(_ rows: PackedRows, _ pieces: inout RowPieces) throws -> Bool {
        let insertKey = try connection.rowStatement("INSERT INTO _key (object, k, sk) VALUES (?1, ?2, ?3) ON CONFLICT (object, k) DO NOTHING")
        let insertRow = try connection.rowStatement(
            "INSERT INTO _row (partition, sk, version, since, deleted, body) VALUES (?1, ?2, ?3, ?3, 0, ?4) ON CONFLICT (partition, sk) DO NOTHING")
        guard let insertKey, let insertRow else { return false }
        // Before those of the parents: a row may refer to another one of its block.
        let keys = try keys(
            rows.bytes, (0..<rows.count).map { rows.key($0) }, objectID: refresh.objectID, mayBeKnown: mayBeKnown, insertKey)
        let parents = try object.references.enumerated().map { try parentKeys(of: rows, $0.offset, $0.element, insertKey) }
        try insertRow.set(refresh.partition.id, at: 1)
        try insertRow.set(refresh.version, at: 3)
        for (index, key) in keys.enumerated() {
            let place = pieces.add { text in
                text.append(UInt8(ascii: "["))
                text += String(key).utf8
                text.append(UInt8(ascii: ","))
                text += rows.bytes[rows.attributes(index)]
                for (reference, keys) in parents.enumerated() {
                    text.append(UInt8(ascii: ","))
                    let parent = rows.keyText(rows.reference(index, reference)).flatMap { keys[$0] }
                    text += (parent.map { String($0) } ?? "null").utf8
                }
                text.append(UInt8(ascii: "]"))
            }
            try insertRow.set(key, at: 2)
            guard try insertRow.run(pieces.last.text.span.bytes.extracting(place), at: 4) == 1 else { throw object.loadError("one key twice") }
        }
        return true
    }

    /// Returns the surrogate keys of all parents that the rows refer to.
    private func parentKeys(
        of rows: PackedRows, _ index: Int, _ reference: ReferencePlan, _ insertKey: RowStatement
    ) throws -> [KeyText: Int64] {
        guard let parent = refresh.package.object(named: reference.target) else { return [:] }
        var known = Set<KeyText>(), texts: [KeyText] = [], places: [Range<Int>] = []
        for row in 0..<rows.count {
            let place = rows.reference(row, index)
            guard let text = rows.keyText(place), known.insert(text).inserted else { continue }
            texts.append(text)
            places.append(place)
        }
        let keys = try keys(rows.bytes, places, objectID: .integer(refresh.cache.id(of: parent)), mayBeKnown: true, insertKey)
        return Dictionary(uniqueKeysWithValues: zip(texts, keys))
    }

    /// Returns the surrogate keys of rows, and gives new ones to those that have none.
    /// - Parameters:
    ///   - bytes: have the keys in the back end.
    ///   - places: the keys' places in `bytes`.
    private func keys(
        _ bytes: [UInt8], _ places: [Range<Int>], objectID: Value, mayBeKnown: Bool, _ insertKey: RowStatement
    ) throws -> [Int64] {
        func known(_ place: Range<Int>) throws -> Int64? {
            let text = String(decoding: bytes[place], as: UTF8.self)
            return try connection.optionalNumber("SELECT sk FROM _key WHERE object = ?1 AND k = ?2", [objectID, .text(text)])
        }
        var keys = mayBeKnown ? try places.map { try known($0) } : [Int64?](repeating: nil, count: places.count)
        let count = keys.count { $0 == nil }
        if count > 0 {
            var next = try refresh.cache.takeKeys(Int64(count), in: connection).first
            try insertKey.set(objectID.integer ?? 0, at: 1)
            let bytes = bytes.span.bytes
            for (index, place) in places.enumerated() where keys[index] == nil {
                // A parent's key may have come with a child, and a device's key at any time.
                try insertKey.set(next, at: 3)
                let isNew = try insertKey.run(bytes.extracting(place), at: 2) == 1
                keys[index] = isNew ? next : try known(place)
                if isNew { next += 1 }
            }
        }
        return keys.map { $0 ?? 0 }
    }
}

/// Rows as they travel, with commas between them.
struct RowPiece: Sendable {
    var text: [UInt8] = []
    var rows: Int64 = 0
}

/// Pieces of about the same length, each with whole rows.
struct RowPieces {
    private(set) var pieces: [RowPiece] = []
    let length: Int

    init(length: Int) { self.length = length }

    var last: RowPiece { pieces.last ?? RowPiece() }

    /// Adds a row.
    /// - Parameter append: appends its text.
    /// - Returns: the place of the text in the last piece.
    mutating func add(_ append: (inout [UInt8]) -> Void) -> Range<Int> {
        if pieces.last.map({ $0.text.count >= length }) ?? true {
            var piece = RowPiece()
            piece.text.reserveCapacity(length + length / 8)
            pieces.append(piece)
        }
        let index = pieces.count - 1
        if pieces[index].rows > 0 { pieces[index].text.append(UInt8(ascii: ",")) }
        let start = pieces[index].text.count
        append(&pieces[index].text)
        pieces[index].rows += 1
        return start..<pieces[index].text.count
    }
}
