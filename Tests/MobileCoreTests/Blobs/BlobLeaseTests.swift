import Foundation
import MobileCore
import Testing

/// Finished values to which no row refers yet: other pools of the file do not drop them.
@Suite struct BlobLeaseTests {
    private static let bytes: [UInt8] = [1, 2, 3]

    /// Writes a finished value, with its pin.
    private func finish(_ core: CorePool, flushes: Bool = false) throws -> Int64 {
        let writer = try core.openWriter()
        defer { mc_blob_writer_free(writer) }
        try CoreError.check { mc_blob_writer_write(writer, Self.bytes, Self.bytes.count, $0) }
        if flushes { try CoreError.check { mc_blob_writer_flush(writer, $0) } }
        var value: Int64 = 0
        try CoreError.check { mc_blob_writer_finish(writer, &value, $0) }
        return value
    }

    /// Does the steps of opening a database of objects: prepare, sweep, collect. Returns the number of dropped values.
    @discardableResult
    private static func open(_ core: CorePool, inTransaction: Bool = true) throws -> Int64 {
        var dropped: Int64 = -1
        try core.with(writer: true) { connection in
            if inTransaction { try CoreError.check { mc_connection_begin(connection, $0) } }
            try CoreError.check { mc_blob_prepare(connection, $0) }
            try "doc".withCString { table in
                try "body".withCString { column in
                    try withUnsafePointer(to: mc_blob_reference(table: table, column: column)) { reference in
                        try CoreError.check { mc_blob_drop_unreferenced(connection, reference, 1, &dropped, $0) }
                    }
                }
            }
            if inTransaction { try CoreError.check { mc_connection_commit(connection, $0) } }
        }
        try CoreError.check { mc_blob_collect(core.pool, nil, $0) }
        return dropped
    }

    private func database() throws -> CorePool {
        let core = try CorePool()
        try core.prepareBlobs()
        try core.with(writer: true) { try exec($0, "CREATE TABLE doc(id INTEGER PRIMARY KEY, body INTEGER)") }
        return core
    }

    @Test("a finished value outlives another opening in this process", arguments: [false, true], [false, true])
    func secondPool(flushes: Bool, inTransaction: Bool) throws {
        let core = try database()
        let value = try finish(core, flushes: flushes)
        let other = try CorePool(existing: core.directory + "/core.db")
        #expect(try Self.open(other, inTransaction: inTransaction) == 0)
        #expect(try core.readBlob(value) == Self.bytes)
        try core.with(writer: true) { try exec($0, "INSERT INTO doc VALUES (1, \(value))") }
        mc_blob_unpin(core.pool, value)
        #expect(try Self.open(other, inTransaction: inTransaction) == 0)
        #expect(try core.readBlob(value) == Self.bytes)
        other.close()
    }

    @Test func `a finished value outlives an opening by another process`() async throws {
        let core = try database()
        let value = try finish(core)
        let path = core.directory + "/core.db"
        await #expect(processExitsWith: .success) { [path = path as String] in
            let other = try CorePool(existing: path)
            #expect(try BlobLeaseTests.open(other) == 0)
        }
        #expect(try core.readBlob(value) == Self.bytes)
        mc_blob_unpin(core.pool, value)
    }

    @Test func `values of a process that was killed before a row referred to them are swept`() async throws {
        let core = try database()
        let path = core.directory + "/core.db"
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let other = try CorePool(existing: path)
            _ = try BlobLeaseTests().finish(other)
            kill(getpid(), SIGKILL)
        }
        #expect(try core.integer("SELECT count(*) FROM _mc_value") == 1)
        #expect(try Self.open(core) == 1)
        #expect(try core.integer("SELECT count(*) FROM _mc_value") == 0)
    }

    @Test func `a value that was let go of is swept by whoever comes next`() throws {
        let core = try database()
        let other = try CorePool(existing: core.directory + "/core.db")
        let values = try (0..<3).map { _ in try finish(core) }
        mc_blob_unpin(core.pool, values[0])
        #expect(try Self.open(other) == 0, "one of the first pool's values may be the next that is saved")
        #expect(try Self.open(core) == 1, "its own values are known")
        mc_blob_unpin(core.pool, values[1])
        mc_blob_unpin(core.pool, values[2])
        #expect(try Self.open(other) == 2)
        #expect(try core.integer("SELECT count(*) FROM _mc_value") == 0)
        other.close()
    }

    @Test func `while two pools hold values, neither sweeps; each goes on when the other is done`() throws {
        let core = try database()
        let other = try CorePool(existing: core.directory + "/core.db")
        _ = try core.writeBlob([7])  // unreferenced and without a pin
        let values = try (finish(core), finish(other))
        #expect(try Self.open(core) == 0 && Self.open(other) == 0)
        mc_blob_unpin(other.pool, values.1)
        #expect(try Self.open(core) == 2)
        #expect(try core.readBlob(values.0) == Self.bytes)
        #expect(try Self.open(other) == 0, "the first one holds its lease again")
        mc_blob_unpin(core.pool, values.0)
        #expect(try Self.open(other) == 1)
        other.close()
    }

    @Test func `a pool that is closed has let go of its values`() throws {
        let core = try database()
        let other = try CorePool(existing: core.directory + "/core.db")
        let value = try finish(core)
        core.close()
        #expect(try Self.open(other) == 1)
        mc_blob_unpin(core.pool, value)
        other.close()
    }
}
