import MobileCore

/// Reading and writing of large values in tests.
extension CorePool {
    func prepareBlobs() throws {
        try with(writer: true) { (connection) throws in try CoreError.check { mc_blob_prepare(connection, $0) } }
    }

    func openWriter(_ unit: mc_blob_unit = MC_BLOB_BYTES, chunkSize: Int = 0) throws -> OpaquePointer {
        var options = mc_blob_writer_options(unit: unit, length: -1, chunk_size: chunkSize, timeout_ns: Int64(MC_WAIT_FOREVER))
        var writer: OpaquePointer?
        try CoreError.check { mc_blob_writer_open(pool, &options, &writer, $0) }
        return writer!
    }

    /// Writes a value in pieces, with a flush after each on request, and leaves it without a pin.
    func writeBlob(
        _ bytes: [UInt8], unit: mc_blob_unit = MC_BLOB_BYTES, chunkSize: Int = 0, pieces: Int = .max, flushes: Bool = false
    ) throws -> Int64 {
        let writer = try openWriter(unit, chunkSize: chunkSize)
        defer { mc_blob_writer_free(writer) }
        var at = 0
        while at < bytes.count {
            let size = min(pieces, bytes.count - at)
            try bytes.withUnsafeBytes { bytes in
                try CoreError.check { mc_blob_writer_write(writer, bytes.baseAddress! + at, size, $0) }
            }
            at += size
            if flushes { try CoreError.check { mc_blob_writer_flush(writer, $0) } }
        }
        var value: Int64 = 0
        try CoreError.check { mc_blob_writer_finish(writer, &value, $0) }
        mc_blob_unpin(pool, value)
        return value
    }

    /// Reads the whole value in pieces.
    func readBlob(_ value: Int64, from position: Int64 = 0, pieces: Int = 1 << 20) throws -> [UInt8] {
        var reader: OpaquePointer?
        try CoreError.check { mc_blob_reader_open(pool, value, nil, &reader, $0) }
        defer { mc_blob_reader_free(reader) }
        try CoreError.check { mc_blob_reader_seek(reader!, position, $0) }
        var result: [UInt8] = [], piece = [UInt8](repeating: 0, count: pieces), length = 1
        while length > 0 {
            try CoreError.check { mc_blob_reader_read(reader!, &piece, pieces, &length, $0) }
            result += piece[..<length]
        }
        return result
    }
}
