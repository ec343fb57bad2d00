import Foundation
import MobileExecution
import MobileStore
import PostgreSQLTestSupport
import TestSupport
import Testing
import WorklightClient

@testable import mobile

/// `mobile demo --worklight` and `mobile serve --worklight`.
@Suite struct WorklightToolTests {
    @Test func `the demonstration shows the examples of the document, and each of its promises holds`() throws {
        let (status, output) = try Tool.run(["demo", "--worklight"])
        #expect(status == 0, "\(output)")
        #expect(output.components(separatedBy: "checked: ").count - 1 == 7)
        for part in ["Example 1", "Example 2", "there was one login", "Please upgrade", "the order arrived once"] { #expect(output.contains(part)) }
        #expect(try Tool.run(["demo", "--worklight", "perhaps"]).status == 64)
    }

    @Test(arguments: PostgreSQLInstallation.runsTests ? [false, true] : [false])
    func `a face next to the server runs SQL on its back end, and a killed process loses no session`(isPostgreSQL: Bool) async throws {
        let serving = try WorklightServing(isPostgreSQL: isPostgreSQL), logins = RecordedLines()
        try serving.server.start()
        let client = try serving.client(logins)
        try await client.connect()
        let add = WLProcedureInvocationData(adapter: "Shop", procedure: "add", parameters: [20, 22])
        let mine = WLProcedureInvocationData(adapter: "Shop", procedure: "mine")
        #expect(try await client.invokeProcedure(add).invocationResult?.response["resultSet"] == [["sum": 42]])
        try await client.invokeProcedure(mine)
        serving.server.stop(SIGKILL)
        let failure = await #expect(throws: WLFailResponse.self) { try await client.invokeProcedure(mine) }
        #expect(failure?.errorCode == .unresponsiveHost)
        try serving.server.start()
        try await client.invokeProcedure(mine)
        #expect(logins.all == ["login"])
        try await client.invokeProcedure(WLProcedureInvocationData(adapter: "Shop", procedure: "noteMine", parameters: [7]))
        #expect(try serving.noted() == [7: 1])
        #expect(serving.server.stop(SIGTERM) == 0)
    }

    private struct Outcome {
        var ends = 0
        var isSuccess = false
        var code: WLErrorCode?
        var isCancelled = false
    }

    static var seeds: Range<UInt64> {
        let first: UInt64 = TestSetting.number("WORKLIGHT_FIRST") ?? 1
        return first..<first + (TestSetting.number("WORKLIGHT_KILLS") ?? 3)
    }

    /// The model: each call ends exactly once. The procedure runs at most once for it; exactly once if the call succeeds; and without a success only if the
    /// call was cancelled, or the server was killed.
    @Test("random calls, logins, logouts and cancellations while the server is killed and started again", .serialized, arguments: seeds)
    func kills(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let serving = try WorklightServing()
        try serving.server.start()
        let client = try serving.client()
        try await client.connect()
        let outcomes = SystemLock<[Int64: Outcome]>([:])
        var tasks: [Task<Void, Never>] = [], wasKilled = false
        for number in Int64(0)..<150 {
            switch Int.random(in: 0..<30, using: &random) {
            case 0, 1:
                wasKilled = true
                serving.server.stop(SIGKILL)
                try serving.server.start()
            case 2...4: tasks.append(Task { _ = try? await client.logout(realm: "users") })
            case 5: tasks.randomElement(using: &random)?.cancel()
            // The server gets ahead of the calls.
            case 6...8: await tasks.last?.value
            default: break
            }
            let name = Bool.random(using: &random) ? "noteMine" : "note"
            let data = WLProcedureInvocationData(adapter: "Shop", procedure: name, parameters: [.integer(number)])
            tasks.append(
                Task {
                    var outcome = Outcome()
                    do { outcome.isSuccess = try await client.invokeProcedure(data).invocationResult?.isSuccessful == true } catch {
                        outcome.code = (error as? WLFailResponse)?.errorCode
                    }
                    outcome.isCancelled = Task.isCancelled
                    let found = outcome
                    outcomes.withLock { outcomes in
                        let ends = outcomes[number]?.ends ?? 0
                        outcomes[number] = found
                        outcomes[number]?.ends = ends + 1
                    }
                })
        }
        for task in tasks { await task.value }
        let noted = try serving.noted(), ends = outcomes.withLock { $0 }
        #expect(ends.count == 150)
        for (number, outcome) in ends {
            let count = noted[number] ?? 0
            #expect(outcome.ends == 1)
            #expect(count <= 1, "call \(number) was executed \(count) times")
            if outcome.isSuccess {
                #expect(count == 1, "call \(number) succeeded, and was not executed")
            } else {
                #expect(outcome.code != nil)
                #expect(outcome.isCancelled || wasKilled, "call \(number) failed without a reason: \(String(describing: outcome.code))")
            }
        }
        // The client works on as if nothing had happened.
        #expect(
            try await client.invokeProcedure(WLProcedureInvocationData(adapter: "Shop", procedure: "mine")).invocationResult?.isSuccessful == true)
        serving.server.stop(SIGTERM)
    }
}
