import Dispatch
import MobileProtocol
import MobileServer
import MobileTransport
import Synchronization
import TestSupport
import Testing

/// The HTTP face: starting, refused requests, stopping.
@Suite struct HTTPServerTests {
    @Test("a port in use is an error that says what to do")
    func portInUse() throws {
        let first = try HTTPServer(handler: echo)
        defer { first.stop() }
        #expect(first.port != 0)
        let error = #expect(throws: ServerError.self) { _ = try HTTPServer(port: first.port, handler: echo) }
        #expect(error?.code == .portInUse)
        #expect(
            error?.message
                == "cannot listen on port \(first.port): another process uses it; choose one with --port, or 0 for any free port")
    }

    @Test("an address that is not this machine's is an error", arguments: ["192.0.2.1", "no address"])
    func foreignAddress(address: String) {
        let error = #expect(throws: ServerError.self) { _ = try HTTPServer(address: address, handler: echo) }
        #expect(error?.code == .cannotListen)
        #expect(error?.message.contains(address) == true)
    }

    @Test("a body over the limit is refused with 413, whether its length is announced or not", arguments: [true, false])
    func bodyTooLong(isAnnounced: Bool) throws {
        var configuration = HTTPServer.Configuration()
        configuration.maximumBodyLength = 100_000
        configuration.bodyMemoryLimit = 1000
        let calls = Atomic(0)
        let server = try LoopbackServer(configuration) { request in
            calls.add(1, ordering: .relaxed)
            return echo(request)
        }
        defer { server.http.stop() }
        for length in [100_001, 300_000] {
            var position = 0
            let body = TransportRequest.Body.stream(length: isAnnounced ? length : nil) {
                let count = min(10_000, length - position)
                defer { position += count }
                return count > 0 ? patternBytes(count, from: position) : nil
            }
            let error = #expect(throws: TransportError.self) {
                _ = try server.transport.send(server.request("POST", "/", body))
            }
            #expect(error?.status == 413)
            let failure = try ProtocolFailure(parsing: error?.body ?? [])
            #expect(failure.code == ResultCode.tooLarge)
            #expect(failure.message.hasSuffix("at most 100000 are accepted"))
        }
        #expect(calls.load(ordering: .relaxed) == 0)
        let longest = patternBytes(100_000)
        #expect(try server.transport.send(server.request("POST", "/", .bytes(longest))).body == longest)
    }

    @Test("who is refused before the body reads the answer, although he still sends", arguments: [100_000, 900_000, 5_000_000])
    func earlyAnswer(_ length: Int) throws {
        let question = Array("who are you?".utf8)
        let server = try HTTPServer(.init(), admission: { _ in .answer(ServerResponse(status: 401, body: .bytes(question))) }, handler: echo)
        defer { server.stop() }
        let transport = HTTPTransport(), body = patternBytes(length)
        for _ in 0..<5 {
            let error = #expect(throws: TransportError.self) {
                _ = try transport.send(TransportRequest(method: "POST", url: "http://127.0.0.1:\(server.port)/", body: .bytes(body)))
            }
            #expect(error?.status == 401 && error?.body == question)
        }
    }

    @Test("a client that never stops sending is cut off")
    func endlessBody() throws {
        var configuration = HTTPServer.Configuration()
        configuration.maximumBodyLength = 100_000
        let server = try LoopbackServer(configuration, echo)
        defer { server.http.stop() }
        var sent = 0
        let body = TransportRequest.Body.stream {
            sent += 50_000
            return patternBytes(50_000)
        }
        let error = #expect(throws: TransportError.self) { _ = try server.transport.send(server.request("POST", "/", body)) }
        #expect(error?.code == .interrupted)
        #expect(sent < 50 << 20)
    }

    @Test("stop refuses new connections, waits for the response that is being made, and leaves the port free")
    func stopWaits() async throws {
        let entered = DispatchSemaphore(value: 0)
        let port = Atomic<UInt16>(0)
        let server = try HTTPServer.onOwnPort { _ in
            entered.signal()
            while RawServer.canConnect(to: port.load(ordering: .acquiring)) {}
            return ServerResponse(status: 200, body: .bytes([7]))
        }
        port.store(server.port, ordering: .releasing)
        async let answer = HTTPTransport().send(TransportRequest(url: "http://127.0.0.1:\(server.port)/"), maximumLength: 100)
        await onThread {
            entered.wait()
            server.stop()
        }
        #expect(try await answer.body == [7])
        let successor = try HTTPServer(port: server.port, handler: echo)
        successor.stop()
    }

    @Test("a server that nobody holds any more stops")
    func stopsWhenLetGo() throws {
        var server: HTTPServer? = try HTTPServer.onOwnPort(handler: echo)
        let port = try #require(server?.port)
        server = nil
        let error = #expect(throws: TransportError.self) {
            _ = try HTTPTransport().send(TransportRequest(url: "http://127.0.0.1:\(port)/"))
        }
        #expect(error?.code == .cannotConnect)
    }

    @Test("a response's closure is let go when its client goes away in the middle")
    func clientGoesAway() throws {
        final class Held: Sendable {
            let released: DispatchSemaphore
            init(_ released: DispatchSemaphore) { self.released = released }
            deinit { released.signal() }
        }
        struct Gone: Error {}
        let released = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { _ in
            let held = Held(released)
            return ServerResponse(status: 200, body: .stream { withExtendedLifetime(held) { patternBytes(100_000) } })
        }
        defer { server.http.stop() }
        #expect(throws: Gone.self) { _ = try server.transport.send(server.request()) { _ in throw Gone() } }
        #expect(released.wait(timeout: .now() + 10) == .success)
    }

    @Test("repeated header fields are joined, empty ones are there")
    func headerFields() throws {
        let server = try LoopbackServer { request in
            ServerResponse(status: 200, body: .bytes(Array("\(request.headers["x-list"] ?? "-")|\(request.headers["x-empty"] ?? "-")".utf8)))
        }
        defer { server.http.stop() }
        var request = server.request()
        request.headers = [("X-List", "a"), ("x-list", "b"), ("X-Empty", "")]
        #expect(try String(decoding: server.transport.send(request).body, as: UTF8.self) == "a, b|")
    }
}

/// Runs blocking work on a new thread.
func onThread<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(returning: work()) }
    }
}
