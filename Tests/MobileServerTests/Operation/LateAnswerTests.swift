import Dispatch
import MobileExecution
import MobileProtocol
import TestSupport
import Testing

@testable import MobileServer

/// A synchronization whose answer takes long begins with frames that say so.
@Suite struct LateAnswerTests {
    /// A client of a server that does not answer synchronizations before `end` is signalled.
    private func client(_ end: DispatchSemaphore) throws -> HandmadeClient {
        try HandmadeClient { server in
            var application = HTTPApplication(serving: server.server), configuration = HTTPServer.Configuration()
            // The time between two looks is a quarter of the shortest time limit.
            configuration.heartbeat = .milliseconds(80)
            let handler = application.handler
            application.handler = { request in
                if request.path == Endpoint.synchronize { end.wait() }
                return handler(request)
            }
            application.interim = { $0.path == Endpoint.synchronize ? .download(every: .milliseconds(50)) : nil }
            return try HTTPServer(configuration, application)
        }
    }

    private static let beat: [UInt8] = [UInt8(ascii: "W"), 0, 0, 0, 0, 0, 0, 0]

    /// Receives until some beats have arrived.
    private func receive(beats: Int, from connection: RawConnection) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.ranges(of: Self.beat).count < beats { bytes += try #require(connection.receive()) }
        return bytes
    }

    @Test func `the download follows the frames of the wait`() throws {
        let end = DispatchSemaphore(value: 0)
        defer { end.signal() }
        let client = try client(end), upload = client.header() + HandmadeClient.frame("Z", "")
        let connection = try client.send(upload: upload), waited = try receive(beats: 3, from: connection)
        end.signal()
        let answer = try HandmadeClient.answer(from: waited + #require(connection.receiveAll()))
        #expect(answer.status == 200 && answer.isComplete && answer.rows("upsert", of: "Customer") == 2)
        let beats = answer.frames.prefix { $0.letter == "W" }.count
        #expect(beats >= 3 && answer.frames.dropFirst(beats).first?.letter == "H" && answer.frames.count { $0.letter == "W" } == beats)
        var reader = FrameReader(.download)
        try reader.push(answer.body)
        while try reader.next() != nil {}
        try reader.finish()
    }

    @Test func `a refusal follows as a frame with its code, and one without a wait is a status`() throws {
        let end = DispatchSemaphore(value: 0)
        defer { end.signal() }
        let client = try client(end)
        let wrong = client.header(groups: #"["none"]"#) + HandmadeClient.frame("Z", "")
        let connection = try client.send(upload: wrong), waited = try receive(beats: 1, from: connection)
        end.signal()
        let answer = try HandmadeClient.answer(from: waited + #require(connection.receiveAll()))
        #expect(answer.status == 200 && answer.frames.last?.letter == "X" && answer.text.contains("no synchronization group"))
        #expect(answer.text.contains(#""code":404"#))
        let plain = try HandmadeClient()
        #expect(try plain.synchronize(bytes: wrong).status == 404)
        #expect(try plain.synchronize().frames.first?.letter == "H")
    }

    @Test func `a client that goes during the wait leaves nothing behind, and a server that stops ends what it has begun`() throws {
        let end = DispatchSemaphore(value: 0)
        // Also where the test has failed: no handler waits without end.
        defer { for _ in 0..<2 { end.signal() } }
        let client = try client(end), upload = client.header() + HandmadeClient.frame("Z", "")
        do {
            let connection = try client.send(upload: upload)
            _ = try receive(beats: 1, from: connection)
        }
        let connection = try client.send(upload: upload), waited = try receive(beats: 2, from: connection)
        for _ in 0..<2 { end.signal() }
        client.stop()
        #expect(try HandmadeClient.answer(from: waited + #require(connection.receiveAll())).isComplete)
    }
}
