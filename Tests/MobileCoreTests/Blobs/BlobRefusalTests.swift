import Foundation
import MobileCore
import Testing

/// The refusals of large values, by name, and the remaining content.
@Suite struct BlobRefusalTests {
    private let core: CorePool
    private let text = Array("añ€😀 plain words".utf8)

    init() throws {
        core = try CorePool()
        try core.prepareBlobs()
    }

    private func reader(_ value: Int64) throws -> OpaquePointer {
        var reader: OpaquePointer?
        try CoreError.check { mc_blob_reader_open(core.pool, value, nil, &reader, $0) }
        return reader!
    }

    private func content(_ reader: OpaquePointer, _ capacity: Int = 1000) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: capacity), length = 0
        try CoreError.check { mc_blob_reader_read(reader, &bytes, capacity, &length, $0) }
        return Array(bytes[..<length])
    }

    @Test func `a reader goes nowhere outside of its value, and reads characters of text alone`() throws {
        for unit in [MC_BLOB_BYTES, MC_BLOB_SCALARS] {
            let reader = try reader(core.writeBlob(text, unit: unit, chunkSize: 5))
            defer { mc_blob_reader_free(reader) }
            try CoreError.check { mc_blob_reader_seek(reader, 3, $0) }
            for position in [-1, mc_blob_reader_description(reader).length + 1] {
                #expect(mc_blob_reader_seek(reader, position, nil) == MC_ERROR_MISUSE)
                #expect(mc_blob_reader_position(reader) == 3)
            }
            var piece = [CChar](repeating: 0, count: 100), length = 1, units: Int64 = 1
            let expected = unit == MC_BLOB_BYTES ? MC_ERROR_MISUSE : MC_OK
            #expect(mc_blob_reader_read_text(reader, 5, &piece, 100, &length, &units, nil) == expected)
            #expect(units == (unit == MC_BLOB_BYTES ? 0 : 5))
            #expect(mc_blob_reader_read_text(reader, 5, &piece, 3, &length, &units, nil) == MC_ERROR_MISUSE)
            // Backwards, so that the bytes read ahead begin after the position.
            try CoreError.check { mc_blob_reader_seek(reader, 0, $0) }
            #expect(try content(reader) == text)
        }
    }

    @Test func `a writer writes at its end alone, and flushing nothing costs nothing`() throws {
        let writer = try core.openWriter(MC_BLOB_BYTES, chunkSize: 4)
        defer { mc_blob_writer_free(writer) }
        try CoreError.check { mc_blob_writer_flush(writer, $0) }
        #expect(try core.integer("SELECT count(*) FROM _mc_value") == 0)
        try CoreError.check { mc_blob_writer_write_at(writer, 0, "abcdef", 6, $0) }
        let error = #expect(throws: CoreError.self) { try CoreError.check { mc_blob_writer_write_at(writer, 5, "x", 1, $0) } }
        #expect(error?.code == MC_ERROR_APPEND_ONLY)
        for _ in 0..<3 { try CoreError.check { mc_blob_writer_flush(writer, $0) } }
        #expect(try core.integer("SELECT count(*) FROM _mc_chunk") == 2)
        try CoreError.check { mc_blob_writer_write(writer, nil, 0, $0) }
        try CoreError.check { mc_blob_writer_write_at(writer, 6, "gh", 2, $0) }
        try CoreError.check { mc_blob_writer_flush(writer, $0) }
        try CoreError.check { mc_blob_writer_flush(writer, $0) }
        var value: Int64 = 0
        try CoreError.check { mc_blob_writer_finish(writer, &value, $0) }
        #expect(try core.readBlob(value) == Array("abcdefgh".utf8))
        mc_blob_unpin(core.pool, value)
        mc_blob_unpin(core.pool, value)  // one unpin too many: without effect
    }

    @Test func `announced characters are counted as characters`() throws {
        var options = mc_blob_writer_options(unit: MC_BLOB_SCALARS, length: 3, chunk_size: 0, timeout_ns: Int64(MC_WAIT_FOREVER)),
            made: OpaquePointer?
        try CoreError.check { mc_blob_writer_open(core.pool, &options, &made, $0) }
        let writer = try #require(made)
        defer { mc_blob_writer_free(writer) }
        let over = #expect(throws: CoreError.self) { try CoreError.check { mc_blob_writer_write(writer, "äöüß", 8, $0) } }
        #expect(over?.message == "large value: 3 characters announced, 0 written, 4 more are too many")
        try CoreError.check { mc_blob_writer_write(writer, "äö", 4, $0) }
        var value: Int64 = 0
        let short = #expect(throws: CoreError.self) { try CoreError.check { mc_blob_writer_finish(writer, &value, $0) } }
        #expect(short?.code == MC_ERROR_TRUNCATED && short?.message == "large value: 3 characters announced, only 2 written")
        try CoreError.check { mc_blob_writer_write(writer, "ü", 2, $0) }
        try CoreError.check { mc_blob_writer_finish(writer, &value, $0) }
        mc_blob_unpin(core.pool, value)
    }

    @Test func `chunks have a largest size, and one that is larger than the usual buffer is written as well`() throws {
        var options = mc_blob_writer_options(unit: MC_BLOB_BYTES, length: -1, chunk_size: .max, timeout_ns: Int64(MC_WAIT_FOREVER)),
            writer: OpaquePointer?
        let error = #expect(throws: CoreError.self) { try CoreError.check { mc_blob_writer_open(core.pool, &options, &writer, $0) } }
        #expect(error?.code == MC_ERROR_MISUSE && writer == nil)
        let bytes = [UInt8](repeating: 5, count: 1_300_000)
        #expect(try core.readBlob(core.writeBlob(bytes, chunkSize: 600_000)) == bytes)
    }

    @Test func `a closed pool is told by every call, and its values can be let go of`() throws {
        let value = try core.writeBlob(text, unit: MC_BLOB_SCALARS, chunkSize: 5)
        let open = try reader(value), writer = try core.openWriter(chunkSize: 4)
        try CoreError.check { mc_blob_writer_write(writer, "abc", 3, $0) }
        core.close()
        var piece = [CChar](repeating: 0, count: 100), length = 1, units: Int64 = 1, other: OpaquePointer?
        #expect(mc_blob_reader_read(open, &piece, 100, &length, nil) == MC_ERROR_CLOSED && length == 0)
        #expect(mc_blob_reader_read_text(open, 3, &piece, 100, &length, &units, nil) == MC_ERROR_CLOSED && units == 0)
        #expect(mc_blob_reader_read_text(open, .max, &piece, 100, &length, &units, nil) == MC_ERROR_CLOSED && units == 0)
        #expect(mc_blob_reader_seek(open, 7, nil) == MC_ERROR_CLOSED && mc_blob_reader_position(open) == 0)
        #expect(mc_blob_reader_open(core.pool, value, nil, &other, nil) == MC_ERROR_CLOSED)
        #expect(mc_blob_collect(core.pool, nil, nil) == MC_ERROR_CLOSED)
        var options = mc_blob_writer_options(unit: MC_BLOB_BYTES, length: -1, chunk_size: 0, timeout_ns: Int64(MC_WAIT_FOREVER))
        #expect(mc_blob_writer_open(core.pool, &options, &other, nil) == MC_ERROR_CLOSED)
        #expect(mc_blob_writer_flush(writer, nil) == MC_ERROR_CLOSED)
        // The bytes taken so far are lost: the writer can only be dropped.
        let error = #expect(throws: CoreError.self) { try CoreError.check { mc_blob_writer_write(writer, "d", 1, $0) } }
        #expect(error?.message == "an earlier write of the large value failed: it can only be dropped")
        mc_blob_writer_free(writer)
        mc_blob_reader_free(open)
        mc_blob_writer_free(nil)
        mc_blob_reader_free(nil)
        mc_column_value_free(nil)
    }

    @Test(
        "a description that contradicts itself is corrupt",
        arguments: [
            "unit = 9", "chunk = 3000000000", "length = -1, bytes = -1", "bytes = length - 1", "length = 1 << 40, bytes = 1 << 40, chunk = 1",
        ])
    func description(change: String) throws {
        let value = try core.writeBlob([1, 2, 3])
        try core.with(writer: true) { try exec($0, "UPDATE _mc_value SET \(change) WHERE id = \(value)") }
        let error = #expect(throws: CoreError.self) { try reader(value) }
        #expect(error?.code == MC_ERROR_CORRUPT && error?.message == "large value \(value): its length contradicts itself")
    }

    @Test(
        "text whose chunks are missing or damaged is corrupt, and the place stays",
        arguments: [
            ("DELETE FROM _mc_chunk WHERE id & 0xFFFFFF > 20", 1900), ("UPDATE _mc_chunk SET start = start - 20", 1999),
            ("UPDATE _mc_chunk SET content = zeroblob(1)", 1900), ("UPDATE _mc_chunk SET content = x'\(String(repeating: "80", count: 100))'", 1900),
        ] as [(String, Int64)])
    func damaged(damage: String, position: Int64) throws {
        let value = try core.writeBlob(Array(String(repeating: "añ€😀", count: 500).utf8), unit: MC_BLOB_SCALARS, chunkSize: 100)
        try core.with(writer: true) { try exec($0, damage) }
        let reader = try reader(value)
        defer { mc_blob_reader_free(reader) }
        #expect(mc_blob_reader_seek(reader, position, nil) == MC_ERROR_CORRUPT)
        #expect(mc_blob_reader_position(reader) == 0)
    }

    @Test func `files that cannot be read or written are told by what the system says, and leave nothing behind`() throws {
        let small = try reader(core.writeBlob(text)), large = try reader(core.writeBlob([UInt8](repeating: 1, count: 600_000)))
        defer {
            mc_blob_reader_free(small)
            mc_blob_reader_free(large)
        }
        var bytes: Int64 = -1
        func failure(_ reader: OpaquePointer, _ path: String) -> mc_status { mc_blob_copy_to_file(reader, path, &bytes, nil) }
        #expect(failure(small, core.directory + "/missing/file") == MC_ERROR_NOT_FOUND)
        let folder = core.directory + "/folder"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        #expect(failure(small, folder) == MC_ERROR_IO && bytes == Int64(text.count))
        for reader in [small, large] {  // at the file's close, and before it
            let full = core.directory + "/full"
            try FileManager.default.createSymbolicLink(atPath: full + ".part", withDestinationPath: "/dev/full")
            #expect(failure(reader, full) == MC_ERROR_FULL)
            #expect(!FileManager.default.fileExists(atPath: full) && !FileManager.default.fileExists(atPath: full + ".part"))
        }
        let path = core.directory + "/text"
        #expect(failure(small, path) == MC_OK && bytes == Int64(text.count))

        let writer = try core.openWriter(MC_BLOB_SCALARS)
        defer { mc_blob_writer_free(writer) }
        #expect(mc_blob_copy_from_file(writer, folder, &bytes, nil) == MC_ERROR_IO && bytes == 0)
        #expect(mc_blob_copy_from_file(writer, path, &bytes, nil) == MC_OK && bytes == Int64(text.count))
        try Data([0xFF]).write(to: URL(fileURLWithPath: path))
        #expect(mc_blob_copy_from_file(writer, path, nil, nil) == MC_ERROR_TYPE)
        #expect(mc_blob_writer_bytes(writer) == Int64(text.count))
    }

    @Test func `dropping stops at its first failure, and what nothing refers to goes without a reference, too`() throws {
        let values = try (0..<3).map { _ in try core.writeBlob(text) }
        try core.with { (reader) throws in #expect(mc_blob_drop(reader, values, 3, nil) == MC_ERROR_READ_ONLY) }
        try core.with(writer: true) { (writer) throws in
            try exec(writer, "CREATE TABLE t (value); INSERT INTO t VALUES (\(values[0]))")
            try "t".withCString { table in
                try "value".withCString { column in
                    var references = [mc_blob_reference(table: table, column: column), mc_blob_reference(table: table, column: column)]
                    try CoreError.check { mc_blob_drop_unreferenced(writer, &references, 2, nil, $0) }
                    var missing = mc_blob_reference(table: column, column: table)
                    #expect(mc_blob_drop_unreferenced(writer, &missing, 1, nil, nil) == MC_ERROR_SQLITE)
                }
            }
            #expect(try integer(writer, "SELECT count(*) FROM _mc_value WHERE state = 1") == 1)
            var dropped: Int64 = 0
            try CoreError.check { mc_blob_drop_unreferenced(writer, nil, 0, &dropped, $0) }
            #expect(dropped == 1)
        }
        try core.with { (reader) throws in
            var dropped: Int64 = 7
            try CoreError.check { mc_blob_drop_unreferenced(reader, nil, 0, &dropped, $0) }
            #expect(dropped == 0)
        }
    }

    @Test func `a part of a transaction that fails is undone alone`() throws {
        let kept = try core.writeBlob(text)
        try core.with(writer: true) { (writer) throws in
            try CoreError.check { mc_connection_begin(writer, $0) }
            try exec(writer, "CREATE TABLE t (x); CREATE TRIGGER refuse BEFORE INSERT ON _mc_chunk BEGIN SELECT raise(ABORT, 'not now'); END")
            let blob = try core.openWriter(chunkSize: 4)
            try CoreError.check { mc_blob_writer_write(blob, "abc", 3, $0) }
            let error = #expect(throws: CoreError.self) { try CoreError.check { mc_blob_writer_flush(blob, $0) } }
            #expect(error?.code == MC_ERROR_CONSTRAINT)
            mc_blob_writer_free(blob)
            try exec(writer, "DROP TRIGGER refuse")
            try CoreError.check { mc_connection_commit(writer, $0) }
        }
        #expect(try core.integer("SELECT count(*) FROM t") == 0)
        #expect(try core.integer("SELECT count(*) FROM _mc_value") == 1)
        #expect(try core.readBlob(kept) == text)
    }

    @Test func `a value of a column is read within its bounds alone`() throws {
        try core.with(writer: true) { (writer) throws in
            try exec(writer, "CREATE TABLE t (id INTEGER PRIMARY KEY, content); INSERT INTO t VALUES (1, x'010203'), (2, 5)")
            let db = mc_connection_sqlite(writer)
            var value: OpaquePointer?
            for (table, column, row) in [("u", "content", Int64(1)), ("t", "other", 1), ("t", "content", 9), ("t", "content", 2)] {
                #expect(mc_column_value_open(db, table, column, row, &value, nil) != MC_OK && value == nil)
            }
            try CoreError.check { mc_column_value_open(db, "t", "content", 1, &value, $0) }
            defer { mc_column_value_free(value) }
            var bytes = [UInt8](repeating: 9, count: 4)
            for (offset, length) in [(Int64(-1), 1), (4, 0), (2, 2), (0, 4)] {
                #expect(mc_column_value_read(value!, offset, &bytes, length, nil) == MC_ERROR_MISUSE)
            }
            try CoreError.check { mc_column_value_read(value!, 1, &bytes, 2, $0) }
            #expect(bytes == [2, 3, 9, 9])
            #expect(mc_column_value_write(value!, 0, "a", 1, nil) == MC_ERROR_MISUSE)
            #expect(mc_column_value_move(value!, 7, nil) == MC_ERROR_NOT_FOUND)
        }
    }

    @Test func `a value of a column is filled within its bounds alone, and not where an index knows it`() throws {
        try core.with(writer: true) { (writer) throws in
            try CoreError.check { mc_connection_begin(writer, $0) }
            try exec(
                writer,
                "CREATE TABLE t (id INTEGER PRIMARY KEY, content, known UNIQUE); INSERT INTO t VALUES (1, zeroblob(3), zeroblob(3)), (2, NULL, 5)")
            let db = mc_connection_sqlite(writer)
            var value: OpaquePointer?
            for (column, row) in [("known", Int64(1)), ("content", 2), ("content", 9), ("other", 1)] {
                #expect(mc_column_value_open_writable(db, "t", column, row, &value, nil) != MC_OK && value == nil)
            }
            try CoreError.check { mc_column_value_open_writable(db, "t", "content", 1, &value, $0) }
            for (offset, length) in [(Int64(-1), 1), (4, 0), (2, 2), (0, 4)] {
                #expect(mc_column_value_write(value!, offset, "abcd", length, nil) == MC_ERROR_MISUSE)
            }
            try CoreError.check { mc_column_value_write(value!, 1, "bc", 2, $0) }
            mc_column_value_free(value)
            try CoreError.check { mc_connection_commit(writer, $0) }
        }
        #expect(try core.integer("SELECT content = x'006263' FROM t WHERE id = 1") == 1)
    }
}
