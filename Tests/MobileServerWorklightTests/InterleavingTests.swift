import MobileExecution
import MobileServer
import MobileServerWorklight
import MobileStore
import MobileTransport
import TestSupport
import Testing
import WorklightClient

/// Random interleavings of calls, challenges, cancellations, ends of sessions, failures of the network and restarts of the server, against a model of the
/// end of each call.
///
/// The model: each call ends exactly once. It succeeds only if the procedure was executed for it. It is executed more than once never, and without a
/// success only if its answer was cut or it was cancelled. It fails only with a reason of the model: the network, a cancellation, or a login that was
/// given up. A restart counts as a failure of the network: it cuts requests in progress, and sessions survive it.
@Suite struct InterleavingTests {
    /// Breaks connections at random, before or after the server has executed a request.
    private final class Network: Transport {
        private let http = HTTPTransport()
        private let state: SystemLock<(random: SeededGenerator, rate: Double, cuts: Int)>

        init(seed: UInt64) { state = SystemLock((SeededGenerator(seed: seed), 0, 0)) }
        var rate: Double {
            get { state.withLock { $0.rate } }
            set { state.withLock { $0.rate = newValue } }
        }

        func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
            let number = state.withLock { state in Double.random(in: 0..<1, using: &state.random) / max(state.rate, 1e-9) }
            if number < 0.5 { throw TransportError(.cannotConnect, "no network") }
            let response = try http.send(request, receive: receive)
            if number < 1 { throw TransportError(.interrupted, "the connection was cut") }
            return response
        }
    }

    private struct Outcome {
        var ends = 0
        var isSuccess = false
        var code: WLErrorCode?
        var isCancelled = false
    }

    static var seeds: Range<UInt64> {
        let first: UInt64 = TestSetting.number("WORKLIGHT_FIRST") ?? 1
        return first..<first + (TestSetting.number("WORKLIGHT_COUNT") ?? 12)
    }

    @Test("each call ends once, as the model says", .serialized, arguments: seeds)
    func run(seed: UInt64) async throws {
        let random = SystemLock(SeededGenerator(seed: seed))
        let executed = SystemLock<[Int64: Int]>([:])
        let face = try Face { configuration in
            func counted(_ realm: String?) -> WorklightProcedure {
                WorklightProcedure(realm: realm) { invocation in
                    let number = invocation.parameters.first?.integer ?? -1
                    executed.withLock { $0[number, default: 0] += 1 }
                    return ["isSuccessful": true, "n": .integer(number)]
                }
            }
            configuration.adapters.append(WorklightAdapter("Count", procedures: ["open": counted(nil), "guarded": counted("form")]))
        }
        let live = try LiveFace(face)
        let network = Network(seed: seed)
        let client = try WLClient(live.configuration(), transport: network)
        let givesUp = SystemLock(false)
        client.registerChallengeHandler(
            AsyncChallengeHandler(realm: "form", isCustomResponse: { $0.responseText.contains("j_security_check") }) { handler, _ in
                if givesUp.withLock({ $0 }) { throw WorklightProcedureError("the user gave up") }
                let password = random.withLock { Int.random(in: 0..<4, using: &$0) } == 0 ? "wrong" : "right"
                try await handler.loginForm("j_security_check", parameters: ["j_username": "ada", "j_password": password])
            })
        try await client.connect()

        let outcomes = SystemLock<[Int64: Outcome]>([:])
        var tasks: [Task<Void, Never>] = [], everGaveUp = false, hadFaults = false, restarts = 0
        for number in 0..<150 {
            let number = Int64(number)
            switch random.withLock({ Int.random(in: 0..<20, using: &$0) }) {
            case 0: face.time.withLock { $0 += 700_000 }
            case 1:
                everGaveUp = true
                givesUp.withLock { $0 = true }
            case 2: givesUp.withLock { $0 = false }
            case 3:
                hadFaults = true
                network.rate = 0.3
            case 4: network.rate = 0
            case 5: tasks.append(Task { _ = try? await client.logout(realm: "form") })
            case 6: random.withLock { tasks.randomElement(using: &$0) }?.cancel()
            case 7:
                hadFaults = true
                try live.restart()
                restarts += 1
            default: break
            }
            let isGuarded = random.withLock { Bool.random(using: &$0) }
            let data = WLProcedureInvocationData(adapter: "Count", procedure: isGuarded ? "guarded" : "open", parameters: [.integer(number)])
            tasks.append(
                Task {
                    var outcome = Outcome()
                    do {
                        let response = try await client.invokeProcedure(data)
                        outcome.isSuccess = response.invocationResult?.response["n"] == .integer(number)
                    } catch { outcome.code = (error as? WLFailResponse)?.errorCode }
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

        let runs = executed.withLock { $0 }, ends = outcomes.withLock { $0 }
        #expect(ends.count == 150)
        for (number, outcome) in ends {
            let count = runs[number] ?? 0
            #expect(outcome.ends == 1)
            #expect(count <= 1, "call \(number) was executed \(count) times")
            if outcome.isSuccess {
                #expect(count == 1)
            } else {
                #expect(outcome.code != nil, "call \(number) has the result of another one")
                #expect(outcome.isCancelled || hadFaults || everGaveUp, "call \(number) failed without a reason: \(String(describing: outcome.code))")
                if count == 1 { #expect(outcome.isCancelled || hadFaults) }
            }
        }
        // The client works on as if nothing had happened.
        network.rate = 0
        givesUp.withLock { $0 = false }
        let last = WLProcedureInvocationData(adapter: "Count", procedure: "open", parameters: [9999])
        #expect(try await client.invokeProcedure(last).invocationResult?.isSuccessful == true)
        // The store was closed under requests in progress; nothing else fails.
        #expect(face.lines.all.allSatisfy { restarts > 0 && $0.contains("closed") }, "\(face.lines.all)")
    }
}
