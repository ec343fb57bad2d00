internal import MobileZlib

/// Compresses a stream of bytes at level 1, for content that is not made by a ``BulkExporter``.
@safe package final class Deflater {
    // zlib keeps a pointer to the stream: it must not move.
    private let stream: UnsafeMutablePointer<z_stream>
    private static let pieceBytes = 65_536

    /// The form of the stream.
    package enum Form: Sendable {
        /// RFC 1950.
        case zlib
        /// RFC 1952.
        case gzip

        /// The window bits that make zlib write the form: those of the largest window, and 16 for gzip.
        var windowBits: Int32 { self == .zlib ? 15 : 15 + 16 }
    }

    /// - Throws: ``StoreError/Code/noMemory``.
    package init(_ form: Form = .zlib) throws(StoreError) {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        guard
            unsafe deflateInit2_(
                stream, 1, Z_DEFLATED, form.windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else {
            unsafe stream.deallocate()
            throw StoreError(.noMemory, "no memory for the compression of a stream")
        }
    }

    deinit {
        unsafe deflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Compresses the next bytes.
    /// - Parameter take: receives compressed pieces of up to 64 KB, or none while the bytes wait for more.
    package func compress(_ bytes: [UInt8], _ take: ([UInt8]) throws -> Void) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            // zlib counts in 32 bits.
            try run(Array(rest.prefix(1 << 30)), Z_NO_FLUSH, take)
            rest = rest.dropFirst(1 << 30)
        }
    }

    /// Ends the stream.
    package func finish(_ take: ([UInt8]) throws -> Void) throws { try run([], Z_FINISH, take) }

    private func run(_ bytes: [UInt8], _ flush: Int32, _ take: ([UInt8]) throws -> Void) throws {
        var input = bytes
        try unsafe input.withUnsafeMutableBufferPointer { input in
            unsafe stream.pointee.next_in = input.baseAddress
            unsafe stream.pointee.avail_in = uInt(input.count)
            var isFull = true
            while isFull {
                let piece = unsafe [UInt8](unsafeUninitializedCapacity: Self.pieceBytes) { output, count in
                    unsafe stream.pointee.next_out = output.baseAddress
                    unsafe stream.pointee.avail_out = uInt(output.count)
                    _ = unsafe deflate(stream, flush)
                    count = output.count - Int(unsafe stream.pointee.avail_out)
                }
                isFull = piece.count == Self.pieceBytes
                if !piece.isEmpty { try take(piece) }
            }
        }
    }
}
