import MobileExecution
import MobileStore
import TestSupport
import Testing
import WorklightClient

/// Many procedure calls at a time that meet challenges.
@Suite struct ManyCallsTests {
    private let sessions = SessionServer()

    private func call(_ number: Int) -> WLProcedureInvocationData {
        WLProcedureInvocationData(adapter: "a", procedure: "p", parameters: [.integer(Int64(number))])
    }

    private func run(_ client: WLClient, _ count: Int) async -> [RecordingDelegate] {
        let delegates = (0..<count).map { _ in RecordingDelegate() }
        for (number, delegate) in delegates.enumerated() { client.invokeProcedure(call(number), delegate: delegate) }
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
        let handler = FormHandler(
            respond: { handler, _ in handler.submitLoginForm("j_security_check", parameters: ["j_username": "u", "j_password": "right"]) },
            ends: { handler, response in handler.submitFailure(response) })
        client.registerChallengeHandler(handler)
        let delegates = await run(client, 200)
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
}
