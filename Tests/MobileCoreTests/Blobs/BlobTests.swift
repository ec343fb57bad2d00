import MobileCore
import Testing

@Suite struct BlobTests {
    private func open(_ core: CorePool, unit: mc_blob_unit = MC_BLOB_BYTES, chunkSize: Int = 4) throws -> OpaquePointer {
        var options = mc_blob_writer_options(unit: unit, length: -1, chunk_size: chunkSize, timeout_ns: Int64(MC_WAIT_FOREVER))
        var writer: OpaquePointer?
        try CoreError.check { mc_blob_writer_open(core.pool, &options, &writer, $0) }
        return writer!
    }

    private func prepared() throws -> CorePool {
        let core = try CorePool()
        try core.with(writer: true) { (writer) throws in try CoreError.check { mc_blob_prepare(writer, $0) } }
        return core
    }

    @Test func `zeroed options take bytes of any length, and a length of none is announced by name`() throws {
        let core = try prepared()
        var options = mc_blob_writer_default_options(), writer: OpaquePointer?, value: Int64 = 0
        try CoreError.check { mc_blob_writer_open(core.pool, &options, &writer, $0) }
        try CoreError.check { mc_blob_writer_write(writer!, "abc", 3, $0) }
        try CoreError.check { mc_blob_writer_finish(writer!, &value, $0) }
        mc_blob_writer_free(writer)
        #expect(try core.readBlob(value) == Array("abc".utf8))
        mc_blob_unpin(core.pool, value)
        options.length = Int64(MC_BLOB_EMPTY)
        try CoreError.check { mc_blob_writer_open(core.pool, &options, &writer, $0) }
        let error = #expect(throws: CoreError.self) { try CoreError.check { mc_blob_writer_write(writer!, "abc", 3, $0) } }
        #expect(error?.code == MC_ERROR_OVER_LENGTH && error?.message == "large value: 0 bytes announced, 0 written, 3 more are too many")
        try CoreError.check { mc_blob_writer_finish(writer!, &value, $0) }
        mc_blob_writer_free(writer)
        mc_blob_unpin(core.pool, value)
    }

    @Test func `the sink takes bytes, and keeps what it failed with`() throws {
        let core = try prepared()
        let writer = try open(core, unit: MC_BLOB_SCALARS)
        #expect(mc_blob_writer_sink(UnsafeMutableRawPointer(writer), "abc", 3))
        #expect(!mc_blob_writer_sink(UnsafeMutableRawPointer(writer), [0xFF] as [UInt8], 1))
        #expect(!mc_blob_writer_sink(UnsafeMutableRawPointer(writer), "d", 1))
        #expect(mc_blob_writer_failure(writer).pointee.code == MC_ERROR_TYPE)
        #expect(mc_blob_writer_failure(writer).pointee.byte_offset == 3)
        #expect(mc_blob_writer_length(writer) == 3)
        mc_blob_writer_free(writer)
    }

    @Test func `an open writer and an open reader hold no connection`() throws {
        let core = try prepared()
        let writer = try open(core)
        try CoreError.check { mc_blob_writer_write(writer, "0123456789", 10, $0) }
        try CoreError.check { mc_blob_writer_flush(writer, $0) }
        #expect(!core.statistics.writer_is_active)
        var id: Int64 = 0, reader: OpaquePointer?
        try CoreError.check { mc_blob_writer_finish(writer, &id, $0) }
        mc_blob_writer_free(writer)
        try CoreError.check { mc_blob_reader_open(core.pool, id, nil, &reader, $0) }
        var byte: UInt8 = 0, length = 0
        try CoreError.check { mc_blob_reader_read(reader!, &byte, 1, &length, $0) }
        #expect(core.statistics.readers_active == 0)
        #expect(mc_blob_reader_position(reader!) == 1)
        #expect(mc_blob_reader_description(reader!).chunk_size == 4)
        mc_blob_reader_free(reader)
        mc_blob_unpin(core.pool, id)
    }

    @Test func `a writer after finish refuses everything`() throws {
        let core = try prepared()
        let writer = try open(core)
        var id: Int64 = 0
        try CoreError.check { mc_blob_writer_finish(writer, &id, $0) }
        for status in [mc_blob_writer_write(writer, "a", 1, nil), mc_blob_writer_flush(writer, nil), mc_blob_writer_finish(writer, &id, nil)] {
            #expect(status == MC_ERROR_MISUSE)
        }
        mc_blob_writer_free(writer)
        mc_blob_unpin(core.pool, id)
    }

    @Test func `without tables there is nothing to collect, and no value`() throws {
        let core = try CorePool()
        var removed: Int64 = -1
        try CoreError.check { mc_blob_collect(core.pool, &removed, $0) }
        #expect(removed == 0)
        var reader: OpaquePointer?
        #expect(mc_blob_reader_open(core.pool, 1, nil, &reader, nil) == MC_ERROR_SQLITE)
    }

    @Test func `a value whose row contradicts itself is corrupt`() throws {
        let core = try prepared()
        let sql = "INSERT INTO _mc_value(id, unit, chunk, state, length, bytes) VALUES (1, 0, 4, 1, 5, 6), (2, 0, 0, 1, 5, 5), (3, 1, 4, 1, 9, 5)"
        try core.with(writer: true) { try exec($0, sql) }
        for id in Int64(1)...3 {
            var reader: OpaquePointer?
            #expect(mc_blob_reader_open(core.pool, id, nil, &reader, nil) == MC_ERROR_CORRUPT)
        }
    }

    @Test func `a value of many chunks is collected in several transactions`() throws {
        let core = try prepared()
        let writer = try open(core)
        let bytes = [UInt8](repeating: 1, count: 1000)
        var id: Int64 = 0, removed: Int64 = 0
        try CoreError.check { mc_blob_writer_write(writer, bytes, bytes.count, $0) }
        try CoreError.check { mc_blob_writer_finish(writer, &id, $0) }
        mc_blob_writer_free(writer)
        mc_blob_unpin(core.pool, id)
        try core.with(writer: true) { (connection) throws in
            try CoreError.check { mc_blob_drop(connection, &id, 1, $0) }
            #expect(mc_blob_has_dropped(connection))
        }
        let before = core.statistics.checkouts
        try CoreError.check { mc_blob_collect(core.pool, &removed, $0) }
        #expect(removed == 1)
        #expect(core.statistics.checkouts - before == 5)
        #expect(try core.integer("SELECT count(*) FROM _mc_chunk") == 0)
    }
}
