import MobileExecution
import MobileStore
import TestSupport
import Testing
import WorklightClient

/// Worklight protocol, sections 4.3 to 4.5 and 6: the realms of the platform.
@Suite struct BuiltInRealmTests {
    /// A server whose procedure is challenged with these challenges, one after another, and then succeeds.
    private func server(_ challenges: [JSONObject]) throws -> StrictServer {
        try StrictServer { request, number in
            guard request.name == "query" else { throw StrictServer.Unscripted() }
            return number < challenges.count ? .challenge(challenges[number]) : .success
        }
    }

    @Test("WL-052 WL-053 WL-054: the anti-XSRF value is sent with all later requests, once, and a newer one replaces it")
    func antiXSRF() async throws {
        let server = try server([["wl_antiXSRFRealm": ["WL-Instance-Id": "i1"]]])
        let client = try await server.connectedClient()
        try await client.invokeProcedure(.total)
        try await client.invokeProcedure(.total)
        #expect(server.requests("query").map { $0.headers["wl-instance-id"] } == [nil, "i1", "i1"])
        #expect(server.requests.allSatisfy { $0.headers["authorization"] == nil })
        let second = try self.server([["wl_antiXSRFRealm": ["WL-Instance-Id": "i1"]], ["wl_antiXSRFRealm": ["WL-Instance-Id": "i2"]]])
        try await second.connectedClient().invokeProcedure(.total)
        #expect(second.requests("query").map { $0.headers["wl-instance-id"] } == [nil, "i1", "i2"])
        #expect(server.violations + second.violations == [])
    }

    @Test(
        "WL-055 WL-116: a challenge of the platform without its members fails the request",
        arguments: [
            ["wl_antiXSRFRealm": [:]], ["wl_antiXSRFRealm": ["WL-Instance-Id": 7]], ["wl_antiXSRFRealm": "i1"],
            ["wl_antiXSRFRealm": ["WL-Instance-Id": "a\r\nX-Injected: 1"]], ["wl_deviceNoProvisioningRealm": [:]],
            ["wl_remoteDisableRealm": ["messageId": "17", "messageType": "NOTIFY"]],
            ["wl_remoteDisableRealm": ["message": "m", "messageType": "NOTIFY"]],
            ["wl_remoteDisableRealm": ["message": "m", "messageId": "17"]],
            ["wl_remoteDisableRealm": ["message": 1, "messageId": "17", "messageType": "N"]],
        ] as [JSONObject])
    func incomplete(challenge: JSONObject) async throws {
        let server = try server([challenge])
        let client = try await server.connectedClient()
        #expect(await failure { try await client.invokeProcedure(.total) }?.errorCode == .unexpectedError)
        #expect(server.requests("query").count == 1)
        // The realm is free again for other requests.
        try await client.invokeProcedure(.total)
    }

    @Test("WL-058 WL-060: the device answers with itself and the application, in one line of ASCII")
    func device() async throws {
        let server = try server([["wl_deviceNoProvisioningRealm": ["token": "tö€😀\n1"]]])
        let client = try await server.connectedClient { $0.device = WLDevice(id: "D-1", os: "8.1", model: "Gerät", environment: "iOS") }
        try await client.invokeProcedure(.total)
        let request = try #require(server.requests.last)
        #expect(
            request.answers == [
                "wl_deviceNoProvisioningRealm": [
                    "ID": [
                        "token": "tö€😀\n1", "app": ["id": "Demo", "version": "1.0"],
                        "device": ["id": "D-1", "os": "8.1", "model": "Gerät", "environment": "iOS"], "custom": [:],
                    ]
                ]
            ])
        let text = try #require(request.headers["authorization"])
        #expect(text.utf8.allSatisfy { (0x20..<0x7F).contains($0) })
        #expect(text.hasPrefix("{"))
    }

    @Test("WL-059: the device's identifier is the same over restarts")
    func deviceID() async throws {
        let server = try StrictServer { request, number in
            guard request.name == "query" else { throw StrictServer.Unscripted() }
            return request.answers == nil ? .challenge(["wl_deviceNoProvisioningRealm": ["token": .string("t\(number)")]]) : .success
        }
        let store = try server.store()
        for _ in 0..<2 { try await server.connectedClient(store: store).invokeProcedure(.total) }
        try await server.connectedClient(store: server.store("other.db")).invokeProcedure(.total)
        let ids = server.requests.compactMap { $0.answers?["wl_deviceNoProvisioningRealm"]?["ID"]?["device"]?["id"]?.string }
        #expect(ids.count == 3)
        #expect(ids[0] == ids[1])
        #expect(ids[0] != ids[2])
        #expect(ids[0].count == 36)
    }

    @Test("WL-061 WL-062: two realms of one response need one more sending, and answers are sent once")
    func both() async throws {
        let server = try server([["wl_deviceNoProvisioningRealm": ["token": "t"], "wl_antiXSRFRealm": ["WL-Instance-Id": "i1"]]])
        let client = try await server.connectedClient()
        try await client.invokeProcedure(.total)
        try await client.invokeProcedure(.total)
        let requests = server.requests("query")
        #expect(requests.count == 3)
        #expect(requests.map { $0.answers?.keys } == [nil, ["wl_deviceNoProvisioningRealm"], nil])
        #expect(requests.map { $0.headers["wl-instance-id"] } == [nil, "i1", "i1"])
    }

    @Test("WL-062: a later round of the same request does not repeat the answers of an earlier one")
    func laterRound() async throws {
        let server = try server([["wl_deviceNoProvisioningRealm": ["token": "t"]], ["wl_antiXSRFRealm": ["WL-Instance-Id": "i1"]]])
        try await server.connectedClient().invokeProcedure(.total)
        #expect(server.requests("query").map { $0.answers?.keys } == [nil, ["wl_deviceNoProvisioningRealm"], nil])
    }

    @Test("WL-066 WL-067: a device certificate is refused where it is demanded, and left out where it is not")
    func provisioning() async throws {
        func challenge(_ allowed: Bool) -> JSONObject {
            ["wl_deviceAutoProvisioningRealm": ["ID": ["token": "t", "entity": "application", "allowed": .boolean(allowed)]]]
        }
        let demanding = try server([challenge(true)])
        let client = try await demanding.connectedClient()
        #expect(await failure { try await client.invokeProcedure(.total) }?.errorCode == .unexpectedError)
        #expect(demanding.requests("query").count == 1)
        let patient = try server([challenge(false)])
        try await patient.connectedClient().invokeProcedure(.total)
        #expect(patient.requests("query").map { $0.headers["authorization"] } == [nil, nil])
    }

    @Test("WL-069: a proof of authenticity needs the application's own function")
    func authenticity() async throws {
        let challenge: JSONObject = ["wl_authenticityRealm": ["WL-Challenge-Data": "1N2C"]]
        let server = try server([challenge])
        let without = try await server.connectedClient()
        #expect(await failure { try await without.invokeProcedure(.total) }?.errorCode == .unexpectedError)
        let second = try self.server([challenge])
        let client = try await second.connectedClient { $0.authenticityAnswer = { "proof of " + $0 } }
        try await client.invokeProcedure(.total)
        #expect(second.requests.last?.answers == ["wl_authenticityRealm": "proof of 1N2C"])
    }

    // MARK: Remote disable and notify

    private func notice(_ id: String, _ type: String = "NOTIFY") -> JSONObject {
        ["wl_remoteDisableRealm": ["message": "Maintenance at 22:00", "messageId": .string(id), "messageType": .string(type)]]
    }

    @Test("WL-113 WL-114: a message is shown once, confirmed each time, also after a restart; a new one is shown again")
    func notify() async throws {
        let shown = RecordedLines()
        let server = try server([])
        let store = try server.store()
        func run(_ challenge: JSONObject) async throws -> JSONObject? {
            let server = try self.server([challenge])
            let client = try await server.connectedClient(store: store) {
                $0.showMessage = { message, dismissed in
                    shown.add(message)
                    dismissed()
                    dismissed()
                }
            }
            try await client.invokeProcedure(.total)
            #expect(server.requests("query").count == 2)
            return server.requests.last?.answers
        }
        #expect(try await run(notice("a17")) == ["wl_remoteDisableRealm": "a17"])
        #expect(shown.take() == ["Maintenance at 22:00"])
        #expect(try await run(notice("A17", "notify")) == ["wl_remoteDisableRealm": "A17"])
        #expect(shown.take() == [])
        #expect(try await run(notice("18")) == ["wl_remoteDisableRealm": "18"])
        #expect(shown.take().count == 1)
    }

    @Test("WL-115: a message of another type is shown each time")
    func otherType() async throws {
        let shown = RecordedLines()
        let server = try server([notice("1", "OTHER"), notice("2", "OTHER"), notice("1", "OTHER")])
        let client = try await server.connectedClient {
            $0.showMessage = { message, dismissed in
                shown.add(message)
                dismissed()
            }
        }
        try await client.invokeProcedure(.total)
        #expect(shown.all.count == 3)
        let again = try self.server([notice("1", "OTHER")])
        let second = try await again.connectedClient { $0.showMessage = client.configuration.showMessage }
        try await second.invokeProcedure(.total)
        #expect(shown.all.count == 4)
    }

    @Test(
        "WL-117 WL-118: a disabled version",
        arguments: [
            JSONValue.string("https://example.org/app"), .null, "", "null",
        ])
    func disabled(link: JSONValue) async throws {
        let server = try StrictServer { _, _ in
            .json(["WL-Authentication-Failure": ["wl_remoteDisableRealm": ["message": "Please upgrade", "downloadLink": link]]], status: 403)
        }
        let client = try server.client()
        let handler = RecordingHandler("wl_remoteDisableRealm")
        client.registerChallengeHandler(handler)
        let found = await failure { try await client.connect() }
        #expect(found?.errorCode == .applicationVersionDenied)
        #expect(found?.errorMsg == "Please upgrade")
        let isLink = link == "https://example.org/app"
        #expect(
            handler.failures.all == [
                isLink ? "{\"message\":\"Please upgrade\",\"downloadLink\":\"https://example.org/app\"}" : "{\"message\":\"Please upgrade\"}"
            ])
        let plain = try server.client()
        #expect(await failure { try await plain.connect() }?.errorCode == .applicationVersionDenied)
    }

    @Test("WL-083 WL-119: a handler of the application replaces the built-in one, and confirms with setMessageId and submitAnswer")
    func custom() async throws {
        let server = try server([notice("17")])
        let client = try await server.connectedClient { $0.showMessage = { _, _ in Issue.record("the built-in handler") } }
        let handler = RecordingHandler("wl_remoteDisableRealm") { handler, challenge in
            handler.setMessageId(challenge["messageId"]?.string ?? "")
            handler.submitAnswer()
        }
        #expect(client.registerChallengeHandler(handler))
        try await client.invokeProcedure(.total)
        #expect(handler.challenges.all.count == 1)
        #expect(server.requests.last?.answers == ["wl_remoteDisableRealm": "17"])
    }

    @Test("WL-084: a handler without a realm is refused")
    func withoutRealm() throws {
        let server = try server([])
        #expect(try !server.client().registerChallengeHandler(RecordingHandler("")))
    }
}
