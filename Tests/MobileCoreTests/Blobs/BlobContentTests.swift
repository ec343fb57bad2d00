import MobileCore
import Testing

/// Content around the borders of chunks and buffers, with the smallest and the largest pages and a very small cache.
@Suite struct BlobContentTests {
    private func core(pageSize: Int32) throws -> CorePool {
        let core = try CorePool { options in
            options.page_size = pageSize
            options.cache_bytes = 10 * Int64(pageSize)
            options.synchronous = MC_SYNCHRONOUS_OFF
        }
        try core.prepareBlobs()
        return core
    }

    private func chunkSize(_ core: CorePool, _ unit: mc_blob_unit) throws -> Int { try core.with { mc_blob_chunk_size($0, unit) } }

    @Test("bytes of any length come back, in pieces of any size", arguments: [1024, 4096, 65536] as [Int32])
    func bytes(pageSize: Int32) throws {
        let core = try core(pageSize: pageSize), chunk = try chunkSize(core, MC_BLOB_BYTES)
        for length in [0, 1, chunk - 1, chunk, chunk + 1, 3 * chunk + 5, 512 * 1024, 1_300_003] {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
            let value = try core.writeBlob(bytes, pieces: length > 500_000 ? 65_536 : .max)
            for piece in [777, 4096, 65_536, 131_072, 2_000_000] { #expect(try core.readBlob(value, pieces: piece) == bytes) }
            for position in [0, length / 3, max(0, length - 1), length] {
                #expect(try core.readBlob(value, from: Int64(position)) == Array(bytes[position...]))
            }
        }
    }

    @Test("every fifth position of a long text is found", arguments: [1024, 65536] as [Int32])
    func text(pageSize: Int32) throws {
        let core = try core(pageSize: pageSize)
        let part = Array("a\u{0}é€😀漢 and words.".unicodeScalars)
        let text = Array(repeatElement(part, count: 20_000).joined())
        let bytes = Array(String(String.UnicodeScalarView(text)).utf8)
        let value = try core.writeBlob(bytes, unit: MC_BLOB_SCALARS, pieces: 99_991)
        var reader: OpaquePointer?
        try CoreError.check { mc_blob_reader_open(core.pool, value, nil, &reader, $0) }
        defer { mc_blob_reader_free(reader) }
        var piece = [CChar](repeating: 0, count: 64), length = 0, units: Int64 = 0
        for position in stride(from: 0, to: text.count, by: text.count / 500) {
            try CoreError.check { mc_blob_reader_seek(reader!, Int64(position), $0) }
            try CoreError.check { mc_blob_reader_read_text(reader!, 5, &piece, piece.count, &length, &units, $0) }
            let found = String(decoding: piece[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
            #expect(Array(found.unicodeScalars) == Array(text[position...].prefix(5)))
        }
    }

    @Test("pieces of text in a buffer of any size are whole characters", arguments: [4, 5, 7, 1000, 4096, 200_000])
    func wholeCharacters(capacity: Int) throws {
        let core = try core(pageSize: 4096)
        let bytes = Array(String(repeating: "aé€😀漢 and words.", count: capacity < 100 ? 30 : 30_000).utf8)
        let value = try core.writeBlob(bytes, unit: MC_BLOB_SCALARS)
        for most in [Int64(3), 100_000, .max] {
            var reader: OpaquePointer?
            try CoreError.check { mc_blob_reader_open(core.pool, value, nil, &reader, $0) }
            defer { mc_blob_reader_free(reader) }
            var result: [UInt8] = [], piece = [CChar](repeating: 0, count: capacity), length = 1, units: Int64 = 0
            while length > 0, result.count < 300_000 {
                try CoreError.check { mc_blob_reader_read_text(reader!, most, &piece, capacity, &length, &units, $0) }
                let part = piece[..<length].map { UInt8(bitPattern: $0) }
                #expect(String(validating: part, as: UTF8.self)?.unicodeScalars.count == Int(units) && units <= most)
                result += part
            }
            #expect(result.elementsEqual(bytes.prefix(result.count)) && (length > 0 || result.count == bytes.count))
        }
    }

    @Test("text is checked as UTF-8 wherever a piece ends", arguments: [1, 2, 3, 15, 16, 17, 64])
    func checkedInPieces(size: Int) throws {
        let core = try core(pageSize: 4096)
        let good = Array("plain words before: aé€😀漢\u{7F}\u{80}\u{7FF}\u{800}\u{D7FF}\u{E000}\u{FFFF}\u{10000}\u{10FFFF} and after".utf8)
        #expect(try core.readBlob(core.writeBlob(good, unit: MC_BLOB_SCALARS, pieces: size)) == good)
        let bad: [[UInt8]] = [
            [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x9F, 0xBF], [0xED, 0xA0, 0x80], [0xF0, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80], [0xF5],
            [0xC3, 0x41], [0xE2, 0x82, 0x41], [0xE2, 0x41, 0x42], [0xF0, 0x9F, 0x98, 0x41], [0xFF],
        ]
        for sequence in bad {
            let error = #expect(throws: CoreError.self) {
                _ = try core.writeBlob(good + sequence + Array("behind".utf8), unit: MC_BLOB_SCALARS, pieces: size)
            }
            #expect(error?.code == MC_ERROR_TYPE)
        }
    }
}
