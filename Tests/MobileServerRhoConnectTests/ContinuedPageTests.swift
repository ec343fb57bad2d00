import MobileExecution
import MobileProtocol
import MobileServer
import MobileStore
import TestSupport
import Testing

@testable import MobileServerRhoConnect

/// A page continues where the one before has ended, until something changes the objects.
@Suite struct ContinuedPageTests {
    static let five = Dictionary(uniqueKeysWithValues: (1...5).map { ("m\($0)", ["a": "\($0)"]) })

    /// A device with the objects that its pages have brought.
    private struct Device {
        let client: FaceBench.Client
        var objects: [String: [String: String]] = [:]
        var token = "1"

        /// Receives a page; the one before is acknowledged.
        mutating func page(size: Int = 2) throws {
            let answer = try client.query(token: token, size: size)
            token = answer.token
            for (id, attributes) in Self.objects(answer.commands?["delete"]) {
                for name in attributes.keys { objects[id]?[name] = nil }
                if objects[id]?.isEmpty == true { objects[id] = nil }
            }
            for (id, attributes) in Self.objects(answer.commands?["insert"]) { objects[id, default: [:]].merge(attributes) { $1 } }
        }

        mutating func drain() throws {
            repeat { try page() } while token != ""
            token = "1"
        }

        private static func objects(_ json: JSONValue?) -> [(String, [String: String])] {
            (json?.object ?? [:]).map { ($0.key, ObjectText.received($0.value)) }
        }
    }

    @Test(
        "what changes behind the last page comes with the next ones",
        arguments: ["query", "object gone", "push", "pushed deletion", "create", "deletion", "search"])
    func changesBehind(kind: String) throws {
        let bench = try FaceBench(Self.five) { $0.pollInterval = kind == "query" || kind == "object gone" ? 0 : -1 }
        var device = Device(client: try bench.client())
        let other = try bench.client()
        try other.drain()
        try device.page()
        #expect(device.objects.keys.sorted() == ["m1", "m2"])
        var expected = Self.five
        let admin = ["x-rhoconnect-api-token": "admin-token"]
        switch kind {
        case "query": bench.adapter.objects["m1"] = ["a": "new"]
        case "object gone": bench.adapter.objects["m1"] = nil
        case "push":
            _ = try bench.call(
                "POST", "/app/v1/Item/push_objects", headers: admin, body: #"{"user_id":"kim","objects":{"m1":{"a":"new"}}}"#)
        case "pushed deletion":
            _ = try bench.call("POST", "/app/v1/Item/push_deletes", headers: admin, body: #"{"user_id":"kim","objects":["m1"]}"#)
        case "create":
            _ = try other.upload(["create": ["t": ["a": "new"]]])
            expected["b1"] = ["a": "new"]
        case "deletion": _ = try other.upload(["delete": ["m1": ["a": "1"]]])
        default:
            bench.adapter.objects["m1"] = ["a": "new"]
            _ = try other.search(["sources": [["name": "Item"]]], ["search[a]": "new"])
        }
        switch kind {
        case "query", "push", "search": expected["m1"] = ["a": "new"]
        case "object gone", "pushed deletion", "deletion": expected["m1"] = nil
        default: break
        }
        try device.drain()
        #expect(device.objects == expected)
        let end = try device.client.query()
        #expect(end.commands == [:] && end["total_count"] == .integer(Int64(expected.count)))
    }

    @Test func `a database file that is older than the pages brings their differences again`() throws {
        let bench = try FaceBench(Self.five)
        var device = Device(client: try bench.client())
        func request() throws -> JSONValue? {
            try device.client.call("POST", "/rc/v1/app/bulk_data", body: #"{"partition":"user","sources":["Item"]}"#).json?["result"]
        }
        #expect(try request() == "wait")
        bench.face.waitForBulkFiles()
        bench.adapter.objects["m1"] = ["a": "new"]
        try device.drain()
        #expect(try request() == "url")
        device.objects = Self.five
        try device.drain()
        #expect(device.objects == bench.adapter.objects)
    }

    @Test func `a client that moves to another user begins with that user's objects`() throws {
        let bench = try FaceBench(Self.five)
        var device = Device(client: try bench.client())
        try device.drain()
        device = Device(client: FaceBench.Client(bench: bench, cookie: try bench.client("lee").cookie, id: device.client.id))
        try device.drain()
        #expect(device.objects == Self.five)
    }

    @Test func `the objects of a page are compared once, and those of an end page not at all`() throws {
        let bench = try FaceBench(Self.five) { $0.pollInterval = -1 }
        var device = Device(client: try bench.client())
        try device.page()
        // No caller notes this change: only a comparison that begins again would find it.
        try bench.server.stateStore.write(label: "test") { connection in
            _ = try connection.execute("UPDATE _rho_md SET content = '{\"a\":\"unseen\"}' WHERE object = 'm1'")
        }
        try device.drain()
        #expect(device.objects == Self.five)
        #expect(try device.client.query().commands == [:])
        _ = try bench.call(
            "POST", "/app/v1/Item/push_objects", headers: ["x-rhoconnect-api-token": "admin-token"],
            body: #"{"user_id":"kim","objects":{"m9":{"a":"9"}}}"#)
        try device.drain()
        #expect(device.objects["m1"] == ["a": "unseen"] && device.objects["m9"] == ["a": "9"])
    }

    @Test(arguments: ["create", "deletion"])
    func `an upload while the adapter answers is not undone by the answer`(kind: String) throws {
        let bench = try FaceBench(Self.five) { $0.pollInterval = 0 }
        let client = try bench.client(), other = try bench.client(), isFirst = SystemLock(true)
        try other.drain()
        bench.adapter.state.withLock {
            $0.afterReading = {
                guard isFirst.withLock({ first in defer { first = false }; return first }) else { return }
                _ = try? other.upload(kind == "create" ? ["create": ["t": ["a": "new"]]] : ["delete": ["m1": ["a": "1"]]])
            }
        }
        let inserted = try client.query(size: 100).commands?["insert"]?.object
        #expect(!isFirst.withLock { $0 })
        #expect(inserted?.count == (kind == "create" ? 6 : 4))
        #expect(inserted?["b1"] == (kind == "create" ? ["a": "new"] : nil))
        #expect((inserted?["m1"] == nil) == (kind == "deletion"))
    }

    /// Objects that come one by one, some of them twice, until the test's limit.
    private final class Visited: RhoConnectAdapter, VisitingAdapter {
        let state = SystemLock<(objects: [(String, [String: String])], limit: Int)>(([], .max))

        func query(user: String, parameters: [String: String]) throws -> [String: [String: String]] {
            throw RhoConnectAdapterError("all objects at one time")
        }

        func forEachObject(user: String, parameters: [String: String], _ visit: ObjectVisit) throws {
            let (objects, limit) = state.withLock { $0 }
            for (number, object) in objects.enumerated() {
                guard number < limit else { throw RhoConnectAdapterError("broken off") }
                try visit(object.0, object.1)
            }
        }
    }

    @Test func `objects that come one by one replace the copy at their end, and not when their adapter fails in the middle`() throws {
        let adapter = Visited()
        adapter.state.withLock { $0.objects = [("1", ["a": "x"]), ("2", ["a": "x"]), ("1", ["a": "x"]), ("3", [:])] }
        var source = RhoConnectSource("Visited", adapter: adapter)
        source.pollInterval = 0
        let bench = try FaceBench(others: [source])
        let client = try bench.client()
        #expect(try client.query("Visited").commands == ["insert": ["1": ["a": "x"], "2": ["a": "x"]]])
        try client.drain("Visited")
        adapter.state.withLock { $0 = ([("1", ["a": "y"]), ("3", ["a": "y"])], 1) }
        #expect(try client.query("Visited").commands == ["source-error": ["query-error": ["message": "broken off"]]])
        adapter.state.withLock { $0.limit = .max }
        #expect(
            try client.query("Visited").commands
                == ["insert": ["1": ["a": "y"], "3": ["a": "y"]], "delete": ["1": ["a": "x"], "2": ["a": "x"]]])
        var passing = RhoConnectSource("Passing", adapter: adapter)
        passing.isPassThrough = true
        let other = client.on(try bench.another([passing]))
        #expect(try other.query("Passing")["count"] == 2)
        adapter.state.withLock { $0.limit = 1 }
        #expect(try other.query("Passing").commands == ["source-error": ["query-error": ["message": "broken off"]]])
    }
}
