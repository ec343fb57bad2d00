import MobileExecution
import MobileStore
import TestSupport
import Testing

@testable import WorklightClient

/// Worklight protocol, sections 4.2 and 4.9: several realms, requests that wait, and requests that are sent again.
@Suite struct WaitingTests {
    /// A server that challenges each procedure until its session has answered for these realms.
    private func server(realms: [String], announces: Bool = true) throws -> StrictServer {
        let satisfied = SystemLock<Set<String>>([])
        return try StrictServer { request, number in
            guard request.name == "query" else { throw StrictServer.Unscripted() }
            let answers = request.answers ?? [:]
            let (open, accepted) = satisfied.withLock { satisfied in
                let accepted = realms.filter { answers[$0] == "right" && satisfied.insert($0).inserted }
                return (realms.filter { !satisfied.contains($0) }, accepted)
            }
            var identities = JSONObject(), challenges = JSONObject()
            for realm in accepted where announces { identities[realm] = [:] }
            for realm in open { challenges[realm] = ["n": .integer(Int64(number))] }
            guard open.isEmpty else { return .challenge(challenges, accepted: identities) }
            return .json(["isSuccessful": true, "WL-Authentication-Success": .object(identities)])
        }
    }

    @Test("WL-072: nothing is sent before the last of three realms has its answer")
    func lastAnswer() async throws {
        let server = try server(realms: ["a", "b", "c"])
        let client = try await server.connectedClient()
        let asked = Signal()
        let slow = RecordingHandler("b") { _, _ in asked.fire() }
        client.registerChallengeHandler(RecordingHandler("a") { handler, _ in handler.submitChallengeAnswer("right") })
        client.registerChallengeHandler(slow)
        client.registerChallengeHandler(RecordingHandler("c") { handler, _ in handler.submitChallengeAnswer("right") })
        let delegate = RecordingDelegate()
        client.invokeProcedure(.total, delegate: delegate)
        await asked.happened()
        // A request of the same client that needs no realm has been answered meanwhile: the first one had its time.
        try? await client.logout(realm: "x")
        #expect(server.requests("query").count == 1)
        slow.submitChallengeAnswer("right")
        await delegate.called()
        #expect(server.requests("query").count == 2)
        #expect(server.requests("query").last?.answers == ["a": "right", "b": "right", "c": "right"])
        #expect(delegate.events.all == ["success 200"])
    }

    @Test("WL-073: a realm without a handler fails its request; other handlers run, and other requests go on")
    func unknownRealm() async throws {
        let server = try StrictServer { request, _ in
            guard request.name == "query" else { throw StrictServer.Unscripted() }
            if request.field("procedure") == "guarded" { return .challenge(["known": [:], "unknown": [:]]) }
            return .success
        }
        let client = try await server.connectedClient()
        let handler = RecordingHandler("known") { handler, _ in handler.submitChallengeAnswer("right") }
        client.registerChallengeHandler(handler)
        let found = await failure { try await client.invokeProcedure(WLProcedureInvocationData(adapter: "a", procedure: "guarded")) }
        #expect(found?.errorCode == .unexpectedError)
        #expect(handler.challenges.all.count == 1)
        try await client.invokeProcedure(.total)
        #expect(server.requests("query").count == 2)
    }

    @Test(
        "WL-074 WL-075: of two requests with the same challenge one is handled, the other waits and is sent once after it", arguments: [true, false])
    func two(announces: Bool) async throws {
        let server = try server(realms: ["a"], announces: announces)
        let client = try await server.connectedClient()
        let asked = Signal()
        let handler = RecordingHandler("a") { _, _ in asked.fire() }
        client.registerChallengeHandler(handler)
        let first = RecordingDelegate(), second = RecordingDelegate()
        client.invokeProcedure(.total, delegate: first)
        client.invokeProcedure(.total, delegate: second)
        await asked.happened()
        #expect(eventually { server.requests("query").count == 2 })
        #expect(client.waiting(1, for: "a"))
        handler.submitChallengeAnswer("right")
        await first.called()
        await second.called()
        #expect(handler.challenges.all.count == 1)
        #expect(first.events.all == ["success 200"])
        #expect(second.events.all == ["success 200"])
        #expect(server.requests("query").count == 4)
        #expect(server.requests("query").compactMap(\.answers) == [["a": "right"]])
    }

    @Test("WL-076 WLD-42: submitFailure fails the active and the waiting requests, once each")
    func submitFailure() async throws {
        let server = try server(realms: ["a"])
        let client = try await server.connectedClient()
        let asked = Signal()
        let handler = RecordingHandler("a") { _, _ in asked.fire() }
        client.registerChallengeHandler(handler)
        let delegates = (0..<5).map { _ in RecordingDelegate() }
        for delegate in delegates { client.invokeProcedure(.total, delegate: delegate) }
        await asked.happened()
        #expect(eventually { server.requests("query").count == 5 })
        #expect(client.waiting(4, for: "a"))
        handler.submitFailure()
        handler.submitFailure()
        for delegate in delegates { await delegate.called() }
        #expect(delegates.map(\.events.all) == Array(repeating: ["failure unexpectedError"], count: 5))
        #expect(server.requests("query").count == 5)
    }

    @Test("WL-077: a refusal calls handleFailure and fails the requests that wait")
    func refusal() async throws {
        let held = Signal()
        let server = try StrictServer { request, number in
            guard request.name == "query" else { throw StrictServer.Unscripted() }
            if request.answers != nil { return .json(["WL-Authentication-Failure": ["a": ["reason": "not you"]]], status: 403) }
            if number == 1 { held.fire() }
            return .challenge(["a": [:]])
        }
        let client = try await server.connectedClient()
        let handler = RecordingHandler("a")
        client.registerChallengeHandler(handler)
        let first = RecordingDelegate(), second = RecordingDelegate()
        client.invokeProcedure(.total, delegate: first)
        client.invokeProcedure(.total, delegate: second)
        await held.happened()
        #expect(eventually { !handler.challenges.all.isEmpty })
        #expect(client.waiting(1, for: "a"))
        handler.submitChallengeAnswer("wrong")
        await first.called()
        await second.called()
        #expect(first.events.all + second.events.all == ["failure unexpectedError", "failure unexpectedError"])
        #expect(handler.failures.all == ["{\"reason\":\"not you\"}"])
        #expect(server.requests("query").count == 3)
    }

    @Test("WL-078: a request that is sent again keeps its fields, its header fields and its context")
    func sentAgain() async throws {
        let server = try server(realms: ["a"])
        let client = try await server.connectedClient()
        client.registerChallengeHandler(
            RecordingHandler("a") { handler, _ in
                client.addGlobalHeader("X-Later", value: "now")
                handler.submitChallengeAnswer("right")
            })
        client.addGlobalHeader("X-Always", value: "yes")
        let data = WLProcedureInvocationData(adapter: "Stock", procedure: "quote", parameters: ["IBM", 7, .number("65.878"), true, .null, ["a": [1]]])
        let response = try await client.invokeProcedure(data, options: WLProcedureOptions(invocationContext: "mine", compressResponse: true))
        let requests = server.requests("query")
        #expect(requests.count == 2)
        #expect(response.invocationContext as? String == "mine")
        for name in ["adapter", "procedure", "parameters", "compressResponse", "isAjaxRequest"] {
            #expect(requests[0].field(name) == requests[1].field(name))
        }
        #expect(requests[0].path == requests[1].path)
        #expect(requests.map { $0.headers["x-always"] } == ["yes", "yes"])
        #expect(requests.map { $0.headers["x-later"] } == [nil, "now"])
    }

    @Test("WL-079: the time of a request begins again with each sending, and does not run in a handler")
    func time() async throws {
        let server = try server(realms: ["a"])
        let client = try await server.connectedClient()
        let timers = BlockingWork(threads: 1)
        client.registerChallengeHandler(
            RecordingHandler("a") { handler, _ in _ = timers.start(after: .seconds(3)) { handler.submitChallengeAnswer("right") } })
        try await client.invokeProcedure(.total, options: WLProcedureOptions(timeout: .seconds(2)))
    }

    @Test("WL-080: a server that repeats its challenges does not keep the client busy for ever")
    func loop() async throws {
        let server = try StrictServer { request, number in
            guard request.name == "query" else { throw StrictServer.Unscripted() }
            if request.field("procedure") == "same" { return .challenge(["a": ["n": 1]]) }
            return .challenge(["a": ["n": .integer(Int64(number))]])
        }
        let client = try await server.connectedClient()
        client.registerChallengeHandler(RecordingHandler("a") { handler, _ in handler.submitChallengeAnswer("right") })
        let found = await failure { try await client.invokeProcedure(.total) }
        #expect(found?.errorCode == .unexpectedError)
        #expect(server.requests("query").count == 11)
        let same = WLProcedureInvocationData(adapter: "Stock", procedure: "same")
        #expect(await failure { try await client.invokeProcedure(same) }?.errorCode == .unexpectedError)
        #expect(server.requests("query").count == 11 + 3)
    }

    @Test("WL-081 WL-082: answers arrive as the values that they are; without one, the realm is left out")
    func values() async throws {
        let answers: [JSONValue?] = [["user": "u", "n": 1], "text", 17, nil]
        let next = SystemLock(0)
        let server = try StrictServer { request, number in
            guard request.name == "query" else { throw StrictServer.Unscripted() }
            return number % 2 == 0 ? .challenge(["a": ["n": .integer(Int64(number))]]) : .success
        }
        let client = try await server.connectedClient()
        client.registerChallengeHandler(
            RecordingHandler("a") { handler, _ in
                let number = next.withLock { number in
                    defer { number += 1 }
                    return number
                }
                handler.submitChallengeAnswer(answers[number])
            })
        for _ in answers { try await client.invokeProcedure(.total) }
        let sent = server.requests("query").enumerated().filter { $0.offset % 2 == 1 }.map { $0.element.answers }
        #expect(sent == [["a": ["user": "u", "n": 1]], ["a": "text"], ["a": 17], nil])
    }

    @Test func `an asynchronous handler answers, and fails its requests when it throws`() async throws {
        let server = try server(realms: ["a"])
        let client = try await server.connectedClient()
        client.registerChallengeHandler(WLAsyncChallengeHandler(realm: "a") { _ in throw StrictServer.Unscripted() })
        #expect(await failure { try await client.invokeProcedure(.total) }?.errorCode == .unexpectedError)
        client.registerChallengeHandler(WLAsyncChallengeHandler(realm: "a") { _ in "right" })
        try await client.invokeProcedure(.total)
    }

    @Test func `a cancelled request gives its answer to one that waits`() async throws {
        let server = try server(realms: ["a"])
        let client = try await server.connectedClient()
        let asked = Signal()
        let handler = RecordingHandler("a") { _, _ in asked.fire() }
        client.registerChallengeHandler(handler)
        let task = Task { await failure { try await client.invokeProcedure(.total) } }
        await asked.happened()
        let second = RecordingDelegate()
        client.invokeProcedure(.total, delegate: second)
        #expect(eventually { server.requests("query").count == 2 })
        #expect(client.waiting(1, for: "a"))
        task.cancel()
        #expect(await task.value?.errorCode == .unexpectedError)
        handler.submitChallengeAnswer("right")
        await second.called()
        #expect(second.events.all == ["success 200"])
        #expect(handler.challenges.all.count == 1)
    }

    @Test("a request that ends before its answer was sent lets the others continue", arguments: [true, false])
    func endsBefore(isCancelled: Bool) async throws {
        let server = try StrictServer { request, number in
            guard request.name == "query" else { throw StrictServer.Unscripted() }
            if request.answers != nil { return .json(["isSuccessful": true, "WL-Authentication-Success": ["a": [:]]]) }
            return request.field("procedure") == "both" ? .challenge(["a": [:], "b": [:]]) : .challenge(["a": [:]])
        }
        let client = try await server.connectedClient()
        let asked = Signal()
        let first = RecordingHandler("a"), second = RecordingHandler("b") { _, _ in asked.fire() }
        client.registerChallengeHandler(first)
        client.registerChallengeHandler(second)
        let task = Task { await failure { try await client.invokeProcedure(WLProcedureInvocationData(adapter: "x", procedure: "both")) } }
        await asked.happened()
        let delegate = RecordingDelegate()
        client.invokeProcedure(.total, delegate: delegate)
        #expect(client.waiting(1, for: "a"))
        first.submitChallengeAnswer("right")
        if isCancelled { task.cancel() } else { second.submitFailure() }
        #expect(await task.value?.errorCode == .unexpectedError)
        // The one that waited meets the challenge itself.
        #expect(eventually { first.challenges.all.count == 2 })
        first.submitChallengeAnswer("right")
        await delegate.called()
        #expect(delegate.events.all == ["success 200"])
    }

    @Test func `a replaced handler gives its requests to the new one`() async throws {
        let server = try server(realms: ["a"])
        let client = try await server.connectedClient()
        let asked = Signal()
        client.registerChallengeHandler(RecordingHandler("a") { _, _ in asked.fire() })
        let delegate = RecordingDelegate()
        client.invokeProcedure(.total, delegate: delegate)
        await asked.happened()
        client.registerChallengeHandler(RecordingHandler("a") { handler, _ in handler.submitChallengeAnswer("right") })
        await delegate.called()
        #expect(delegate.events.all == ["success 200"])
    }
}

extension WLClient {
    /// Waits until this number of requests waits for the handler of a realm.
    func waiting(_ count: Int, for realm: String) -> Bool {
        eventually {
            let promise = Promise<Int, any Error>()
            engine.mailbox.later { promise.resolve(.success(self.engine.slots[realm]?.waiting.count ?? 0)) }
            return (try? promise.wait()) == count
        }
    }
}
