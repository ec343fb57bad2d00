import MobileExecution
import MobileServer
import MobileServerWorklight
import MobileStore
import TestSupport
import Testing
import WorklightClient

/// Our client against our face, over real HTTP.
@Suite struct WholeRunTests {
    private final class Listener: WLEventSourceListener, WLOnReadyToSubscribeListener {
        let events = RecordedLines()
        let ready = Signal()
        func onReceive(_ properties: String, _ payload: String) { events.add(properties + " " + payload) }
        func onReadyToSubscribe() { ready.fire() }
    }

    private func formHandler(_ logins: RecordedLines) -> AsyncChallengeHandler {
        AsyncChallengeHandler(realm: "form", isCustomResponse: { $0.responseText.contains("j_security_check") }) { handler, _ in
            logins.add("login")
            try await handler.loginForm("j_security_check", parameters: ["j_username": "ada", "j_password": "right"])
        }
    }

    @Test("WL-158: connect, device, form login, call, subscription, logs, and logout between our client and our face")
    func wholeRun() async throws {
        let live = try LiveFace(Face())
        let client = try WLClient(live.configuration(), store: live.store())
        client.logs.printer = { _ in }
        let logins = RecordedLines(), listener = Listener()
        client.registerChallengeHandler(formHandler(logins))
        client.push.setOnReadyToSubscribeListener(listener)
        client.push.registerEventSourceCallback("7", adapter: "Stock", eventSource: "prices", listener: listener)
        client.push.setTokenFromClient("00ff")
        try await client.connect()
        await listener.ready.happened()
        let mine = WLProcedureInvocationData(adapter: "Stock", procedure: "mine")
        #expect(try await client.invokeProcedure(mine).invocationResult?.response["user"] == "ada")
        #expect(try await client.invokeProcedure(mine).invocationResult?.response["role"] == "r-ada")
        #expect(logins.all == ["login"])
        client.updateDeviceToken([0x00, 0xFF], delegate: nil)
        try await client.push.subscribe("7")
        #expect(client.push.isSubscribed("7"))
        // The token belongs to the anonymous user; the user who logged in hands it over with the next connect.
        try await client.connect()
        #expect(eventually { logins.all.count == 1 })
        #expect(try await client.invokeProcedure(mine).invocationResult?.response["user"] == "ada")
        #expect(logins.all.count == 2)
        client.logActivity("bought")
        client.logs.logger(package: "p").info("done")
        #expect(try await client.logs.send() == 1)
        #expect(try live.face.server.administration.logEntries().map { $0.entry["msg"] } == ["done"])
        #expect(eventually { (try? live.face.server.administration.activities().map(\.activity)) == ["bought"] })
        try await client.logout(realm: "form")
        #expect(try await client.invokeProcedure(mine).invocationResult?.response["user"] == "ada")
        #expect(logins.all.count == 3)
        #expect(live.face.lines.all.isEmpty)
    }

    @Test func `a notification of the face reaches the listener of the client`() async throws {
        let live = try LiveFace(Face())
        let client = try WLClient(live.configuration())
        let listener = Listener()
        client.push.setOnReadyToSubscribeListener(listener)
        client.push.registerEventSourceCallback("7", adapter: "Stock", eventSource: "prices", listener: listener)
        client.push.setTokenFromClient("00ff")
        try await client.connect()
        await listener.ready.happened()
        try await client.push.subscribe("7")
        let notifications = try live.face.server.administration.notifications(
            adapter: "Stock", eventSource: "prices", alert: "up", badge: 3, payload: ["id": 1])
        #expect(notifications.map(\.token) == ["00ff"])
        for notification in notifications { client.push.didReceiveRemoteNotification(notification.userInfo) }
        #expect(eventually { !listener.events.all.isEmpty })
        #expect(listener.events.all == ["{\"alert\":\"up\",\"badge\":3} {\"id\":1,\"alias\":\"7\"}"])
    }

    @Test("WL-146: a session that ended, and a face that was started again, are not noticed by the caller")
    func restart() async throws {
        let face = try Face()
        var live = try LiveFace(face)
        let client = try WLClient(live.configuration())
        try await client.connect()
        let echo = WLProcedureInvocationData(adapter: "Stock", procedure: "echo", parameters: [1])
        face.time.withLock { $0 += 700_000 }
        #expect(try await client.invokeProcedure(echo).invocationResult?.isSuccessful == true)
        let port = live.http.port
        live.http.stop()
        #expect(await code { try await client.invokeProcedure(echo) } == .unresponsiveHost)
        let second = try Face(sharing: face)
        second.time.withLock { $0 += 700_000 }
        var configuration = HTTPServer.Configuration()
        configuration.port = port
        let server = second.server
        let http = try HTTPServer(configuration) { server.respond(to: $0) }
        #expect(try await client.invokeProcedure(echo).invocationResult?.isSuccessful == true)
        http.stop()
        live = try LiveFace(face)
    }

    private func code(_ body: () async throws -> WLResponse) async -> WLErrorCode? {
        do {
            _ = try await body()
            return nil
        } catch { return (error as? WLFailResponse)?.errorCode }
    }
}
