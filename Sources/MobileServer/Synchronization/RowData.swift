internal import MobileProtocol
internal import MobileStore

/// Writes rows as the data of one table part: a JSON array of their texts, compressed. Writes nothing without a row.
struct RowData {
    private let spool: Spool
    private let deflater: Deflater?
    private var text: [UInt8] = []
    private(set) var count: Int64 = 0

    private static let pieceBytes = 65_536

    init(_ part: TablePart, _ spool: Spool) throws {
        self.spool = spool
        deflater = part.compression == .zlib ? try Deflater() : nil
    }

    mutating func add(_ row: [UInt8]) throws {
        text.append(count == 0 ? UInt8(ascii: "[") : UInt8(ascii: ","))
        text += row
        count += 1
        if text.count >= Self.pieceBytes { try write() }
    }

    /// - Returns: whether there were rows.
    mutating func finish() throws -> Bool {
        guard count > 0 else { return false }
        text.append(UInt8(ascii: "]"))
        try write()
        try deflater?.finish { try spool.append($0) }
        return true
    }

    private mutating func write() throws {
        if let deflater {
            try deflater.compress(text) { try spool.append($0) }
        } else {
            try spool.append(text)
        }
        text.removeAll(keepingCapacity: true)
    }
}
