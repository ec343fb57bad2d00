import Foundation
import MobileCore
import Testing

/// Unfinished values of a killed process.
@Suite struct BlobKillTests {
    @Test("a process killed while it writes a value leaves no trace", arguments: [1, 7, 20])
    func killed(pieces: Int) async throws {
        let core = try CorePool()
        try core.prepareBlobs()
        let kept = try core.writeBlob([1, 2, 3])
        let path = core.directory + "/core.db"
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, pieces = pieces as Int] in
            let pool = try CorePool.open(path)
            var options = mc_blob_writer_options(unit: MC_BLOB_BYTES, length: -1, chunk_size: 0, timeout_ns: Int64(MC_WAIT_FOREVER))
            var opened: OpaquePointer?
            try CoreError.check { mc_blob_writer_open(pool, &options, &opened, $0) }
            let writer = opened!
            let piece = [UInt8](repeating: 9, count: 300_000)
            for _ in 0..<pieces { try CoreError.check { mc_blob_writer_write(writer, piece, piece.count, $0) } }
            try CoreError.check { mc_blob_writer_flush(writer, $0) }
            kill(getpid(), SIGKILL)
        }
        #expect(try core.integer("SELECT count(*) FROM _mc_value") == 2)
        try core.prepareBlobs()
        var removed: Int64 = 0
        try CoreError.check { mc_blob_collect(core.pool, &removed, $0) }
        #expect(removed == 1)
        #expect(try core.integer("SELECT count(*) FROM _mc_value") == 1)
        #expect(try core.integer("SELECT count(*) FROM _mc_chunk") == 1)
        #expect(try core.readBlob(kept) == [1, 2, 3])
    }

    @Test func `another process writes values beside one that is being written here`() async throws {
        let core = try CorePool()
        try core.prepareBlobs()
        let path = core.directory + "/core.db", bytes = [UInt8](repeating: 5, count: 900_000)
        let writer = try core.openWriter()
        defer { mc_blob_writer_free(writer) }
        try CoreError.check { mc_blob_writer_write(writer, bytes, bytes.count, $0) }
        await #expect(processExitsWith: .success) { [path = path as String] in
            let other = try CorePool(existing: path)
            try other.prepareBlobs()
            var removed: Int64 = 0
            try CoreError.check { mc_blob_collect(other.pool, &removed, $0) }
            let value = try other.writeBlob([UInt8](repeating: 6, count: 900_000))
            #expect(try removed == 0 && other.readBlob(value) == [UInt8](repeating: 6, count: 900_000))
        }
        var value: Int64 = 0
        try CoreError.check { mc_blob_writer_finish(writer, &value, $0) }
        #expect(try core.readBlob(value) == bytes)
        #expect(try core.integer("SELECT count(*) FROM _mc_value WHERE state = 1") == 2)
        mc_blob_unpin(core.pool, value)
    }
}
