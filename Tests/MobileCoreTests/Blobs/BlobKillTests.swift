import Foundation
import MobileCore
import Testing

/// Values that a killed process was writing.
@Suite struct BlobKillTests {
    @Test("a process killed while it writes a value leaves no trace", arguments: [1, 7, 20])
    func killed(pieces: Int) async throws {
        let core = try CorePool()
        try core.prepareBlobs()
        let kept = try core.writeBlob([1, 2, 3])
        let path = core.directory + "/core.db"
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, pieces = pieces as Int] in
            let pool = try CorePool.open(path)
            var options = mc_blob_writer_options(unit: MC_BLOB_BYTES, length: -1, chunk_size: 0, timeout_ns: -1)
            var writer: OpaquePointer?
            try CoreError.check { mc_blob_writer_open(pool, &options, &writer, $0) }
            let piece = [UInt8](repeating: 9, count: 300_000)
            for _ in 0..<pieces { try CoreError.check { mc_blob_writer_write(writer!, piece, piece.count, $0) } }
            try CoreError.check { mc_blob_writer_flush(writer!, $0) }
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
}
