#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#endif

/// Bytes that must be complete before they are used: first written, then read once or several times.
///
/// Contents of up to ``memoryLimit`` bytes stay in memory. Longer ones go to a temporary file without a name, which disappears with the
/// process, however the process ends. The server uses spools for request bodies, the client for downloads: a slow network then blocks
/// neither a back end nor the writer connection.
///
/// Threads: one at a time.
public final class Spool {
    /// The number of bytes kept in memory before the temporary file is created.
    public let memoryLimit: Int
    /// The longest content in bytes; nil for no limit.
    public let maximumLength: Int?
    /// Bytes written so far.
    public private(set) var length = 0
    /// Bytes read since the last ``rewind()``.
    public private(set) var position = 0

    private let directory: String
    private var memory: [UInt8] = []
    private var file: Int32 = -1
    /// Bytes in the file; less than ``length`` only while the memory's content is being moved there.
    private var fileEnd = 0

    /// - Parameters:
    ///   - memoryLimit: the number of bytes kept in memory before the temporary file is created; default 1 MB.
    ///   - maximumLength: the longest content in bytes, nil for no limit.
    ///   - directory: the directory of the temporary file; nil for `TMPDIR`, otherwise `/tmp`.
    public init(memoryLimit: Int = 1 << 20, maximumLength: Int? = nil, directory: String? = nil) {
        self.memoryLimit = memoryLimit
        self.maximumLength = maximumLength
        self.directory = directory ?? getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    }

    /// Creates a spool that holds `bytes` in memory, ready to be read.
    public convenience init(_ bytes: [UInt8]) {
        self.init(memoryLimit: bytes.count)
        memory = bytes
        length = bytes.count
    }

    /// Opens a file as a spool that is ready to be read. The file may be removed while it is read.
    /// - Throws: ``ProtocolError/Code/spool`` if it cannot be opened.
    public convenience init(readingFile path: String) throws(ProtocolError) {
        self.init(memoryLimit: 0)
        file = open(path, O_RDONLY | O_CLOEXEC)
        var status = stat()
        guard file >= 0, fstat(file, &status) == 0 else { throw systemError("read the file \(path)") }
        length = Int(status.st_size)
        fileEnd = length
    }

    deinit {
        if file >= 0 { _ = close(file) }
    }

    /// Whether the content has outgrown memory and is in a temporary file.
    public var isInFile: Bool { file >= 0 }

    /// Adds `bytes` at the end.
    /// - Throws: ``ProtocolError/Code/limitExceeded`` if the content would be longer than ``maximumLength`` (nothing is added),
    ///   ``ProtocolError/Code/spool`` if the temporary file cannot be created or written (the spool can no longer be used then).
    public func append(_ bytes: RawSpan) throws(ProtocolError) {
        if let maximumLength, bytes.byteCount > maximumLength - length {
            throw ProtocolError(
                .limitExceeded, "spool of at most \(maximumLength) bytes: \(length) bytes are in, \(bytes.byteCount) more came",
                byteOffset: Int64(maximumLength))
        }
        if file < 0, length + bytes.byteCount > memoryLimit { try moveToFile() }
        if file < 0 {
            bytes.withUnsafeBytes { memory.append(contentsOf: $0) }
        } else {
            try writeToFile(bytes)
        }
        length += bytes.byteCount
    }

    /// Adds an array of bytes at the end.
    public func append(_ bytes: [UInt8]) throws(ProtocolError) {
        try append(bytes.span.bytes)
    }

    /// Starts reading again from the first byte.
    public func rewind() { position = 0 }

    /// Returns the next bytes in order, at most `maximum` of them; nil at the end.
    /// - Throws: ``ProtocolError/Code/spool`` if the temporary file cannot be read; the position is then unchanged.
    public func nextChunk(maximum: Int = 65_536) throws(ProtocolError) -> [UInt8]? {
        let chunk = try chunk(at: position, maximum: maximum)
        position += chunk?.count ?? 0
        return chunk
    }

    /// Returns the bytes from `place` on, at most `maximum` of them; nil at the end. The position of ``nextChunk(maximum:)`` does not change, so
    /// several readers can be at different places.
    /// - Parameters:
    ///   - place: the number of bytes before the first one, 0 or more.
    ///   - maximum: bytes to read, 0 or more.
    /// - Throws: ``ProtocolError/Code/spool`` if the temporary file cannot be read.
    public func chunk(at place: Int, maximum: Int = 65_536) throws(ProtocolError) -> [UInt8]? {
        guard place < length else { return nil }
        let count = min(maximum, length - place)
        guard count > 0 else { return nil }
        return file < 0 ? Array(memory[place..<place + count]) : try readFromFile(count, at: place)
    }

    /// Returns all remaining bytes, for contents that are known to be small.
    /// - Throws: ``ProtocolError/Code/limitExceeded`` if more than `maximum` bytes are left, ``ProtocolError/Code/spool``.
    public func remainingBytes(maximum: Int = 1 << 20) throws(ProtocolError) -> [UInt8] {
        guard length - position <= maximum else {
            throw ProtocolError(
                .limitExceeded, "content of \(length - position) bytes: at most \(maximum) are accepted here", byteOffset: Int64(maximum))
        }
        return try nextChunk(maximum: maximum) ?? []
    }

    private func moveToFile() throws(ProtocolError) {
        var template = Array("\(directory)/mobile-spool-XXXXXX".utf8CString)
        let made = mkstemp(&template)
        guard made >= 0 else { throw systemError("make a temporary file in \(directory)") }
        _ = unlink(template)
        _ = fcntl(made, F_SETFD, FD_CLOEXEC)
        file = made
        let content = memory
        memory = []
        try writeToFile(content.span.bytes)
    }

    private func writeToFile(_ bytes: RawSpan) throws(ProtocolError) {
        let failure: Int32 = bytes.withUnsafeBytes { buffer in
            var done = 0
            while done < buffer.count {
                let written = pwrite(file, buffer.baseAddress! + done, buffer.count - done, off_t(fileEnd + done))
                if written < 0, errno == EINTR { continue }
                if written <= 0 { return errno }
                done += written
            }
            return 0
        }
        if failure != 0 { throw systemError("write to the temporary file in \(directory)", failure) }
        fileEnd += bytes.byteCount
    }

    private func readFromFile(_ count: Int, at place: Int) throws(ProtocolError) -> [UInt8] {
        var failure: Int32 = 0
        let chunk = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let got = pread(file, buffer.baseAddress! + filled, count - filled, off_t(place + filled))
                if got < 0, errno == EINTR { continue }
                if got <= 0 {
                    failure = got < 0 ? errno : EIO
                    return
                }
                filled += got
            }
        }
        if failure != 0 { throw systemError("read from the temporary file in \(directory)", failure) }
        return chunk
    }

    private func systemError(_ action: String, _ number: Int32 = errno) -> ProtocolError {
        let reason = strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
        return ProtocolError(.spool, "cannot \(action): \(reason)")
    }
}
