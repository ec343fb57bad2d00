import MobileProtocol
import MobileServer
import MobileTransport
import Synchronization
import TestSupport
import Testing

/// The network in memory, from the sides of a client and of a server.
@Suite struct SimulatedNetworkTests {
    let content = patternBytes(100)

    func request(_ content: [UInt8] = patternBytes(100)) -> TransportRequest {
        TransportRequest(method: "POST", url: "http://server/echo?a=1", body: .bytes(content))
    }

    func conditions(_ fault: NetworkFault?) -> NetworkConditions {
        var conditions = NetworkConditions()
        conditions.longestChunk = 16
        conditions.fault = { number, _ in number == 0 ? fault : nil }
        return conditions
    }

    @Test("without faults it is a transport like HTTP")
    func roundTrip() throws {
        let transport = SimulatedTransport(server: { request in
            ServerResponse(
                status: 200, headers: [("X-Query", request.query["a"] ?? "")],
                body: .stream { try request.body.nextChunk() })
        })
        let (response, body) = try transport.send(request())
        #expect(body == content)
        #expect(response.header("x-query") == "1")
        #expect(response.bytesSent == 100)
        #expect(response.bytesReceived == 100)
    }

    @Test("a cut upload never reaches the server's function, wherever it is cut", arguments: [0, 1, 50, 99, 100, 1000])
    func cutUpload(after count: Int) throws {
        let calls = Atomic(0)
        let transport = SimulatedTransport(
            server: { request in
                calls.add(1, ordering: .relaxed)
                return echo(request)
            }, conditions: conditions(.cutUpload(after: count)))
        let error = #expect(throws: TransportError.self) { _ = try transport.send(request()) }
        #expect(error?.code == .interrupted)
        #expect(calls.load(ordering: .relaxed) == 0)
        #expect(try transport.send(request()).body == content)
    }

    @Test("a cut download delivers exactly the bytes before the break", arguments: [0, 1, 50, 99, 100, 1000])
    func cutDownload(after count: Int) throws {
        let calls = Atomic(0)
        let transport = SimulatedTransport(
            server: { request in
                calls.add(1, ordering: .relaxed)
                return echo(request)
            }, conditions: conditions(.cutDownload(after: count)))
        var received: [UInt8] = []
        let error = #expect(throws: TransportError.self) {
            _ = try transport.send(request()) { chunk in chunk.withUnsafeBytes { received += $0 } }
        }
        #expect(error?.code == .interrupted)
        #expect(received == Array(content.prefix(count)))
        #expect(calls.load(ordering: .relaxed) == 1)
    }

    @Test("a cut response: the server has done its work, and the client does not know")
    func cutResponse() throws {
        let calls = Atomic(0)
        let transport = SimulatedTransport(
            server: { request in
                calls.add(1, ordering: .relaxed)
                return echo(request)
            }, conditions: conditions(.cutResponse))
        let error = #expect(throws: TransportError.self) { _ = try transport.send(request()) }
        #expect(error?.code == .interrupted)
        #expect(error?.status == nil)
        #expect(calls.load(ordering: .relaxed) == 1)
    }

    @Test("a refused connection says so")
    func refuse() throws {
        let transport = SimulatedTransport(server: echo, conditions: conditions(.refuse))
        let error = #expect(throws: TransportError.self) { _ = try transport.send(request()) }
        #expect(error?.code == .cannotConnect)
        #expect(error?.message == "POST http://server/echo: no server listens")
        #expect(transport.requestCount == 1)
    }

    @Test("time passes on the clock alone: latency, bandwidth and delays")
    func virtualTime() throws {
        var conditions = conditions(.delay(.seconds(40)))
        conditions.latency = .milliseconds(50)
        conditions.bytesPerSecond = 100
        let transport = SimulatedTransport(server: echo, conditions: conditions)
        _ = try transport.send(request())
        #expect(transport.clock.now == .milliseconds(50 + 1000 + 40_000 + 50 + 1000))
    }

    @Test("a server that takes longer than the client waits is a timeout, after exactly that time")
    func timeout() throws {
        let transport = SimulatedTransport(server: echo, conditions: conditions(.delay(.seconds(61))))
        let error = #expect(throws: TransportError.self) { _ = try transport.send(request()) }
        #expect(error?.code == .timeout)
        #expect(transport.clock.now == .seconds(60))
    }

    @Test("the same seed gives the same run, another one another")
    func seeds() throws {
        func run(seed: UInt64) -> [String] {
            let transport = SimulatedTransport(
                server: echo, conditions: .unreliable(probability: 0.5, maximumBytes: 100), seed: seed)
            return (0..<50).map { _ in
                do {
                    return try "\(transport.send(request()).body.count)"
                } catch {
                    return "\(error)"
                }
            }
        }
        #expect(run(seed: 1) == run(seed: 1))
        #expect(run(seed: 1) != run(seed: 2))
        #expect(Set(run(seed: 1)).count > 3)
    }

    @Test("statuses and cancellation are those of every transport")
    func statusAndCancellation() throws {
        let transport = SimulatedTransport(server: { _ in ServerResponse(status: 503, body: .bytes([1, 2])) })
        let error = #expect(throws: TransportError.self) { _ = try transport.send(request()) }
        #expect(error?.code == .httpStatus)
        #expect(error?.status == 503)
        #expect(error?.body == [1, 2])

        var again = self.request()
        again.cancellation = TransportCancellation()
        again.cancellation?.cancel()
        let cancelled = #expect(throws: TransportError.self) { _ = try transport.send(again) }
        #expect(cancelled?.code == .cancelled)
    }
}
