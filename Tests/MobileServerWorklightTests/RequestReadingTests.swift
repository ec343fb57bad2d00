import MobileServerWorklight
import MobileStore
import TestSupport
import Testing

/// Worklight protocol, sections 1 and 2: what the face accepts, and the form of its answers.
@Suite struct RequestReadingTests {
    private let face: Face
    init() throws { face = try Face() }

    @Test(
        "WL-015: the content type may have a charset in any case, or none",
        arguments: [
            "application/x-www-form-urlencoded", "application/x-www-form-urlencoded; charset=UTF-8",
            "application/x-www-form-urlencoded;charset=utf-8",
            "Application/X-WWW-Form-Urlencoded; Charset=Utf-8",
        ])
    func contentType(type: String) throws {
        let client = try face.connectedClient()
        let response = try client.call("echo", "[\"ü\"]", headers: ["content-type": type])
        #expect(response["parameters"] == ["ü"])
    }

    @Test("WL-016: unknown fields, bare names and unknown header fields are ignored")
    func unknown() throws {
        let client = try face.connectedClient()
        client.extra = ["x-wl-native-version": "1", "x-wl-device-id": "d", "origin": "file://", "x-unknown": "y"]
        let body = "skin=default&__wl_deviceCtx=%7B%7D&adapter=Stock&procedure=echo&compressResponse&parameters=%5B1%5D&isAjaxRequest=true&x&&=&%zz=1"
        #expect(try client.send("query", body: Array(body.utf8))["parameters"] == [1])
        let bare = "adapter=Stock&procedure=echo&parameters&x=0.5"
        #expect(try client.send("query", body: Array(bare.utf8))["parameters"] == [])
        #expect(try client.call("echo", "null")["parameters"] == [])
    }

    @Test("WL-017: the random field may be missing, and isAjaxRequest may be 1")
    func withoutRandom() throws {
        let client = try face.connectedClient()
        let body = "adapter=Stock&procedure=echo&parameters=%5B1%5D&isAjaxRequest=1"
        #expect(try client.send("query", body: Array(body.utf8))["parameters"] == [1])
        #expect(try client.send("query", body: Array("adapter=Stock&procedure=echo".utf8))["parameters"] == [])
    }

    @Test("WL-018: invoke and query may be GET")
    func get() throws {
        let client = try face.connectedClient()
        let query = ["adapter": "Stock", "procedure": "echo", "parameters": "[1,true]"]
        for path in ["/Demo/invoke", "/Demo/apps/services/api/Demo/iOSnative/query"] {
            let response = try client.raw("GET", path, query: query, headers: ["wl-instance-id": client.instance ?? ""])
            #expect(response["parameters"] == [1, true])
        }
        #expect(try client.raw("GET", "/Demo/apps/services/api/Demo/iOSnative/init").status == 405)
        let named = try client.send("query/Stock/echo", ["parameters": "[2]"])
        #expect(named["parameters"] == [2])
    }

    @Test("WL-019 WL-161: reach answers OK without a session; composite and getuserinfo answer objects")
    func reach() throws {
        let client = face.client()
        let response = try client.raw("GET", "/Demo/apps/services/reach")
        #expect(response.status == 200)
        #expect(response.text == "OK")
        #expect(client.cookies.isEmpty)
        try client.connect()
        let composite = try client.send("composite", ["requests": "[\"appversionaccess\",\"updates\"]"])
        #expect(composite.status == 200)
        #expect(composite["appversionaccess"] == ["response": [:]])
        #expect(composite["updates"] == ["response": [:]])
        let info = try client.send("getuserinfo")
        #expect(info.status == 200)
        #expect(info.object?["wl_deviceNoProvisioningRealm"]?["userId"] == "D-1")
    }

    @Test(
        "WL-020: an unknown application or environment is not found, and shows nothing of a session",
        arguments: [
            ("Nope", "iOSnative"), ("demo", "iOSnative"), ("Closed", "android"), ("", "iOSnative"),
        ])
    func unknownApplication(application: String, environment: String) throws {
        let client = try face.connectedClient()
        client.application = application
        client.environment = environment
        for name in ["init", "query", "getuserinfo"] {
            let response = try client.send(name)
            #expect(response.status == 404)
            #expect(response.accepted == [])
            #expect(!response.text.contains("D-1"))
        }
        for path in ["/", "/Demo", "/Other/invoke", "/Demo/apps/services/api/Demo", "/Demo/apps/services/api/Demo/iOSnative/x/y/z", "/Demo/apps"] {
            #expect(try client.raw("POST", path).status == 404)
        }
    }

    @Test("WL-021: header fields are found in any case of letters; of several values the last counts")
    func headerCase() throws {
        let client = try face.connectedClient()
        let value = try #require(client.instance)
        client.instance = nil
        // The HTTP layer gives names in lower case, and joins fields of one name.
        #expect(try client.call("echo", headers: ["wl-instance-id": "old, " + value]).status == 200)
        #expect(try client.call("echo", headers: ["wl-instance-id": value + ", old"]).status == 401)
    }

    @Test("WL-022 WL-023: JSON answers of every status have their wrapper, type and no-cache fields")
    func form() throws {
        let client = face.client()
        var responses = [try client.send("init")]
        try client.connect()
        responses += [try client.call("echo"), try client.send("nothing")]
        try face.server.administration.set(.disabled(message: "m", link: nil), application: "Demo", environment: "iOSnative", version: "1.0")
        responses.append(try client.call("echo"))
        #expect(responses.map(\.status) == [401, 200, 404, 403])
        for response in responses {
            #expect(response.text.hasPrefix("/*-secure-\n{"))
            #expect(response.text.hasSuffix("}*/"))
            #expect(response.header("content-type") == "application/json; charset=UTF-8")
            #expect(response.header("cache-control") == "no-cache, no-store, must-revalidate")
            #expect(response.header("expires") == "Sat, 26 Jul 1997 05:00:00 GMT")
        }
    }

    @Test(
        "WL-029: answers are compressed only if the client offers gzip or asks for it, and never deflated",
        arguments: [
            ("", nil, nil), ("gzip", nil, "gzip"), ("gzip, deflate", nil, "gzip"), ("deflate", nil, nil), ("br, deflate", "false", nil),
            ("", "true", "gzip"),
            ("gzip;q=0", nil, nil), ("identity", "null", nil),
        ] as [(String, String?, String?)])
    func compression(offered: String, wanted: String?, expected: String?) throws {
        let client = try face.connectedClient()
        if !offered.isEmpty { client.extra["accept-encoding"] = offered }
        let response = try client.call("long", fields: wanted.map { ["compressResponse": $0] } ?? [:])
        #expect(response.header("content-encoding") == expected)
        #expect(response["text"]?.string?.count == 5000)
    }

    @Test func `a body that is too long or damaged is a clear failure`() throws {
        let small = try Face { $0.maximumBody = 1000 }
        let client = try small.connectedClient()
        #expect(try client.send("query", body: Array(repeating: 0x61, count: 1001)).status == 413)
        for bytes in [[0xFF, 0x3D, 0xFE], Array("adapter=%FF%FE&procedure=%".utf8), Array("%00=%00".utf8)] as [[UInt8]] {
            #expect(try client.send("query", body: bytes)["isSuccessful"] == false)
        }
    }
}
