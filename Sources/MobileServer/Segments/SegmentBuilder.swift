internal import MobileCrypto
internal import MobileProtocol
internal import MobileStore

/// Makes the segments of a run from rows as they travel: JSON arrays of about ``SegmentRules/textBytes``, each a zlib stream of level 1.
///
/// Memory: the text of one piece, and one segment; the finished ones are in a spool, or taken one by one.
final class SegmentBuilder {
    private(set) var segments: [Segment] = []
    /// The contents of the segments, one after the other.
    let contents = Spool()
    private let textBytes: Int
    private let take: ((Segment, _ content: [UInt8]) throws -> Void)?
    private var deflater: Deflater?
    private var content: [UInt8] = []
    private var piece: [UInt8] = []
    /// The bytes of text in the open segment that have been compressed.
    private var compressed = 0
    private var rows: Int64 = 0

    private static let pieceBytes = 65_536

    /// - Parameter take: receives each finished segment; nil (default): they go to ``contents``.
    init(textBytes: Int, take: ((Segment, _ content: [UInt8]) throws -> Void)? = nil) { (self.textBytes, self.take) = (textBytes, take) }

    var rowCount: Int64 { segments.reduce(rows) { $0 + $1.rows } }

    func add(_ row: [UInt8]) throws { try add(row, count: 1) }

    /// - Parameters:
    ///   - texts: one row or more, with commas between them.
    ///   - count: the number of rows.
    func add(_ texts: [UInt8], count: Int64) throws {
        piece.append(rows == 0 ? UInt8(ascii: "[") : UInt8(ascii: ","))
        piece += texts
        rows += count
        if piece.count >= Self.pieceBytes { try compress() }
        if compressed + piece.count >= textBytes { try endSegment() }
    }

    /// Ends the last segment; from then on the contents can be read.
    func finish() throws {
        if rows > 0 { try endSegment() }
        contents.rewind()
    }

    private func compress() throws {
        let deflater = try deflater ?? Deflater()
        self.deflater = deflater
        try deflater.compress(piece) { content += $0 }
        compressed += piece.count
        piece.removeAll(keepingCapacity: true)
    }

    private func endSegment() throws {
        piece.append(UInt8(ascii: "]"))
        try compress()
        try deflater?.finish { content += $0 }
        let segment = Segment(name: try SHA256.digest(of: content).hexadecimal, rows: rows, length: Int64(content.count))
        segments.append(segment)
        if let take { try take(segment, content) } else { try contents.append(content) }
        (deflater, compressed, rows) = (nil, 0, 0)
        content.removeAll(keepingCapacity: true)
    }
}
