import MobileStore
import TestSupport
import Testing
import WorklightClient

/// Worklight protocol, section 7.
@Suite struct PushTests {
    /// Keeps notifications.
    private final class Listener: WLEventSourceListener, WLOnReadyToSubscribeListener {
        let events = RecordedLines()
        let ready = RecordedLines()
        func onReceive(_ properties: String, _ payload: String) { events.add(properties + " " + payload) }
        func onReadyToSubscribe() { ready.add("ready") }
    }

    private func state(token: JSONValue, _ aliases: [String] = []) -> JSONValue {
        let sources = aliases.map { JSONValue.object(["alias": .string($0), "adapter": "Mail", "eventSource": .string("source-" + $0)]) }
        return ["notificationSubscriptionState": ["token": token, "eventSources": .array(sources)]]
    }

    /// A server with this state, whose subscriptions have these statuses.
    private func server(_ state: JSONValue, statuses: [String: Int] = [:]) throws -> StrictServer {
        try StrictServer { request, _ in
            switch request.name {
            case "init": .json(state)
            case "notifications":
                .json([:], status: statuses[["updateToken", "subscribe", "unsubscribe"].first { request.field($0) != nil } ?? ""] ?? 200)
            default: .success
            }
        }
    }

    private func readyClient(_ server: StrictServer, _ listener: Listener, alias: String = "mail") async throws -> WLClient {
        let client = try server.client()
        client.push.setOnReadyToSubscribeListener(listener)
        client.push.registerEventSourceCallback(alias, adapter: "Mail", eventSource: "inbox", listener: listener)
        client.push.setTokenFromClient("00ff")
        try await client.connect()
        #expect(eventually { !listener.ready.all.isEmpty })
        return client
    }

    @Test(
        "WL-123 WLD-66 WLD-68 WLD-77: a token that the server does not have is sent once, an equal one is not; both make ready",
        arguments: [
            ("", 1), ("other", 1), ("00ff", 0), (.null, 1),
        ] as [(JSONValue, Int)])
    func token(known: JSONValue, updates: Int) async throws {
        let server = try server(state(token: known))
        let listener = Listener()
        let client = try await readyClient(server, listener)
        #expect(server.requests("notifications").map { $0.field("updateToken") } == Array(repeating: "00ff", count: updates))
        client.push.setTokenFromClient("00ff")
        try await client.invokeProcedure(.total)
        #expect(server.requests("notifications").count == updates)
        #expect(listener.ready.all == ["ready"])
        #expect(server.violations == [])
    }

    @Test("WL-124: a token that was not taken leaves push not ready, and a subscription is refused without a request")
    func tokenFails() async throws {
        let lines = RecordedLines()
        let server = try server(state(token: ""), statuses: ["updateToken": 500])
        let listener = Listener()
        let client = try server.client { $0.log = { lines.add($0) } }
        client.push.setOnReadyToSubscribeListener(listener)
        client.push.registerEventSourceCallback("mail", adapter: "Mail", eventSource: "inbox", listener: listener)
        client.push.setTokenFromClient("00ff")
        try await client.connect()
        #expect(eventually { lines.all.contains { $0.contains("token was not updated") } })
        #expect(await failure { try await client.push.subscribe("mail") }?.errorCode == .unexpectedError)
        #expect(server.requests("notifications").count == 1)
        #expect(listener.ready.all.isEmpty)
    }

    @Test("WL-125 WL-126 WLD-69 WLD-70 WLD-71 WLD-72 WLD-73 WLD-74 WLD-75 WLD-76: subscribing and unsubscribing, their fields, and their effect")
    func subscribing() async throws {
        let server = try server(state(token: "00ff"))
        let listener = Listener()
        let client = try await readyClient(server, listener)
        #expect(client.push.isPushSupported)
        #expect(!client.push.isSubscribed("mail"))
        var options = WLPushOptions()
        options.badge = false
        options.addSubscriptionParameter("folder", "in box")
        options.addSubscriptionParameters(["size": "7", "folder": "inbox"])
        #expect(options.getSubscriptionParameter("folder") == "inbox")
        #expect(options.getSubscriptionParameter("none") == nil)
        #expect(options.getSubscriptionParameters() == ["folder": "inbox", "size": "7"])
        let delegate = RecordingDelegate()
        client.push.subscribe("mail", options: options, delegate: delegate)
        await delegate.called()
        #expect(delegate.events.all == ["success 200"])
        #expect(client.push.isSubscribed("mail"))
        #expect(client.isSubscribed(adapter: "Mail", eventSource: "inbox"))
        let request = try #require(server.requests.last)
        #expect(["alias", "adapter", "eventSource"].map(request.field) == ["mail", "Mail", "inbox"])
        let sent = try JSONValue(parsing: #require(request.field("subscribe")))
        #expect(sent == ["alert": true, "sound": true, "badge": false, "folder": "inbox", "size": "7"])
        let second = RecordingDelegate()
        client.push.unsubscribe("mail", delegate: second)
        await second.called()
        #expect(!client.push.isSubscribed("mail"))
        #expect(server.requests.last?.field("unsubscribe") == "{}")
        #expect(server.violations == [])
    }

    @Test("WL-126: a failed unsubscription changes nothing")
    func unsubscribeFails() async throws {
        let server = try server(state(token: "00ff", ["mail"]), statuses: ["unsubscribe": 500, "subscribe": 500])
        let client = try await readyClient(server, Listener())
        #expect(client.push.isSubscribed("mail"))
        #expect(await failure { try await client.push.unsubscribe("mail") }?.errorCode == .unexpectedError)
        #expect(client.push.isSubscribed("mail"))
    }

    @Test("WL-127: a new state replaces all subscriptions")
    func newState() async throws {
        let server = try StrictServer { [state] request, _ in
            switch request.name {
            case "init": .json(state("00ff", ["a", "b"]))
            default:
                .json(["isSuccessful": true, "notificationSubscriptionState": state("00ff", ["b", "c"])["notificationSubscriptionState"] ?? .null])
            }
        }
        let client = try await readyClient(server, Listener())
        #expect(["a", "b", "c"].map(client.push.isSubscribed) == [true, true, false])
        #expect(client.isSubscribed(adapter: "Mail", eventSource: "source-a"))
        try await client.invokeProcedure(.total)
        #expect(["a", "b", "c"].map(client.push.isSubscribed) == [false, true, true])
        #expect(!client.isSubscribed(adapter: "Mail", eventSource: "source-a"))
    }

    @Test("WL-128: what cannot be subscribed is refused without a request")
    func refused() async throws {
        let server = try server(state(token: "00ff"))
        let listener = Listener()
        let client = try await readyClient(server, listener)
        #expect(await failure { try await client.push.subscribe("unknown") } != nil)
        #expect(await failure { try await client.push.subscribe("") } != nil)
        #expect(!client.push.registerEventSourceCallback("mail", adapter: "Mail", eventSource: "other", listener: listener))
        #expect(!client.push.registerEventSourceCallback("", adapter: "Mail", eventSource: "other", listener: listener))
        #expect(!client.push.registerEventSourceCallback("x", adapter: "", eventSource: "other", listener: listener))
        #expect(!client.push.registerEventSourceCallback("x", adapter: "Mail", eventSource: "", listener: listener))
        let without = try server.client()
        without.push.registerEventSourceCallback("mail", adapter: "Mail", eventSource: "inbox", listener: listener)
        try await without.connect()
        #expect(await failure { try await without.push.subscribe("mail") } != nil)
        let unsupported = try server.client { $0.isPushSupported = false }
        unsupported.push.registerEventSourceCallback("mail", adapter: "Mail", eventSource: "inbox", listener: listener)
        unsupported.push.setTokenFromClient("00ff")
        try await unsupported.connect()
        #expect(!unsupported.push.isPushSupported)
        #expect(await failure { try await unsupported.push.subscribe("mail") } != nil)
        #expect(server.requests("notifications").isEmpty)
    }

    private static func userInfo(_ payload: JSONValue) -> JSONObject {
        ["aps": ["alert": "New mail", "badge": 3, "sound": "default"], "payload": payload]
    }
    private static let delivered = "{\"alert\":\"New mail\",\"badge\":3,\"sound\":\"default\"} {\"alias\":\"mail\",\"folder\":\"inbox\"}"

    @Test(
        "WL-129 WL-131 WLD-67 WLD-78: a notification reaches the listener of its alias; its payload may be an object or text",
        arguments: [
            ["alias": "mail", "folder": "inbox"], "{\"alias\":\"mail\",\"folder\":\"inbox\"}",
        ] as [JSONValue])
    func notification(payload: JSONValue) async throws {
        let server = try server(state(token: "00ff", ["mail"]))
        let listener = Listener()
        let client = try await readyClient(server, listener)
        client.push.didReceiveRemoteNotification(Self.userInfo(payload))
        #expect(eventually { !listener.events.all.isEmpty })
        #expect(listener.events.all == [Self.delivered])
    }

    @Test(
        "WL-131: a payload without an alias is dropped",
        arguments: [["folder": "inbox"], ["alias": .null], ["alias": ""], "no JSON", .null, 7] as [JSONValue])
    func withoutAlias(payload: JSONValue) async throws {
        let server = try server(state(token: "00ff", ["mail"]))
        let listener = Listener()
        let client = try await readyClient(server, listener)
        client.push.didReceiveRemoteNotification(Self.userInfo(payload))
        client.push.didReceiveRemoteNotification(Self.userInfo(["alias": "mail", "folder": "inbox"]))
        #expect(eventually { !listener.events.all.isEmpty })
        #expect(listener.events.all == [Self.delivered])
    }

    @Test("WL-130: a notification before the subscription waits for it, and is delivered once")
    func early() async throws {
        let server = try server(state(token: "00ff"))
        let listener = Listener()
        let client = try await readyClient(server, listener)
        client.push.didReceiveRemoteNotification(Self.userInfo(["alias": "mail", "folder": "inbox"]))
        try await client.invokeProcedure(.total)
        #expect(listener.events.all.isEmpty)
        try await client.push.subscribe("mail")
        #expect(eventually { !listener.events.all.isEmpty })
        try await client.push.unsubscribe("mail")
        try await client.push.subscribe("mail")
        #expect(listener.events.all == [Self.delivered])
    }

    @Test(
        "WL-132 WLD-13: the number of an event source is its alias",
        arguments: [
            (["payload": ["alias": "7"]], 7), (["payload": "{\"alias\":\"7\"}"], 7), (["payload": ["alias": 7]], 7),
            (["payload": ["alias": "mail"]], -1),
            (["payload": [:]], -1), ([:], -1), (["payload": ["alias": "99999999999999999999"]], -1),
        ] as [(JSONObject, Int)])
    func number(userInfo: JSONObject, expected: Int) throws {
        let server = try server(state(token: ""))
        #expect(try server.client().getEventSourceID(fromUserInfo: userInfo) == expected)
    }

    @Test("WLD-09 WLD-10 WLD-11 WLD-12 WLD-79: the older calls by adapter and event source")
    func olderCalls() async throws {
        let server = try server(state(token: ""))
        let client = try await server.connectedClient()
        let first = RecordingDelegate()
        client.subscribe(
            token: [0x0A, 0xFF], adapter: "Mail", eventSource: "inbox", eventSourceID: 7, notificationTypes: [.alert, .sound], delegate: first,
            options: ["folder": "in"])
        await first.called()
        #expect(first.events.all == ["success 200"])
        #expect(client.isSubscribed(adapter: "Mail", eventSource: "inbox"))
        #expect(server.requests("notifications").map { $0.field("updateToken") } == ["0aff", nil])
        #expect(server.requests.last?.field("alias") == "7")
        let options = try JSONValue(parsing: #require(server.requests.last?.field("subscribe")))
        #expect(options == ["alert": true, "sound": true, "badge": false, "folder": "in"])
        let second = RecordingDelegate(), third = RecordingDelegate(), fourth = RecordingDelegate()
        client.updateDeviceToken([0x0A, 0xFF], delegate: second)
        await second.called()
        #expect(server.requests("notifications").count == 2)
        client.updateDeviceToken([1], delegate: third)
        await third.called()
        #expect(server.requests.last?.field("updateToken") == "01")
        client.unsubscribe(adapter: "Mail", eventSource: "inbox", delegate: fourth)
        await fourth.called()
        #expect(fourth.events.all == ["success 200"])
        #expect(!client.isSubscribed(adapter: "Mail", eventSource: "inbox"))
        let fifth = RecordingDelegate()
        client.unsubscribe(adapter: "Mail", eventSource: "inbox", delegate: fifth)
        await fifth.called()
        #expect(fifth.events.all == ["failure unexpectedError"])
        #expect(server.violations == [])
    }
}
