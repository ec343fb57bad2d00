internal import Foundation

/// A part of a file as the body of a response. The HTTP server passes it to the system, which sends it without a copy.
public final class FileBody {
    private let handle: FileHandle
    /// The number of bytes of the file before the part.
    public let offset: Int64
    /// The number of bytes of the part.
    public let length: Int64
    private var position: Int64 = 0

    /// Opens a file.
    /// - Parameter range: chooses the part by the file's length; nil for the whole file.
    /// - Returns: nil if there is no file.
    init?(path: String, part: (_ length: Int64) throws -> Range<Int64>) throws {
        guard let handle = FileHandle(forReadingAtPath: path) else { return nil }
        self.handle = handle
        let range = try part(Int64(try handle.seekToEnd()))
        (offset, length) = (range.lowerBound, Int64(range.count))
        try handle.seek(toOffset: UInt64(offset))
    }

    /// The open file, which stays that of this object.
    var descriptor: Int32 { handle.fileDescriptor }

    /// Returns the next bytes of the part, 64 KB at most; nil at its end. For callers that use a server without HTTP.
    public func nextChunk() throws -> [UInt8]? {
        guard position < length, let data = try handle.read(upToCount: Int(min(65_536, length - position))), !data.isEmpty else { return nil }
        position += Int64(data.count)
        return Array(data)
    }
}
