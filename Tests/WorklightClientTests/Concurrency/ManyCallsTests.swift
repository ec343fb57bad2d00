import MobileExecution
import MobileStore
import TestSupport
import Testing

@testable import WorklightClient

/// Many procedure calls at a time that meet challenges.
@Suite struct ManyCallsTests {
    private let sessions = SessionServer()

    private func call(_ number: Int) -> WLProcedureInvocationData {
        WLProcedureInvocationData(adapter: "a", procedure: "p", parameters: [.integer(Int64(number))])
    }

    /// - Parameter made: fired once all calls have been made.
    private func run(_ client: WLClient, _ count: Int, made: Signal? = nil) async -> [RecordingDelegate] {
        let delegates = (0..<count).map { _ in RecordingDelegate() }
        for (number, delegate) in delegates.enumerated() { client.invokeProcedure(call(number), delegate: delegate) }
        made?.fire()
        for delegate in delegates { await delegate.called() }
        return delegates
    }

    @Test func `200 calls at a time need one login, and all succeed`() async throws {
        let server = try StrictServer(sessions)
        let client = try await server.connectedClient()
        let handler = FormHandler { handler, _ in
            handler.submitLoginForm("j_security_check", parameters: ["j_username": "u", "j_password": "right"])
        }
        client.registerChallengeHandler(handler)
        let delegates = await run(client, 200)
        #expect(delegates.allSatisfy { $0.events.all == ["success 200"] })
        #expect(handler.events.all == ["challenge 200", "success 200"])
        #expect(sessions.logins == 1)
        #expect(sessions.executed == Dictionary(uniqueKeysWithValues: (0..<200).map { (Int64($0), 1) }))
        #expect(server.violations == [])
    }

    @Test func `200 calls at a time whose login fails all fail, with one login`() async throws {
        let server = try StrictServer(sessions)
        sessions.isLocked = true
        let client = try await server.connectedClient()
        // A call that is made after the failure is another attempt, with a login of its own.
        let made = Signal()
        let handler = FormHandler(
            respond: { handler, _ in
                made.block()
                handler.submitLoginForm("j_security_check", parameters: ["j_username": "u", "j_password": "right"])
            },
            ends: { handler, response in handler.submitFailure(response) })
        client.registerChallengeHandler(handler)
        let delegates = await run(client, 200, made: made)
        #expect(delegates.allSatisfy { $0.events.all == ["failure unexpectedError"] })
        #expect(handler.events.all == ["challenge 200", "success 200"])
        #expect(sessions.executed == [:])
    }

    @Test("WL-146: a session that ends in the middle of many calls comes back, and no call is lost or doubled")
    func sessionEnds() async throws {
        let server = try StrictServer(sessions)
        let client = try await server.connectedClient()
        let handler = FormHandler { handler, _ in
            handler.submitLoginForm("j_security_check", parameters: ["j_username": "u", "j_password": "right"])
        }
        client.registerChallengeHandler(handler)
        for round in 0..<5 {
            sessions.endSessions()
            let delegates = await run(client, 60)
            #expect(delegates.allSatisfy { $0.events.all == ["success 200"] }, "round \(round)")
            #expect(sessions.logins == round + 1)
        }
        #expect(sessions.executed == Dictionary(uniqueKeysWithValues: (0..<60).map { (Int64($0), 5) }))
        #expect(server.violations == [])
    }

    @Test("WL-146: a server that sets another cookie with each answer is served as others are")
    func cookieOfEachAnswer() async throws {
        let visits = SystemLock(0), sessions = sessions
        let server = try StrictServer { request, _ in
            let visit = visits.withLock { visits in
                visits += 1
                return visits
            }
            return sessions.answer(request).with("Set-Cookie", "visit=\(visit); Path=/")
        }
        let client = try await server.connectedClient()
        client.registerChallengeHandler(
            FormHandler { handler, _ in handler.submitLoginForm("j_security_check", parameters: ["j_username": "u", "j_password": "right"]) })
        for round in 0..<4 {
            sessions.endSessions()
            let delegates = await run(client, 200)
            #expect(delegates.allSatisfy { $0.events.all == ["success 200"] }, "round \(round)")
        }
        #expect(sessions.executed == Dictionary(uniqueKeysWithValues: (0..<200).map { (Int64($0), 4) }))
    }

    @Test(
        "WL-146: a call whose session has ended, answered in a session of its own during or after the login of another call, ends neither's session",
        arguments: [true, false], [true, false])
    func lateAnswer(hasRealms: Bool, duringLogin: Bool) async throws {
        let sessions = SessionServer(hasRealms: hasRealms), held = Signal(), release = Signal(), asked = Signal()
        let isHeld = SystemLock(false)
        let server = try StrictServer { request, _ in
            let reply = sessions.answer(request)
            let isFirst = isHeld.withLock { isHeld in
                guard !isHeld, request.name == "query", request.parameters?.first?.integer == 1 else { return false }
                isHeld = true
                return true
            }
            if isFirst {
                held.fire()
                release.block()
            }
            return reply
        }
        let client = try await server.connectedClient()
        let logIn = { @Sendable (handler: FormHandler) in handler.submitLoginForm("j_security_check", parameters: ["j_username": "u", "j_password": "right"]) }
        let handler = FormHandler { handler, _ in
            // A second login would be an error, and is counted.
            if handler.events.all.count > 1 { logIn(handler) } else { asked.fire() }
        }
        client.registerChallengeHandler(handler)
        sessions.endSessions()
        let late = RecordingDelegate(), other = RecordingDelegate()
        client.invokeProcedure(call(1), delegate: late)
        await held.happened()
        client.invokeProcedure(call(0), delegate: other)
        await asked.happened()
        if duringLogin {
            release.fire()
            #expect(eventually { client.engine.waitingForLogin == 1 })
        }
        logIn(handler)
        await other.called()
        release.fire()
        await late.called()
        #expect(late.events.all == ["success 200"] && other.events.all == ["success 200"])
        #expect(handler.events.all == ["challenge 200", "success 200"] && sessions.logins == 1)
        #expect(sessions.executed == [0: 1, 1: 1])
        #expect(server.violations == [])
    }
}

extension WLEngine {
    /// The number of requests that wait for the login of an application.
    fileprivate var waitingForLogin: Int? {
        let promise = Promise<Int, any Error>()
        mailbox.later { promise.resolve(.success(self.customSlots.first?.waiting.count ?? 0)) }
        return try? promise.wait()
    }
}
