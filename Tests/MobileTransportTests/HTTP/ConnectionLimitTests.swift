import Foundation
import MobileProtocol
import MobileTransport
import TestSupport
import Testing

@testable import MobileServer

/// The behaviour at the limit of connections, for programs other than our clients.
@Suite struct ConnectionLimitTests {
    /// A server with few places, whose requests for `/held` last until they are released.
    final class FullServer: Sendable {
        let http: HTTPServer
        private let entered = DispatchSemaphore(value: 0)
        private let released = DispatchSemaphore(value: 0)

        init(places: Int) throws {
            var configuration = HTTPServer.Configuration()
            configuration.maximumConnections = places
            let (entered, released) = (entered, released)
            http = try HTTPServer(configuration) { request in
                if request.path == "/held" {
                    entered.signal()
                    released.wait()
                }
                return ServerResponse(status: 200, body: .bytes(Array("here you are".utf8)))
            }
        }

        func client() throws -> RawConnection { try RawConnection(port: http.port) }

        /// Makes a client whose request is being answered.
        func busyClient() throws -> RawConnection {
            let client = try client()
            client.get("/held")
            entered.wait()
            return client
        }

        /// Releases one request.
        func release() { released.signal() }

        /// Waits until this number of connections is open and unused.
        func wait(forIdle count: Int) { while http.service.connections.idleCount < count { sched_yield() } }
    }

    @Test("where all connections are in use, one more is told so, with the time after which to come again")
    func refusal() throws {
        let server = try FullServer(places: 2)
        defer { server.http.stop() }
        let busy = [try server.busyClient(), try server.busyClient()]
        let third = try server.client()
        third.get("/")
        let answer = third.read(until: "no text has this")
        #expect(answer.hasPrefix("HTTP/1.1 503 "))
        #expect(answer.contains("\r\nRetry-After: 5\r\n"))
        #expect(answer.contains("no connection left"))
        let body = TransportRequest.Body.stream { patternBytes(10_000) }
        let error = #expect(throws: TransportError.self) {
            _ = try HTTPTransport().send(TransportRequest(method: "POST", url: "http://127.0.0.1:\(server.http.port)/", body: body))
        }
        #expect(error?.status == 503)
        #expect(RetryAfter.delay(in: error?.headers ?? [], now: 0) == .seconds(5))
        for _ in busy { server.release() }
        for client in busy { #expect(client.read(until: "are").contains("here you are")) }
        server.wait(forIdle: 2)
        let fourth = try server.client()
        fourth.get("/")
        #expect(fourth.read(until: "are").contains("here you are"))
    }

    @Test("connections that are only kept open make room, the longest unused first")
    func idleFirst() throws {
        let server = try FullServer(places: 3)
        defer { server.http.stop() }
        let kept = try (0..<2).map { number in
            let client = try server.client()
            client.get("/")
            #expect(client.read(until: "are").contains("here you are"))
            server.wait(forIdle: number + 1)
            return client
        }
        let busy = try server.busyClient()
        let newcomer = try server.client()
        newcomer.get("/")
        #expect(newcomer.read(until: "are").contains("here you are"))
        #expect(kept[0].isClosed)
        kept[1].get("/")
        #expect(kept[1].read(until: "are").contains("here you are"))
        server.release()
        #expect(busy.read(until: "are").contains("here you are"))
    }

    @Test("any number of connections that say nothing keep nobody from being told")
    func silentCrowd() throws {
        let server = try FullServer(places: 1)
        defer { server.http.stop() }
        let busy = try server.busyClient()
        let silent = try (0..<200).map { _ in try server.client() }
        let last = try server.client()
        last.get("/")
        #expect(last.read(until: "no text has this").hasPrefix("HTTP/1.1 503 "))
        #expect(silent[0].isClosed)
        server.release()
        #expect(busy.read(until: "are").contains("here you are"))
    }

    @Test("the table gives places to those who use them")
    func table() {
        var table = ConnectionTable<Int>(places: 2, refusals: 2)
        let opened = (1...5).map { table.open($0) }
        #expect(opened.map { $0.isRefused } == [false, false, true, true, true])
        #expect(opened.map { $0.eviction } == [.none, .none, .none, .none, .refused(3)])
        let begun = (1...4).map { table.beginRequest($0) }
        #expect(begun == [true, true, true, false], "what came before the cut is answered")
        table.endRequest(2)
        table.endRequest(1)
        let sixth = table.open(6)
        #expect(!sixth.isRefused && sixth.eviction == .idle(2))
        table.close(2)
        let again = table.beginRequest(1)
        #expect(again && table.idleCount == 0)
        let seventh = table.open(7)
        #expect(seventh.isRefused)
        for id in 1...7 { table.close(id) }
        let places = (11...13).map { table.open($0).isRefused }
        #expect(places == [false, false, true])
    }
}
