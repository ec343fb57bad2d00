import Foundation
import MobileProtocol
import TestSupport
import Testing

@testable import MobileServer

/// Files as bodies of responses, which the system sends without a copy.
@Suite(.runsOnce) struct SentFileTests {
    @Test func `clients that go away in the middle of a file end neither the process nor the answers to others`() throws {
        let folder = try TemporaryDirectory(), path = folder.file("content")
        // More than the buffers of a connection hold.
        let content = Data(patternBytes(16 << 20))
        try content.write(to: URL(fileURLWithPath: path))
        let http = try HTTPServer { _ in
            guard let file = try? FileBody(path: path, part: { 0..<$0 }) else { return ServerResponse(status: 500) }
            return ServerResponse(status: 200, contentType: Endpoint.segmentContentType, body: .file(file))
        }
        defer { http.stop() }
        let request = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        for _ in 0..<20 {
            // Its end closes the connection, with bytes that it has not read: the server's next write fails.
            let connection = try RawConnection(port: http.port)
            connection.send(request)
            #expect(connection.receive()?.isEmpty == false)
        }
        let patient = try RawConnection(port: http.port)
        patient.send(request)
        let answer = try #require(patient.receiveAll(within: .seconds(60)))
        #expect(answer.suffix(content.count) == Array(content)[...])
    }
}
