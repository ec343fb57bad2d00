import Foundation
import MobileProtocol
import MobileServer
import MobileStore
import Testing

/// The memory of synchronizations, which must not depend on the size of the upload or download. Each measurement has its own process; uploads
/// are made by hand, in a temporary file. The tests do not run under sanitizers, which allocate memory themselves.
@Suite(
    .enabled(if: ["ASAN_OPTIONS", "TSAN_OPTIONS"].allSatisfy { ProcessInfo.processInfo.environment[$0] == nil })
)
struct UploadMemoryTests {
    static let megabyte = 1 << 20

    /// A device of a server over ``Folders``, called without a network.
    struct Bench {
        let server: TestServer
        let device: TestDevice
        let firstKey: Int64

        init(also sql: String = "") throws {
            server = try Folders.server(also: sql)
            device = try TestDevice(server)
            try device.synchronize(groups: [])
            firstKey = device.nextKey()
        }

        static let piece = (0..<65_536).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

        /// Makes an upload of pictures of `bytes` bytes each, all in one batch.
        /// - Parameter first: the id of the first operation.
        func upload(_ pictures: Int, bytes: Int, change: String = "C", first: Int = 1) throws -> Spool {
            let spool = Spool()
            try spool.append(
                HandmadeClient.frame(
                    "H", #"{"version": 2, "cid": "\#(device.client)", "pkg": "Folders:1.0", "groups": ["default"], "keysLeft": 1000}"#))
            let data = HandmadeClient.frame("D", Self.piece)
            for picture in 1...pictures {
                let operation = """
                    {"id": \(first + picture), "mbo": "Picture", "change": "\(change)", "batch": \(first + 1), "key": \(firstKey + Int64(picture)),
                     "attributes": {"title": "x"}}
                    """
                try spool.append(HandmadeClient.frame("O", operation))
                let part =
                    #"{"object": "Picture", "attribute": "content", "operation": \#(first + picture), "length": \#(bytes), "compression": "none"}"#
                try spool.append(HandmadeClient.frame("V", part))
                for _ in 0..<bytes / Self.piece.count { try spool.append(data) }
                try spool.append(HandmadeClient.frame("E", #"{"bytes": \#(bytes)}"#))
            }
            try spool.append(HandmadeClient.frame("Z", ""))
            return spool
        }

        /// Sends an upload, and fetches the values that the answer names.
        /// - Returns: the size of the answer with these values in bytes, the growth of the process's memory meanwhile, and the end of the answer.
        func send(_ body: Spool, chunks: Int = .max) throws -> (bytes: Int, peak: Int, end: String) {
            let before = ProcessMemory.resident() ?? 0
            ProcessMemory.resetPeak()
            let response = server.server.respond(
                to: ServerRequest(
                    method: "POST", path: "/mobile/v1/synchronize", headers: ["authorization": "Bearer \(device.token)"], body: body))
            guard response.status == 200, case .stream(_, let next) = response.body else { return (0, .max, "\(response)") }
            var bytes = 0, end: [UInt8] = [], frames = FrameReader(.download)
            for _ in 0..<chunks {
                guard let chunk = try next() else { break }
                (bytes, end) = (bytes + chunk.count, chunk)
                try frames.push(chunk)
                while let frame = try frames.next() {
                    if case .largeValue(let part) = frame.content, let content = part.content { bytes += try fetch(content) }
                }
            }
            return (bytes, (ProcessMemory.peak() ?? .max) - before, String(decoding: end, as: UTF8.self))
        }

        /// Fetches a value.
        /// - Returns: the number of its bytes.
        private func fetch(_ content: NamedContent) throws -> Int {
            let response = server.server.respond(
                to: ServerRequest(
                    path: "\(Endpoint.segments)/\(content.name)", query: ["grant": content.grant],
                    headers: ["authorization": "Bearer \(device.token)"]))
            guard case .file(let file) = response.body else { return 0 }
            var bytes = 0
            while let chunk = try file.nextChunk() { bytes += chunk.count }
            return bytes
        }
    }

    @Test(.backEndInFile) func `a large value goes to the back end and back by pieces, when it is created and when it is changed`() async {
        await #expect(processExitsWith: .success) {
            let bench = try Bench(), length = 128 * Self.megabyte, piece = Value.blob(Bench.piece)
            for (first, change) in [(0, "C"), (100, "U")] {
                let answer = try bench.send(bench.upload(1, bytes: length, change: change, first: first))
                #expect(answer.peak < 64 * Self.megabyte, "\(change): \(answer.peak / Self.megabyte) MB")
                #expect(answer.bytes > length && answer.end.contains(#""outcome":"accepted""#), "\(change): \(answer.bytes) bytes")
                let found = try bench.server.backEnd { connection in
                    try connection.first(
                        "SELECT length(content), substr(content, 1, 65536) = ?1, substr(content, \(length - 65_535)) = ?1 FROM picture", [piece])
                }
                #expect(found == [.integer(Int64(length)), 1, 1])
                try bench.server.backEnd { _ = try $0.execute("UPDATE picture SET content = x'01'") }
            }
        }
    }

    @Test func `a batch is read an operation at a time, also where the back end takes values as a whole only`() async {
        await #expect(processExitsWith: .success) {
            let bench = try Bench(
                also: "CREATE TRIGGER watch AFTER INSERT ON picture BEGIN UPDATE folder SET name = 'seen ' || hex(substr(new.content, 65535, 2)); END"
            )
            let answer = try bench.send(bench.upload(40, bytes: 4 * Self.megabyte))
            #expect(answer.peak < 64 * Self.megabyte, "\(answer.peak / Self.megabyte) MB")
            #expect(
                try bench.server.backEndValue("SELECT count(*) || ' ' || sum(length(content)) FROM picture") == .text("40 \(160 * Self.megabyte)"))
            let seen = Bench.piece[65_534...].map { String(format: "%02X", $0) }.joined()
            #expect(try bench.server.backEndValue("SELECT name FROM folder") == .text("seen \(seen)"))
        }
    }

    @Test func `which large values are to be sent is noted on the disk`() async {
        await #expect(processExitsWith: .success) {
            let bench = try Bench(
                also: """
                    INSERT INTO picture (title, content) WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 150000)
                    SELECT 'x', zeroblob(1) FROM c
                    """)
            let header = #"{"version": 2, "cid": "\#(bench.device.client)", "pkg": "Folders:1.0", "groups": ["default"], "keysLeft": 1000}"#
            let body = HandmadeClient.frame("H", header) + HandmadeClient.frame("Z", "")
            // The first answer fills the cache; the second one is the same.
            _ = try bench.send(Spool(body), chunks: 1)
            let answer = try bench.send(Spool(body), chunks: 1)
            #expect(answer.peak < 40 * Self.megabyte, "\(answer.peak / Self.megabyte) MB")
            // The complete list is correct.
            try bench.server.backEnd { _ = try $0.execute("DELETE FROM picture WHERE id > 2000") }
            let result = try bench.device.synchronize()
            #expect(result.largeValues == 2000)
        }
    }
}
