import MobileExecution
import MobileStore
import TestSupport
import Testing
import WorklightClient

/// Worklight protocol, sections 4.6 and 4.7: logins of the application.
@Suite struct CustomLoginTests {
    /// A server with a login form: procedures get the page until the session has logged in with the password `right`.
    private func formServer(status: Int = 200) throws -> StrictServer {
        let isLoggedIn = SystemLock(false)
        return try StrictServer { request, _ in
            if request.isLoginForm {
                let isRight = request.field("j_password") == "right"
                if isRight { isLoggedIn.withLock { $0 = true } }
                return isRight ? .json([:], status: status) : .page
            }
            guard request.name == "query" else { throw StrictServer.Unscripted() }
            return isLoggedIn.withLock { $0 } ? .success : .page
        }
    }

    private static func login(_ handler: FormHandler, _ password: String, url: String = "j_security_check", method: String = "POST") {
        handler.submitLoginForm(
            url, parameters: ["j_username": "ü ser", "j_password": password], headers: ["customHeader1": "aaa", "customHeader2": "bbb"],
            timeout: .seconds(30), method: method)
    }

    @Test("WL-087 WL-089 WL-092 WLD-39 WLD-40 WLD-41: the page of a form starts the login, and the request is sent again after it")
    func form() async throws {
        let server = try formServer()
        let client = try await server.connectedClient()
        client.addGlobalHeader("X-Global", value: "g")
        let handler = FormHandler { handler, response in
            #expect(response.responseText.contains("j_username"))
            Self.login(handler, "right")
        }
        client.registerChallengeHandler(handler)
        try await client.invokeProcedure(.total)
        #expect(handler.events.all == ["challenge 200", "success 200"])
        let login = try #require(server.requests.first { $0.isLoginForm })
        #expect(login.path == StrictRequest.application + "j_security_check")
        #expect(login.method == "POST")
        #expect(login.fields.map(\.name).sorted() == ["isAjaxRequest", "j_password", "j_username"])
        #expect(login.field("j_username") == "ü ser")
        #expect(login.headers["customheader1"] == "aaa")
        #expect(login.headers["customheader2"] == "bbb")
        #expect(login.headers["wl-instance-id"] == nil)
        #expect(login.headers["x-global"] == nil)
        #expect(server.requests("query").count == 2)
        #expect(server.violations == [])
    }

    @Test(
        "WL-088 WLD-43: the address of a form",
        arguments: [
            ("j_security_check", StrictRequest.application + "j_security_check"),
            ("/j_security_check", StrictRequest.application + "j_security_check"),
            ("//x/j_security_check", StrictRequest.application + "x/j_security_check"), ("http", "/own/j_security_check"),
        ])
    func address(url: String, path: String) async throws {
        let server = try formServer()
        let client = try await server.connectedClient()
        let port = server.port
        client.registerChallengeHandler(
            FormHandler { handler, _ in Self.login(handler, "right", url: url == "http" ? "http://127.0.0.1:\(port)/own/j_security_check" : url) })
        try await client.invokeProcedure(.total)
        #expect(server.requests.filter(\.isLoginForm).map(\.path) == [path])
    }

    @Test("WL-090 WLD-43: a form by GET has its parameters in the address; other methods are refused")
    func methods() async throws {
        let server = try formServer()
        let client = try await server.connectedClient()
        client.registerChallengeHandler(FormHandler { handler, _ in Self.login(handler, "right", method: "GET") })
        try await client.invokeProcedure(.total)
        let login = try #require(server.requests.first { $0.isLoginForm })
        #expect(login.method == "GET")
        #expect(login.field("j_username") == "ü ser")
        #expect(server.violations == [])
        let second = try formServer()
        let other = try await second.connectedClient()
        let handler = FormHandler { handler, _ in Self.login(handler, "right", method: "PUT") }
        other.registerChallengeHandler(handler)
        #expect(await failure { try await other.invokeProcedure(.total) }?.errorCode == .unexpectedError)
        #expect(handler.events.all == ["challenge 200", "failure unexpectedError"])
        #expect(second.requests.count { $0.isLoginForm } == 0)
    }

    @Test(
        "WL-091 WLD-45: each answer to a form is a success for the handler, a refused connection is a failure", arguments: [200, 302, 401, 403, 500])
    func statuses(status: Int) async throws {
        let server = try formServer(status: status)
        let client = try await server.connectedClient()
        let handler = FormHandler { handler, _ in Self.login(handler, "right") }
        client.registerChallengeHandler(handler)
        try await client.invokeProcedure(.total)
        #expect(handler.events.all == ["challenge 200", "success \(status)"])
    }

    @Test("WL-091 WLD-46: a connection that is refused is a failure for the handler")
    func refused() async throws {
        let server = try formServer()
        let other = try StrictServer { _, _ in .success }
        let port = other.port
        other.stop()
        let client = try await server.connectedClient()
        let handler = FormHandler { handler, _ in Self.login(handler, "right", url: "http://127.0.0.1:\(port)/j_security_check") }
        client.registerChallengeHandler(handler)
        #expect(await failure { try await client.invokeProcedure(.total) }?.errorCode == .unexpectedError)
        #expect(handler.events.all == ["challenge 200", "failure unresponsiveHost"])
    }

    @Test func `a wrong password brings the page again, and the handler tries once more`() async throws {
        let server = try formServer()
        let client = try await server.connectedClient()
        let tries = SystemLock(0)
        let handler = FormHandler { handler, _ in
            let number = tries.withLock { tries in
                tries += 1
                return tries
            }
            Self.login(handler, number == 3 ? "right" : "wrong")
        }
        client.registerChallengeHandler(handler)
        try await client.invokeProcedure(.total)
        #expect(handler.events.all == ["challenge 200", "success 200", "challenge 200", "success 200", "challenge 200", "success 200"])
        #expect(server.requests("query").count == 2)
    }

    // MARK: Adapters

    private func adapterServer(answers: [Reply]) throws -> StrictServer {
        try StrictServer { request, number in
            switch request.name {
            case "/Demo/invoke": return answers[min(number, answers.count - 1)]
            case "query": return number == 0 ? .json(["authRequired": true, "errorMessage": .null, "isSuccessful": true]) : .success
            default: throw StrictServer.Unscripted()
            }
        }
    }

    private func adapterHandler() -> FormHandler {
        FormHandler(
            mark: "\"authRequired\":true",
            respond: { handler, _ in
                handler.submitAdapterAuthentication(
                    WLProcedureInvocationData(adapter: "Login", procedure: "submit", parameters: ["u", "p"]),
                    options: WLProcedureOptions(invocationContext: "login"))
            },
            ends: { handler, response in
                #expect(response.invocationContext as? String == "login")
                handler.submitSuccess(response)
            })
    }

    @Test("WL-096 WL-097 WLD-45: an adapter's answer that asks for the login calls the handler again, another one ends at the handler")
    func adapter() async throws {
        let again: JSONValue = ["authRequired": true, "isSuccessful": true]
        let server = try adapterServer(answers: [.json(again), .json(again), .json(["authRequired": false, "isSuccessful": true])])
        let client = try await server.connectedClient()
        let handler = adapterHandler()
        client.registerChallengeHandler(handler)
        let response = try await client.invokeProcedure(.total)
        #expect(response.invocationResult?.isSuccessful == true)
        #expect(handler.events.all == ["challenge 200", "challenge 200", "challenge 200", "success 200"])
        #expect(server.requests("/Demo/invoke").count == 3)
        #expect(server.requests("/Demo/invoke").first?.parameters == ["u", "p"])
        #expect(server.violations == [])
    }

    @Test("WL-097 WLD-46: the failure of an adapter's procedure ends at the handler, with its result")
    func adapterFailure() async throws {
        let server = try adapterServer(answers: [.json(["isSuccessful": false, "errors": ["locked"]])])
        let client = try await server.connectedClient()
        let handler = adapterHandler()
        client.registerChallengeHandler(handler)
        let found = await failure { try await client.invokeProcedure(.total) }
        #expect(handler.events.all == ["challenge 200", "failure procedureError"])
        #expect(found?.errorCode == .unexpectedError)
        #expect(found?.getResponseJson()?["errors"] == ["locked"])
    }

    @Test("WL-100: handlers that do not recognize a response change nothing; they are asked in the order of their registration")
    func order() async throws {
        let asked = RecordedLines()
        let server = try StrictServer { request, _ in
            guard request.name == "query" else { throw StrictServer.Unscripted() }
            return .success
        }
        let client = try await server.connectedClient()
        for realm in ["z", "a", "m"] {
            client.registerChallengeHandler(
                AsyncChallengeHandler(
                    realm: realm,
                    isCustomResponse: { _ in
                        asked.add(realm)
                        return false
                    }, login: { _, _ in Issue.record("a login") }))
        }
        let response = try await client.invokeProcedure(.total)
        #expect(response.invocationResult?.response["total"] == 3)
        #expect(asked.all == ["z", "a", "m"])
        #expect(server.requests("query").count == 1)
    }

    @Test func `an asynchronous handler logs in by a form`() async throws {
        let server = try formServer()
        let client = try await server.connectedClient()
        client.registerChallengeHandler(
            AsyncChallengeHandler(realm: "form", isCustomResponse: { $0.responseText.contains("j_security_check") }) { handler, _ in
                try await handler.loginForm("j_security_check", parameters: ["j_username": "u", "j_password": "right"])
            })
        try await client.invokeProcedure(.total)
        #expect(server.requests("query").count == 2)
        #expect(server.violations == [])
    }

    @Test func `a form of a handler that is not registered fails`() async {
        let handler = AsyncChallengeHandler(realm: "form", isCustomResponse: { _ in true }) { _, _ in }
        #expect(await failure { try await handler.loginForm("j_security_check") }?.errorCode == .unexpectedError)
    }
}
