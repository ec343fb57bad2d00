import Foundation
import MobileExecution
import MobileStore
import TestSupport
import Testing
import WorklightClient

/// Worklight protocol, sections 3 and 9.
@Suite struct ConnectTests {
    private static let device: JSONObject = ["wl_deviceNoProvisioningRealm": ["token": "t-91"]]

    @Test("WL-039 WL-040: the first init has no session value and no answers, and its own field")
    func first() async throws {
        let server = try StrictServer { _, _ in .connected }
        let client = try await server.connectedClient()
        let request = try #require(server.requests.first)
        #expect(request.headers["wl-instance-id"] == nil)
        #expect(request.headers["authorization"] == nil)
        #expect(request.headers["cookie"] == nil)
        #expect(request.field("action") == "test")
        #expect(client.isConnected)
        #expect(client.userPreferences == ["colour": "blue"])
        #expect(server.violations == [])
    }

    @Test("WL-041: a procedure called in the delegate's onSuccess is sent")
    func delegate() async throws {
        let server = try StrictServer { request, _ in
            guard request.name == "query" else { throw StrictServer.Unscripted() }
            return .success
        }
        let client = try server.client()
        let called = RecordingDelegate()
        client.connect(
            delegate: WLClosureDelegate(
                onSuccess: { _ in client.invokeProcedure(.total, delegate: called) }, onFailure: { _ in Issue.record("failed") }))
        await called.called()
        #expect(called.events.all == ["success 200"])
    }

    @Test("WL-042: a procedure before the connect fails, and nothing is sent")
    func before() async throws {
        let server = try StrictServer { _, _ in .success }
        let client = try server.client()
        let context = 7
        let found = await failure { try await client.invokeProcedure(.total, options: WLProcedureOptions(invocationContext: context)) }
        #expect(found?.errorCode == .unexpectedError)
        #expect(found?.invocationContext as? Int == 7)
        let delegate = RecordingDelegate()
        client.invokeProcedure(.total, delegate: delegate)
        await delegate.called()
        client.logActivity("early")
        #expect(delegate.events.all == ["failure unexpectedError"])
        #expect(server.requests.isEmpty)
    }

    @Test("WL-043: after a failed connect the client is not connected, and a second one can succeed")
    func failed() async throws {
        let server = try StrictServer { _, number in number == 0 ? .text("", status: 500) : .connected }
        let client = try server.client()
        #expect(await failure { try await client.connect() }?.errorCode == .unresponsiveHost)
        #expect(!client.isConnected)
        #expect(await failure { try await client.invokeProcedure(.total) } != nil)
        try await client.connect()
        #expect(client.isConnected)
        #expect(server.requests.map(\.name) == ["init", "init"])
    }

    @Test("WL-044 WL-045: two rounds of challenges need three requests, and the session's cookie comes with the second one")
    func rounds() async throws {
        let server = try StrictServer { request, number in
            switch number {
            case 0: .challenge(["wl_antiXSRFRealm": ["WL-Instance-Id": "i1"]]).with("Set-Cookie", "JSESSIONID=0000abc; Path=/; HttpOnly")
            case 1: .challenge(Self.device)
            default: .connected
            }
        }
        try await server.connectedClient()
        #expect(server.requests.count == 3)
        #expect(server.requests.map { $0.cookies["JSESSIONID"] } == [nil, "0000abc", "0000abc"])
        #expect(server.requests.map { $0.headers["wl-instance-id"] } == [nil, "i1", "i1"])
        #expect(server.requests.map { $0.answers != nil } == [false, false, true])
        #expect(server.violations == [])
    }

    @Test("WL-046 WLD-04 WLD-38: cookies of an extractor are sent with init, and only with one")
    func extractor() async throws {
        let server = try StrictServer { _, _ in Reply.connected.with("Set-Cookie", "JSESSIONID=new; Path=/") }
        let store = try server.store()
        let client = try server.client(store: store)
        let extractor = WLCookieExtractor([WLCookie(name: "web", value: "w1"), WLCookie(name: "other", value: "o", domain: "elsewhere.example")])
        try await client.connect(cookieExtractor: extractor)
        #expect(server.requests.last?.cookies == ["web": "w1"])
        #expect(extractor.cookies.contains { $0.name == "JSESSIONID" && $0.value == "new" })
        try await client.connect()
        #expect(server.requests.last?.cookies == [:])
    }

    @Test func `the instance value of an earlier run comes back with an extractor only`() async throws {
        let server = try StrictServer { request, number in
            number == 0 ? .challenge(["wl_antiXSRFRealm": ["WL-Instance-Id": "i1"]]) : .connected
        }
        let store = try server.store()
        try await server.client(store: store).connect(cookieExtractor: WLCookieExtractor())
        try await server.client(store: store).connect()
        #expect(server.requests.last?.headers["wl-instance-id"] == nil)
        try await server.client(store: store).connect(cookieExtractor: WLCookieExtractor())
        #expect(server.requests.last?.headers["wl-instance-id"] == "i1")
    }

    @Test(
        "WL-047: members of init with an unknown shape do not matter",
        arguments: [
            "{\"userPrefs\":7,\"gadgetProps\":[],\"userInfo\":\"x\",\"notificationSubscriptionState\":[1]}", "{\"userPrefs\":{\"a\":{\"b\":1}}}",
            "[]",
            "{\"notificationSubscriptionState\":{\"token\":7,\"eventSources\":{\"a\":1}}}", "{\"WL-Authentication-Success\":[1,2]}", "<html>",
            "{\"notificationSubscriptionState\":{\"eventSources\":[7,{\"alias\":1},null]}}", "{\"userPrefs\":{\"é\":\"1\",\"e\u{301}\":\"2\"}}",
        ])
    func shapes(text: String) async throws {
        let server = try StrictServer { _, _ in .text(text) }
        let client = try await server.connectedClient()
        #expect(client.isConnected)
    }

    @Test("WL-031: an empty 200 is enough for init, but not for a procedure")
    func empty() async throws {
        let server = try StrictServer { _, _ in .text("") }
        let client = try await server.connectedClient()
        #expect(await failure { try await client.invokeProcedure(.total) }?.errorCode == .unexpectedError)
    }

    @Test("WL-051: a connect begins without the session of an earlier one; the persistent cookie stays, over restarts too")
    func again() async throws {
        let server = try StrictServer { request, number in
            number == 0
                ? .challenge(["wl_antiXSRFRealm": ["WL-Instance-Id": "i1"]]).with("Set-Cookie", "JSESSIONID=s1; Path=/")
                    .with("Set-Cookie", "WL_PERSISTENT_COOKIE=guid; Expires=Thu, 01 Jan 2060 00:00:00 GMT; Path=/")
                : .connected
        }
        let store = try server.store()
        let client = try await server.connectedClient(store: store)
        try await client.connect()
        #expect(server.requests.last?.cookies == ["WL_PERSISTENT_COOKIE": "guid"])
        #expect(server.requests.last?.headers["wl-instance-id"] == nil)
        try await server.connectedClient(store: store)
        #expect(server.requests.last?.cookies == ["WL_PERSISTENT_COOKIE": "guid"])
    }

    @Test("WL-144: signs of life begin after init, come again, are silent when they fail, and can be switched off")
    func heartbeat() async throws {
        let server = try StrictServer { request, _ in
            guard request.name == "heartbeat" else { throw StrictServer.Unscripted() }
            return .text("", status: 500)
        }
        let silent = try await server.connectedClient { $0.heartbeatInterval = .zero }
        let client = try server.client { $0.heartbeatInterval = .milliseconds(5) }
        #expect(server.requests("heartbeat").isEmpty)
        try await client.connect()
        #expect(eventually { server.requests("heartbeat").count >= 3 })
        client.enterBackground()
        // Requests on their way have arrived when a later request of the same client has been answered.
        _ = await failure { try await client.invokeProcedure(.total) }
        _ = await failure { try await client.invokeProcedure(.total) }
        let count = server.requests("heartbeat").count
        let mark = Signal()
        let timer = BlockingWork(threads: 1)
        _ = timer.start(after: .milliseconds(60)) { mark.fire() }
        await mark.happened()
        #expect(server.requests("heartbeat").count == count)
        #expect(server.violations == [])
        withExtendedLifetime(silent) {}
    }

    @Test func `shared and persistent cookies never go to another server`() async throws {
        let other = try StrictServer { _, _ in .success }
        let port = other.port
        let server = try StrictServer { request, number in
            request.name == "query" && number == 0
                ? .page : Reply.success.with("Set-Cookie", "WL_PERSISTENT_COOKIE=guid; Max-Age=1000; Path=/")
        }
        let store = try server.store()
        try await server.connectedClient(store: store)
        let client = try server.client(store: store)
        client.registerChallengeHandler(
            FormHandler { handler, _ in handler.submitLoginForm("http://localhost:\(port)/j_security_check", parameters: ["j_username": "u"]) })
        try await client.connect(cookieExtractor: WLCookieExtractor([WLCookie(name: "web", value: "w1")]))
        #expect(server.requests.last?.cookies == ["WL_PERSISTENT_COOKIE": "guid", "web": "w1"])
        try await client.invokeProcedure(.total)
        #expect(other.requests.count == 1)
        #expect(other.requests.last?.headers["cookie"] == nil)
    }

    @Test func `cookies go to their own server, path and scheme`() async throws {
        let server = try StrictServer { request, number in
            Reply.connected
                .with("Set-Cookie", "a=1; Path=/").with("Set-Cookie", "b=2; Path=/Demo").with("Set-Cookie", "c=3; Path=/Other")
                .with("Set-Cookie", "d=4; Path=/; Secure").with("Set-Cookie", "e=5; Domain=evil.example").with("Set-Cookie", "f=6; Max-Age=0")
                .with("Set-Cookie", "=7").with("Set-Cookie", "g").with("Set-Cookie", "h=a=b; path=/Demo/apps; expires=Thu, 01 Jan 1970 00:00:10 GMT")
                .with("Set-Cookie", "WLSESSIONID=x=y; Path=/Demo/apps/services/; HttpOnly")
        }
        let client = try await server.connectedClient()
        _ = await failure { try await client.invokeProcedure(.total) }
        #expect(server.requests.last?.headers["cookie"] == "WLSESSIONID=x=y; b=2; a=1")
    }
}
