import MobileProtocol
import MobileServer
import MobileTransport
import TestSupport
import Testing

/// The HTTP client against the HTTP face, over a real socket.
@Suite struct HTTPRoundTripTests {
    @Test("a request arrives with method, path, query, headers and body")
    func requestArrives() throws {
        let server = try LoopbackServer { request in
            let parts = [
                request.method, request.path, request.query["a"] ?? "-", request.query["b"] ?? "-", request.headers["x-test"] ?? "-",
                request.bearerToken ?? "-", request.remoteAddress,
            ]
            let body = (try? request.body.remainingBytes()) ?? []
            return ServerResponse(
                status: 201, headers: [("X-Answer", "yes")], contentType: "text/plain",
                body: .bytes(Array((parts.joined(separator: "|") + "|").utf8) + body))
        }
        defer { server.http.stop() }
        var request = server.request("POST", "/some%20path?a=1%2B1&b=%C3%BC", .bytes(Array("body".utf8)))
        request.headers = [("X-Test", "on"), ("Authorization", "Bearer abc")]
        let (response, body) = try server.transport.send(request)
        #expect(String(decoding: body, as: UTF8.self) == "POST|/some path|1+1|ü|on|abc|127.0.0.1|body")
        #expect(response.status == 201)
        #expect(response.header("x-answer") == "yes")
        #expect(response.header("Content-Type") == "text/plain")
        #expect(response.bytesSent == 4)
        #expect(response.bytesReceived == Int64(body.count))
    }

    @Test("bodies of every kind and length come back as they were sent", arguments: [0, 1, 65_535, 65_536, 1_048_577, 2_000_000])
    func bodiesOfEveryLength(length: Int) throws {
        let server = try LoopbackServer(.init(), echo)
        defer { server.http.stop() }
        let content = patternBytes(length)
        #expect(try server.transport.send(server.request("POST", "/", .bytes(content))).body == content)

        let directory = try TemporaryDirectory(), file = try directory.write(content, to: "content")
        #expect(try server.transport.send(server.request("PUT", "/", .file(path: file))).body == content)

        for announced in [length, nil] {
            var position = 0
            let stream = TransportRequest.Body.stream(length: announced) {
                let count = min(10_000, length - position)
                defer { position += count }
                return count > 0 ? Array(content[position..<position + count]) : nil
            }
            #expect(try server.transport.send(server.request("POST", "/", stream)).body == content)
        }
    }

    @Test("a response of known length says so, one of unknown length comes in HTTP chunks", arguments: [true, false])
    func responseLength(isKnown: Bool) throws {
        let server = try LoopbackServer { _ in
            var left = 3
            return ServerResponse(
                status: 200,
                body: .stream(length: isKnown ? 12 : nil) {
                    left -= 1
                    return left >= 0 ? Array("four".utf8) : nil
                })
        }
        defer { server.http.stop() }
        let (response, body) = try server.transport.send(server.request())
        #expect(String(decoding: body, as: UTF8.self) == "fourfourfour")
        #expect(response.header("Content-Length") == (isKnown ? "12" : nil))
        #expect(response.header("Transfer-Encoding") == (isKnown ? nil : "chunked"))
    }

    @Test("32 MB go up and come down through a temporary file, in chunks of at most 128 KB")
    func largeBodies() throws {
        let length = 32 << 20
        let server = try LoopbackServer { request in
            var headers = [(name: "X-In-File", value: "\(request.body.isInFile)")]
            if let sum = try? StreamDigest() {
                while let chunk = try? request.body.nextChunk() { try? sum.add(chunk.span.bytes) }
                headers.append(("X-Sum", (try? sum.finish()) ?? ""))
            }
            request.body.rewind()
            return ServerResponse(
                status: 200, headers: headers, body: .stream(length: request.body.length) { try request.body.nextChunk() })
        }
        defer { server.http.stop() }
        var longestChunk = 0
        let (sent, received) = (try StreamDigest(), try StreamDigest())
        let piece = patternBytes(1 << 16)
        let stream = TransportRequest.Body.stream(length: length) {
            guard sent.count < length else { return nil }
            try sent.add(piece.span.bytes)
            return piece
        }
        let response = try server.transport.send(server.request("POST", "/", stream)) { chunk in
            longestChunk = max(longestChunk, chunk.byteCount)
            try received.add(chunk)
        }
        let sum = try sent.finish()
        #expect(try received.finish() == sum)
        #expect(received.count == length)
        #expect(response.header("X-Sum") == sum)
        #expect(response.header("X-In-File") == "true")
        #expect(longestChunk <= 128 << 10)
    }

    @Test("requests one after the other use one connection; requests at the same time have their own")
    func connectionsAreKept() throws {
        let server = try LoopbackServer(.init(), echo)
        defer { server.http.stop() }
        let reused = try (0..<5).map { number in
            try server.transport.send(server.request("POST", "/", .bytes(patternBytes(number * 1000)))).response.reusedConnection
        }
        #expect(reused == [false, true, true, true, true])

        // A request during another one's download finds the only kept connection in use.
        var inner: [Bool] = []
        let outer = try server.transport.send(server.request("POST", "/", .bytes([1, 2, 3]))) { _ in
            inner.append(try server.transport.send(server.request()).response.reusedConnection)
        }
        #expect(outer.reusedConnection)
        #expect(inner == [false])
    }

    @Test("a status that was not expected is an error with its body, unless every status is welcome")
    func unexpectedStatus() throws {
        let server = try LoopbackServer { _ in
            ServerResponse(status: 412, headers: [("X-Why", "rule")], body: .bytes(Array("no".utf8)))
        }
        defer { server.http.stop() }
        var request = server.request("GET", "/secret?name=Miller")
        let error = #expect(throws: TransportError.self) { _ = try server.transport.send(request) }
        #expect(error?.code == .httpStatus)
        #expect(error?.status == 412)
        #expect(error?.body == Array("no".utf8))
        #expect(error?.headers.contains { $0.name == "X-Why" && $0.value == "rule" } == true)
        #expect(error?.message == "GET http://127.0.0.1:\(server.http.port)/secret: the server answered with status 412")

        request.expects = .any
        let (response, body) = try server.transport.send(request)
        #expect(response.status == 412)
        #expect(body == Array("no".utf8))
    }

    @Test("many clients at the same time get their own answers")
    func concurrentClients() async throws {
        let server = try LoopbackServer(.init(), echo)
        defer { server.http.stop() }
        let (transport, port) = (server.transport, server.http.port)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<32 {
                group.addTask {
                    let content = patternBytes(50_000, from: number * 7)
                    let request = TransportRequest(method: "POST", url: "http://127.0.0.1:\(port)/", body: .bytes(content))
                    return try await transport.send(request, maximumLength: 1 << 20).body == content
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }

    @Test("HEAD has the headers of GET and no body")
    func head() throws {
        let server = try LoopbackServer { _ in ServerResponse(status: 200, body: .bytes(patternBytes(1000))) }
        defer { server.http.stop() }
        let (response, body) = try server.transport.send(server.request("HEAD"))
        #expect(response.header("Content-Length") == "1000")
        #expect(body.isEmpty)
    }
}
