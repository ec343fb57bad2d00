internal import MobileZlib

/// Whole messages as gzip streams (RFC 1952), for protocols that name that format.
package enum Gzip {
    /// The window bits that make zlib write and expect the header and the trailer of gzip.
    private static let windowBits: Int32 = 15 + 16
    private static let pieceBytes = 65_536

    /// Compresses bytes.
    /// - Throws: ``StoreError/Code/noMemory``.
    @safe package static func compress(_ bytes: [UInt8]) throws(StoreError) -> [UInt8] {
        var stream = unsafe z_stream()
        guard
            unsafe deflateInit2_(
                &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
                == Z_OK
        else { throw StoreError(.noMemory, "no memory for the compression of a message") }
        defer { unsafe deflateEnd(&stream) }
        var output: [UInt8] = []
        let status = unsafe run(&stream, bytes, into: &output, maximum: .max) { unsafe deflate($0, $1 ? Z_FINISH : Z_NO_FLUSH) }
        guard status == Z_STREAM_END else { throw StoreError(.compression, "the message could not be compressed: zlib says \(status)") }
        return output
    }

    /// Restores the bytes of one gzip stream.
    /// - Parameter maximumLength: the most bytes that the result may have.
    /// - Throws: ``StoreError/Code/limit`` for a longer result, ``StoreError/Code/compression`` for damaged bytes and for bytes after the stream,
    ///   ``StoreError/Code/truncated`` for a stream without its end, ``StoreError/Code/noMemory``.
    @safe package static func inflate(_ bytes: [UInt8], maximumLength: Int) throws(StoreError) -> [UInt8] {
        var stream = unsafe z_stream()
        guard unsafe inflateInit2_(&stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            throw StoreError(.noMemory, "no memory to decompress a message")
        }
        defer { unsafe inflateEnd(&stream) }
        var output: [UInt8] = []
        let status = unsafe run(&stream, bytes, into: &output, maximum: maximumLength) { stream, _ in unsafe MobileZlib.inflate(stream, Z_NO_FLUSH) }
        guard output.count <= maximumLength else { throw StoreError(.limit, "a compressed message has more than \(maximumLength) bytes") }
        switch status {
        case Z_STREAM_END where unsafe stream.avail_in == 0: return output
        case Z_STREAM_END: throw StoreError(.compression, "bytes follow the end of a compressed message")
        case Z_OK, Z_BUF_ERROR: throw StoreError(.truncated, "a compressed message ends too early")
        case Z_MEM_ERROR: throw StoreError(.noMemory, "no memory to decompress a message")
        default: throw StoreError(.compression, "a compressed message is damaged: zlib says \(status)")
        }
    }

    /// Moves all bytes through a stream, until its end or until `output` is longer than `maximum`.
    @unsafe private static func run(
        _ stream: inout z_stream, _ bytes: [UInt8], into output: inout [UInt8], maximum: Int,
        _ step: (UnsafeMutablePointer<z_stream>, _ isLast: Bool) -> Int32
    ) -> Int32 {
        var start = 0, status = Z_OK
        repeat {
            // zlib counts in 32 bits.
            var input = Array(bytes[start...].prefix(1 << 30))
            start += input.count
            let isLast = start == bytes.count
            unsafe input.withUnsafeMutableBufferPointer { input in
                unsafe stream.next_in = input.baseAddress
                unsafe stream.avail_in = uInt(input.count)
                var isFull = true
                while isFull, status == Z_OK, output.count <= maximum {
                    let piece = unsafe [UInt8](unsafeUninitializedCapacity: pieceBytes) { piece, count in
                        unsafe stream.next_out = piece.baseAddress
                        unsafe stream.avail_out = uInt(piece.count)
                        status = unsafe step(&stream, isLast)
                        count = piece.count - Int(unsafe stream.avail_out)
                    }
                    isFull = piece.count == pieceBytes
                    output += piece
                }
            }
        } while start < bytes.count && status == Z_OK && output.count <= maximum
        return status
    }
}
