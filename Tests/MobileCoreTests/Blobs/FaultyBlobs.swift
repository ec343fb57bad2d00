import FaultInjection
import Foundation
import MobileCore

/// A piece of work with large values, small enough to be repeated for every possible failure in it.
enum BlobWork: CaseIterable, Sendable {
    case writeBytes, writeText, read, seek, readText, exchange, remove, copyOut, copyIn, dropLeftovers, columnValue, dropUnreferenced, part
}

/// A database over storage that fails on request, with values for the work: a row of `t` refers to `old`, no row refers to `text`.
final class FaultyBlobs {
    let storage: OpaquePointer
    let core: CorePool
    let bytes = (0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
    let characters = Array(String(repeating: "añ€😀 plain words ", count: 250).utf8)
    private(set) var old: Int64 = 0
    private(set) var text: Int64 = 0
    /// A new value for each run of the work, to which no row refers.
    private var spare: Int64 = 0
    private var file: String { core.directory + "/file" }

    init() throws {
        guard let storage = fault_storage_create(nil) else { throw SQLiteFailure(message: "no memory for fault storage") }
        self.storage = storage
        core = try CorePool { options in
            options.vfs = fault_storage_name(storage)
            options.page_size = 1024
            options.cache_bytes = 10 * 1024
            options.synchronous = MC_SYNCHRONOUS_OFF
            options.checkpoint_pages = 20
        }
        try core.prepareBlobs()
        old = try core.writeBlob(bytes, chunkSize: 1500)
        text = try core.writeBlob(characters, unit: MC_BLOB_SCALARS, chunkSize: 1500)
        let id = old
        try core.with(writer: true) { connection in
            try exec(
                connection,
                "CREATE TABLE t(id INTEGER PRIMARY KEY, value INTEGER, content BLOB); INSERT INTO t VALUES (1, \(id), x'0102'), (2, NULL, zeroblob(9000))"
            )
        }
        try Data(bytes).write(to: URL(fileURLWithPath: file))
    }

    deinit {
        core.close()
        fault_storage_free(storage)
    }

    /// Makes the input of `work`, without failures.
    func prepare(_ work: BlobWork) throws {
        switch work {
        case .exchange, .remove, .dropUnreferenced: spare = try core.writeBlob([9, 9, 9] + bytes, chunkSize: 1500)
        case .dropLeftovers:
            try core.with(writer: true) { connection in
                try exec(connection, "INSERT INTO _mc_value(unit, chunk, state, length, bytes) VALUES (0, 4, 0, 0, 0)")
            }
        default: break
        }
    }

    /// Throws the core's errors, and `Wrong` for a result that no fault excuses.
    func perform(_ work: BlobWork) throws {
        switch work {
        case .writeBytes: spare = try core.writeBlob(bytes, chunkSize: 1500, pieces: 3100, flushes: true)
        case .writeText: spare = try core.writeBlob(characters, unit: MC_BLOB_SCALARS, chunkSize: 1500, pieces: 3001, flushes: true)
        case .read: try expect(core.readBlob(old, pieces: 1111) == bytes)
        case .seek:
            for position in [4999, 0, 1499, 1500, 3001] as [Int64] {
                try expect(core.readBlob(old, from: position, pieces: 5000) == Array(bytes[Int(position)...]))
            }
        case .readText: try expect(core.readBlob(text, from: 16, pieces: 700).count == characters.count - 22)
        case .exchange:
            try core.with(writer: true) { connection in
                try CoreError.check { mc_connection_begin(connection, $0) }
                try exec(connection, "UPDATE t SET value = \(spare) WHERE id = 1")
                try CoreError.check { mc_blob_drop(connection, &old, 1, $0) }
                try CoreError.check { mc_connection_commit(connection, $0) }
            }
        case .remove:
            try core.with(writer: true) { (connection) throws in try CoreError.check { mc_blob_drop(connection, &spare, 1, $0) } }
            try CoreError.check { mc_blob_collect(core.pool, nil, $0) }
        case .copyOut:
            try withReader(old) { (reader) throws in try CoreError.check { mc_blob_copy_to_file(reader, file + ".out", nil, $0) } }
            try expect(try Data(contentsOf: URL(fileURLWithPath: file + ".out")) == Data(bytes))
        case .copyIn:
            let writer = try core.openWriter(chunkSize: 1500)
            defer { mc_blob_writer_free(writer) }
            try CoreError.check { mc_blob_copy_from_file(writer, file, nil, $0) }
            var value: Int64 = 0
            try CoreError.check { mc_blob_writer_finish(writer, &value, $0) }
            mc_blob_unpin(core.pool, value)
            spare = value
        case .dropLeftovers: try core.prepareBlobs()
        case .dropUnreferenced:
            try core.with(writer: true) { connection in
                try "t".withCString { table in
                    try "value".withCString { column in
                        var reference = mc_blob_reference(table: table, column: column)
                        try CoreError.check { mc_blob_pin(core.pool, text, $0) }
                        defer { mc_blob_unpin(core.pool, text) }
                        try CoreError.check { mc_connection_begin(connection, $0) }
                        try CoreError.check { mc_blob_drop_unreferenced(connection, &reference, 1, nil, $0) }
                        try CoreError.check { mc_connection_commit(connection, $0) }
                    }
                }
            }
        case .part:
            // A part of a transaction that continues regardless of the value.
            try core.with(writer: true) { connection in
                try CoreError.check { mc_connection_begin(connection, $0) }
                spare = try core.writeBlob(bytes, chunkSize: 1500, pieces: 3100, flushes: true)
                try CoreError.check { mc_connection_commit(connection, $0) }
            }
        case .columnValue:
            try core.with { connection in
                var value: OpaquePointer?
                var piece = [UInt8](repeating: 1, count: 4000)
                try CoreError.check { mc_column_value_open(mc_connection_sqlite(connection), "t", "content", 1, &value, $0) }
                defer { mc_column_value_free(value) }
                try CoreError.check { mc_column_value_move(value!, 2, $0) }
                try CoreError.check { mc_column_value_read(value!, 4000, &piece, 4000, $0) }
                try expect(piece == [UInt8](repeating: 0, count: 4000))
            }
        }
    }

    /// Restores the state before the work, and checks it: after a failure no part of the work may remain, after a success
    /// exactly its result.
    func settle(_ work: BlobWork, isDone: Bool) throws {
        try expect(core.statistics.readers_active == 0 && !core.statistics.writer_is_active)
        switch work {
        case .writeBytes, .writeText, .copyIn, .part:
            if isDone {
                try expect(core.readBlob(spare) == (work == .writeText ? characters : bytes))
                try drop(spare)
            }
        case .exchange:
            let referred = try core.integer("SELECT value FROM t WHERE id = 1")
            try expect(referred == (isDone ? spare : old))
            try expect(core.readBlob(referred).count == (isDone ? 5003 : 5000))
            if isDone {
                old = try core.writeBlob(bytes, chunkSize: 1500)
                let id = old
                try core.with(writer: true) { try exec($0, "UPDATE t SET value = \(id) WHERE id = 1") }
            }
            try drop(spare)
        case .remove, .dropUnreferenced: try drop(spare)
        case .dropLeftovers: break
        case .copyOut: try expect(!FileManager.default.fileExists(atPath: file + ".out.part"))
        default: break
        }
        try core.prepareBlobs()
        try CoreError.check { mc_blob_collect(core.pool, nil, $0) }
        try expect(core.integer("SELECT count(*) FROM _mc_value") == 2)
        try expect(core.readBlob(old) == bytes && core.readBlob(text) == characters)
        try expect(core.integer("SELECT count(*) FROM _mc_chunk") == 8)
    }

    func checkIntegrity() throws {
        try expect(
            core.with { connection in
                try withStatement(connection, "PRAGMA integrity_check") { (statement) throws in
                    var hasRow = false, length = 0
                    try CoreError.check { mc_statement_step(statement, &hasRow, $0) }
                    return String(cString: mc_statement_column_text(statement, 0, &length)!) == "ok"
                }
            })
    }

    struct Wrong: Error { let line: UInt }

    private func expect(_ isSo: Bool, line: UInt = #line) throws { if !isSo { throw Wrong(line: line) } }

    private func withReader(_ value: Int64, _ body: (OpaquePointer) throws -> Void) throws {
        var reader: OpaquePointer?
        try CoreError.check { mc_blob_reader_open(core.pool, value, nil, &reader, $0) }
        defer { mc_blob_reader_free(reader) }
        try body(reader!)
    }

    private func drop(_ value: Int64) throws {
        var value = value
        try core.with(writer: true) { (connection) throws in try CoreError.check { mc_blob_drop(connection, &value, 1, $0) } }
    }
}
