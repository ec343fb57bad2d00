import MobileExecution
import MobileStore
import TestSupport
import Testing
import WorklightClient

/// Worklight protocol, sections 1.2 to 1.4. The strict server checks the form of every request of every test; here each rule is checked by itself.
@Suite struct RequestTests {
    /// Sends one request of each kind, with a challenge in between.
    private func everyKind() async throws -> StrictServer {
        let server = try StrictServer { request, number in
            switch (request.name, number) {
            case ("query", 0): .challenge(["wl_antiXSRFRealm": ["WL-Instance-Id": "i1"]])
            case ("query", 1): .page
            case ("query", _), ("/Demo/invoke", _): .success
            case ("heartbeat", _), ("logactivity", _), ("authenticate", _), ("notifications", _), ("logout", _): .json([:])
            default: throw StrictServer.Unscripted()
            }
        }
        let done = Signal()
        let client = try server.client { $0.heartbeatInterval = .milliseconds(5) }
        let handler = FormHandler { handler, _ in
            handler.submitAdapterAuthentication(WLProcedureInvocationData(adapter: "Login", procedure: "submit", parameters: ["u"]))
        }
        client.registerChallengeHandler(handler)
        try await client.connect()
        client.logActivity("opened")
        client.enterForeground()
        client.push.setTokenFromClient("abcd")
        try await client.invokeProcedure(.total)
        try await client.logout(realm: "form")
        client.updateDeviceToken([1, 2], delegate: WLClosureDelegate(onSuccess: { _ in done.fire() }, onFailure: { _ in }))
        await done.happened()
        #expect(eventually { !server.requests("heartbeat").isEmpty && !server.requests("authenticate").isEmpty })
        #expect(eventually { !server.requests("logactivity").isEmpty })
        client.enterBackground()
        return server
    }

    @Test("WL-005 WL-006 WL-007 WL-008 WL-009 WL-010 WL-012: paths, fields and header fields of each kind of request")
    func kinds() async throws {
        let server = try await everyKind()
        #expect(server.violations == [])
        let names = Set(server.requests.map(\.path))
        let application = "/Demo/apps/services/api/Demo/iOSnative/"
        #expect(
            names
                == Set(
                    ["init", "query", "heartbeat", "logactivity", "authenticate", "notifications", "logout"].map { application + $0 } + [
                        "/Demo/invoke"
                    ]))
        for request in server.requests {
            #expect(request.method == "POST")
            #expect(request.field("isAjaxRequest") == "true")
            #expect(request.headers["x-requested-with"] == "XMLHttpRequest")
            #expect(request.headers["x-wl-app-version"] == "1.0")
            #expect(request.headers["user-agent"]?.contains("WLNativeAPI") == true)
            #expect((0..<1).contains(Double(request.field("x") ?? "") ?? -1))
        }
        let sendings = server.requests("query")
        #expect(sendings.count == 3)
        #expect(Set(sendings.map { $0.field("x") }).count == 3)
    }

    @Test("WL-011: the platform version is sent where it is configured", arguments: [nil, "6.1.0"])
    func platformVersion(version: String?) async throws {
        let server = try StrictServer { _, _ in .success }
        let client = try await server.connectedClient { $0.platformVersion = version }
        try await client.invokeProcedure(.total)
        #expect(server.requests.map { $0.headers["x-wl-platform-version"] } == [version, version])
    }

    @Test("WL-013 WLD-17 WLD-18: a global header is sent until it is removed, and replaces a fixed one")
    func globalHeaders() async throws {
        let server = try StrictServer { _, _ in .success }
        let client = try await server.connectedClient()
        client.addGlobalHeader("X-Tenant", value: "a")
        try await client.invokeProcedure(.total)
        client.addGlobalHeader("x-tenant", value: "b")
        client.addGlobalHeader("accept-language", value: "de")
        try await client.invokeProcedure(.total)
        client.logActivity("now")
        #expect(eventually { server.requests.count == 4 })
        client.removeGlobalHeader("X-TENANT")
        try await client.invokeProcedure(.total)
        #expect(server.requests.map { $0.headers["x-tenant"] } == [nil, "a", "b", "b", nil])
        #expect(server.requests.last?.headers["accept-language"] == "de")
    }

    @Test("WL-014: form encoding keeps every character", arguments: ["a b&c=d+e%", "ü€😀", "\u{0}\u{1}\n\r", "%41", "", "a;b,c/?:@'\"\\"])
    func encoding(text: String) async throws {
        let server = try StrictServer { _, _ in .success }
        let client = try await server.connectedClient()
        let data = WLProcedureInvocationData(adapter: text, procedure: "p", parameters: [.string(text)])
        try await client.invokeProcedure(data)
        let request = try #require(server.requests.last)
        #expect(server.violations == [])
        #expect(request.field("adapter") == text)
        #expect(request.parameters == [.string(text)])
    }

    @Test("WL-157: credentials, cookies and session values never reach the log")
    func secrets() async throws {
        let lines = RecordedLines()
        let server = try StrictServer { request, number in
            switch (request.name, number) {
            case ("init", 0):
                .challenge(["wl_antiXSRFRealm": ["WL-Instance-Id": "SECRET-I"], "wl_deviceNoProvisioningRealm": ["token": "SECRET-T"]])
                    .with("Set-Cookie", "JSESSIONID=SECRET-C; Path=/")
            case ("query", 0): .page
            case ("query", 1): .text("SECRET-BODY", status: 500)
            case (let name, _) where name.hasSuffix("j_security_check"): .text("", status: 500)
            case ("logactivity", _): .text("no", status: 500)
            default: throw StrictServer.Unscripted()
            }
        }
        let client = try server.client(store: server.store()) { $0.log = { lines.add($0) } }
        client.logs.printer = { lines.add($0) }
        client.registerChallengeHandler(
            FormHandler { handler, _ in handler.submitLoginForm("j_security_check", parameters: ["j_username": "u", "j_password": "SECRET-P"]) })
        try await client.connect()
        _ = await failure { try await client.invokeProcedure(.total) }
        client.logActivity("SECRET-A")
        #expect(eventually { lines.all.contains { $0.contains("activity was not reported") } })
        try await client.logs.send()
        server.stop()
        _ = await failure { try await client.invokeProcedure(.total) }
        #expect(!lines.all.isEmpty)
        for line in lines.all { #expect(!line.contains("SECRET")) }
        #expect(try client.logs.captured().allSatisfy { !$0.contains("SECRET") })
    }
}
