import Foundation
import MobileProtocol
import MobileServer
import TestSupport
import Testing

/// Attacks over plain sockets by a client without a password: they have no lasting effect.
@Suite struct RequestLimitTests {
    /// Starts a server of the package on its own port.
    private func serve(_ server: TestServer, _ configure: (inout HTTPServer.Configuration) -> Void = { _ in }) throws -> HTTPServer {
        var configuration = HTTPServer.Configuration()
        configuration.temporaryDirectory = server.folder.path
        configure(&configuration)
        return try HTTPServer(configuration, serving: server.server)
    }

    private static func head(_ path: String, _ fields: [String]) -> String {
        (["POST \(path) HTTP/1.1", "Host: localhost"] + fields + ["", ""]).joined(separator: "\r\n")
    }

    static let lengths = [
        "Content-Length: 3000000000", "Content-Length: 10", "Transfer-Encoding: chunked", "Content-Length: 5000\r\nExpect: 100-continue",
    ]

    @Test(
        "LGN-01: without a session no byte of a body is waited for",
        arguments: [Endpoint.synchronize, Endpoint.traces], lengths)
    func headersFirst(_ path: String, _ length: String) throws {
        let server = try FieldSales.server()
        let http = try serve(server)
        defer { http.stop(timeout: .zero) }
        for token in ["", "Authorization: Bearer 0123\r\n"] {
            let connection = try RawConnection(port: http.port)
            connection.send(Self.head(path, [token + length]))
            let answer = try #require(connection.receiveText())
            #expect(answer.hasPrefix("HTTP/1.1 401 ") && answer.contains("{\"code\""), "\(answer)")
        }
    }

    @Test("an answer that comes before the body is not lost by a client that goes on sending")
    func early() throws {
        let server = try FieldSales.server()
        let http = try serve(server)
        defer { http.stop(timeout: .zero) }
        for _ in 0..<20 {
            let connection = try RawConnection(port: http.port)
            connection.send(Self.head(Endpoint.traces, ["Content-Length: 400000"]))
            for _ in 0..<4 where connection.send([UInt8](repeating: 0x20, count: 100_000)) {}
            #expect(connection.status() == 401)
        }
    }

    @Test("LGN-01: messages of strangers are as long as a login, those of devices as the protocol allows", arguments: [false, true])
    func messageLengths(_ hasSession: Bool) throws {
        let server = try FieldSales.server()
        let device = try TestDevice(server)
        let http = try serve(server)
        defer { http.stop(timeout: .zero) }
        let fields = hasSession ? ["Authorization: Bearer \(device.token)"] : []
        func status(_ length: Int) throws -> Int? {
            let connection = try RawConnection(port: http.port)
            connection.send(Self.head(Endpoint.messages, fields + ["Content-Length: \(length)"]))
            return connection.status(within: .milliseconds(hasSession && length < 5_000_000 ? 300 : 15_000))
        }
        #expect(try status(5_000_000) == (hasSession ? 413 : 401))
        #expect(try status(100_000) == (hasSession ? nil : 401))
        let connection = try RawConnection(port: http.port)
        connection.send(Self.head(Endpoint.messages, fields + ["Transfer-Encoding: chunked"]))
        for _ in 0..<5 { connection.send("5000\r\n" + String(repeating: " ", count: 0x5000) + "\r\n") }
        connection.send("0\r\n\r\n")
        #expect(connection.status() == (hasSession ? 400 : 401))
    }

    @Test("a header that comes byte by byte is cut off, however busy its sender looks")
    func slowHeader() throws {
        let server = try FieldSales.server()
        let http = try serve(server) { $0.headerTimeout = .milliseconds(400) }
        defer { http.stop(timeout: .zero) }
        let connection = try RawConnection(port: http.port)
        connection.send("POST \(Endpoint.messages) HTTP/1.1\r\nX-Slow: ")
        #expect(connection.dribble(UInt8(ascii: "x"), pause: .milliseconds(50)))
    }

    @Test(
        "a body that comes byte by byte is cut off, with a session too, by its rate and by its time", arguments: [false, true], [false, true])
    func slowBody(_ hasSession: Bool, _ byRate: Bool) throws {
        let server = try FieldSales.server {
            $0.limits.grace = byRate ? .milliseconds(300) : .seconds(60)
            guard !byRate else { return }
            $0.limits.strangerTime = .milliseconds(500)
            $0.limits.uploadTime = .milliseconds(500)
        }
        let device = try TestDevice(server)
        let http = try serve(server)
        defer { http.stop(timeout: .zero) }
        let connection = try RawConnection(port: http.port)
        let fields = hasSession ? ["Authorization: Bearer \(device.token)"] : []
        connection.send(Self.head(hasSession ? Endpoint.synchronize : Endpoint.messages, fields + ["Content-Length: 60000"]))
        #expect(connection.dribble(UInt8(ascii: " "), pause: .milliseconds(50)))
    }

    @Test("one request carries 64 messages at most, and one login among them")
    func numberOfMessages() throws {
        let server = try FieldSales.server()
        let http = try serve(server)
        defer { http.stop(timeout: .zero) }
        let login = Message(
            MessageHeader(method: .login, id: "1", application: "crm", device: "phone"), content: Credentials(user: "ada", password: "guess"))
        func answer(_ count: Int) throws -> String {
            let body = Message.bytes(Array(repeating: login, count: count))
            let connection = try RawConnection(port: http.port)
            connection.send(Self.head(Endpoint.messages, ["Connection: close", "Content-Length: \(body.count)"]))
            connection.send(body)
            return try #require(connection.receiveText(within: .seconds(60)))
        }
        #expect(try answer(65).hasPrefix("HTTP/1.1 413 "))
        let few = try answer(64)
        #expect(few.hasPrefix("HTTP/1.1 200 "))
        #expect(few.components(separatedBy: "wrong user name or password").count - 1 == 1)
        #expect(few.components(separatedBy: "one \\\"register\\\" or \\\"login\\\" goes in one request").count - 1 == 63)
    }

    @Test("a body that cannot be kept is a line in the log, and the client learns nothing of the server's folders")
    func noRoom() throws {
        let server = try FieldSales.server()
        let device = try TestDevice(server), lines = RecordedLines()
        let http = try serve(server) {
            $0.temporaryDirectory = "/nowhere/at/all"
            $0.bodyMemoryLimit = 10
            $0.log = { lines.add($0) }
        }
        defer { http.stop(timeout: .zero) }
        let connection = try RawConnection(port: http.port)
        connection.send(
            Self.head(Endpoint.traces, ["Connection: close", "Authorization: Bearer \(device.token)", "Content-Length: 100"])
                + String(repeating: " ", count: 100))
        let answer = try #require(connection.receiveText())
        #expect(answer.hasPrefix("HTTP/1.1 507 ") && !answer.contains("nowhere"), "\(answer)")
        #expect(lines.all.contains { $0.contains("/nowhere/at/all") })
    }
}
