import MobileStore
import TestSupport
import Testing
import WorklightClient

/// A server that dies after it has executed a call, and before it has answered.
@Suite struct OnceOnlyTests {
    private func client(_ server: DyingServer, _ store: Database? = nil) async throws -> WLClient {
        var configuration = WLConfiguration(host: "127.0.0.1", port: String(server.port), applicationID: "Demo", applicationVersion: "1.0")
        configuration.heartbeatInterval = .zero
        configuration.defaultTimeout = .seconds(600)
        let client = try WLClient(configuration, store: store)
        try await client.connect()
        try await client.invokeProcedure(.total)
        return client
    }

    // Over a connection that was kept: libcurl would send the request again over a new one, because no byte of an answer came.
    @Test func `a call over a kept connection is not sent twice`() async throws {
        let server = try DyingServer(), client = try await client(server)
        server.die()
        let failed = await failure { try await client.invokeProcedure(.total) }
        #expect(failed?.errorCode == .unexpectedError)
        #expect(failed?.httpStatus == nil)
        #expect(server.calls == ["init", "query", "query"])
        try await client.invokeProcedure(.total)
        #expect(server.calls == ["init", "query", "query", "query"])
    }

    @Test func `an activity and a log are not sent twice either`() async throws {
        let directory = try TemporaryDirectory(), server = try DyingServer()
        let client = try await client(server, Database(ConnectionProfile(path: directory.file("client.db"))))
        client.logs.printer = { _ in }
        client.logs.logger(package: "p").info("one")
        server.die()
        #expect(await failure { try await client.logs.send() } != nil)
        #expect(server.calls.filter { $0 == "loguploader" }.count == 1)
        #expect(try await client.logs.send() == 1)
        server.die()
        client.logActivity("bought")
        #expect(eventually { server.calls.contains("logactivity") })
        try await client.invokeProcedure(.total)
        #expect(server.calls.filter { $0 == "logactivity" }.count == 1)
    }

    @Test func `a call that may wait fails if it was sent; one that may be repeated waits and is sent again`() async throws {
        let directory = try TemporaryDirectory(), server = try DyingServer()
        let client = try await client(server, Database(ConnectionProfile(path: directory.file("client.db"))))
        server.die()
        let once = await failure { try await client.invokeProcedure(.total, options: WLProcedureOptions(replay: .ifNotSent)) }
        #expect(once?.errorCode == .unexpectedError)
        #expect(server.calls.filter { $0 == "query" }.count == 2)
        #expect(client.waitingCalls == 0)
        // Over a kept connection again.
        try await client.invokeProcedure(.total)
        server.die()
        let delegate = RecordingDelegate()
        client.invokeProcedure(.total, delegate: delegate, options: WLProcedureOptions(replay: .repeatable))
        #expect(eventually { client.waitingCalls == 1 })
        #expect(server.calls.filter { $0 == "query" }.count == 4)
        client.replayWaitingCalls()
        await delegate.called()
        #expect(delegate.events.all == ["success 200"])
        #expect(server.calls.filter { $0 == "query" }.count == 5)
    }
}
