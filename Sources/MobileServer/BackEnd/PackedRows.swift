internal import MobileStore

/// Rows of a load in one buffer, so that no row and no value takes memory of its own: the texts of ``LoadedRow``, one after the other.
struct PackedRows: Sendable {
    private(set) var bytes: [UInt8] = []
    /// For each row the places after its key, after each key that it refers to, and after its attributes.
    private var ends: [Int] = []
    /// The number of keys that each row refers to.
    let references: Int

    /// - Parameter room: the number of bytes of rows to take memory for at once; default 0.
    init(references: Int, room: Int = 0) {
        self.references = references
        if room > 0 { bytes.reserveCapacity(room) }
    }

    private var parts: Int { references + 2 }

    var count: Int { ends.count / parts }
    var isEmpty: Bool { ends.isEmpty }

    /// Adds a row.
    mutating func add(_ row: LoadedRow) {
        func add(_ text: String) {
            bytes += text.utf8
            ends.append(bytes.count)
        }
        add(row.key.text)
        for reference in row.references { add(reference?.text ?? "") }
        add(row.attributes)
    }

    /// Adds the next row of an export whose first columns are keys.
    /// - Parameters:
    ///   - types: the types of the keys.
    ///   - object: the object of the row, for messages.
    /// - Returns: whether there was a row.
    mutating func add(next rows: BulkExporter, keys types: [JSONColumnType], of object: ObjectPlan) throws -> Bool {
        let start = bytes.count, row = ends.count
        guard try rows.appendRow(leadingValues: parts - 1, to: &bytes, ends: &ends) else { return false }
        guard areTaken(types, first: start, row: row) else {
            // A key in another notation: the row is made again from its parts.
            var keys: [KeyText?] = [], first = start
            for (part, type) in types.enumerated() {
                let end = ends[row + part]
                keys.append(try KeyText(exported: String(decoding: bytes[first..<end], as: UTF8.self), type))
                first = end
            }
            let attributes = String(decoding: bytes[first...], as: UTF8.self)
            bytes.removeSubrange(start...)
            ends.removeSubrange(row...)
            guard let key = keys.removeFirst() else { throw object.loadError("a row without key") }
            add(LoadedRow(key: key, references: keys, attributes: attributes))
            return true
        }
        return true
    }

    /// Whether the exported keys of the last row are in the notation of ``KeyText`` as they are.
    private func areTaken(_ types: [JSONColumnType], first: Int, row: Int) -> Bool {
        var first = first
        for (part, type) in types.enumerated() {
            let end = ends[row + part]
            // No key begins like the null of an empty reference.
            let isEmpty = part > 0 && bytes[first] == UInt8(ascii: "n")
            guard isEmpty || KeyText.isKey(bytes[first..<end], type) else { return false }
            first = end
        }
        return true
    }

    /// Removes all rows, and keeps the memory up to a number of bytes: a long row must not take it for all further blocks.
    mutating func removeAll(keeping limit: Int = .max) {
        bytes.removeAll(keepingCapacity: bytes.capacity <= limit)
        ends.removeAll(keepingCapacity: true)
    }

    // MARK: Rows

    private func place(_ row: Int, _ part: Int) -> Range<Int> {
        let index = row * parts + part
        return (index == 0 ? 0 : ends[index - 1])..<ends[index]
    }

    /// The place of a row's key.
    func key(_ row: Int) -> Range<Int> { place(row, 0) }

    /// The place of a key that a row refers to; empty for a reference that is empty.
    func reference(_ row: Int, _ index: Int) -> Range<Int> {
        let place = place(row, index + 1)
        return place.isEmpty || bytes[place.lowerBound] == UInt8(ascii: "n") ? place.lowerBound..<place.lowerBound : place
    }

    /// The place of a row's attributes.
    func attributes(_ row: Int) -> Range<Int> { place(row, parts - 1) }

    func keyText(_ place: Range<Int>) -> KeyText? { place.isEmpty ? nil : KeyText(text: text(place)) }

    private func text(_ place: Range<Int>) -> String { String(decoding: bytes[place], as: UTF8.self) }

    subscript(row: Int) -> LoadedRow {
        LoadedRow(
            key: KeyText(text: text(key(row))), references: (0..<references).map { keyText(reference(row, $0)) }, attributes: text(attributes(row)))
    }
}
