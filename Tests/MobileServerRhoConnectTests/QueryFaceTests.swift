import MobileExecution
import MobileProtocol
import MobileServer
import MobileServerRhoConnect
import MobileStore
import TestSupport
import Testing

@Suite struct QueryFaceTests {
    static let five = ["1": ["a": "1"], "2": ["a": "2"], "3": ["a": "3"], "4": ["a": "4"], "5": ["a": "5"]]

    @Test(
        "RC-037 RC-038 RC-039 RC-040 RC-041: a page has six elements in their order, counts of objects, a token for data alone, and both repeated as headers"
    )
    func form() throws {
        let bench = try FaceBench(Self.five)
        let client = try bench.client()
        let answer = try client.query(size: 2)
        guard case .array(let elements)? = answer.json else { Issue.record("no array"); return }
        #expect(elements.map { $0.object?.map(\.key) ?? [] } == [["version"], ["token"], ["count"], ["progress_count"], ["total_count"], ["insert"]])
        #expect(answer["version"] == 3 && answer["count"] == 2 && answer["progress_count"] == 0 && answer["total_count"] == 5)
        #expect(Int64(answer.token) != nil)
        #expect(answer.header("X-Rhoconnect-PAGE-TOKEN") == answer.token && answer.header("X-Rhoconnect-PAGE-OBJECT-COUNT") == "2")
        #expect(answer.header("Cache-Control") == "no-cache")
        try client.drain()
        let end = try client.query()
        #expect(end.token == "" && end["count"] == 0 && end["total_count"] == 5 && end.commands == [:] && end.header("X-Rhoconnect-PAGE-TOKEN") == "")
        _ = try client.upload(["create": ["t": ["a": "x"]]])
        let links = try client.query()
        #expect(links.token != "" && links["count"] == 0 && links.commands == ["links": ["t": ["l": "b1"]]])
    }

    @Test(
        "RC-042 RC-043 RC-044 RC-046: the right token brings the next page, a wrong or empty one the same page again without a query; with nothing pending any will do",
        arguments: ["wrong", ""])
    func tokens(other: String) throws {
        let bench = try FaceBench(Self.five)
        let client = try bench.client()
        let first = try client.query(token: "whatever", size: 2)
        let queries = bench.adapter.state.withLock { $0.queries }
        let again = try client.query(token: other, size: 2)
        #expect(again.json == first.json)
        #expect(bench.adapter.state.withLock { $0.queries } == queries)
        let second = try client.query(token: first.token, size: 2)
        #expect(second.commands == ["insert": ["3": ["a": "3"], "4": ["a": "4"]]] && second.token != first.token)
    }

    @Test("RC-045: no token moves on, and the page before is never sent again")
    func noToken() throws {
        let bench = try FaceBench(Self.five)
        let client = try bench.client()
        _ = try client.query(size: 2)
        #expect(try client.query(token: nil, size: 2).commands == ["insert": ["3": ["a": "3"], "4": ["a": "4"]]])
        #expect(try client.query(token: nil, size: 2).commands == ["insert": ["5": ["a": "5"]]])
    }

    @Test("RC-051 RC-052: five objects by two are pages of 2, 2 and 1 and an end page; the size is 500 unless given, and 0 gives no data")
    func paging() throws {
        let bench = try FaceBench(Self.five)
        let client = try bench.client()
        #expect(try client.query(size: 0).token == "")
        var counts: [JSONValue?] = [], token = "1"
        for _ in 0..<4 {
            let page = try client.query(token: token, size: 2)
            counts.append(page["count"])
            token = page.token
        }
        #expect(counts == [2, 2, 1, 0] && token == "")
        let many = try FaceBench(Dictionary(uniqueKeysWithValues: (0..<501).map { ("o\($0)", ["a": "b"]) }))
        #expect(try many.client().query()["count"] == 500)
        #expect(try many.client().call("GET", "/app/v1/Item", ["p_size": "many", "token": "1"])["count"] == 0)
    }

    @Test(
        "RC-053 RC-054 RC-055: a changed attribute is inserted and deleted on one page, an added one inserted, a removed one deleted, a removed object deleted with everything"
    )
    func differences() throws {
        let bench = try FaceBench(["1": ["a": "old", "b": "same"], "2": ["a": "x", "b": "y"], "3": ["a": "x"], "4": ["a": "x", "b": "z"]])
        let client = try bench.client()
        try client.drain()
        bench.adapter.objects = ["1": ["b": "same", "a": "new"], "2": ["a": "x"], "3": ["a": "x", "c": "added"]]
        let page = try client.query()
        #expect(page["count"] == 5)
        #expect(
            page.commands == [
                "insert": ["1": ["a": "new"], "3": ["c": "added"]], "delete": ["1": ["a": "old"], "2": ["b": "y"], "4": ["a": "x", "b": "z"]],
            ])
    }

    @Test("RC-063 RC-064: metadata is sent once per change, again with a page that is sent again, and alone without a token")
    func metadata() throws {
        let bench = try FaceBench(["1": ["a": "b"]])
        bench.adapter.state.withLock { $0.metadata = "{\"v\":1}" }
        let client = try bench.client()
        let first = try client.query()
        #expect(first.commands?["metadata"] == "{\"v\":1}" && first.token != "")
        #expect(try client.query(token: "wrong").commands?["metadata"] == "{\"v\":1}")
        #expect(try client.query(token: first.token).commands == [:])
        bench.adapter.state.withLock { $0.metadata = "{\"v\":2}" }
        let alone = try client.query()
        #expect(alone.commands == ["metadata": "{\"v\":2}"] && alone.token == "")
        #expect(try client.query().commands == [:])
    }

    @Test("RC-065 RC-066: a source error comes at every query while the back end fails, next to data, and vanishes after a success")
    func sourceErrors() throws {
        let bench = try FaceBench(["1": ["a": "b"], "2": ["a": "b"]])
        let client = try bench.client()
        let first = try client.query(size: 1)
        bench.adapter.state.withLock { $0.queryError = "backend down" }
        let error: JSONValue = ["query-error": ["message": "backend down"]]
        let second = try client.query(token: first.token, size: 1)
        #expect(second.commands == ["insert": ["2": ["a": "b"]], "source-error": error])
        let third = try client.query(token: second.token)
        #expect(third.commands == ["source-error": error] && third.token == "")
        #expect(try client.query().commands == ["source-error": error])
        bench.adapter.state.withLock { $0.queryError = nil }
        #expect(try client.query().commands == [:])
        bench.adapter.state.withLock { $0.loginError = "no licence" }
        #expect(try client.query().commands == ["source-error": ["login-error": ["message": "no licence"]]])
    }

    @Test("RC-067: the back end is asked when the poll interval has passed; 0 means always, -1 never after the first time", arguments: [0, 300, -1])
    func pollInterval(seconds: Int) throws {
        let bench = try FaceBench(["1": ["a": "b"]]) { $0.pollInterval = seconds }
        let client = try bench.client()
        try client.drain()
        let before = bench.adapter.state.withLock { $0.queries }
        _ = try client.query()
        #expect(bench.adapter.state.withLock { $0.queries } - before == (seconds == 0 ? 1 : 0))
        bench.time.withLock { $0 += 300_000 }
        let later = bench.adapter.state.withLock { $0.queries }
        _ = try client.query()
        #expect(bench.adapter.state.withLock { $0.queries } - later == (seconds == -1 ? 0 : 1))
    }

    @Test(
        "RC-069 RC-114: pass-through: all data and a new token at every query, without regard to the page size; uploads yield neither links nor errors"
    )
    func passThrough() throws {
        let bench = try FaceBench(Self.five) { $0.isPassThrough = true }
        let client = try bench.client()
        let first = try client.query(size: 2), second = try client.query(token: first.token, size: 2)
        #expect(first["count"] == 5 && second["count"] == 5 && first["total_count"] == 5)
        #expect(first.token != "" && second.token != "" && first.token != second.token)
        bench.adapter.state.withLock { $0.refusal = { kind, _, _ in kind == "update" ? "no" : nil } }
        #expect(try client.upload(["create": ["t": ["a": "x"]], "update": ["1": ["a": "y"]]]).status == 200)
        let after = try client.query(token: second.token)
        #expect(after["count"] == 6 && after.commands?["links"] == nil && after.commands?["update-error"] == nil)
    }

    @Test("RC-071 RC-073: another schema version is a page of its own, repeated until acknowledged; a client's first query never has it")
    func schema() throws {
        let bench = try FaceBench(["1": ["a": "b"]]) {
            $0.pollInterval = 0; $0.schema = RhoConnectSchema(version: "1.0", "a")
        }
        let client = try bench.client()
        #expect(try client.query().commands == ["insert": ["1": ["a": "b"]]])
        try client.drain()
        var source = RhoConnectSource("Item", adapter: bench.adapter)
        source.schema = RhoConnectSchema(version: "1.1", "a")
        source.pollInterval = 0
        let next = try RhoConnectServer(bench.server, sources: [source])
        func query(_ token: String) throws -> FaceBench.Answer {
            let response = next.respond(
                to: ServerRequest(
                    path: "/app/v1/Item", query: ["version": "3", "token": token],
                    headers: ["cookie": client.cookie, "x-rhoconnect-client-id": client.id]))
            guard case .bytes(let body) = response.body else { return .init(status: response.status, headers: [], body: []) }
            return .init(status: response.status, headers: response.headers, body: body)
        }
        let page = try query("1")
        #expect(page.commands == ["schema-changed": "true"] && page.token != "" && page["count"] == 0 && page["total_count"] == 0)
        #expect(try query("1").json == page.json)
        #expect(try query(page.token).commands == [:])
    }

    @Test("RC-163: pushed objects and deletions change the next page, without a query of the back end")
    func push() throws {
        let bench = try FaceBench(["1": ["a": "b", "c": "d"]]) { $0.pollInterval = -1 }
        let client = try bench.client()
        try client.drain()
        let queries = bench.adapter.state.withLock { $0.queries }
        let admin = ["x-rhoconnect-api-token": "admin-token"]
        #expect(
            try bench.call("POST", "/app/v1/Item/push_objects", headers: admin, body: #"{"user_id":"kim","objects":{"1":{"a":"new"},"5":{"t":"x"}}}"#)
                .text == "done")
        let page = try client.query()
        #expect(page.commands == ["insert": ["1": ["a": "new"], "5": ["t": "x"]], "delete": ["1": ["a": "b"]]])
        _ = try bench.call("POST", "/app/v1/Item/push_deletes", headers: admin, body: #"{"user_id":"kim","objects":["5"]}"#)
        #expect(try client.query(token: page.token).commands == ["delete": ["5": ["t": "x"]]])
        #expect(bench.adapter.state.withLock { $0.queries } == queries)
    }

    @Test("RC-165: the query of an unknown source is 200 with a source error")
    func unknownSource() throws {
        let bench = try FaceBench()
        let answer = try bench.client().call("GET", "/app/v1/Nothing", ["token": "1"])
        #expect(
            answer.status == 200 && answer.token == "" && answer.commands?["source-error"]?["query-error"]?["message"] == "unknown source Nothing")
    }
}
