import MobileZlib

/// Deflates the bytes into a zlib or gzip stream.
func deflated(_ bytes: [UInt8], gzip: Bool = false) -> [UInt8] {
    var stream = z_stream()
    precondition(
        deflateInit2_(&stream, 6, Z_DEFLATED, gzip ? 31 : 15, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK)
    defer { deflateEnd(&stream) }
    var input = bytes
    return input.withUnsafeMutableBufferPointer { input in
        stream.next_in = input.baseAddress
        stream.avail_in = uInt(input.count)
        return [UInt8](unsafeUninitializedCapacity: Int(deflateBound(&stream, uLong(input.count)))) { output, length in
            stream.next_out = output.baseAddress
            stream.avail_out = uInt(output.count)
            precondition(deflate(&stream, Z_FINISH) == Z_STREAM_END)
            length = output.count - Int(stream.avail_out)
        }
    }
}
