import MobileProtocol
import MobileStore
import TestSupport
import Testing

@testable import MobileServer

/// Sessions end.
@Suite struct SessionEndTests {
    private let clock = VirtualClock(start: .seconds(1_800_000_000))

    private func server(users: [String: String] = ["ada": "secret", "bob": "other"]) throws -> TestServer {
        let clock = clock
        return try FieldSales.server {
            $0.clock = { clock.milliseconds }
            $0.users = users
        }
    }

    private func status(_ device: TestDevice) throws -> Int { try device.synchronize().status }

    @Test("LGN-01: a session that nobody uses ends, and a new login begins another one")
    func idle() throws {
        let server = try server()
        let device = try TestDevice(server)
        #expect(try status(device) == 200)
        clock.advance(by: .days(30))
        #expect(try status(device) == 401)
        #expect(try device.send(.connect).content(as: ProtocolFailure.self).code == 401)
        try device.register()
        #expect(try status(device) == 200)
    }

    @Test("LGN-01: a session that is used lasts longer, but not for ever")
    func absolute() throws {
        let server = try server()
        let device = try TestDevice(server)
        var days: Int64 = 0
        while try status(device) == 200, days < 1000 {
            clock.advance(by: .days(20))
            days += 20
        }
        #expect(days == 380)
    }

    @Test("LGN-01: a new password ends the sessions that began with the old one, and those alone")
    func newPassword() throws {
        let password = TestSecret("secret")
        let clock = clock
        let server = try FieldSales.server {
            $0.clock = { clock.milliseconds }
            $0.users = ["ada": password.current, "bob": "other"]
        }
        let device = try TestDevice(server), other = try TestDevice(server, name: "tablet", user: "bob", password: "other")
        try server.restart()
        #expect(try status(device) == 200, "the password is the same")
        password.current = "changed"
        try server.restart()
        #expect(try status(device) == 401)
        #expect(try status(other) == 200)
        let old = try server.send([Message(device.header(.login), content: Credentials(user: "ada", password: "secret"))])[0]
        #expect(try old.content(as: ProtocolFailure.self).code == 401)
        try device.register(password: "changed")
        #expect(try status(device) == 200)
    }

    @Test("a device that logs in again and again leaves no heap of sessions")
    func number() throws {
        let server = try server()
        let device = try TestDevice(server)
        let first = device.token
        for _ in 0..<40 { try device.register() }
        let count = try server.state { try $0.number("SELECT count(*) FROM _session") }
        #expect(count == 8)
        #expect(try status(device) == 200 && device.token != first)
    }
}
