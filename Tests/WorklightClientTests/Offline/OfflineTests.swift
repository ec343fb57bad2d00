import MobileExecution
import MobileStore
import MobileTransport
import TestSupport
import Testing
import WorklightClient

/// Stored results, and calls that wait in the outbox.
@Suite struct OfflineTests {
    /// A network that can be switched off, before or after a request was executed.
    private final class Network: Transport {
        enum Mode { case online, unreachable, answerLost }
        private let http = HTTPTransport()
        private let state = SystemLock(Mode.online)
        var mode: Mode {
            get { state.withLock { $0 } }
            set { state.withLock { $0 = newValue } }
        }

        func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
            if mode == .unreachable { throw TransportError(.cannotConnect, "no network") }
            let response = try http.send(request, receive: receive)
            if mode == .answerLost { throw TransportError(.interrupted, "the connection was cut") }
            return response
        }
    }

    private let network = Network()

    /// A server whose procedure counts its calls.
    private func server() throws -> StrictServer {
        try StrictServer { request, number in
            guard request.name == "query" else { throw StrictServer.Unscripted() }
            return .json(["isSuccessful": true, "call": .integer(Int64(number)), "n": request.parameters?.first ?? .null])
        }
    }

    private func client(_ server: StrictServer, _ change: (inout WLConfiguration) -> Void = { _ in }) throws -> WLClient {
        try WLClient(server.configuration(change), store: server.store(), transport: network)
    }

    private func data(_ number: Int64) -> WLProcedureInvocationData {
        WLProcedureInvocationData(adapter: "Stock", procedure: "order", parameters: [.integer(number)])
    }

    @Test func `a stored result is used when the server is out of reach, with its age, parameters and scope`() async throws {
        let now = SystemLock(1000.0)
        let server = try server()
        let client = try client(server) { $0.clock = { now.withLock { $0 } } }
        try await client.connect()
        let options = WLProcedureOptions(invocationContext: "c", cache: .ifUnreachable(maximumAge: .seconds(60), scope: "ada"))
        #expect(try await client.invokeProcedure(data(1), options: options).cachedAt == nil)
        network.mode = .unreachable
        now.withLock { $0 = 1050 }
        let stored = try await client.invokeProcedure(data(1), options: options)
        #expect(stored.cachedAt == 1000)
        #expect(stored.invocationResult?.response["n"] == 1)
        #expect(stored.invocationContext as? String == "c")
        #expect(await failure { try await client.invokeProcedure(data(2), options: options) }?.errorCode == .unresponsiveHost)
        let other = WLProcedureOptions(cache: .ifUnreachable(scope: "bob"))
        #expect(await failure { try await client.invokeProcedure(data(1), options: other) } != nil)
        #expect(await failure { try await client.invokeProcedure(data(1)) } != nil)
        let offline = try self.client(server) { $0.clock = { 1055 } }
        #expect(try await offline.invokeProcedure(data(1), options: options).cachedAt == 1000)
        now.withLock { $0 = 1061 }
        #expect(await failure { try await client.invokeProcedure(data(1), options: options) } != nil)
        now.withLock { $0 = 1000 }
        try client.clearStoredResults(scope: "ada")
        #expect(await failure { try await client.invokeProcedure(data(1), options: options) } != nil)
    }

    @Test func `a fresh result needs no request, and failures of a procedure are not stored`() async throws {
        let server = try StrictServer { request, number in
            guard request.name == "query" else { throw StrictServer.Unscripted() }
            return .json(["isSuccessful": .boolean(number > 0), "call": .integer(Int64(number))])
        }
        let client = try client(server)
        try await client.connect()
        let options = WLProcedureOptions(cache: .first(maximumAge: .seconds(60)))
        #expect(await failure { try await client.invokeProcedure(data(1), options: options) }?.errorCode == .procedureError)
        #expect(try await client.invokeProcedure(data(1), options: options).cachedAt == nil)
        #expect(try await client.invokeProcedure(data(1), options: options).invocationResult?.response["call"] == 1)
        #expect(server.requests("query").count == 2)
    }

    @Test func `a call that waits is sent once after the connect, in order, and reports to its delegate`() async throws {
        let server = try server()
        let client = try client(server)
        let delegates = (0..<5).map { _ in RecordingDelegate() }
        for number in 0..<3 {
            client.invokeProcedure(data(Int64(number)), delegate: delegates[number], options: WLProcedureOptions(replay: .ifNotSent))
        }
        #expect(client.waitingCalls == 3)
        try await client.connect()
        for delegate in delegates[..<3] { await delegate.called() }
        network.mode = .unreachable
        for number in 3..<5 {
            client.invokeProcedure(data(Int64(number)), delegate: delegates[number], options: WLProcedureOptions(replay: .ifNotSent))
        }
        #expect(eventually { client.waitingCalls == 2 })
        network.mode = .online
        client.replayWaitingCalls()
        for delegate in delegates { await delegate.called() }
        #expect(eventually { client.waitingCalls == 0 })
        #expect(server.requests("query").map { $0.parameters?.first } == [0, 1, 2, 3, 4])
        #expect(delegates.allSatisfy { $0.events.all == ["success 200"] })
    }

    @Test func `a call whose answer was lost fails, or is sent again if it is repeatable`() async throws {
        let server = try server()
        let client = try client(server)
        try await client.connect()
        network.mode = .answerLost
        let once = await failure { try await client.invokeProcedure(data(1), options: WLProcedureOptions(replay: .ifNotSent)) }
        #expect(once?.errorCode == .unexpectedError)
        #expect(client.waitingCalls == 0)
        let delegate = RecordingDelegate()
        client.invokeProcedure(data(2), delegate: delegate, options: WLProcedureOptions(replay: .repeatable))
        #expect(eventually { client.waitingCalls == 1 && server.requests("query").count == 2 })
        network.mode = .online
        // The replay that met the lost answer may still be running.
        #expect(
            eventually {
                client.replayWaitingCalls()
                return client.waitingCalls == 0
            })
        await delegate.called()
        #expect(delegate.events.all == ["success 200"])
    }

    private final class Replayed: WLReplayDelegate {
        let lines = RecordedLines()
        func replayed(_ data: WLProcedureInvocationData, _ outcome: Result<WLResponse, WLFailResponse>) {
            switch outcome {
            case .success(let response): lines.add("\(data.parameters) success \(response.status)")
            case .failure(let failure): lines.add("\(data.parameters) failure \(failure.errorCode)")
            }
        }
    }

    @Test func `calls of an earlier run are sent, except one whose answer may have been lost`() async throws {
        let server = try server()
        do {
            let client = try client(server)
            client.invokeProcedure(data(1), delegate: nil, options: WLProcedureOptions(replay: .ifNotSent))
            client.invokeProcedure(data(2), delegate: nil, options: WLProcedureOptions(replay: .repeatable))
            client.invokeProcedure(data(3), delegate: nil, options: WLProcedureOptions(replay: .ifNotSent))
        }
        // The program ended while the first two were on their way.
        let note: () throws -> Void = { try server.store().write { _ = try $0.execute("UPDATE wl_outbox SET sent = 1 WHERE id <= 2") } }
        try note()
        let client = try client(server), replayed = Replayed()
        client.replayDelegate = replayed
        #expect(client.waitingCalls == 3)
        try await client.connect()
        #expect(eventually { replayed.lines.all.count == 3 })
        #expect(replayed.lines.all == ["[1] failure unexpectedError", "[2] success 200", "[3] success 200"])
        #expect(server.requests("query").map { $0.parameters?.first } == [2, 3])
        #expect(client.waitingCalls == 0)
    }

    @Test func `without a store nothing waits`() async throws {
        let server = try server()
        let client = try server.client()
        let found = await failure { try await client.invokeProcedure(data(1), options: WLProcedureOptions(replay: .ifNotSent)) }
        #expect(found?.errorCode == .unexpectedError)
    }
}
