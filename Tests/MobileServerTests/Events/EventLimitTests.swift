import Foundation
import MobileExecution
import MobileProtocol
import MobileStore
import TestSupport
import Testing

@testable import MobileServer

/// The permission to listen, and the limits of listeners.
@Suite struct EventLimitTests {
    private func status(_ http: HTTPServer, _ device: TestDevice, _ body: String) throws -> Int? {
        try ListeningConnection(http, device, body: body).connection.status()
    }

    @Test("the session, the package, the subscription and the parameters are checked before anything is read")
    func access() throws {
        let server = try FieldSales.server()
        let http = try HTTPServer(listening: server.server)
        defer { http.stop() }
        let device = try TestDevice.inRegion("NORTH", of: server), other = try TestDevice(server, name: "tablet", user: "bob", password: "other")
        let stranger = try RawConnection(port: http.port)
        stranger.send("POST \(Endpoint.events) HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n")
        #expect(stranger.status() == 401)
        let interest = try device.interest(["default"])
        #expect(try status(http, device, "{") == 400 && status(http, device, "[]") == 400 && status(http, device, #"{"version": 1}"#) == 400)
        #expect(try status(http, device, interest.replacing("Field:2.0", with: "Field:9.0")) == 404)
        #expect(try status(http, device, interest.replacing(#"["default"]"#, with: #"["none"]"#)) == 404)
        #expect(try status(http, device, interest.replacing(#""region""#, with: #""colour""#)) == 400)
        #expect(try status(http, other, interest) == 403, "the client id of another user")
        _ = try device.send(.unsubscribe)
        #expect(try status(http, device, interest) == 404 && server.server.events.count == 0)
    }

    @Test("a plain GET listens for the groups that it names")
    func plainRequest() throws {
        let server = try FieldSales.server()
        let http = try HTTPServer(listening: server.server)
        defer { http.stop() }
        let device = try TestDevice.inRegion("NORTH", of: server)
        let connection = try RawConnection(port: http.port)
        connection.send(
            "GET \(Endpoint.events)?pkg=Field:2.0&cid=\(device.client)&groups=lines HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(device.token)\r\n\r\n"
        )
        var text = ""
        while !text.contains(#""groups":["lines"]"#), let piece = connection.receive(), !piece.isEmpty {
            text += String(decoding: piece, as: UTF8.self)
        }
        #expect(text.contains("event: news\ndata: ") && text.contains(#""groups":["lines"]"#), "\(text)")
        let wrong = try RawConnection(port: http.port)
        wrong.send("GET \(Endpoint.events) HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(device.token)\r\n\r\n")
        #expect(wrong.status() == 400)
    }

    @Test("the listening connections of a device, of a user and of the server are limited, and a client that comes again replaces itself")
    func limits() throws {
        let server = try FieldSales.server {
            $0.limits.listeningConnections = 4
            $0.limits.listeningConnectionsPerUser = 3
            $0.limits.listeningConnectionsPerDevice = 2
        }
        let http = try HTTPServer(listening: server.server)
        defer { http.stop() }
        func device(_ name: String, _ user: String = "ada", _ password: String = "secret") throws -> TestDevice {
            try TestDevice(server, name: name, user: user, password: password)
        }
        let phone = try [device("phone"), device("phone"), device("phone")], tablet = try [device("tablet"), device("tablet")]
        let bob = try [device("bob's", "bob", "other"), device("bob's other", "bob", "other")]
        func listen(_ device: TestDevice) throws -> ListeningConnection { try ListeningConnection(http, device, groups: ["lines"]) }
        let first = try listen(phone[0])
        #expect(first.reads("event: listening"))
        let again = try listen(phone[0])
        #expect(again.reads("event: listening") && first.reads("event: end") && eventually { server.server.events.count == 1 })
        let second = try listen(phone[1])
        #expect(second.reads("event: listening"))
        let third = try listen(phone[2])
        #expect(third.reads("Retry-After: ") && third.text.hasPrefix("HTTP/1.1 429 "), "\(third.text)")
        let fourth = try listen(tablet[0])
        #expect(fourth.reads("event: listening"))
        let fifth = try listen(tablet[1])
        #expect(fifth.reads("Retry-After: ") && fifth.text.hasPrefix("HTTP/1.1 429 "), "\(fifth.text)")
        let sixth = try listen(bob[0])
        #expect(sixth.reads("event: listening"))
        let seventh = try listen(bob[1])
        #expect(seventh.reads("Retry-After: ") && seventh.text.hasPrefix("HTTP/1.1 503 "), "\(seventh.text)")
        withExtendedLifetime([again, second, fourth, sixth]) { #expect(server.server.events.count == 4) }
    }

    @Test("a back end's report needs an operator's token; its objects are read again by the next client")
    func report() throws {
        let token = "0123456789abcdef"
        let server = try FieldSales.server { $0.operatorTokens = [token] }
        let device = try TestDevice.inRegion("NORTH", of: server)
        let package = try #require(server.server.packages.first)
        func report(_ body: String, _ token: String?) -> Int {
            server.server.respond(
                to: ServerRequest(
                    method: "POST", path: Endpoint.changes, headers: token.map { ["authorization": "Bearer \($0)"] } ?? [:],
                    body: Spool(Array(body.utf8)))
            ).status
        }
        let known = package.refresher.loadedPositions.withLock { $0.count }
        #expect(known == 3)
        let body = #"{"pkg": "Field:2.0", "objects": ["Line"]}"#
        #expect(report(body, nil) == 401 && report(body, device.token) == 401 && report(body, token + "0") == 401)
        #expect(package.refresher.loadedPositions.withLock { $0.count } == 3)
        #expect(report("{}", token) == 400 && report(#"{"pkg": "Field:2.0", "objects": [1]}"#, token) == 400)
        #expect(report(#"{"pkg": "Field:2.0", "objects": ["None"]}"#, token) == 404 && report(#"{"pkg": "None"}"#, token) == 404)
        #expect(report(body, token) == 204 && package.refresher.loadedPositions.withLock { $0.count } == 2)
        #expect(report(#"{"pkg": "Field:2.0"}"#, token) == 204 && package.refresher.loadedPositions.withLock { $0.count } == 0)
        try device.synchronize(groups: ["default", "lines"])
        #expect(package.refresher.loadedPositions.withLock { $0.count } == 3)
        let many = (0...ChangeReport.maximumKeys).map { #"{"orderId": \#($0), "line": 1}"# }.joined(separator: ",")
        for keys in [#"{"Line": [{"orderId": 10}]}"#, #"{"Line": [7]}"#, #"{"Line": {}}"#, "[]", #"{"Line": [\#(many)]}"#] {
            #expect(report(#"{"pkg": "Field:2.0", "keys": \#(keys)}"#, token) == 400, "\(keys.prefix(80))")
        }
        #expect(report(#"{"pkg": "Field:2.0", "keys": {"None": []}}"#, token) == 404)
        #expect(report(#"{"pkg": "Field:2.0", "keys": {"Line": []}}"#, token) == 204)
        #expect(package.refresher.loadedPositions.withLock { $0.count } == 3)
        #expect(report(#"{"pkg": "Field:2.0", "keys": {"Line": [{"orderId": 10, "line": 1}]}}"#, token) == 204)
        #expect(package.refresher.loadedPositions.withLock { $0.count } == 2, "nobody listens, so the next synchronization reads the rows")
        #expect(throws: ServerError.self) { _ = try FieldSales.server { $0.operatorTokens = ["short"] } }
    }
}
