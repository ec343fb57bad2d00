import MobileServerWorklight
import MobileStore
import TestSupport
import Testing

/// Worklight protocol, sections 5 and 7 to 9: procedures, push, logs and preferences.
@Suite struct ServiceTests {
    private let face: Face
    init() throws { face = try Face() }

    // MARK: Procedures

    @Test(
        "WL-110: a procedure that fails, and one that does not exist, are answers with isSuccessful false",
        arguments: [
            ("fails", "out of stock"), ("nothing", "there is no procedure nothing of adapter Stock"),
        ])
    func failing(procedure: String, text: String) throws {
        let response = try face.connectedClient().call(procedure)
        #expect(response.status == 200)
        #expect(response.object == ["isSuccessful": false, "errors": [.string(text)], "warnings": [], "info": []])
    }

    @Test("WL-111: missing parameters are none, broken ones a failure of the procedure", arguments: ["[1", "{}", "7", "x", "[1],"])
    func parameters(text: String) throws {
        let client = try face.connectedClient()
        #expect(try client.call("echo", nil)["parameters"] == [])
        let response = try client.call("echo", text)
        #expect(response.status == 200)
        #expect(response["isSuccessful"] == false)
    }

    @Test("WL-112: results pass through unchanged, numbers included")
    func unchanged() throws {
        let response = try face.connectedClient().call("backEnd")
        #expect(
            response.object == [
                "isSuccessful": true, "statusCode": 200, "responseHeaders": ["A": "b"],
                "resultSet": [["n": 12345678901234567, "d": .number("1.50")]],
            ])
    }

    @Test func `statements of SQL run on the back end`() throws {
        let client = try face.connectedClient()
        #expect(
            try client.call("quotes", "[1]").object == [
                "isSuccessful": true,
                "resultSet": [["id": 1, "name": "IBM", "price": .number("65.5")], ["id": 2, "name": "X", "price": .null]],
            ])
        #expect(try client.call("rename", "[\"Y'; DROP TABLE quote\",2]")["updateStatementResult"] == ["updateCount": 1])
        #expect(try client.call("quotes", "[2]")["resultSet"]?[0]?["name"] == "Y'; DROP TABLE quote")
        #expect(try client.call("quotes", "[[1]]")["isSuccessful"] == false)
        #expect(try client.call("quotes", "[1,2]")["isSuccessful"] == false)
        #expect(try client.call("text").object == ["isSuccessful": true, "result": "plain"])
    }

    // MARK: Push

    private func subscribe(_ client: StrictClient, _ alias: String, _ options: String = "{}") throws -> StrictResponse {
        try client.send("notifications", ["subscribe": options, "alias": alias, "adapter": "Stock", "eventSource": "prices"])
    }

    @Test("WL-133: token and subscriptions belong to user, device and application, and come with the next init")
    func subscriptions() throws {
        let client = try face.connectedClient()
        #expect(try client.send("notifications", ["updateToken": "00ff"]).status == 200)
        #expect(try subscribe(client, "7").status == 200)
        let expected: JSONValue = ["token": "00ff", "eventSources": [["alias": "7", "adapter": "Stock", "eventSource": "prices"]]]
        #expect(try client.send("init")["notificationSubscriptionState"] == expected)
        let empty: JSONValue = ["token": "", "eventSources": []]
        // Another device, another user on the same device, and another application of it.
        let other = face.client()
        other.cookies["WL_PERSISTENT_COOKIE"] = client.cookies["WL_PERSISTENT_COOKIE"]
        #expect(try other.connect(device: "D-2")["notificationSubscriptionState"] == empty)
        _ = try client.login("ada", "right")
        #expect(try client.send("init")["notificationSubscriptionState"] == empty)
        _ = try client.send("logout", ["realm": "form"])
        #expect(try client.send("init")["notificationSubscriptionState"] == expected)
        client.application = "Open"
        #expect(try client.send("init")["notificationSubscriptionState"] == empty)
        // A later session of the same device.
        let later = face.client()
        later.cookies["WL_PERSISTENT_COOKIE"] = client.cookies["WL_PERSISTENT_COOKIE"]
        #expect(try later.connect()["notificationSubscriptionState"] == expected)
    }

    @Test("WL-134: both forms of unsubscribing work; broken options count as none", arguments: ["{}", ""])
    func unsubscribing(value: String) throws {
        let client = try face.connectedClient()
        #expect(try subscribe(client, "7", "{\"folder\":\"a\"b\"}").status == 200)
        #expect(try client.send("init")["notificationSubscriptionState"]?["eventSources"]?.array?.count == 1)
        let response = try client.send("notifications", ["unsubscribe": value, "alias": "7", "adapter": "Stock", "eventSource": "prices"])
        #expect(response.status == 200)
        #expect(try client.send("init")["notificationSubscriptionState"]?["eventSources"] == [])
    }

    @Test func `a subscription to nothing, and one without an alias, are refused`() throws {
        let client = try face.connectedClient()
        #expect(try client.send("notifications", ["subscribe": "{}", "alias": "7", "adapter": "Stock", "eventSource": "none"]).status == 400)
        #expect(try client.send("notifications", ["subscribe": "{}", "adapter": "Stock", "eventSource": "prices"]).status == 400)
        #expect(try client.send("notifications").status == 400)
        #expect(try client.send("notifications", ["updateToken": "a\0b"]).status == 400)
    }

    @Test func `a notification goes to each subscribed device with a token, with the alias of the device and by its options`() throws {
        let client = try face.connectedClient(), other = try face.connectedClient(device: "D-2"), silent = try face.connectedClient(device: "D-3")
        _ = try client.login("ada", "right")
        _ = try client.send("notifications", ["updateToken": "t1"])
        _ = try subscribe(client, "7", "{\"alert\":true,\"sound\":false,\"badge\":true}")
        _ = try other.send("notifications", ["updateToken": "t2"])
        _ = try subscribe(other, "news")
        _ = try subscribe(silent, "x")
        let administration = face.server.administration
        let all = try administration.notifications(
            adapter: "Stock", eventSource: "prices", alert: "up", badge: 3, sound: "default", payload: ["id": 1])
        #expect(all.map(\.token).sorted() == ["t1", "t2"])
        let first = try #require(all.first { $0.token == "t1" })
        #expect(first.owner == "user:ada")
        #expect(first.userInfo["aps"] == ["alert": "up", "badge": 3])
        #expect(try JSONValue(parsing: first.userInfo["payload"]?.string ?? "") == ["id": 1, "alias": "7"])
        #expect(try administration.notifications(adapter: "Stock", eventSource: "prices", user: "ada").map(\.token) == ["t1"])
        #expect(try administration.notifications(adapter: "Stock", eventSource: "other").isEmpty)
    }

    // MARK: Logs and activities

    private func upload(_ data: String, gzip: Bool = true) throws -> StrictResponse {
        let body = JSONValue.object(["__logdata": .string(data), "isAjaxRequest": "true", "x": "0.5"]).bytes
        return try face.client().raw(
            "POST", "/Demo/apps/services/loguploader",
            headers: [
                "content-type": "application/json", "content-encoding": gzip ? "gzip" : "identity", "x-wl-compressed": "true",
                "x-wl-clientlog-deviceid": "D-1", "x-wl-clientlog-appname": "Demo", "x-wl-clientlog-appversion": "1.0",
            ], body: gzip ? Gzip.compress(body) : body)
    }

    @Test("WL-142: a log is split into its entries, and broken ones are left out")
    func logs() throws {
        let response = try upload("{\"msg\":\"one\",\"level\":\"ERROR\"},{\"msg\":\"a},{b\"},")
        #expect(response.status == 201)
        #expect(response.bytes.isEmpty)
        #expect(try face.server.administration.logEntries().map { $0.entry["msg"] } == ["one", "a},{b"])
        #expect(try upload("{\"msg\":\"two\"},{\"msg\":,{\"msg\":\"three\"},", gzip: false).status == 201)
        #expect(try upload("").status == 201)
        #expect(try upload("7,{\"msg\":\"four\"},").status == 201)
        let entries = try face.server.administration.logEntries(device: "D-1")
        #expect(entries.map { $0.entry["msg"] } == ["one", "a},{b", "two", "three", "four"])
        #expect(entries.first?.description["appName"] == "Demo")
        #expect(try face.server.administration.logEntries(device: "D-9").isEmpty)
        #expect(try face.client().raw("POST", "/Demo/apps/services/loguploader", headers: ["content-encoding": "gzip"], body: [1, 2]).status == 400)
        #expect(try face.client().raw("POST", "/Demo/apps/services/configprofile").status == 204)
    }

    @Test("WL-143: the procedure of older clients gets the device and its entries")
    func adapterLog() throws {
        let client = try face.connectedClient()
        let parameters: JSONValue = [["deviceId": "D-7", "appName": "Demo"], [["msg": "one"], 7, ["msg": "two"]]]
        let response = try client.send("/invoke", ["adapter": "WLClientLogReceiver", "procedure": "log", "parameters": parameters.description])
        #expect(response["isSuccessful"] == true)
        #expect(try face.server.administration.logEntries(device: "D-7").map { $0.entry["msg"] } == ["one", "two"])
        #expect(try client.send("/invoke", ["adapter": "WLClientLogReceiver", "procedure": "log"])["isSuccessful"] == false)
        let received = RecordedLines()
        let own = try Face { configuration in
            let procedure = WorklightProcedure { invocation in
                received.add("\(invocation.parameters[0]["deviceId"] ?? .null) \(invocation.parameters[1])")
                return ["isSuccessful": true]
            }
            configuration.adapters.append(WorklightAdapter("WLClientLogReceiver", procedures: ["log": procedure]))
        }
        let body = JSONValue.object(["__logdata": "{\"msg\":\"m\"},"]).bytes
        let uploaded = try own.client().raw("POST", "/Demo/apps/services/loguploader", headers: ["x-wl-clientlog-deviceid": "D-1"], body: body)
        #expect(uploaded.status == 201)
        #expect(received.all == ["\"D-1\" [{\"msg\":\"m\"}]"])
    }

    @Test func `activities are counted by application and device`() throws {
        for device in ["D-1", "D-2"] {
            let client = try face.connectedClient(device: device)
            for activity in ["open", "open", "close"] { #expect(try client.send("logactivity", ["activity": activity]).status == 200) }
        }
        #expect(try face.connectedClient().send("logactivity").status == 400)
        let counts = try face.server.administration.activities()
        #expect(counts.map { "\($0.application) \($0.activity) \($0.count) \($0.devices)" } == ["Demo close 2 2", "Demo open 4 2"])
    }

    // MARK: Preferences

    @Test("WL-148: preferences are merged, removed and returned; the 101st is refused with nothing stored")
    func preferences() throws {
        let client = try face.connectedClient()
        #expect(try client.send("setup", ["userprefs": "{\"a\":\"1\",\"b\":\"2\"}"]).status == 200)
        #expect(try client.send("setup", ["userprefs": "{\"b\":\"3\",\"c\":\"4\"}"]).status == 200)
        #expect(try client.send("init")["userPrefs"] == ["a": "1", "b": "3", "c": "4"])
        #expect(try client.send("deleteup", ["userprefkey": "b"]).status == 200)
        #expect(try client.send("init")["userPrefs"] == ["a": "1", "c": "4"])
        let many = JSONValue.object(JSONObject(uniqueKeys: (0..<98).map { ("k\($0)", JSONValue.string("v")) }))
        #expect(try client.send("setup", ["userprefs": many.description]).status == 200)
        #expect(try client.send("setup", ["userprefs": "{\"a\":\"new\",\"one more\":\"x\"}"]).status == 400)
        let stored = try #require(client.send("init")["userPrefs"]?.object)
        #expect(stored.count == 100)
        #expect(stored["a"] == "1")
        #expect(try client.send("setup", ["userprefs": "{\"a\":\"5\"}"]).status == 200)
        #expect(try client.send("setup", ["userprefs": "[1]"]).status == 400)
    }

    @Test(
        "WL-149: a name of more than 128 and a value of more than 3072 characters are refused",
        arguments: [
            (128, 3072, 200), (129, 1, 400), (1, 3073, 400),
        ])
    func lengths(key: Int, value: Int, status: Int) throws {
        let client = try face.connectedClient()
        let preference: JSONObject = JSONObject(uniqueKeys: [(String(repeating: "ü", count: key), .string(String(repeating: "€", count: value)))])
        #expect(try client.send("setup", ["userprefs": JSONValue.object(preference).description]).status == status)
        #expect(try client.send("init")["userPrefs"]?.object?.count == (status == 200 ? 1 : 0))
    }
}
