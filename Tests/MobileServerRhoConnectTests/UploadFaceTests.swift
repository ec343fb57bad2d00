import MobileExecution
import MobileProtocol
import MobileServer
import MobileServerRhoConnect
import MobileStore
import TestSupport
import Testing

@Suite struct UploadFaceTests {
    @Test("RC-080 RC-081: an upload is 200, empty, also when the adapter fails, and without any operation nothing happens")
    func answers() throws {
        let bench = try FaceBench(["1": ["a": "b"]])
        bench.adapter.state.withLock { $0.refusal = { _, _, _ in "no" } }
        let client = try bench.client()
        for body in [["create": ["t": ["a": "x"]]], ["update": ["1": ["a": "x"]]], [:], ["create": ["t": [:]]]] as [JSONValue] {
            let answer = try client.upload(body)
            #expect(answer.status == 200 && answer.body.isEmpty)
        }
        #expect(try client.call("POST", "/app/v1/Item").status == 200)
        #expect(bench.adapter.state.withLock { $0.log }.count == 2)
    }

    @Test("RC-082 RC-083: values become texts, id and attrib_type are dropped, and a name is split at its first colon")
    func values() throws {
        let bench = try FaceBench()
        let client = try bench.client()
        _ = try client.call(
            "POST", "/app/v1/Item", body: #"{"create":{"t":{"n":4.50,"i":7,"f":true,"z":null,"id":"9","attrib_type":"x","a:b":"v:w"}}}"#)
        #expect(bench.adapter.objects["b1"] == ["n": "4.5", "i": "7", "f": "true", "z": "", "a": "b:v:w"])
    }

    @Test("RC-084 RC-085: a created object is a link for the sender, sent until acknowledged, and an insert for others")
    func links() throws {
        let bench = try FaceBench()
        let kim = try bench.client(), other = try bench.client()
        _ = try kim.upload(["create": ["t": ["title": "Saw"]]])
        let page = try kim.query()
        #expect(page.commands == ["links": ["t": ["l": "b1"]]])
        #expect(try kim.query(token: "wrong").json == page.json)
        #expect(try kim.query(token: page.token).commands == [:])
        #expect(try other.query().commands == ["insert": ["b1": ["title": "Saw"]]])
    }

    @Test(
        "links come again after a query without a token, which does not acknowledge them; a newer link of the same id takes the place of its page's")
    func linksWithoutToken() throws {
        let bench = try FaceBench()
        let client = try bench.client()
        _ = try client.upload(["create": ["t": ["title": "Saw"], "u": ["title": "Axe"]]])
        let first = try client.query()
        #expect(first.commands == ["links": ["t": ["l": "b1"], "u": ["l": "b2"]]])
        let again = try client.query(token: nil)
        #expect(again.commands == first.commands && again.token != first.token)
        _ = try client.upload(["create": ["t": ["title": "Saw"]]])
        let newer = try client.query(token: nil)
        #expect(newer.commands == ["links": ["t": ["l": "b3"], "u": ["l": "b2"]]])
        #expect(try client.query(token: newer.token).commands == [:])
    }

    @Test("RC-088: without an id from the adapter there is no link and no error; a page that is sent again deletes the temporary id")
    func noID() throws {
        let bench = try FaceBench(["1": ["a": "b"]])
        bench.adapter.state.withLock { $0.givesIDs = false }
        let client = try bench.client()
        _ = try client.upload(["create": ["t": ["title": "Saw"]]])
        let page = try client.query()
        #expect(page.commands == ["insert": ["1": ["a": "b"]]])
        #expect(try client.query(token: "wrong").commands == ["insert": ["1": ["a": "b"]], "delete": ["t": ["title": "Saw"]]])
        #expect(try client.query(token: page.token).commands == [:])
    }

    @Test("RC-089: creates, updates and deletes of one upload run in this order, and all take effect")
    func order() throws {
        let bench = try FaceBench(["1": ["a": "b"], "2": ["a": "b"]])
        _ = try bench.client().upload(["delete": ["2": ["a": "b"]], "update": ["1": ["a": "c"]], "create": ["t": ["title": "Saw"]]])
        #expect(bench.adapter.state.withLock { $0.log } == ["create Saw", "update 1", "delete 2"])
        #expect(bench.adapter.objects == ["1": ["a": "c"], "b1": ["title": "Saw"]])
    }

    @Test("RC-090 RC-091: an accepted deletion is nothing for the sender and a deletion for others; with other attributes the sender gets one, too")
    func deletions() throws {
        let bench = try FaceBench(["1": ["a": "b"], "2": ["a": "b", "c": "d"]])
        let client = try bench.client(), other = try bench.client()
        try client.drain()
        try other.drain()
        _ = try client.upload(["delete": ["1": ["a": "b"]]])
        #expect(try client.query().commands == [:])
        #expect(try other.query().commands == ["delete": ["1": ["a": "b"]]])
        _ = try client.upload(["delete": ["2": ["a": "b"]]])
        #expect(try client.query().commands == ["delete": ["2": ["c": "d"]]])
    }

    @Test(
        "RC-092 RC-093 RC-094 RC-095: refusals echo attributes and message, an update the whole object; a page of errors alone has no token and is sent once"
    )
    func refusals() throws {
        let bench = try FaceBench(["1": ["a": "b", "c": "d"], "2": ["a": "b"]])
        let client = try bench.client()
        try client.drain()
        bench.adapter.state.withLock { $0.refusal = { kind, _, _ in kind + " refused" } }
        _ = try client.upload(["create": ["t": ["x": "y"]], "update": ["1": ["a": "z"]], "delete": ["2": ["a": "b"]]])
        let page = try client.query()
        #expect(page.token == "" && page["count"] == 0)
        #expect(
            page.commands == [
                "create-error": ["t": ["x": "y"], "t-error": ["message": "create refused"]],
                "update-error": ["1": ["a": "z"], "1-error": ["message": "update refused"]],
                "update-rollback": ["1": ["a": "b", "c": "d"]], "delete-error": ["2": ["a": "b"], "2-error": ["message": "delete refused"]],
            ])
        #expect(try client.query().commands == [:])
    }

    @Test(
        "RC-096 RC-097: the second of three creates fails: link and error are sent again until acknowledged, and an upload without changes yields the third"
    )
    func batch() throws {
        let bench = try FaceBench()
        let client = try bench.client()
        bench.adapter.state.withLock { $0.refusal = { _, _, attributes in attributes["title"] == "bad" ? "no" : nil } }
        _ = try client.call("POST", "/app/v1/Item", body: #"{"create":{"t1":{"title":"one"},"t2":{"title":"bad"},"t3":{"title":"three"}}}"#)
        let page = try client.query()
        #expect(page.commands == ["links": ["t1": ["l": "b1"]], "create-error": ["t2": ["title": "bad"], "t2-error": ["message": "no"]]])
        #expect(try client.query(token: "wrong").json == page.json)
        #expect(try client.query(token: page.token).commands == [:])
        _ = try client.upload(["source_name": "Item", "client_id": .string(client.id)])
        #expect(try client.query().commands == ["links": ["t3": ["l": "b2"]]])
    }

    @Test("RC-112: the same create posted twice makes two objects and one link")
    func twice() throws {
        let bench = try FaceBench()
        let client = try bench.client()
        for _ in 0..<2 { _ = try client.upload(["create": ["t": ["title": "Saw"]]]) }
        #expect(bench.adapter.objects.count == 2)
        #expect(try client.query().commands?["links"]?.object?.count == 1)
    }

    @Test("RC-113: one object can be put and deleted by its address")
    func singleObject() throws {
        let bench = try FaceBench(["1": ["a": "b"], "2": ["a": "b"]])
        let client = try bench.client()
        try client.drain()
        let put = try client.call("PUT", "/app/v1/Item/1", body: #"{"update":{"a":"c"}}"#), gone = try client.call("DELETE", "/app/v1/Item/2")
        #expect(put.status == 200 && put.body.isEmpty && gone.status == 200 && gone.body.isEmpty)
        #expect(bench.adapter.objects == ["1": ["a": "c"]])
    }

    @Test(
        "RC-117 RC-118 RC-119: the stored value of a file replaces its attribute, the sender of a create gets the link alone; without a part the value stays; an update comes back"
    )
    func files() throws {
        let bench = try FaceBench(["1": ["photo": "http://files/old"]])
        let client = try bench.client()
        try client.drain()
        func post(_ json: String, _ part: String?) throws {
            var body = ""
            if let part {
                body +=
                    "--x\r\nContent-Disposition: form-data; name=\"\(part)\"; filename=\"p.jpg\"\r\nContent-Type: application/octet-stream\r\n\r\n12345\r\n"
            }
            body += "--x\r\nContent-Disposition: form-data; name=\"cud\"\r\n\r\n\(json)\r\n--x--\r\n"
            let answer = try bench.call(
                "POST", "/app/v1/Item", headers: ["cookie": client.cookie, "x-rhoconnect-client-id": client.id], body: body,
                type: "multipart/form-data; boundary=x")
            #expect(answer.status == 200)
        }
        try post(#"{"create":{"t":{"photo":"/local/p.jpg"}},"blob_fields":["photo"]}"#, "photo-t")
        #expect(bench.adapter.objects["b1"] == ["photo": "http://files/photo/5"])
        let created = try client.query()
        #expect(created.commands == ["links": ["t": ["l": "b1"]]])
        _ = try client.query(token: created.token)
        try post(#"{"create":{"u":{"photo":"/local/q.jpg"}},"blob_fields":["photo"]}"#, nil)
        #expect(bench.adapter.objects["b2"] == ["photo": "/local/q.jpg"])
        try client.drain()
        try post(#"{"update":{"1":{"photo":"/local/r.jpg"}},"blob_fields":["photo"]}"#, "photo-1")
        #expect(try client.query().commands == ["insert": ["1": ["photo": "http://files/photo/5"]], "delete": ["1": ["photo": "http://files/old"]]])
    }
}
