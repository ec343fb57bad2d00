import Dispatch
import MobileExecution
import MobileServer
import MobileTransport
import TestSupport
import Testing

/// The errors of a client when the network or the other end fails.
@Suite struct HTTPFailureTests {
    let transport = HTTPTransport()

    func failure(_ request: TransportRequest) -> TransportError? {
        #expect(throws: TransportError.self) { _ = try transport.send(request) }
    }

    @Test(
        "a response that is cut before its end is an error, and what came of it was delivered",
        arguments: [
            "", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfour",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfour\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\nfour",
        ])
    func cutResponse(response: String) throws {
        let server = try RawServer { connection in
            _ = connection.read(until: "\r\n\r\n")
            connection.write(response)
        }
        var received: [UInt8] = []
        let request = TransportRequest(url: "http://127.0.0.1:\(server.port)/")
        let error = #expect(throws: TransportError.self) {
            _ = try transport.send(request) { chunk in chunk.withUnsafeBytes { received += $0 } }
        }
        #expect(error?.code == .interrupted)
        #expect(String(decoding: received, as: UTF8.self) == (response.contains("four") ? "four" : ""))
        server.join()
    }

    @Test("a server that cuts its own download in the middle makes an incomplete one, not a short one")
    func serverCutsDownload() throws {
        struct SourceBroke: Error {}
        let server = try LoopbackServer { _ in
            var count = 0
            return ServerResponse(
                status: 200,
                body: .stream {
                    count += 1
                    if count > 3 { throw SourceBroke() }
                    return patternBytes(100_000)
                })
        }
        defer { server.http.stop() }
        var received = 0
        let error = #expect(throws: TransportError.self) {
            _ = try server.transport.send(server.request()) { received += $0.byteCount }
        }
        #expect(error?.code == .interrupted)
        #expect(error?.status == 200)
        #expect(received <= 300_000)
    }

    @Test("an upload that the server resets is an error")
    func resetUpload() throws {
        let server = try RawServer { connection in
            _ = connection.read(until: "\r\n\r\n")
            connection.write("HTTP/1.1 100 Continue\r\n\r\n")
            _ = connection.read(until: "xxxx")
            connection.reset()
        }
        let body = TransportRequest.Body.stream { Array(repeating: UInt8(ascii: "x"), count: 10_000) }
        let error = failure(TransportRequest(method: "POST", url: "http://127.0.0.1:\(server.port)/", body: body))
        #expect(error?.code == .interrupted)
        server.join()
    }

    @Test("a port on which nobody listens, and a host that does not exist, cannot be connected to")
    func cannotConnect() throws {
        let closed = try HTTPServer.onOwnPort(handler: echo)
        let port = closed.port
        closed.stop()
        #expect(failure(TransportRequest(url: "http://127.0.0.1:\(port)/"))?.code == .cannotConnect)
        #expect(failure(TransportRequest(url: "http://nowhere.invalid/"))?.code == .cannotConnect)
    }

    @Test("a server that says nothing is a timeout")
    func stall() throws {
        let server = try RawServer { connection in
            _ = connection.read(until: "\r\n\r\n")
            connection.waitForClose()
        }
        var request = TransportRequest(url: "http://127.0.0.1:\(server.port)/")
        request.stallTimeout = .milliseconds(50)
        #expect(failure(request)?.code == .timeout)
        server.join()
    }

    @Test("a whole request can have a limit although something moves all the time")
    func totalTimeout() throws {
        let server = try LoopbackServer { _ in ServerResponse(status: 200, body: .stream { patternBytes(1000) }) }
        defer { server.http.stop(timeout: .zero) }
        var request = server.request()
        request.totalTimeout = .milliseconds(100)
        #expect(failure(request)?.code == .timeout)
    }

    @Test("the time that the receiver takes does not count as a stall")
    func slowReceiver() throws {
        let content = patternBytes(1_000_000)
        let server = try LoopbackServer { _ in ServerResponse(status: 200, body: .bytes(content)) }
        defer { server.http.stop() }
        var request = server.request()
        request.stallTimeout = .seconds(5)
        var received = 0
        _ = try server.transport.send(request) { chunk in
            // Waits longer than a stall may last; the semaphore is never signalled.
            if received == 0 { #expect(DispatchSemaphore(value: 0).wait(timeout: .now() + 5.1) == .timedOut) }
            received += chunk.byteCount
        }
        #expect(received == 1_000_000)
    }

    @Test("what the receiver throws ends the request and comes out as it is")
    func receiverThrows() throws {
        struct Enough: Error {}
        let server = try LoopbackServer { _ in ServerResponse(status: 200, body: .stream { patternBytes(10_000) }) }
        defer { server.http.stop(timeout: .zero) }
        var received = 0
        #expect(throws: Enough.self) {
            _ = try server.transport.send(server.request()) { chunk in
                received += chunk.byteCount
                if received > 100_000 { throw Enough() }
            }
        }
    }

    @Test("what the body's source throws ends the request and comes out as it is")
    func sourceThrows() throws {
        struct Empty: Error {}
        let server = try LoopbackServer(.init(), echo)
        defer { server.http.stop(timeout: .zero) }
        #expect(throws: Empty.self) {
            _ = try server.transport.send(server.request("POST", "/", .stream { throw Empty() }))
        }
    }

    @Test("a source that gives another length than it announced is an error", arguments: [2, 10])
    func sourceOfWrongLength(announced: Int) throws {
        let server = try LoopbackServer(.init(), echo)
        defer { server.http.stop(timeout: .zero) }
        var rest: [UInt8]? = [1, 2, 3]
        let body = TransportRequest.Body.stream(length: announced) {
            defer { rest = nil }
            return rest
        }
        let error = #expect(throws: TransportError.self) { _ = try server.transport.send(server.request("POST", "/", body)) }
        #expect(error?.code == .badRequest)
        #expect(error?.message.hasPrefix("request body: \(announced) bytes were announced, ") == true)
    }

    @Test("a request can be cancelled from another thread, at once, and the transport goes on working")
    func cancel() throws {
        let server = try RawServer { connection in
            _ = connection.read(until: "\r\n\r\n")
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfour")
            connection.waitForClose()
        }
        var request = TransportRequest(url: "http://127.0.0.1:\(server.port)/")
        let cancellation = TransportCancellation()
        request.cancellation = cancellation
        let error = #expect(throws: TransportError.self) {
            _ = try transport.send(request) { _ in DispatchQueue.global().async { cancellation.cancel() } }
        }
        #expect(error?.code == .cancelled)
        server.join()

        let echoing = try HTTPServer(handler: echo)
        defer { echoing.stop() }
        #expect(
            failure(
                {
                    var again = TransportRequest(url: "http://127.0.0.1:\(echoing.port)/")
                    again.cancellation = cancellation
                    return again
                }())?.code == .cancelled)
        #expect(try transport.send(TransportRequest(url: "http://127.0.0.1:\(echoing.port)/")).response.status == 200)
    }

    @Test("a request that was cancelled while its response streamed leaves nothing behind for the next one")
    func cancelledThenAnother() throws {
        let server = try LoopbackServer { request in
            request.path == "/endless" ? ServerResponse(status: 200, body: .stream { patternBytes(10_000) }) : echo(request)
        }
        defer { server.http.stop(timeout: .zero) }
        var endless = server.request("GET", "/endless")
        let cancellation = TransportCancellation()
        endless.cancellation = cancellation
        let error = #expect(throws: TransportError.self) { _ = try server.transport.send(endless) { _ in cancellation.cancel() } }
        #expect(error?.code == .cancelled)
        let next = try server.transport.send(server.request("POST", "/", .bytes([1, 2, 3])))
        #expect(next.body == [1, 2, 3])
        // The request uses a new connection, because the other one ended in the middle of a response.
        #expect(!next.response.reusedConnection)
    }

    @Test("a cancellation that comes when the request has just ended does not end the next one")
    func cancelledTooLate() throws {
        let server = try LoopbackServer { _ in ServerResponse(status: 200, body: .bytes([7])) }
        defer { server.http.stop() }
        var first = server.request()
        let cancellation = TransportCancellation()
        first.cancellation = cancellation
        // The last byte of the response has arrived, so the request can no longer be cancelled.
        #expect(throws: Never.self) { _ = try server.transport.send(first) { _ in cancellation.cancel() } }
        let next = try server.transport.send(server.request())
        #expect(next.body == [7] && next.response.reusedConnection)
    }

    @Test("cancelling the task cancels its request")
    func cancelTask() async throws {
        let server = try RawServer { connection in
            _ = connection.read(until: "\r\n\r\n")
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfour")
            connection.waitForClose()
        }
        let (transport, port) = (transport, server.port)
        // The callback cancels by itself: the test would wait for its turn first, for longer than the request may take on a busy machine.
        let running = SystemLock<Task<TransportResponse, any Error>?>(nil)
        let known = DispatchSemaphore(value: 0)
        let task = Task {
            try await transport.send(TransportRequest(url: "http://127.0.0.1:\(port)/")) { _ in
                known.wait()
                running.withLock { $0?.cancel() }
            }
        }
        running.withLock { $0 = task }
        known.signal()
        let result = await task.result
        #expect(throws: TransportError.self) { try result.get() }
        #expect((result.failure as? TransportError)?.code == .cancelled)
        server.join()
    }

    @Test(
        "a request that makes no sense is refused before anything is sent",
        arguments: [
            TransportRequest(url: ""), TransportRequest(url: "file:///etc/hostname"), TransportRequest(url: "ftp://127.0.0.1/"),
            TransportRequest(url: "http://127.0.0.1/", headers: [("X-A", "1\r\nX-B: 2")]),
            TransportRequest(method: "POST", url: "http://127.0.0.1/", body: .file(path: "/nowhere/at/all")),
        ].map { UncheckedRequest($0) })
    func badRequest(request: UncheckedRequest) {
        #expect(failure(request.value)?.code == .badRequest)
    }

    @Test("a kept connection that the server has closed is replaced by a new one")
    func serverRestarts() throws {
        let first = try HTTPServer.onOwnPort(handler: echo)
        #expect(try transport.send(TransportRequest(url: "http://127.0.0.1:\(first.port)/")).response.status == 200)
        first.stop()
        let second = try HTTPServer(port: first.port, handler: echo)
        defer { second.stop() }
        let body = TransportRequest.Body.bytes([1, 2, 3])
        #expect(try transport.send(TransportRequest(method: "POST", url: "http://127.0.0.1:\(first.port)/", body: body)).body == [1, 2, 3])
    }
}

/// A request as a test's argument, made once and used by one case.
struct UncheckedRequest: @unchecked Sendable, CustomTestStringConvertible {
    let value: TransportRequest
    init(_ value: TransportRequest) { self.value = value }
    var testDescription: String { "\(value.method) \(value.url) \(value.headers)" }
}

extension Result {
    /// The error of a failure.
    fileprivate var failure: Failure? {
        guard case .failure(let error) = self else { return nil }
        return error
    }
}
