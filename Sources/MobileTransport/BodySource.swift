#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#endif

/// A request's body while it is sent. Used by one thread.
package protocol BodySource: AnyObject {
    /// Bytes of the whole body; nil if that is not known.
    var length: Int? { get }
    /// Whether the body can be sent again.
    var canRewind: Bool { get }
    /// Fills the front of `buffer`; returns the number of bytes, 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int
    /// Begins again; returns false if that is not possible.
    func rewind() -> Bool
}

extension TransportRequest.Body {
    /// The source of the body; nil for no body.
    /// - Throws: ``TransportError/Code/badRequest`` for a file that cannot be read.
    package func makeSource() throws(TransportError) -> (any BodySource)? {
        switch self {
        case .none: nil
        case .bytes(let bytes): BytesSource(bytes)
        case .file(let path): try FileSource(path)
        case .stream(let length, let next): StreamSource(length, next)
        }
    }
}

private final class BytesSource: BodySource {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var length: Int? { bytes.count }
    var canRewind: Bool { true }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, bytes.count - position)
        buffer.copyBytes(from: bytes[position..<position + count])
        position += count
        return count
    }

    func rewind() -> Bool {
        position = 0
        return true
    }
}

private final class FileSource: BodySource {
    private let file: Int32
    private let path: String
    let length: Int?
    private var position = 0

    init(_ path: String) throws(TransportError) {
        let opened = open(path, O_RDONLY | O_CLOEXEC)
        var status = stat()
        guard opened >= 0, fstat(opened, &status) == 0 else {
            let reason = strerror(errno).map { String(cString: $0) } ?? ""
            if opened >= 0 { _ = close(opened) }
            throw TransportError(.badRequest, "cannot send file \(path): \(reason)")
        }
        self.path = path
        file = opened
        length = Int(status.st_size)
    }

    deinit { _ = close(file) }

    var canRewind: Bool { true }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        // At most the announced length, even if the file has grown since.
        let wanted = min(buffer.count, (length ?? 0) - position)
        guard wanted > 0 else { return 0 }
        let count = pread(file, buffer.baseAddress, wanted, off_t(position))
        if count < 0, errno == EINTR { return try read(into: buffer) }
        guard count > 0 else {
            let reason = count == 0 ? "it has become shorter" : strerror(errno).map { String(cString: $0) } ?? ""
            throw TransportError(.badRequest, "cannot send file \(path), byte \(position): \(reason)")
        }
        position += count
        return count
    }

    func rewind() -> Bool {
        position = 0
        return true
    }
}

private final class StreamSource: BodySource {
    let length: Int?
    private let next: () throws -> [UInt8]?
    private var chunk: [UInt8] = []
    private var position = 0
    /// The number of bytes returned by `next`.
    private var given = 0

    init(_ length: Int?, _ next: @escaping () throws -> [UInt8]?) {
        self.length = length
        self.next = next
    }

    var canRewind: Bool { false }

    /// An announced length that is wrong would leave the server waiting, or the server would take the rest for its next request.
    private func check(isAtEnd: Bool) throws(TransportError) {
        guard let length, isAtEnd ? given != length : given > length else { return }
        throw TransportError(
            .badRequest, "request body: \(length) bytes were announced, \(isAtEnd ? "" : "at least ")\(given) came")
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        while position == chunk.count {
            guard let more = try next() else {
                try check(isAtEnd: true)
                return 0
            }
            chunk = more
            position = 0
            given += more.count
            try check(isAtEnd: false)
        }
        let count = min(buffer.count, chunk.count - position)
        buffer.copyBytes(from: chunk[position..<position + count])
        position += count
        return count
    }

    func rewind() -> Bool { false }
}
