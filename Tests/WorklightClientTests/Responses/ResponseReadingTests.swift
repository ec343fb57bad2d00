import MobileStore
import TestSupport
import Testing
import WorklightClient

/// Worklight protocol, sections 2.1 and 2.3: how a response is read.
@Suite struct ResponseReadingTests {
    /// Calls a procedure that the server answers with these bytes.
    private func call(_ reply: Reply) async throws -> Result<WLResponse, WLFailResponse> {
        let server = try StrictServer { request, _ in
            guard request.name == "query" else { throw StrictServer.Unscripted() }
            return reply
        }
        let client = try await server.connectedClient()
        do { return .success(try await client.invokeProcedure(.total)) } catch let failure as WLFailResponse { return .failure(failure) }
    }

    @Test("WL-024 WLD-25 WLD-26: the wrapped body is parsed, and the text keeps the wrapper")
    func wrapped() async throws {
        let response = try await call(.json(["isSuccessful": true, "n": 12345678901234567, "d": .number("1.5")])).get()
        #expect(response.getResponseJson() == ["isSuccessful": true, "n": 12345678901234567, "d": .number("1.5")])
        #expect(response.responseText == "/*-secure-\n{\"isSuccessful\":true,\"n\":12345678901234567,\"d\":1.5}*/")
        #expect(response.status == "200")
    }

    @Test(
        "WL-025 WL-027: what is around the object, and braces in texts, do not matter",
        arguments: [
            "{\"isSuccessful\":true,\"t\":\"a\"}", "\u{FEFF}{\"isSuccessful\":true,\"t\":\"a\"}",
            "x /* y {\"isSuccessful\":true,\"t\":\"a\"} z */ \n",
            "/*-secure-{\"isSuccessful\":true,\"t\":\"a\"}*/", "[{\"isSuccessful\":true,\"t\":\"a\"}]",
        ])
    func around(text: String) async throws {
        let response = try await call(.text(text)).get()
        #expect(response.getResponseJson() == ["isSuccessful": true, "t": "a"])
        #expect(response.responseText == text)
    }

    @Test("WL-027: comment ends, braces and quotes inside of texts", arguments: ["*/", "}", "{", "a\"}*/\\", "*/}*/"])
    func inside(text: String) async throws {
        let response = try await call(.json(["isSuccessful": true, "t": .string(text)])).get()
        #expect(response.getResponseJson()?["t"] == .string(text))
    }

    @Test("WL-026: a body without an object has no JSON", arguments: ["", "plain", "{", "}", "}{", "{]", "{\"a\":}", "/*-secure-\n*/", "[1,2]"])
    func none(text: String) async throws {
        guard case .failure(let failure) = try await call(.text(text)) else {
            Issue.record("a success")
            return
        }
        #expect(failure.getResponseJson() == nil)
        #expect(failure.responseText == text)
        #expect(failure.errorCode == .unexpectedError)
        #expect(failure.invocationResult == nil)
    }

    @Test("WL-028: compressed answers of status 200, 401 and 403 are decompressed")
    func compressed() async throws {
        let server = try StrictServer { request, number in
            switch (request.name, number) {
            case ("query", 0): try Reply.challenge(["wl_antiXSRFRealm": ["WL-Instance-Id": "i1"]]).compressed()
            case ("query", 1): try Reply.success.compressed()
            case ("query", _): try Reply.json(["WL-Authentication-Failure": ["wl_authenticityRealm": ["reason": "no"]]], status: 403).compressed()
            default: throw StrictServer.Unscripted()
            }
        }
        let client = try await server.connectedClient()
        #expect(try await client.invokeProcedure(.total).invocationResult?.response["total"] == 3)
        #expect(server.requests.last?.headers["wl-instance-id"] == "i1")
        #expect(await failure { try await client.invokeProcedure(.total) }?.errorMsg == "no")
    }

    @Test("WL-032 WL-033 WL-034: accepted realms of a 401 come before its challenges; unknown realms and any identity are fine")
    func accepted() async throws {
        let events = RecordedLines()
        let server = try StrictServer { request, number in
            guard request.name == "query" else { throw StrictServer.Unscripted() }
            return switch number {
            case 0: .challenge(["a": ["n": 1]])
            case 1:
                .challenge(
                    ["b": ["n": 2]],
                    accepted: ["a": [:], "nobody": ["isUserAuthenticated": "1"], "wl_deviceNoProvisioningRealm": ["isUserAuthenticated": 1]])
            default: .json(["isSuccessful": true, "WL-Authentication-Success": ["b": ["isUserAuthenticated": "1"], "odd": 7]])
            }
        }
        let client = try await server.connectedClient()
        client.registerChallengeHandler(EventHandler("a", events))
        client.registerChallengeHandler(EventHandler("b", events))
        try await client.invokeProcedure(.total)
        #expect(events.all == ["challenge a", "success a {}", "challenge b", "success b {\"isUserAuthenticated\":\"1\"}"])
    }

    @Test(
        "WL-035 WL-037: a 401 without the scheme and a 403 without the member are plain failures",
        arguments: [
            Reply.json(["challenges": ["a": [:]]], status: 401),
            Reply.json(["challenges": ["a": [:]]], status: 401).with("WWW-Authenticate", "Basic"),
            Reply.json(["reason": "x"], status: 403),
        ])
    func plain(reply: Reply) async throws {
        let server = try StrictServer { request, _ in
            guard request.name == "query" else { throw StrictServer.Unscripted() }
            return reply
        }
        let client = try await server.connectedClient()
        let handler = RecordingHandler("a")
        client.registerChallengeHandler(handler)
        let found = await failure { try await client.invokeProcedure(.total) }
        #expect(found?.errorCode == .unexpectedError)
        #expect(found?.httpStatus == reply.status)
        #expect(handler.challenges.all.isEmpty && handler.failures.all.isEmpty)
        #expect(server.requests("query").count == 1)
    }

    @Test("WL-036: the scheme may be in lower case")
    func lowerCase() async throws {
        let server = try StrictServer { request, number in
            guard request.name == "query" else { throw StrictServer.Unscripted() }
            return number == 0
                ? Reply.json(["challenges": ["wl_antiXSRFRealm": ["WL-Instance-Id": "i1"]]], status: 401).with(
                    "WWW-Authenticate", "wl-composite-challenge")
                : .success
        }
        let client = try await server.connectedClient()
        try await client.invokeProcedure(.total)
        #expect(server.requests("query").count == 2)
    }

    @Test(
        "WL-038: a challenge that cannot be read fails the request at once",
        arguments: [
            "", "{}", "{\"challenges\":{}}", "{\"challenges\":[]}", "{\"challenges\":7}", "{\"challenges\":", "{\"challenges\":null}",
        ])
    func unreadable(text: String) async throws {
        let server = try StrictServer { request, _ in
            guard request.name == "query" else { throw StrictServer.Unscripted() }
            return Reply.text(text, status: 401).with("WWW-Authenticate", "WL-Composite-Challenge")
        }
        let client = try await server.connectedClient()
        let found = await failure { try await client.invokeProcedure(.total) }
        #expect(found?.errorCode == .unexpectedError)
        #expect(found?.httpStatus == 401)
        #expect(server.requests("query").count == 1)
    }
}

/// A handler that answers at once and writes down the order of its calls.
final class EventHandler: WLChallengeHandler, @unchecked Sendable {
    private let events: RecordedLines

    init(_ realm: String, _ events: RecordedLines) {
        self.events = events
        super.init(realm: realm)
    }

    override func handleChallenge(_ challenge: JSONObject) {
        events.add("challenge \(realm)")
        submitChallengeAnswer("answer")
    }

    override func handleSuccess(_ identity: JSONObject) { events.add("success \(realm) \(JSONValue.object(identity))") }
}
