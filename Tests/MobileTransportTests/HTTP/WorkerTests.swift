import Dispatch
import Foundation
import MobileProtocol
import MobileTransport
import Synchronization
import TestSupport
import Testing

@testable import MobileServer

/// Requests in front of the workers: connections without a thread, queues with limits, clients that are slow or go away.
@Suite struct WorkerTests {
    /// Starts a server with few workers.
    private func serve(
        _ held: HeldRequests, workers: Int = 1, waiting: Int = 256, time: Duration = .seconds(60)
    ) throws -> HTTPServer {
        var configuration = HTTPServer.Configuration()
        (configuration.workers, configuration.waitingRequests, configuration.waitingTime) = (workers, waiting, time)
        return try HTTPServer(configuration) { held.answer($0) }
    }

    /// The number of threads of this process.
    private var threads: Int { (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0 }

    @Test("1,000 connections that are only kept open need no thread, and another one is answered")
    func idle() throws {
        DescriptorLimit.raise()
        try #require(DescriptorLimit.current > 2600, "the system allows the tests too few open files")
        let server = try serve(HeldRequests())
        defer { server.stop() }
        let before = threads
        let idle = try (0..<1000).map { _ in
            let client = try server.client()
            client.get("/")
            #expect(client.read(until: "here you are").hasPrefix("HTTP/1.1 200 "))
            return client
        }
        let last = try server.client()
        last.get("/")
        #expect(last.read(until: "here you are").hasPrefix("HTTP/1.1 200 "))
        #expect(threads < before + 500)
        idle[0].get("/")
        #expect(idle[0].read(until: "here you are").hasPrefix("HTTP/1.1 200 "))
    }

    @Test("64 clients that read nothing and 64 that send nothing keep no worker")
    func slowClients() throws {
        var configuration = HTTPServer.Configuration()
        configuration.workers = 2
        let begun = DispatchSemaphore(value: 0), piece = patternBytes(65_536)
        let server = try HTTPServer(configuration) { request in
            guard request.path == "/endless" else { return ServerResponse(status: 200, body: .bytes(Array("here you are".utf8))) }
            begun.signal()
            return ServerResponse(status: 200, body: .stream { piece })
        }
        defer { server.stop(timeout: .zero) }
        let readers = try (0..<64).map { _ in
            let client = try server.client()
            client.get("/endless")
            return client
        }
        for _ in readers { #expect(begun.wait(timeout: .now() + 60) == .success) }
        let senders = try (0..<64).map { number in
            let client = try server.client()
            client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n" + String(repeating: "x", count: number * 9000))
            return client
        }
        let body = patternBytes(700_000)
        let (_, answer) = try HTTPTransport().send(
            TransportRequest(method: "POST", url: "http://127.0.0.1:\(server.port)/", body: .bytes(body)), maximumLength: 100)
        #expect(answer == Array("here you are".utf8))
        withExtendedLifetime((readers, senders)) {}
    }

    @Test("a request that finds the queue full is refused at once, with a time to come again; those in the queue are answered in their order")
    func fullQueue() throws {
        let held = HeldRequests()
        let server = try serve(held, waiting: 1)
        defer { server.stop() }
        let first = try server.client(), second = try server.client(), third = try server.client()
        first.get("/held")
        held.waitForOne()
        second.get("/")
        #expect(eventually { server.service.lanes.waitingCount(in: .requests) == 1 })
        third.get("/")
        let refusal = third.read(until: "}")
        #expect(refusal.hasPrefix("HTTP/1.1 503 ") && refusal.contains("the server is busy"))
        let delay = refusal.firstMatch(of: /Retry-After: (\d+)\r\n/).flatMap { Int($0.1) }
        #expect((5...20).contains(delay ?? 0))
        held.release()
        for client in [first, second] { #expect(client.read(until: "here you are").hasPrefix("HTTP/1.1 200 ")) }
        third.get("/")
        #expect(third.read(until: "here you are").hasPrefix("HTTP/1.1 200 "), "the connection of the refused request stays")
        #expect(Set((0..<200).map { _ in ServerResponse.spreadDelay() }).count > 8, "clients that were refused together return spread")
    }

    @Test("a request waits for a worker no longer than its time")
    func lateRequest() throws {
        let held = HeldRequests()
        let server = try serve(held, time: .milliseconds(100))
        defer { server.stop() }
        let first = try server.client(), second = try server.client()
        first.get("/held")
        held.waitForOne()
        second.get("/")
        #expect(second.read(until: "}").hasPrefix("HTTP/1.1 503 "))
        held.release()
        #expect(first.read(until: "here you are").hasPrefix("HTTP/1.1 200 "))
    }

    @Test("clients that go away while their requests run or wait leave nothing", arguments: [true, false])
    func goneClients(_ isTLS: Bool) throws {
        let held = HeldRequests()
        var configuration = HTTPServer.Configuration()
        configuration.workers = 1
        if isTLS { (configuration.certificate, configuration.privateKey) = (LoopbackCertificate.certificate, LoopbackCertificate.privateKey) }
        let server = try HTTPServer(configuration) { held.answer($0) }
        defer { server.stop() }
        var transport = HTTPTransport.Configuration()
        transport.trustedCertificates = LoopbackCertificate.certificate
        let client = HTTPTransport(transport), url = "\(isTLS ? "https://localhost" : "http://127.0.0.1"):\(server.port)"
        let cancellations = (0..<6).map { _ in TransportCancellation() }
        let ends = cancellations.map { cancellation in
            concurrently {
                var request = TransportRequest(method: "POST", url: "\(url)/held", body: .bytes(patternBytes(1000)))
                request.cancellation = cancellation
                return (try? client.send(request)) == nil
            }
        }
        held.waitForOne()
        #expect(eventually { server.service.lanes.waitingCount(in: .requests) == 5 })
        for cancellation in cancellations { cancellation.cancel() }
        for end in ends { #expect(end()) }
        for _ in ends { held.release() }
        #expect(server.service.requests.wait(timeout: .now() + 60) == .success)
        #expect(try client.send(TransportRequest(url: url), maximumLength: 100).body == Array("here you are".utf8))
    }

    @Test("a server stops while requests run, wait, stream and arrive")
    func stopAmidst() throws {
        let held = HeldRequests()
        let server = try serve(held)
        let running = try server.client(), waiting = try server.client(), sending = try server.client()
        running.get("/held")
        held.waitForOne()
        waiting.get("/")
        #expect(eventually { server.service.lanes.waitingCount(in: .requests) == 1 })
        sending.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nxxxx")
        let stopped = concurrently { server.stop(timeout: .zero) }
        #expect(running.isClosed && waiting.isClosed && sending.isClosed)
        held.release()
        stopped()
    }

    @Test("a body whose first piece cannot be made is cut, not short")
    func brokenSource() throws {
        struct Broken: Error {}
        let server = try HTTPServer { _ in ServerResponse(status: 200, body: .stream(length: 10) { throw Broken() }) }
        defer { server.stop() }
        let client = try server.client()
        client.get("/")
        let answer = try #require(client.receiveText())
        #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.hasSuffix("\r\n\r\n"))
    }

    @Test("a source is not asked for more than its client has read, apart from two pieces and the buffers of the system")
    func ahead() throws {
        let made = Atomic(0), piece = [UInt8](repeating: 1, count: 1 << 20)
        let server = try HTTPServer { request in
            guard request.path == "/endless" else { return ServerResponse(status: 200, body: .bytes(Array("here you are".utf8))) }
            return ServerResponse(
                status: 200,
                body: .stream {
                    made.add(1, ordering: .sequentiallyConsistent)
                    return piece
                })
        }
        defer { server.stop(timeout: .zero) }
        let idle = try server.client(), other = try server.client()
        idle.get("/endless")
        for _ in 0..<500 {
            other.get("/")
            #expect(other.read(until: "here you are").hasPrefix("HTTP/1.1 200 "))
        }
        #expect(made.load(ordering: .sequentiallyConsistent) < 60, "the buffers of the system hold some megabytes")
        #expect(idle.receive() != nil)
    }

    @Test("a header of 5 KB is read, and one beyond the buffers refused")
    func headerSize() throws {
        let server = try serve(HeldRequests())
        defer { server.stop() }
        for (length, status) in [(5000, 200), (100_000, 431)] {
            let client = try server.client()
            client.send("GET / HTTP/1.1\r\nHost: x\r\nX-Long: \(String(repeating: "x", count: length))\r\n\r\n")
            #expect(client.status() == status)
        }
    }
}
