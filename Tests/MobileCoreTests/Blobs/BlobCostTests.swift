import FaultInjection
import MobileCore
import Testing

/// The cost of a piece of a value, counted in reads of the database file, because times vary too much.
@Suite struct BlobCostTests {
    /// A value of 8 MB with all pages in the database file, and no page in a cache.
    private final class Counted {
        let storage: OpaquePointer
        let core: CorePool
        private let reader: OpaquePointer
        let length: Int64

        init(pageSize: Int32, unit: mc_blob_unit) throws {
            storage = fault_storage_create(nil)!
            let name = fault_storage_name(storage)
            let core = try CorePool { options in
                options.vfs = name
                options.page_size = pageSize
                options.cache_bytes = 10 * Int64(pageSize)
                options.synchronous = MC_SYNCHRONOUS_OFF
            }
            try core.prepareBlobs()
            let value = try core.writeBlob(Array(String(repeating: "aé€ plain words ", count: 400_000).utf8), unit: unit)
            try core.with(writer: true) { try exec($0, "PRAGMA wal_checkpoint(TRUNCATE)") }
            var reader: OpaquePointer?
            try CoreError.check { mc_blob_reader_open(core.pool, value, nil, &reader, $0) }
            (self.core, self.reader) = (core, reader!)
            length = mc_blob_reader_description(reader!).length
        }

        deinit {
            mc_blob_reader_free(reader)
            core.close()
            fault_storage_free(storage)
        }

        var pagesOfChunk: Int64 {
            var settings = mc_pool_settings()
            mc_pool_get_settings(core.pool, &settings)
            return mc_blob_reader_description(reader).chunk_size / Int64(settings.page_size) + 1
        }

        /// Returns the number of reads of the file for a seek and the 4 KB after it.
        func cost(of position: Int64) throws -> Int64 {
            var piece = [UInt8](repeating: 0, count: 4096), length = 0
            fault_storage_clear_counts(storage)
            try CoreError.check { mc_blob_reader_seek(reader, position, $0) }
            try CoreError.check { mc_blob_reader_read(reader, &piece, 4096, &length, $0) }
            #expect(length == 4096)
            return fault_storage_counts(storage).reads
        }

        /// Returns the highest cost of a piece in one tenth of the value.
        func most(inTenth tenth: Int64) throws -> Int64 {
            try (0..<60).map { try cost(of: (tenth * 60 + $0) * (length - 5000) / 600) }.max()!
        }
    }

    @Test("a seek and 4 KB cost the pages of a chunk and a look-up, wherever they are", arguments: [1024, 4096, 65536] as [Int32])
    func bytes(pageSize: Int32) throws {
        let value = try Counted(pageSize: pageSize, unit: MC_BLOB_BYTES)
        let costs = try (0..<10).map { try value.most(inTenth: $0) }
        #expect(costs.max()! <= value.pagesOfChunk + 8)
        #expect(costs[9] <= costs[0] + 2)
    }

    @Test(
        "a seek in a text costs a search over the chunks and a few times the pages of one, wherever it goes",
        arguments: [1024, 4096, 65536] as [Int32])
    func text(pageSize: Int32) throws {
        let value = try Counted(pageSize: pageSize, unit: MC_BLOB_SCALARS)
        let costs = try (0..<10).map { try value.most(inTenth: $0) }
        #expect(costs.max()! <= 5 * value.pagesOfChunk + 60)
        #expect(costs[9] <= costs[0] * 2)
    }

    @Test func `the writes of a value are its pages twice and a few more`() throws {
        let storage = fault_storage_create(nil)!
        defer { fault_storage_free(storage) }
        let core = try CorePool { options in
            options.vfs = fault_storage_name(storage)
            options.page_size = 4096
            options.cache_bytes = 40_960
        }
        defer { core.close() }
        try core.prepareBlobs()
        fault_storage_clear_counts(storage)
        _ = try core.writeBlob([UInt8](repeating: 7, count: 8_000_000), pieces: 65_536)
        try core.with(writer: true) { try exec($0, "PRAGMA wal_checkpoint(TRUNCATE)") }
        let counts = fault_storage_counts(storage)
        #expect(counts.bytes_written < 8_000_000 * 2 * 108 / 100)  // to the log and to the database
        #expect(counts.syncs <= 6)
    }
}
