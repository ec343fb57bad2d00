import MobileProtocol
import MobileServer
import Testing

/// The answers to devices that an administrator has removed.
@Suite struct RevocationTests {
    private func login(_ device: TestDevice, password: String = "secret") throws -> Int64 {
        let answer = try device.server.send([Message(device.header(.login), content: Credentials(user: device.user, password: password))])[0]
        return answer.header.method.isFailure ? try answer.content(as: ProtocolFailure.self).code : 200
    }

    @Test("LGN-01 ERR-04: a locked user is out at once, and gets 403 with the right password, 401 with a wrong one; unlocked, in again")
    func lockedUser() throws {
        let server = try FieldSales.server()
        let device = try TestDevice(server), other = try TestDevice(server, name: "tablet", user: "bob", password: "other")
        try server.server.administration.setLocked(true, user: "ada")
        #expect(try device.synchronize().status == 401)
        #expect(try login(device) == 403)
        #expect(try login(device, password: "guess") == 401)
        #expect(try other.synchronize().status == 200)
        #expect(try server.server.administration.users().map(\.isLocked) == [true, false])
        try server.server.administration.setLocked(false, user: "ada")
        #expect(try login(device) == 200)
    }

    @Test("LGN-01: a removed user is out at once, and unknown")
    func removedUser() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        try server.server.administration.removeUser("ada")
        #expect(try device.synchronize().status == 401)
        #expect(try login(device) == 401)
        #expect(try server.server.administration.devices().isEmpty && server.server.administration.sessions().isEmpty)
        #expect(try server.server.administration.subscriptions().map(\.state) == ["unsubscribed"])
    }

    @Test("ERR-15: a removed device gets 580 when it logs in, and may register again; a locked one gets 403 for both")
    func devices() throws {
        let server = try FieldSales.server()
        let device = try TestDevice(server)
        try server.server.administration.removeDevice("phone", application: "crm")
        #expect(try device.synchronize().status == 401)
        #expect(try login(device) == 580)
        try device.register()
        #expect(try device.synchronize().status == 200)
        try server.server.administration.setLocked(true, device: "phone", application: "crm")
        #expect(try device.synchronize().status == 401)
        #expect(try login(device) == 403)
        let answer = try server.send([Message(device.header(.register), content: Credentials(user: "ada", password: "secret"))])[0]
        #expect(try answer.content(as: ProtocolFailure.self) == ProtocolFailure(code: 403, message: "an administrator has locked the device"))
    }

    @Test("LGN-01: one session of several is ended")
    func oneSession() throws {
        let server = try FieldSales.server()
        let first = try TestDevice(server), second = try TestDevice(server, name: "tablet")
        let sessions = try server.server.administration.sessions()
        #expect(sessions.map(\.device) == ["phone", "tablet"])
        try server.server.administration.removeSession(sessions[0].id)
        #expect(try first.synchronize().status == 401)
        #expect(try second.synchronize().status == 200)
    }

    @Test("SUB-05: a removed subscription is answered with 404 and may begin again; a locked one with 403, and may not")
    func subscriptions() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        try server.server.administration.removeSubscription(client: device.client, package: server.package)
        #expect(try device.synchronize().status == 404)
        #expect(try device.send(.subscribe).header.method == .subscribe.result)
        #expect(try device.synchronize().status == 200)
        try server.server.administration.setLocked(true, client: device.client, package: server.package)
        #expect(try device.synchronize().status == 403)
        for method in [MessageMethod.subscribe, .unsubscribe, .resume, .recover] {
            #expect(try device.send(method).content(as: ProtocolFailure.self).code == 403)
        }
        try server.server.administration.setLocked(false, client: device.client, package: server.package)
        #expect(try device.synchronize().status == 200)
        let error = #expect(throws: ServerError.self) { try server.server.administration.setLocked(true, user: "eve") }
        #expect(error?.code == .notFound)
    }

    @Test("REG-34: a user who has nothing but an activation code can be locked too")
    func activatedUser() throws {
        let server = try FieldSales.server { $0.activationCodes = ["carl": "4711"] }
        try server.server.administration.setLocked(true, user: "carl")
        let header = MessageHeader(method: .register, id: "1", application: "crm", device: "phone")
        func code() throws -> Int64 {
            let answer = try server.send([Message(header, content: Credentials(user: "carl", password: "", activationCode: "4711"))])[0]
            return answer.header.method.isFailure ? try answer.content(as: ProtocolFailure.self).code : 200
        }
        #expect(try code() == 403)
        try server.server.administration.setLocked(false, user: "carl")
        #expect(try code() == 200, "the refused try has not used it up")
        let password = try server.send([Message(header, content: Credentials(user: "carl", password: ""))])[0]
        #expect(try password.content(as: ProtocolFailure.self).code == 401, "no password is not the empty one")
    }
}
