import MobileStore
import MobileTransport
import RhoConnectClient
import TestSupport
import Testing

@Suite struct LoginTests {
    static let place = "POST /rc/v1/app/login"

    @Test("RC-005: a login declares JSON and sends UTF-8")
    func jsonRequest() throws {
        let bench = try Bench(isLoggedIn: false)
        #expect(bench.client.login(user: "käthe", password: "p\"4").errorCode == .none)
        let request = try #require(bench.server.requests.first)
        #expect(request.headers["content-type"] == "application/json")
        #expect(request.json == ["login": "käthe", "password": "p\"4", "remember_me": 1])
        bench.check()
    }

    @Test("RC-015: a login that is answered 200 without a session is error 4")
    func noCookie() throws {
        let bench = try Bench(isLoggedIn: false)
        bench.server.answer(Self.place, .init(headers: [("X-Other", "1")]))
        #expect(bench.client.login(user: "kim", password: "p").errorCode == .unexpectedServerResponse)
        #expect(!bench.client.isLoggedIn)
    }

    @Test("RC-016: the failures of a login are 9 with the body for 401, 2 for other statuses, 1 without a connection")
    func failures() throws {
        let bench = try Bench(isLoggedIn: false)
        bench.server.answer(Self.place, .text(401, "Unable to authenticate 'kim'"))
        bench.server.answer(Self.place, .text(500, "boom"))
        let refused = bench.client.login(user: "kim", password: "p"), failed = bench.client.login(user: "kim", password: "p")
        #expect(refused.errorCode == .unauthorized && refused.errorMessage == "Unable to authenticate 'kim'")
        #expect(failed.errorCode == .remoteServer && failed.errorMessage == "boom")
        bench.server.stop()
        #expect(bench.client.login(user: "kim", password: "p").errorCode == .network)
    }

    @Test("RC-017: the cookie of a 401 never replaces the session")
    func cookieOfRefusal() throws {
        let bench = try Bench()
        let before = try bench.value("SELECT session FROM client_info")
        bench.server.answer(Self.place, .init(status: 401, headers: [("Set-Cookie", "rhoconnect_session=empty; path=/")], body: [0x6E]))
        #expect(bench.client.login(user: "kim", password: "wrong").errorCode == .unauthorized)
        bench.server.add("Item", .init(status: 401, headers: [("Set-Cookie", "rhoconnect_session=empty; path=/")]))
        #expect(bench.client.syncAll().errorCode == .unauthorized)
        #expect(try bench.value("SELECT session FROM client_info") == before)
        #expect(before?.text?.hasPrefix("rhoconnect_session=BAh") == true)
    }

    @Test func `a session that a 200 issues again is stored, and sent from then on`() throws {
        let bench = try Bench()
        let new = "rhoconnect_session=renewed"
        bench.server.add("Item", .init(headers: [("Set-Cookie", new + "; path=/")], body: [UInt8](StrictServer.page().utf8)))
        bench.client.syncAll()
        bench.client.syncAll()
        #expect(bench.server.queries.last?.headers["cookie"] == new + ";")
        bench.check()
    }

    @Test("RC-018: being logged in follows login and logout, and data outlive the logout")
    func loggedIn() throws {
        let bench = try Bench(isLoggedIn: false)
        #expect(!bench.client.isLoggedIn)
        bench.client.login(user: "kim", password: "p")
        #expect(bench.client.isLoggedIn)
        try bench.item.create(["title": "Saw"])
        try bench.client.logout()
        #expect(!bench.client.isLoggedIn)
        #expect(try bench.item.count() == 1)
    }

    @Test func `a session that an answer issues again after the logout does not log in`() throws {
        let transport = CuttingTransport()
        let bench = try Bench(transport: transport)
        try bench.item.create(["title": "Saw"])
        let client = bench.client
        // The upload was answered: that it was sent is noted, although the logout stops the synchronization.
        transport.setFate { $0.method == "POST" && $0.url.contains("/app/v1/") ? .passThen { try? client.logout() } : .pass }
        #expect(client.syncAll().errorCode == .cancelledByUser)
        #expect(try bench.value("SELECT sent FROM changed_values") == 2)
        #expect(!client.isLoggedIn)
    }

    @Test("RC-019: the logout registers an empty device under the old session")
    func logout() async throws {
        let bench = try Bench()
        await bench.client.syncAll()
        let arrived = AsyncStream<StrictServer.Request>.makeStream()
        bench.server.onRequest { request in
            if request.path.hasSuffix("/register") { arrived.continuation.yield(request) }
            return nil
        }
        try bench.client.logout()
        let request = try #require(await arrived.stream.first { _ in true })
        #expect(request.path == "/rc/v1/clients/client1/register")
        #expect(request.headers["cookie"] == bench.server.session + ";")
        #expect(request.json == ["device_pin": "", "device_port": "", "device_type": "", "device_push_type": ""])
        bench.check()
    }

    @Test("RC-020: another user's login destroys the local data, and has the server reset before the next synchronization")
    func otherUser() throws {
        let bench = try Bench()
        bench.client.syncAll()
        try bench.item.create(["title": "Saw"])
        bench.client.login(user: "kim", password: "p")
        #expect(try bench.item.count() == 1)
        bench.client.login(user: "lee", password: "p")
        #expect(try bench.item.count() == 0)
        #expect(try !bench.item.isChanged())
        bench.server.forgetRequests()
        bench.client.syncAll()
        #expect(bench.server.requests.map(\.path) == ["/rc/v1/clients/client1/reset", "/app/v1/Item"])
        bench.check()
    }

    @Test("RC-023: a synchronization without a session is error 7, and sends nothing")
    func noSession() async throws {
        let bench = try Bench(isLoggedIn: false)
        let notes = await bench.client.notifications()
        #expect(notes.count == 1 && notes[0].status == .error && notes[0].errorCode == .clientIsNotLoggedIn && notes[0].sourceName == nil)
        let single = await bench.item.sync()
        #expect(single.errorCode == .clientIsNotLoggedIn && single.sourceName == "Item")
        #expect(bench.server.requests.isEmpty)
    }

    @Test func `the callback of a login gets a code and a message`() async throws {
        let bench = try Bench(isLoggedIn: false)
        let notify = await withCheckedContinuation { done in bench.client.login(user: "kim", password: "p") { done.resume(returning: $0) } }
        #expect(notify.errorCode == .none && notify.errorMessage == "" && notify.status == nil)
        #expect(bench.client.isLoggedIn)
        #expect(await bench.client.login(user: "kim", password: "p").errorCode == .none)
    }
}
