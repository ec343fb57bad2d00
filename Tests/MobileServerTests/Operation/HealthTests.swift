import Dispatch
import Foundation
import MobileProtocol
import MobileStore
import TestSupport
import Testing

@testable import MobileServer

/// The answers for load balancers and supervisors.
@Suite struct HealthTests {
    private func ask(_ http: HTTPServer, _ path: String, _ method: String = "GET") throws -> String {
        let connection = try RawConnection(port: http.port)
        connection.send("\(method) \(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        return try #require(connection.receiveText())
    }

    @Test("a server lives and is ready; both need no session")
    func healthy() throws {
        let server = try FieldSales.server()
        let http = try HTTPServer(serving: server.server)
        defer { http.stop() }
        let live = try ask(http, "/live"), ready = try ask(http, "/ready"), head = try ask(http, "/live", "HEAD")
        #expect(live.hasPrefix("HTTP/1.1 200 ") && live.hasSuffix(#"{"status": "live"}"#), "\(live)")
        #expect(ready.hasPrefix("HTTP/1.1 200 ") && ready.hasSuffix(#"{"status": "ready"}"#), "\(ready)")
        #expect(ready.contains("Cache-Control: no-store"))
        #expect(head.hasPrefix("HTTP/1.1 200 ") && head.hasSuffix("\r\n\r\n"))
        #expect(try ask(http, "/live", "POST").hasPrefix("HTTP/1.1 405 "))
        #expect(server.server.respond(to: ServerRequest(path: "/ready")).status == 200)
    }

    @Test(
        "a back end that does not answer makes the server not ready; the reason is a line of the log, once, and no part of the answer", .backEndInFile
    )
    func busyBackEnd() throws {
        let lines = RecordedLines()
        let server = try FieldSales.server {
            $0.readinessTimeout = .milliseconds(200)
            $0.connectionTimeout = .seconds(60)
            $0.log = { lines.add($0) }
        }
        let http = try HTTPServer(serving: server.server)
        defer { http.stop() }
        let backEnd = try server.server.sqliteBackEnd("enterprise")
        let taken = DispatchSemaphore(value: 0), given = DispatchSemaphore(value: 0), ended = DispatchSemaphore(value: 0)
        for _ in 0..<2 {
            Thread.detachNewThread {
                try? backEnd.contents.read { _ in
                    taken.signal()
                    given.wait()
                }
                ended.signal()
            }
        }
        for _ in 0..<2 { taken.wait() }
        for _ in 0..<3 {
            let answer = try ask(http, "/ready")
            #expect(answer.hasPrefix("HTTP/1.1 503 ") && answer.hasSuffix(#"{"status": "not ready", "failed": ["back end"]}"#), "\(answer)")
        }
        #expect(try ask(http, "/live").hasPrefix("HTTP/1.1 200 "))
        #expect(lines.all == ["not ready: back end \"enterprise\" of Field:2.0: no answer within 0.2 seconds"])
        for _ in 0..<2 { given.signal() }
        for _ in 0..<2 { ended.wait() }
        #expect(try eventually { try ask(http, "/ready").hasPrefix("HTTP/1.1 200 ") })
        #expect(lines.all.last == "ready again")
    }

    @Test("full queues do not delay the answers")
    func fullQueues() throws {
        let server = try FieldSales.server()
        var application = HTTPApplication(serving: server.server)
        let begun = DispatchSemaphore(value: 0), end = DispatchSemaphore(value: 0)
        for lane in WorkLanes.Lane.allCases { application.lanes[lane] = .init(running: 1, waiting: 0) }
        application.admission = { _ in
            begun.signal()
            end.wait()
            return .answer(ServerResponse(status: 200))
        }
        let http = try HTTPServer(HTTPServer.Configuration(), application)
        defer { http.stop() }
        let held = try RawConnection(port: http.port)
        held.send("POST \(Endpoint.messages) HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n")
        begun.wait()
        let refused = try RawConnection(port: http.port)
        refused.send("POST \(Endpoint.messages) HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n")
        #expect(refused.status() == 503)
        for path in ["/live", "/ready", Endpoint.status] { #expect(try ask(http, path).hasPrefix("HTTP/1.1 200 ")) }
        end.signal()
        #expect(held.status() == 200)
    }

    @Test("a flood of strangers, of messages, of synchronizations or of contents has a lane of its own")
    func lanes() throws {
        let server = try FieldSales.server().server
        func route(_ path: String, _ headers: [String: String] = [:]) -> HTTPApplication.Route {
            server.route(of: ServerRequest(method: "POST", path: path, headers: headers))
        }
        let session = ["authorization": "Bearer 1"]
        #expect(route(Endpoint.synchronize, session) == .lane(.synchronizations))
        #expect(route(Endpoint.messages, session) == .lane(.messages) && route(Endpoint.traces, session) == .lane(.messages))
        #expect(route(Endpoint.segments + "/0", session) == .lane(.contents) && route(Endpoint.segments + "/0") == .lane(.strangers))
        #expect(route(Endpoint.messages) == .lane(.strangers) && route("/else") == .lane(.strangers))
        #expect(route("/live") == .life && route("/ready") == .readiness && route(Endpoint.status) == .immediate)
        #expect(route("/live", ["sap-passport": "1"]) == .lane(.strangers), "a line of the log may block")
    }
}
