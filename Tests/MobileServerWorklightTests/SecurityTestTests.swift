import MobileExecution
import MobileServerWorklight
import MobileStore
import TestSupport
import Testing

/// Worklight protocol, sections 3 and 4: sessions, realms and their order.
@Suite struct SecurityTestTests {
    private let face: Face
    init() throws { face = try Face() }
    private static let device = "wl_deviceNoProvisioningRealm", antiXSRF = "wl_antiXSRFRealm"

    @Test("WL-048 WL-160 WL-086: a fresh init is challenged step by step, in the exact words of the platform")
    func fresh() throws {
        let client = face.client()
        let first = try client.send("init", ["action": "test"])
        #expect(first.status == 401)
        #expect(first.header("www-authenticate") == "WL-Composite-Challenge")
        #expect(first.challenges?.keys == [Self.antiXSRF])
        #expect(client.cookies["JSESSIONID"]?.isEmpty == false)
        client.instance = first.challenges?[Self.antiXSRF]?["WL-Instance-Id"]?.string
        let second = try client.send("init", ["action": "test"])
        #expect(second.challenges?.keys == [Self.device])
        #expect(second.header("set-cookie") == nil)
        let third = try client.send("init", answers: .object([Self.device: client.device(second.challenges?[Self.device]?["token"]?.string)]))
        #expect(third.status == 200)
        #expect(third.accepted == [Self.device])
        // Nothing is challenged again, and nothing is named twice.
        let fourth = try client.call("echo")
        #expect(fourth.status == 200)
        #expect(fourth.accepted == [])
    }

    @Test("WL-049: a satisfied init has all that the client keeps")
    func satisfied() throws {
        let response = try face.client().connect()
        #expect(response["userPrefs"] == [:])
        #expect(response["gadgetProps"] == ["colour": "blue", "ENVIRONMENT": "iOSnative"])
        #expect(response["userInfo"]?[Self.device]?["userId"] == "D-1")
        #expect(response["userInfo"]?[Self.device]?["isUserAuthenticated"] == 1)
        #expect(response["notificationSubscriptionState"] == ["token": "", "eventSources": []])
        let hybrid = face.client()
        hybrid.environment = "iphone"
        #expect(try hybrid.connect()["gadgetProps"]?["directUpdate"] == [:])
    }

    @Test("WL-050: the persistent cookie lasts one year, and one that exists is kept")
    func persistentCookie() throws {
        let client = face.client()
        let first = try client.send("init")
        let field = try #require(first.headers.first { $0.value.hasPrefix("WL_PERSISTENT_COOKIE=") }?.value)
        #expect(field.contains("Max-Age=31536000"))
        #expect(field.contains("Expires=Wed, 13 Nov 2024 22:13:20 GMT"))
        let other = face.client()
        other.cookies["WL_PERSISTENT_COOKIE"] = "mine"
        let response = try other.send("init")
        #expect(!response.headers.contains { $0.value.hasPrefix("WL_PERSISTENT_COOKIE=") })
        #expect(response.headers.contains { $0.value.hasPrefix("JSESSIONID=") })
    }

    @Test("WL-056 WL-057: a request without the session's own value is challenged with it")
    func antiXSRF() throws {
        let client = try face.connectedClient(), other = try face.connectedClient(device: "D-2")
        let value = try #require(client.instance)
        #expect(value != other.instance)
        for wrong in [nil, "", "x", other.instance, value.uppercased() + "x"] {
            client.instance = wrong
            let response = try client.call("echo")
            #expect(response.challenges == [Self.antiXSRF: ["WL-Instance-Id": .string(value)]])
        }
        client.instance = value
        #expect(try client.call("echo").status == 200)
    }

    @Test("WL-063 WL-064: a wrong token or application is challenged again with a new token", arguments: 0..<5)
    func deviceAnswers(number: Int) throws {
        let client = face.client()
        client.instance = try client.send("init").challenges?[Self.antiXSRF]?["WL-Instance-Id"]?.string
        let token = try #require(client.send("init").challenges?[Self.device]?["token"]?.string)
        let wrong: [JSONValue] = [
            client.device("wrong"), client.device(token, application: "Other"), client.device(token, version: "2.0"), client.device(token, id: ""),
            ["ID": "jws"],
        ]
        let response = try client.send("init", answers: .object([Self.device: wrong[number]]))
        let next = try #require(response.challenges?[Self.device]?["token"]?.string)
        #expect(next != token)
        #expect(response.accepted == [])
        #expect(try client.send("init", answers: .object([Self.device: client.device(token)])).status == 401)
        let last = try #require(client.send("init").challenges?[Self.device]?["token"]?.string)
        let right = try client.send("init", answers: .object([Self.device: client.device(last)]))
        #expect(right.status == 200)
        #expect(right.accepted == [Self.device])
    }

    @Test("WL-065: the member custom may be missing, empty or filled", arguments: [nil, [:], ["a": [1]]] as [JSONValue?])
    func custom(value: JSONValue?) throws {
        let client = face.client()
        client.instance = try client.send("init").challenges?[Self.antiXSRF]?["WL-Instance-Id"]?.string
        let token = try client.send("init").challenges?[Self.device]?["token"]?.string
        #expect(try client.send("init", answers: .object([Self.device: client.device(token, custom: value)])).status == 200)
    }

    @Test(
        "WL-070 WL-071: malformed answers count as none, and unknown realms are ignored",
        arguments: [
            "", "{", "Basic dTpw", "[1]", "7", "{\"unknown\":{\"a\":1}}", "{\"wl_antiXSRFRealm\":\"x\",\"wl_deviceNoProvisioningRealm\":7}", "null",
            "{\"wl_deviceNoProvisioningRealm\":{\"ID\":{\"token\":[]}}}", "wl-authorization-in-body",
        ])
    func malformed(field: String) throws {
        let client = try face.connectedClient()
        #expect(try client.call("echo", headers: ["authorization": field]).status == 200)
        let fresh = face.client()
        #expect(try fresh.send("init", headers: ["authorization": field]).challenges?.keys == [Self.antiXSRF])
    }

    @Test("WL-085: answers may come in the body of authenticate, under the type of a form")
    func inBody() throws {
        let client = face.client()
        client.instance = try client.send("init").challenges?[Self.antiXSRF]?["WL-Instance-Id"]?.string
        let token = try client.send("init").challenges?[Self.device]?["token"]?.string
        let answers = JSONValue.object([Self.device: client.device(token, custom: ["long": .string(String(repeating: "x", count: 4000))])])
        let response = try client.send("authenticate", headers: ["authorization": "wl-authorization-in-body"], body: answers.bytes)
        #expect(response.status == 200)
        #expect(response.accepted == [Self.device])
        #expect(try client.send("init").status == 200)
    }

    @Test("WL-086 WL-162: open realms of a step come together; a realm satisfied by a request that is still challenged is named there")
    func together() throws {
        try face.server.administration.set(.notify(message: "m", id: "17"), application: "Demo", environment: "iOSnative", version: "1.0")
        let client = face.client()
        let first = try client.send("init")
        #expect(Set(first.challenges?.keys ?? []) == [Self.antiXSRF, "wl_remoteDisableRealm"])
        client.instance = first.challenges?[Self.antiXSRF]?["WL-Instance-Id"]?.string
        let second = try client.send("init", answers: ["wl_remoteDisableRealm": "17"])
        #expect(second.status == 401)
        #expect(second.accepted == ["wl_remoteDisableRealm"])
        #expect(second.challenges?.keys == [Self.device])
    }

    @Test("WL-147: an unknown session cookie begins a new session with a new value", arguments: ["", "unknown", "'; DROP TABLE _wl_session"])
    func unknownSession(cookie: String) throws {
        let client = try face.connectedClient()
        let value = client.instance
        client.cookies["JSESSIONID"] = cookie
        let response = try client.call("echo")
        #expect(response.status == 401)
        let new = try #require(response.challenges?[Self.antiXSRF]?["WL-Instance-Id"]?.string)
        #expect(new != value)
        #expect(client.cookies["JSESSIONID"] != cookie)
        client.instance = new
        try client.connect()
        #expect(try client.call("echo").status == 200)
    }

    @Test("WL-145: a sign of life extends the session; without one it ends at the idle limit")
    func idle() throws {
        let active = try face.connectedClient(), silent = try face.connectedClient(device: "D-2")
        for _ in 0..<5 {
            face.time.withLock { $0 += 300_000 }
            #expect(try active.send("heartbeat").status == 200)
        }
        #expect(try active.call("echo").status == 200)
        #expect(try silent.call("echo").challenges?.keys == [Self.antiXSRF])
        face.time.withLock { $0 += 600_000 }
        #expect(try active.call("echo").status == 401)
    }

    @Test func `sessions are in the store, and another process serves them`() throws {
        let client = try face.connectedClient()
        let second = try Face(sharing: face)
        let moved = StrictClient(second.server)
        (moved.cookies, moved.instance) = (client.cookies, client.instance)
        #expect(try moved.call("echo").status == 200)
    }

    @Test func `a device of one application has to name itself to another`() throws {
        let server = try Face { $0.applications.append(WorklightApplication(id: "Second")) }
        let client = try server.connectedClient()
        client.application = "Second"
        #expect(try client.send("init").challenges?.keys == [Self.device])
    }

    // MARK: Remote disable and notify

    @Test(
        "WL-120: a message is confirmed by text, number or object; a wrong one is challenged again",
        arguments: [
            ("17", true), (17, true), (["messageId": "17"], true), (["messageId": 17], true), ("18", false), (18, false), ([:], false), (.null, false),
        ] as [(JSONValue, Bool)])
    func confirm(answer: JSONValue, isRight: Bool) throws {
        let client = try face.connectedClient()
        try face.server.administration.set(.notify(message: "Maintenance", id: "17"), application: "Demo", environment: "iOSnative", version: nil)
        let challenge = try client.call("echo")
        #expect(challenge.challenges == ["wl_remoteDisableRealm": ["message": "Maintenance", "messageId": "17", "messageType": "NOTIFY"]])
        let response = try client.send("query", ["adapter": "Stock", "procedure": "echo"], answers: ["wl_remoteDisableRealm": answer])
        #expect(response.status == (isRight ? 200 : 401))
        #expect(response.accepted == (isRight ? ["wl_remoteDisableRealm"] : []))
    }

    @Test("WL-121: a disabled version is refused, others work", arguments: ["https://example.org/app", nil] as [String?])
    func disabled(link: String?) throws {
        let client = try face.connectedClient()
        try face.server.administration.set(
            .disabled(message: "Please upgrade", link: link), application: "Demo", environment: "iOSnative", version: "1.0")
        for name in ["init", "query", "heartbeat"] {
            let response = try client.send(name)
            #expect(response.status == 403)
            let reason: JSONValue = ["message": "Please upgrade", "downloadLink": link.map { .string($0) } ?? .null]
            #expect(response["WL-Authentication-Failure"] == ["wl_remoteDisableRealm": reason])
            #expect(response.header("www-authenticate") == nil)
        }
        let other = face.client()
        other.version = "1.1"
        try other.connect()
        let android = face.client()
        android.environment = "Androidnative"
        try android.connect()
        try face.server.administration.set(.active, application: "Demo", environment: "iOSnative", version: "1.0")
        #expect(try client.call("echo").status == 200)
    }

    @Test("WL-122: a confirmed message does not come again in the session, a new one does")
    func onceOnly() throws {
        let client = try face.connectedClient()
        try face.server.administration.set(.notify(message: "m", id: "17"), application: "Demo", environment: "iOSnative", version: "1.0")
        _ = try client.send("heartbeat", answers: ["wl_remoteDisableRealm": "17"])
        for _ in 0..<3 { #expect(try client.call("echo").status == 200) }
        #expect(try face.client().send("init").challenges?["wl_remoteDisableRealm"] != nil)
        try face.server.administration.set(.notify(message: "m", id: "18"), application: "Demo", environment: "iOSnative", version: "1.0")
        #expect(try client.call("echo").challenges?["wl_remoteDisableRealm"]?["messageId"] == "18")
    }
}
