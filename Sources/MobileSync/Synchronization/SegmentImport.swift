internal import MobileProtocol
internal import MobileStore

/// Imports the segments of a download. Those of one object that follow each other are one import.
struct SegmentImport {
    private var rows: BulkImporter?
    private var object = ""
    private var columns: [String] = []
    /// The rows of the present import so far.
    private var count = 0

    /// Imports a segment.
    /// - Parameters:
    ///   - open: makes the importer for the segment's object and columns.
    ///   - bytes: pushes the segment's content.
    /// - Returns: the number of the segment's rows.
    mutating func take(_ part: SegmentPart, open: () throws -> BulkImporter, bytes: (BulkImporter) throws -> Void) throws -> Int {
        let rows = try rows ?? open()
        (self.rows, object, columns) = (rows, part.object, part.columns)
        try bytes(rows)
        let before = count
        count = try rows.endText().rows
        return count - before
    }

    /// Ends the present import, unless the next part of the download belongs to it.
    mutating func end(before content: FrameContent) throws {
        if case .segment(let part) = content, part.object == object, part.columns == columns { return }
        try rows?.finish()
        self = SegmentImport()
    }
}
