import MobileProtocol
import MobileStore
import TestSupport
import Testing

@testable import MobileServer

/// Registration, login and subscriptions.
@Suite struct AccountTests {
    private func message(
        _ method: MessageMethod, user: String = "ada", password: String = "secret", device: String = "phone", application: String = "crm",
        code: String? = nil
    ) -> Message {
        Message(
            MessageHeader(method: method, id: "7", package: "Field:2.0", client: "c-\(device)", application: application, device: device),
            content: Credentials(user: user, password: password, activationCode: code))
    }

    @Test("REG-20: registration with the right password begins a session and brings the settings")
    func registration() throws {
        let server = try FieldSales.server { $0.applicationSettings = ["color": "blue"] }
        let answer = try server.send([message(.register)])[0]
        #expect(answer.header.method.rawValue == "registerResult" && answer.header.id == "7")
        let grant: SessionGrant = try answer.content()
        #expect(grant.token.count == 64)
        #expect(grant.settings["color"] == "blue")
        #expect(grant.settings["connectionId"] == "phone__crm")
        #expect(try server.backEndValue("SELECT 1") == 1)
    }

    @Test("LGN-01 PSP-12: a wrong password and an unknown user are refused alike", arguments: [("ada", "wrong"), ("eve", "secret"), ("", "")])
    func wrongCredentials(_ user: String, _ password: String) throws {
        let server = try FieldSales.server()
        for method in [MessageMethod.register, .login] {
            let answer = try server.send([message(method, user: user, password: password)])[0]
            #expect(answer.header.method == method.failed)
            #expect(try answer.content(as: ProtocolFailure.self) == ProtocolFailure(code: 401, message: "wrong user name or password"))
        }
    }

    @Test("ERR-15: login of a device that is not registered")
    func unknownDevice() throws {
        let server = try FieldSales.server()
        _ = try server.send([message(.register)])
        #expect(try server.send([message(.login)])[0].header.method == .login.result)
        let other = try server.send([message(.login, device: "tablet")])[0]
        #expect(try other.content(as: ProtocolFailure.self).code == 580)
        let wrongUser = try server.send([message(.register, user: "bob", password: "other")])[0]
        #expect(try wrongUser.content(as: ProtocolFailure.self) == ProtocolFailure(code: 403, message: "the device is registered for another user"))
    }

    @Test("REG-03: application ids have at most 64, connection ids at most 128 characters")
    func lengths() throws {
        let server = try FieldSales.server()
        let longest = String(repeating: "a", count: 64), longestDevice = String(repeating: "d", count: 62)
        #expect(try server.send([message(.register, device: longestDevice, application: longest)])[0].header.method == .register.result)
        #expect(try server.send([message(.register, application: longest + "a")])[0].content(as: ProtocolFailure.self).code == 400)
        #expect(try server.send([message(.register, device: longestDevice + "d", application: longest)])[0].header.method == .register.failed)
    }

    @Test("REG-21 REG-34: with an activation code no password is needed, and a wrong pair of user and code is refused")
    func activationCodes() throws {
        let server = try FieldSales.server { $0.activationCodes = ["carl": "4711"] }
        #expect(try server.send([message(.register, user: "carl", password: "", code: "4711")])[0].header.method == .register.result)
        #expect(try server.send([message(.register, user: "carl", password: "", device: "b", code: "4712")])[0].header.method == .register.failed)
        #expect(try server.send([message(.register, user: "ada", password: "", device: "c", code: "4711")])[0].header.method == .register.failed)
    }

    @Test("REG-27: unregistering ends all sessions of the device and forgets it")
    func unregister() throws {
        let server = try FieldSales.server()
        let device = try TestDevice(server)
        let old = device.token
        try device.register()
        #expect(device.token != old)
        #expect(try device.send(.unregister).header.method == .unregister.result)
        #expect(try device.synchronize().status == 401)
        #expect(try device.send(.unregister).content(as: ProtocolFailure.self).code == 401)
        #expect(try server.send([message(.login)])[0].content(as: ProtocolFailure.self).code == 580)
    }

    @Test func `sessions outlive a restart, and their tokens are not in the cache`() throws {
        let server = try FieldSales.server()
        let device = try TestDevice(server)
        try server.restart()
        #expect(try device.synchronize().status == 200)
        try server.server.close()
        let stored = try server.state { try $0.rows("SELECT * FROM _session, _user") }.flatMap { $0 }
        #expect(!stored.isEmpty)
        #expect(!stored.contains(.text(device.token)) && !stored.contains(.text("secret")) && !stored.contains(.blob(Array(device.token.utf8))))
    }

    @Test("LGN-01: without a session, or with one that nobody has, nothing is synchronized", arguments: [nil, "", "0123", "Bearer"])
    func wrongTokens(_ token: String?) throws {
        let server = try FieldSales.server()
        let device = try TestDevice(server)
        let response = server.server.respond(
            to: ServerRequest(
                method: "POST", path: Endpoint.synchronize, headers: token.map { ["authorization": "Bearer \($0)"] } ?? [:],
                body: Spool(try device.upload())))
        #expect(response.status == 401)
        #expect(try ProtocolFailure(parsing: TestServer.bytes(of: response)).code == 401)
    }

    @Test("SUB-01 SUB-05 SUB-07 SUB-08: subscribe, suspend, resume and unsubscribe, each where it is possible")
    func subscriptions() throws {
        let server = try FieldSales.server()
        let device = try TestDevice(server)
        #expect(try device.send(.unsubscribe).content(as: ProtocolFailure.self).code == 404)
        #expect(
            try device.send(.subscribe, content: SubscribeContent(subscriptions: ["Customer": [["region": "NORTH"]]]).json.object!).header.method
                == .subscribe.result)
        device.subscriptions = ["Customer": [["region": "NORTH"]]]
        #expect(try device.send(.suspend).header.method == .suspend.result)
        #expect(try device.synchronize().upserts.isEmpty)
        #expect(try device.send(.resume).header.method == .resume.result)
        #expect(try device.synchronize().upserts["Customer"] == 2)
        #expect(try device.send(.unsubscribe).header.method == .unsubscribe.result)
        #expect(try device.send(.suspend).header.method == .suspend.failed)
    }

    @Test("SUB-01: a subscription with an unknown object or parameter fails, and may be sent again")
    func wrongSubscriptions() throws {
        let server = try FieldSales.server()
        let device = try TestDevice(server)
        let wrong: [Subscriptions] = [["Nobody": []], ["Customer": [["country": "IE"]]], ["Customer": [["region": 5]]]]
        for subscriptions in wrong {
            #expect(
                try device.send(.subscribe, content: SubscribeContent(subscriptions: subscriptions).json.object!).header.method == .subscribe.failed)
        }
        #expect(try device.send(.subscribe).header.method == .subscribe.result)
    }

    @Test func `a client id belongs to the user who came with it first`() throws {
        let server = try FieldSales.server()
        let device = try TestDevice(server)
        try device.synchronize()
        let thief = try TestDevice(server, name: "tablet", user: "bob", password: "other")
        let response = server.server.respond(
            to: ServerRequest(
                method: "POST", path: Endpoint.synchronize, headers: ["authorization": "Bearer \(thief.token)"], body: Spool(try device.upload())))
        #expect(response.status == 403)
    }

    @Test func `what is no request is answered with its status`() throws {
        let server = try FieldSales.server()
        func status(_ method: String, _ path: String, _ body: String = "") -> Int {
            server.server.respond(to: ServerRequest(method: method, path: path, body: Spool(Array(body.utf8)))).status
        }
        #expect(status("GET", Endpoint.status) == 200)
        #expect(status("POST", Endpoint.status) == 405)
        #expect(status("GET", "/") == 404)
        #expect(status("POST", Endpoint.messages, "{") == 400)
        #expect(status("POST", Endpoint.messages, "[{\"header\": {}}]") == 400)
        let answer = try server.send([Message(MessageHeader(method: .init(rawValue: "dance"), id: "1"))])[0]
        #expect(answer.header.method.rawValue == "danceFailed")
    }
}
