import MobileExecution
import MobileProtocol
import MobileServer
import MobileServerRhoConnect
import MobileStore
import TestSupport
import Testing

@Suite struct SessionFaceTests {
    @Test(
        "RC-008 RC-009: a login is understood as JSON and as form, and answered 200, empty, with the session cookie",
        arguments: [
            (#"{"login":"kim","password":"p4ss","remember_me":1}"#, "application/json; charset=utf-8"),
            ("login=kim&password=p4%73s", "application/x-www-form-urlencoded"),
        ])
    func login(body: String, type: String) throws {
        let answer = try FaceBench().call("POST", "/rc/v1/app/login", body: body, type: type)
        #expect(answer.status == 200 && answer.body.isEmpty)
        #expect(answer.cookie?.hasPrefix("rhoconnect_session=") == true)
    }

    @Test("RC-010 RC-011 RC-012: refusals are 401 with the application's or the standard text, other errors 500 with their text")
    func refusals() throws {
        let bench = try FaceBench(face: {
            $0.authenticate = { login, _ in
                if login == "broken" { throw RhoConnectAdapterError("directory down") }
                return .refused(login == "blocked" ? "You are blocked" : nil)
            }
        })
        func login(_ name: String) throws -> FaceBench.Answer {
            try bench.call("POST", "/rc/v1/app/login", body: "{\"login\":\"\(name)\",\"password\":\"x\"}")
        }
        let blocked = try login("blocked"), wrong = try login("kim"), empty = try login(""), broken = try login("broken")
        #expect(blocked.status == 401 && blocked.text == "You are blocked")
        #expect(wrong.status == 401 && wrong.text == "Unable to authenticate 'kim'")
        #expect(empty.status == 401 && empty.text == "Unable to authenticate ''")
        #expect(broken.status == 500 && broken.text == "directory down")
        let accounts = try FaceBench()
        #expect(try accounts.call("POST", "/rc/v1/app/login", body: #"{"login":"kim","password":"wrong"}"#).text == "Unable to authenticate 'kim'")
    }

    @Test func `after many wrong passwords a login has to wait: a refusal for the moment, and the right password is taken again later`() throws {
        let bench = try FaceBench()
        func login(_ password: String) throws -> FaceBench.Answer {
            try bench.call("POST", "/rc/v1/app/login", body: "{\"login\":\"kim\",\"password\":\"\(password)\"}")
        }
        var answers: [FaceBench.Answer] = []
        for _ in 0..<50 where answers.last?.status != 503 { answers.append(try login("wrong")) }
        #expect(answers.dropLast().allSatisfy { $0.status == 401 })
        #expect(answers.last?.status == 503 && answers.last?.text.hasPrefix("too many failed logins; try again in ") == true)
        #expect(try login("p4ss").status == 503)
        bench.time.withLock { $0 += 3_600_000 }
        #expect(try login("p4ss").status == 200)
    }

    @Test("RC-013: broken JSON is 500 with the standard text", arguments: ["/rc/v1/app/login", "/app/v1/Item", "/rc/v1/app/search"])
    func brokenJSON(path: String) throws {
        let bench = try FaceBench()
        let answer = try bench.call("POST", path, headers: ["cookie": try bench.client().cookie], body: "{\"login\":")
        #expect(answer.status == 500 && answer.text == "Server error while processing client data")
        #expect(answer.cookie == nil && answer.header("Cache-Control") == nil)
    }

    @Test(
        "RC-014: every call without a valid session is 401 without a cookie",
        arguments: [
            ("POST", "/rc/v1/clients"), ("POST", "/rc/v1/clients/c/register"), ("POST", "/rc/v1/clients/c/reset"), ("GET", "/app/v1/Item"),
            ("POST", "/app/v1/Item"),
            ("PUT", "/app/v1/Item/1"), ("POST", "/rc/v1/app/search"), ("GET", "/application"), ("GET", "/application/clientcreate"),
        ])
    func noSession(method: String, path: String) throws {
        let bench = try FaceBench()
        for cookie in [nil, "rhoconnect_session=forged", "other=1"] {
            let answer = try bench.call(method, path, headers: cookie.map { ["cookie": $0] } ?? [:])
            #expect(answer.status == 401 && answer.text == "Not authenticated" && answer.cookie == nil)
        }
    }

    @Test("RC-021: calls of the older style get the same answers, and a warning on success")
    func olderStyle() throws {
        let bench = try FaceBench(["1": ["title": "Saw"]])
        let login = try bench.call("POST", "/application/clientlogin", body: #"{"login":"kim","password":"p4ss"}"#)
        let headers = ["cookie": try #require(login.cookie)]
        let created = try bench.call("GET", "/application/clientcreate", headers: headers)
        let id = try #require(created.json?["client"]?["client_id"]?.string)
        let page = try bench.call("GET", "/application", ["client_id": id, "version": "3", "source_name": "Item", "token": "1"], headers: headers)
        #expect(page.commands == ["insert": ["1": ["title": "Saw"]]])
        let upload = try bench.call(
            "POST", "/application", headers: headers,
            body: "{\"source_name\":\"Item\",\"client_id\":\"\(id)\",\"create\":{\"t\":{\"title\":\"Axe\"}}}")
        let reset = try bench.call("GET", "/application/clientreset", ["client_id": id], headers: headers)
        for answer in [login, created, page, upload, reset] {
            #expect(answer.status == 200 && answer.header("Warning")?.contains("deprecated") == true)
        }
        let refused = try bench.call("GET", "/application", ["client_id": "none", "source_name": "Item"], headers: headers)
        #expect(refused.status == 500 && refused.header("Warning") == nil)
    }

    @Test("RC-022: the login of browser clients returns the cookie, encoded, in a JSON body, and the session as parameter counts")
    func browser() throws {
        let bench = try FaceBench()
        let answer = try bench.call("POST", "/api/application/clientlogin", body: #"{"login":"kim","password":"p4ss"}"#)
        let text = try #require(answer.json?["rhoconnect_session"]?.string)
        let token = try #require(answer.cookie).dropFirst("rhoconnect_session=".count)
        #expect(text == "rhoconnect_session%3D\(token)%3B")
        #expect(try bench.call("GET", "/api/application/clientcreate", ["rhoconnect_session": String(token)]).status == 200)
    }

    @Test("RC-024: each new client gets an id of its own")
    func newClients() throws {
        let bench = try FaceBench()
        let ids = try (0..<3).map { _ in try bench.client().id }
        #expect(Set(ids).count == 3 && ids.allSatisfy { $0.count == 32 })
    }

    @Test("RC-007 RC-026: the client id of the header wins, that of the parameter suffices, an unknown or missing one is 500")
    func clientIDs() throws {
        let bench = try FaceBench(["1": ["a": "b"]])
        let client = try bench.client()
        let cookie = ["cookie": client.cookie], query = ["version": "3", "token": "1"]
        #expect(try bench.call("GET", "/app/v1/Item", query.merging(["client_id": client.id]) { $1 }, headers: cookie).status == 200)
        #expect(
            try bench.call(
                "GET", "/app/v1/Item", query.merging(["client_id": "none"]) { $1 },
                headers: cookie.merging(["x-rhoconnect-client-id": client.id]) { $1 }
            ).status == 200)
        let wrong = cookie.merging(["x-rhoconnect-client-id": "none"]) { $1 }
        for (method, path, body) in [
            ("GET", "/app/v1/Item", ""), ("POST", "/app/v1/Item", "{}"), ("POST", "/rc/v1/clients/none/reset", ""),
            ("POST", "/rc/v1/app/search", #"{"sources":[{"name":"Item"}]}"#),
        ] {
            for headers in [wrong, cookie] {
                let answer = try bench.call(method, path, headers: headers, body: body)
                #expect(answer.status == 500 && answer.text == "Unknown client", "\(method) \(path)")
            }
        }
    }

    @Test("RC-029 RC-030: registering an unknown id creates it, stores the given fields alone, and answers 200, empty")
    func register() throws {
        let bench = try FaceBench(["1": ["a": "b"]])
        var client = try bench.client()
        client.id = "my-own-id"
        let first = try client.call("POST", "/rc/v1/clients/my-own-id/register", body: #"{"device_pin":"a1","device_type":"APPLE","other":"x"}"#)
        let second = try client.call("POST", "/rc/v1/clients/my-own-id/register", body: #"{"device_pin":"b2"}"#)
        #expect(first.status == 200 && second.status == 200 && second.body.isEmpty)
        #expect(try client.query().commands == ["insert": ["1": ["a": "b"]]])
        let fields = try bench.server.stateStore.read { try $0.first("SELECT fields FROM _rho_client WHERE id = 'my-own-id'", [])?.first?.text }
        #expect(try JSONValue(parsing: fields ?? "") == ["device_pin": "b2", "device_type": "APPLE"])
    }

    @Test("RC-032 RC-033: a reset has all sources come again, one with names those alone; the header is not needed")
    func reset() throws {
        let bench = try FaceBench(["1": ["a": "b"]])
        let client = try bench.client()
        try client.drain()
        #expect(try client.query().commands == [:])
        #expect(
            try bench.call("POST", "/rc/v1/clients/\(client.id)/reset", headers: ["cookie": client.cookie], body: #"{"sources":[{"name":"Other"}]}"#)
                .status == 200)
        #expect(try client.query().commands == [:])
        #expect(
            try bench.call("POST", "/rc/v1/clients/\(client.id)/reset", headers: ["cookie": client.cookie], body: #"{"sources":[{"name":"Item"}]}"#)
                .body.isEmpty)
        #expect(try client.query().commands == ["insert": ["1": ["a": "b"]]])
        try client.drain()
        #expect(try bench.call("POST", "/rc/v1/clients/\(client.id)/reset", headers: ["cookie": client.cookie]).status == 200)
        #expect(try client.query().commands == ["insert": ["1": ["a": "b"]]])
    }

    @Test("RC-035: a client id that another user's session has moves to that user, without its documents")
    func otherUser() throws {
        let bench = try FaceBench(["1": ["a": "b"]])
        let kim = try bench.client()
        var lee = try bench.client("lee")
        try kim.drain()
        lee.id = kim.id
        #expect(try lee.query().commands == ["insert": ["1": ["a": "b"]]])
        try lee.drain()
        #expect(try kim.query().commands == ["insert": ["1": ["a": "b"]]], "and back again")
    }

    @Test("RC-161 RC-164: administrative calls need the token; a deleted client is unknown at its next call")
    func administration() throws {
        let bench = try FaceBench()
        let client = try bench.client()
        #expect(try bench.call("POST", "/rc/v1/users/ping", body: #"{"user_id":"kim"}"#).text == "No API token provided")
        let wrong = try bench.call("POST", "/rc/v1/users/ping", headers: ["x-rhoconnect-api-token": "x"], body: "{}")
        #expect(wrong.status == 422 && wrong.text == "Invalid/missing API user")
        let admin = ["x-rhoconnect-api-token": "admin-token"]
        let ping = try bench.call("POST", "/rc/v1/users/ping", headers: admin, body: #"{"user_id":"kim","sources":["Item"],"message":"hi"}"#)
        #expect(ping.status == 200 && ping.body.isEmpty)
        #expect(try client.query().status == 200)
        #expect(try bench.call("DELETE", "/rc/v1/users/kim/clients/\(client.id)", headers: admin).text == "Client deleted")
        #expect(try client.query().text == "Unknown client")
    }
}
