import Dispatch
import Foundation
import MobileProtocol
import TestSupport
import Testing

@testable import MobileServer

/// A server that leaves without disturbing a client.
@Suite struct DrainTests {
    private func ask(_ http: HTTPServer, _ path: String) throws -> String {
        let connection = try RawConnection(port: http.port)
        connection.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
        var text = ""
        while !text.contains("}"), let piece = connection.receive(), !piece.isEmpty { text += String(decoding: piece, as: UTF8.self) }
        return text
    }

    private static let login = Message.bytes([
        Message(
            MessageHeader(method: .login, id: "1", package: "Field:2.0", client: "phone", application: "crm", device: "phone"),
            content: Credentials(user: "ada", password: "secret"))
    ])

    @Test("during the notice the server says that it leaves, and serves")
    func notice() throws {
        let server = try FieldSales.server()
        let http = try HTTPServer(serving: server.server)
        let drained = concurrently { http.drain(notice: .seconds(600)) }
        #expect(try eventually { try ask(http, "/ready").hasPrefix("HTTP/1.1 503 ") })
        let ready = try ask(http, "/ready"), status = try ask(http, Endpoint.status)
        #expect(ready.hasPrefix("HTTP/1.1 503 ") && ready.hasSuffix(#""failed": ["draining"]}"#), "\(ready)")
        #expect(status.hasPrefix("HTTP/1.1 200 ") && !status.contains("Connection: close"), "\(status)")
        http.stop()
        #expect(!drained(), "another thread has stopped it")
    }

    @Test("a request in progress is finished, a later one refused with a time to come again, and the server is gone when the first one has ended")
    func drain() throws {
        let random = ConnectionTimeoutTests.HeldRandom()
        let server = try FieldSales.server { $0.random = { random.bytes($0) } }
        _ = try TestDevice(server)
        let http = try HTTPServer(serving: server.server)
        let going = try RawConnection(port: http.port), kept = try RawConnection(port: http.port)
        kept.send("GET \(Endpoint.status) HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(kept.status() == 200)
        random.hold()
        going.send("POST \(Endpoint.messages) HTTP/1.1\r\nHost: x\r\nContent-Length: \(Self.login.count)\r\n\r\n")
        going.send(Self.login)
        random.arrived.wait()
        let drained = concurrently { http.drain(notice: .zero, timeout: .seconds(600)) }
        #expect(try eventually { try ask(http, Endpoint.status).hasPrefix("HTTP/1.1 503 ") })
        let refusal = try ask(http, Endpoint.status)
        #expect(refusal.hasPrefix("HTTP/1.1 503 ") && refusal.contains("Connection: close\r\n"), "\(refusal)")
        #expect(refusal.contains(/Retry-After: \d+\r\n/) && refusal.contains("about to stop"), "\(refusal)")
        kept.send("GET \(Endpoint.status) HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(kept.receiveText()?.hasPrefix("HTTP/1.1 503 ") == true, "a kept connection is closed after the refusal")
        #expect(try ask(http, "/live").hasPrefix("HTTP/1.1 200 ") && ask(http, "/ready").hasPrefix("HTTP/1.1 503 "))
        random.open()
        let answer = try #require(going.receiveText())
        #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.contains("loginResult") && answer.contains("Connection: close\r\n"), "\(answer)")
        #expect(drained())
        #expect(throws: POSIXError.self) { _ = try RawConnection(port: http.port) }
    }

    @Test("a request that does not end in time is cut")
    func timeout() throws {
        let server = try FieldSales.server()
        let http = try HTTPServer(serving: server.server)
        let sending = try RawConnection(port: http.port)
        sending.send("POST \(Endpoint.messages) HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n")
        #expect(sending.status() == 100)
        #expect(!http.drain(notice: .zero, timeout: .milliseconds(50)))
        #expect(sending.receiveAll() != nil)
    }
}
