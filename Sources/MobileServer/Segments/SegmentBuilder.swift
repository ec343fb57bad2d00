internal import MobileCrypto
internal import MobileProtocol
internal import MobileStore

/// Makes the segments of a run from rows as they travel: JSON arrays of about ``SegmentRules/textBytes``, each a zlib stream.
///
/// Memory: the content of one segment; the finished ones are in a spool, or taken one by one.
final class SegmentBuilder {
    private(set) var segments: [Segment] = []
    /// The contents of the segments, one after the other.
    let contents = Spool()
    private let textBytes: Int
    private let take: ((Segment, _ content: [UInt8]) throws -> Void)?
    private let compressor: SegmentCompressor
    /// The length of the open segment's text, and its rows.
    private var length = 0
    private var rows: Int64 = 0

    /// - Parameter take: receives each finished segment; nil (default): they go to ``contents``.
    /// - Throws: ``StoreError/Code/noMemory``.
    init(textBytes: Int, take: ((Segment, _ content: [UInt8]) throws -> Void)? = nil) throws(StoreError) {
        (self.textBytes, self.take) = (textBytes, take)
        compressor = try SegmentCompressor()
    }

    var rowCount: Int64 { segments.reduce(rows) { $0 + $1.rows } }

    func add(_ row: [UInt8]) throws { try add(row[...], count: 1) }

    /// - Parameters:
    ///   - texts: one row or more, with commas between them.
    ///   - count: the number of rows.
    func add(_ texts: ArraySlice<UInt8>, count: Int64) throws {
        try compressor.add([rows == 0 ? UInt8(ascii: "[") : UInt8(ascii: ",")])
        try compressor.add(texts)
        length += 1 + texts.count
        rows += count
        if length >= textBytes { try endSegment() }
    }

    /// Ends the last segment; from then on the contents can be read.
    func finish() throws {
        if rows > 0 { try endSegment() }
        contents.rewind()
    }

    private func endSegment() throws {
        try compressor.add([UInt8(ascii: "]")])
        let content = try compressor.finish()
        let segment = Segment(name: try SHA256.digest(of: content).hexadecimal, rows: rows, length: Int64(content.count))
        segments.append(segment)
        (length, rows) = (0, 0)
        if let take { try take(segment, content) } else { try contents.append(content) }
    }
}
