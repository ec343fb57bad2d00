import MobileExecution
import MobileServer
import MobileServerWorklight
import MobileStore
import TestSupport
import Testing

/// Two servers over one store: a client's requests reach either of them.
@Suite struct SeveralServersTests {
    private let first: Face, second: Face

    init() throws {
        first = try Face()
        second = try Face(sharing: first)
    }

    /// The same client at the other server.
    private func moved(_ client: StrictClient, to face: Face) -> StrictClient {
        let moved = face.client()
        (moved.cookies, moved.instance) = (client.cookies, client.instance)
        return moved
    }

    @Test func `the steps of a connect may go to different servers`() throws {
        let client = first.client()
        client.instance = try client.send("init").challenges?["wl_antiXSRFRealm"]?["WL-Instance-Id"]?.string
        let other = moved(client, to: second)
        let token = try other.send("init").challenges?["wl_deviceNoProvisioningRealm"]?["token"]?.string
        let answer: JSONValue = ["wl_deviceNoProvisioningRealm": client.device(token)]
        #expect(try client.send("init", answers: answer).accepted == ["wl_deviceNoProvisioningRealm"])
        #expect(try other.send("init").status == 200)
        #expect(try other.call("echo").accepted == [])
    }

    @Test func `a login and a logout at one server count at the other`() throws {
        let client = try first.connectedClient(), other = moved(client, to: second)
        #expect(try other.call("mine").text.contains("j_security_check"))
        #expect(try client.login("ada", "right").status == 200)
        let response = try other.call("mine")
        #expect(response["user"] == "ada")
        #expect(response.accepted == ["form"])
        #expect(try client.call("mine").accepted == [])
        _ = try other.send("logout", ["realm": "form"])
        #expect(try client.call("mine").text.contains("j_security_check"))
    }

    @Test func `subscriptions, preferences, messages, activities and logs are those of both`() throws {
        let client = try first.connectedClient(), other = moved(client, to: second)
        _ = try client.send("notifications", ["updateToken": "00ff"])
        _ = try other.send("notifications", ["subscribe": "{}", "alias": "7", "adapter": "Stock", "eventSource": "prices"])
        _ = try other.send("setup", ["userprefs": "{\"a\":\"1\"}"])
        let state = try client.send("init")
        #expect(state["notificationSubscriptionState"]?["token"] == "00ff")
        #expect(state["notificationSubscriptionState"]?["eventSources"]?.array?.count == 1)
        #expect(state["userPrefs"] == ["a": "1"])
        #expect(try second.server.administration.notifications(adapter: "Stock", eventSource: "prices", alert: "up").map(\.token) == ["00ff"])
        _ = try client.send("logactivity", ["activity": "open"])
        _ = try other.send("logactivity", ["activity": "open"])
        #expect(try first.server.administration.activities().map(\.count) == [2])
        try second.server.administration.set(
            .disabled(message: "Please upgrade", link: nil), application: "Demo", environment: "iOSnative", version: nil)
        #expect(try client.call("echo").status == 403)
    }

    @Test func `a session that ended by time is ended at both`() throws {
        let client = try first.connectedClient(), other = moved(client, to: second)
        first.time.withLock { $0 += 300_000 }
        #expect(try other.send("heartbeat").status == 200)
        first.time.withLock { $0 += 400_000 }
        #expect(try client.call("echo").status == 200)
        first.time.withLock { $0 += 700_000 }
        #expect(try other.call("echo").challenges?.keys == ["wl_antiXSRFRealm"])
    }

    /// Each login and each logout changes the same row; none may be lost, whichever server takes it.
    @Test func `simultaneous changes of one session at both servers are all kept`() async throws {
        let realms = (0..<8).map { "realm\($0)" }
        let first = try Face { configuration in
            for realm in realms {
                configuration.realms.append(WorklightRealm(realm, login: .adapter { ["authRequired": true] }))
                configuration.adapters.append(
                    WorklightAdapter(
                        "Login-" + realm,
                        procedures: [
                            "submit": WorklightProcedure { invocation in
                                invocation.setUser("ada", realm: realm)
                                return ["isSuccessful": true]
                            }
                        ]))
            }
        }
        let second = try Face(sharing: first)
        let client = try first.connectedClient()
        let cookies = client.cookies, instance = client.instance, servers = [first.server, second.server]
        try await withThrowingTaskGroup(of: Int.self) { group in
            for (index, realm) in realms.enumerated() {
                let server = servers[index % 2]
                group.addTask {
                    try await BlockingWork.run {
                        let client = StrictClient(server)
                        (client.cookies, client.instance) = (cookies, instance)
                        return try client.call("submit", adapter: "Login-" + realm).status
                    }
                }
            }
            for try await status in group { #expect(status == 200) }
        }
        let identities = try moved(client, to: second).send("getuserinfo").object ?? [:]
        #expect(Set(identities.keys).isSuperset(of: realms), "\(identities.keys)")
        #expect(first.lines.all.isEmpty)
    }
}
