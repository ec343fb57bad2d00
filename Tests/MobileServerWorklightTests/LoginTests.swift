import MobileCrypto
import MobileServer
import MobileServerWorklight
import MobileStore
import PostgreSQLClient
import PostgreSQLTestSupport
import TestSupport
import Testing

/// Worklight protocol, sections 4.6, 4.7 and 4.10: logins of users.
@Suite struct LoginTests {
    private let face: Face
    init() throws { face = try Face() }

    @Test(
        "WL-089 WL-093 WL-095: a form below the application, the services or the root logs in to the same session",
        arguments: [
            "/Demo/apps/services/api/Demo/iOSnative/j_security_check", "/Demo/apps/services/j_security_check", "/Demo/j_security_check",
        ])
    func paths(path: String) throws {
        let client = try face.connectedClient()
        let page = try client.call("mine")
        #expect(page.status == 200)
        #expect(page.header("content-type") == "text/html; charset=UTF-8")
        #expect(page.text.contains("j_security_check"))
        let cookie = client.cookies["JSESSIONID"]
        let login = try client.login("ada", "right", path: path)
        #expect(login.status == 200)
        #expect(login.object != nil)
        #expect(client.cookies["JSESSIONID"] == cookie)
        let response = try client.call("mine")
        #expect(response["user"] == "ada")
        #expect(response["role"] == "r-ada")
        #expect(response["isSuccessful"] == true)
        #expect(response.accepted == ["form"])
    }

    @Test("WL-094: a wrong password brings the page with its error, and no identity", arguments: [("ada", "wrong"), ("", "right"), ("ada", "")])
    func wrong(user: String, password: String) throws {
        let client = try face.connectedClient()
        let response = try client.login(user, password)
        #expect(response.status == 200)
        #expect(response.text == "<html>page Invalid user name or password <form action=\"j_security_check\"></form></html>")
        #expect(try client.call("mine").text.contains("j_security_check"))
        #expect(try client.send("getuserinfo").object?["form"] == nil)
    }

    @Test func `a form without a session logs nobody in`() throws {
        let client = face.client()
        #expect(try client.login("ada", "right").text.contains("j_security_check"))
        #expect(client.cookies["JSESSIONID"] == nil)
    }

    @Test("WL-098: a procedure without its user sends the login object of the adapter's realm; its login procedure is open")
    func adapter() throws {
        let client = try face.connectedClient()
        let challenge = try client.call("adapterMine")
        #expect(challenge.status == 200)
        #expect(challenge.object == ["authRequired": true, "isSuccessful": true])
        let fields = ["adapter": "Login", "procedure": "submit"]
        let wrong = try client.send("/invoke", fields.merging(["parameters": "[\"ada\",\"wrong\"]"]) { $1 })
        #expect(wrong["authRequired"] == true)
        #expect(try client.call("adapterMine")["authRequired"] == true)
        let right = try client.send("/invoke", fields.merging(["parameters": "[\"ada\",\"right\"]"]) { $1 })
        #expect(right["authRequired"] == false)
        #expect(right.accepted == ["adapter"])
        #expect(try client.call("adapterMine")["user"] == "ada")
        _ = try client.call("leave", adapter: "Login")
        #expect(try client.call("adapterMine")["authRequired"] == true)
    }

    @Test func `invoke needs the session's value too, and guards procedures as query does`() throws {
        let client = try face.connectedClient()
        #expect(try client.send("/invoke", ["adapter": "Stock", "procedure": "mine"]).text.contains("j_security_check"))
        client.instance = nil
        #expect(try client.send("/invoke", ["adapter": "Login", "procedure": "submit"]).status == 401)
    }

    @Test("WL-099: a logout drops one realm, and the session's value stays")
    func logout() throws {
        let client = try face.connectedClient()
        _ = try client.login("ada", "right")
        _ = try client.send("/invoke", ["adapter": "Login", "procedure": "submit", "parameters": "[\"bob\",\"right\"]"])
        #expect(try client.call("mine")["user"] == "ada")
        let value = client.instance
        let response = try client.send("logout", ["realm": "form"])
        #expect(response.status == 200)
        #expect(response.object == [:])
        #expect(try client.call("mine").text.contains("j_security_check"))
        #expect(try client.call("adapterMine")["user"] == "bob")
        #expect(client.instance == value)
        for realm in ["form", "unknown", "wl_antiXSRFRealm", "wl_deviceNoProvisioningRealm"] {
            #expect(try client.send("logout", ["realm": realm]).status == 200)
        }
        #expect(try client.call("echo").status == 200)
        _ = try client.login("ada", "right")
        #expect(try client.call("mine").accepted == ["form"])
    }

    @Test func `a realm that guards an application is asked for by each request but those that need no user`() throws {
        let client = face.client()
        client.application = "Closed"
        client.instance = try client.send("init").challenges?["wl_antiXSRFRealm"]?["WL-Instance-Id"]?.string
        for name in ["init", "query", "getuserinfo", "logactivity"] { #expect(try client.send(name).text.contains("j_security_check")) }
        for name in ["heartbeat", "authenticate", "logout"] { #expect(try client.send(name).object != nil) }
        #expect(try client.send("login", ["realm": "form"]).text.contains("j_security_check"))
        _ = try client.login("ada", "right")
        let info = try client.send("login", ["realm": "form"])
        #expect(info.object?["form"]?["userId"] == "ada")
        #expect(info.accepted == ["form"])
        #expect(try client.send("init").status == 200)
    }

    @Test func `the accounts of the server log in, and wrong passwords are slowed down`() throws {
        let directory = try TemporaryDirectory()
        let database = try Face.newDatabase()
        var state = ServerConfiguration(cachePath: directory.file("state.db"), users: ["ada": "secret"])
        state.storeAddress = database?.configuration.address
        state.passwordParameters = .init(n: 16, r: 1, p: 1)
        let server = try WorklightServer(
            WorklightConfiguration(
                context: "Demo", applications: [WorklightApplication(id: "Demo", requiresDevice: false)], realms: [.form("users")]),
            state: state)
        let client = StrictClient(server)
        try client.connect()
        #expect(try client.login("bob", "secret").text.contains("Invalid user name or password"))
        #expect(try client.login("ada", "secret").object != nil)
        #expect(try client.send("getuserinfo").object?["users"]?["userId"] == "ada")
        for _ in 0..<50 { _ = try client.login("eve", "guess") }
        #expect(try client.login("eve", "guess").text.contains("try again"))
        #expect(try client.login("<b>", "guess").text.contains("<b>") == false)
    }

    @Test(
        "realms and applications with wrong names are refused at the start",
        arguments: [
            WorklightConfiguration(applications: [WorklightApplication(id: "a/b")]),
            WorklightConfiguration(applications: [WorklightApplication(id: "")]),
            WorklightConfiguration(applications: [WorklightApplication(id: "A"), WorklightApplication(id: "A")]),
            WorklightConfiguration(applications: [WorklightApplication(id: "A", userRealm: "none")]),
            WorklightConfiguration(applications: [], realms: [.form("wl_antiXSRFRealm")]),
            WorklightConfiguration(
                applications: [], adapters: [WorklightAdapter("A", procedures: ["p": WorklightProcedure(realm: "none") { _ in .null }])]),
        ])
    func names(configuration: WorklightConfiguration) throws {
        let directory = try TemporaryDirectory()
        let error = #expect(throws: ServerError.self) {
            try WorklightServer(configuration, state: ServerConfiguration(cachePath: directory.file("state.db")))
        }
        #expect(error?.code == .configuration)
    }
}
