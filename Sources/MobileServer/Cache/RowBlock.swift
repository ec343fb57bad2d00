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
    /// - Parameter texts: receives the rows as they travel: new ones in the order of their keys.
    /// - Throws: ``KeyTwice`` for a row that was loaded twice.
    func write(_ rows: PackedRows, _ texts: inout RowTexts) throws {
        if let lists = connection as? any ListReadingConnection { try write(rows, &texts, by: lists) } else { try writeBySets(rows, &texts) }
    }

    // MARK: By staged rows

    private func writeBySets(_ rows: PackedRows, _ texts: inout RowTexts) throws {
        try connection.stage("_load", refresh.columns) { add in
            for index in 0..<rows.count { try add(refresh.values(of: rows[index], number: Int64(index + 1))) }
        }
        try refresh.addKeys(rows: Int64(rows.count), isNew: !mayBeKnown)
        try connection.forEachRow(
            """
            INSERT INTO _row (partition, sk, version, since, deleted, body)
            SELECT CAST(?1 AS BIGINT), m.sk, CAST(?2 AS BIGINT), CAST(?2 AS BIGINT), 0, \(refresh.body)
            FROM _load AS l JOIN _key AS m ON m.object = ?3 AND m.k = \(connection.dialect.keptKey("l.k"))\(refresh.parents)
            ORDER BY m.sk
            ON CONFLICT (partition, sk) DO NOTHING RETURNING body
            """, [.integer(refresh.partition.id), .integer(refresh.version), refresh.keySpace]
        ) { row in
            texts.add { $0 += row.bytes(0) }
        }
        guard texts.places.count == rows.count else { throw object.keyTwice() }
        try connection.unstage("_load")
    }

    // MARK: By lists

    /// SQLite keeps a copy of each page that a statement changes, to undo the statement alone if it fails. After such a failure the whole transaction is
    /// undone here, so no copies are needed: keys in random order take a quarter less time.
    fileprivate static let insert = "INSERT OR FAIL"

    private func write(_ rows: PackedRows, _ texts: inout RowTexts, by lists: any ListReadingConnection) throws {
        let keys = BlockKeys(bytes: rows.bytes, refresh: refresh, connection: lists)
        // Before those of the parents: a row may refer to another one of its block.
        let rowKeys = try keys.keys((0..<rows.count).map { rows.key($0) }, in: refresh.keySpace, mayBeKnown: mayBeKnown)
        let parents = try object.references.enumerated().map { try keys.parentKeys(of: rows, $0.offset, $0.element) }
        for (index, key) in rowKeys.enumerated() {
            texts.add { text in
                text.append(UInt8(ascii: "["))
                text.append(decimal: key)
                text.append(UInt8(ascii: ","))
                text += rows.bytes[rows.attributes(index)]
                for (reference, keys) in parents.enumerated() {
                    text.append(UInt8(ascii: ","))
                    let parent = rows.keyText(rows.reference(index, reference)).flatMap { keys[$0] }
                    if let parent { text.append(decimal: parent) } else { text += "null".utf8 }
                }
                text.append(UInt8(ascii: "]"))
            }
        }
        let written = try lists.execute(
            """
            \(Self.insert) INTO _row (partition, sk, version, since, deleted, body)
            SELECT ?1, number, ?2, ?2, 0, text FROM \(TextList.table(3)) WHERE true ON CONFLICT (partition, sk) DO NOTHING
            """, [.integer(refresh.partition.id), .integer(refresh.version)], reading: TextList(texts.bytes, texts.places, numbers: rowKeys))
        guard written == rows.count else { throw object.keyTwice() }
    }
}

/// The surrogate keys of a block.
private struct BlockKeys {
    /// Have the keys in the back end.
    let bytes: [UInt8]
    let refresh: PartitionRefresh
    let connection: any ListReadingConnection

    /// Returns the surrogate keys of all parents that the rows refer to.
    func parentKeys(of rows: PackedRows, _ index: Int, _ reference: ReferencePlan) throws -> [KeyText: Int64] {
        guard let parent = refresh.package.object(named: reference.target) else { return [:] }
        var known = Set<KeyText>(), texts: [KeyText] = [], places: [Range<Int>] = []
        for row in 0..<rows.count {
            let place = rows.reference(row, index)
            guard let text = rows.keyText(place), known.insert(text).inserted else { continue }
            texts.append(text)
            places.append(place)
        }
        let keys = try keys(places, in: .integer(refresh.cache.keySpace(of: parent)), mayBeKnown: true)
        return Dictionary(uniqueKeysWithValues: zip(texts, keys))
    }

    /// Returns the surrogate keys of rows, and gives new ones to those that have none.
    /// - Parameter places: the keys' places in ``bytes``.
    func keys(_ places: [Range<Int>], in keySpace: Value, mayBeKnown: Bool) throws -> [Int64] {
        var keys = [Int64?](repeating: nil, count: places.count)
        if mayBeKnown { try find(&keys, places, in: keySpace) }
        let unknown = keys.indices.filter { keys[$0] == nil }
        guard !unknown.isEmpty else { return keys.compactMap(\.self) }
        let first = try refresh.cache.takeKeys(Int64(unknown.count), in: connection).first
        let numbers = unknown.indices.map { first + Int64($0) }
        let added = try connection.execute(
            """
            \(RowBlock.insert) INTO _key (object, k, sk) SELECT ?1, \(connection.dialect.keptKey("text")), number FROM \(TextList.table(2)) WHERE true
            ON CONFLICT (object, k) DO NOTHING
            """, [keySpace], reading: TextList(bytes, unknown.map { places[$0] }, numbers: numbers))
        // A parent's key may have come with a child, a device's key at any time, and a row may be there twice.
        if added < unknown.count {
            try find(&keys, places, in: keySpace)
        } else {
            for (index, number) in zip(unknown, numbers) { keys[index] = number }
        }
        return try keys.map { key in
            guard let key else { throw StoreError(.corrupt, "table _key: a key that is there is not found") }
            return key
        }
    }

    /// Finds the keys that the cache has.
    private func find(_ keys: inout [Int64?], _ places: [Range<Int>], in keySpace: Value) throws {
        var found = keys
        try connection.forEachRow(
            """
            SELECT l.number, m.sk FROM \(TextList.table(2)) AS l \(connection.dialect.outerJoin) _key AS m
                ON m.object = ?1 AND m.k = \(connection.dialect.keptKey("l.text"))
            """, [keySpace], reading: TextList(bytes, places, numbers: places.indices.map { Int64($0) })
        ) { found[Int($0.integer(0))] = $0.integer(1) }
        keys = found
    }
}

/// Rows as they travel, with commas between them.
struct RowPiece: Sendable {
    let text: ArraySlice<UInt8>
    let rows: Int64
}

/// The texts of rows as they travel, one after the other, with commas between them.
struct RowTexts: Sendable {
    private(set) var bytes: [UInt8] = []
    /// The place of each row.
    private(set) var places: [Range<Int>] = []

    /// Removes all rows, and keeps the memory up to a number of bytes.
    mutating func removeAll(keeping limit: Int = .max) {
        bytes.removeAll(keepingCapacity: bytes.capacity <= limit)
        places.removeAll(keepingCapacity: true)
    }

    /// Adds a row.
    /// - Parameter append: appends its text.
    mutating func add(_ append: (inout [UInt8]) -> Void) {
        if !places.isEmpty { bytes.append(UInt8(ascii: ",")) }
        let start = bytes.count
        append(&bytes)
        places.append(start..<bytes.count)
    }

    /// Returns pieces of whole rows, each of at least this length but for the last one.
    func pieces(length: Int) -> [RowPiece] {
        var pieces: [RowPiece] = [], first = 0
        for (row, place) in places.enumerated() where place.upperBound - places[first].lowerBound >= length || row == places.count - 1 {
            pieces.append(RowPiece(text: bytes[places[first].lowerBound..<place.upperBound], rows: Int64(row - first + 1)))
            first = row + 1
        }
        return pieces
    }
}

extension [UInt8] {
    /// Appends the digits of a number, without a text in between.
    mutating func append(decimal number: Int64) {
        if number < 0 { append(UInt8(ascii: "-")) }
        var rest = number.magnitude, first = count
        repeat {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        var last = count - 1
        while first < last {
            swapAt(first, last)
            first += 1
            last -= 1
        }
    }
}
