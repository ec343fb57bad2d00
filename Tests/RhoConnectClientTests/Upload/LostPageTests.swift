import MobileStore
import MobileTransport
import RhoConnectClient
import TestSupport
import Testing

/// Deletions wait for a page that the server may send again; these are the borders of that rule.
@Suite struct LostPageTests {
    private let transport = CuttingTransport()

    /// A client with the objects `1` and `2`.
    private func bench(_ item: RhomModel = RhomModel("Item")) throws -> Bench {
        try Bench.filled(["1": ["a": "x"], "2": ["a": "x"]], item: item, transport: transport)
    }

    /// The server's rule: a page comes until it is acknowledged.
    private static func serve(_ commands: String, token: String, on bench: Bench) {
        let page = StrictServer.Answer.json(StrictServer.page(commands, token: token, count: 1))
        bench.server.onRequest { request in request.isQuery ? request.query["token"] == token ? .json(StrictServer.page()) : page : nil }
    }

    private static func calls(_ bench: Bench) -> [String] { bench.server.requests.map { $0.method + " " + $0.path } }

    @Test("a page that was lost in the middle of a synchronization is awaited as well")
    func laterPage() throws {
        let bench = try bench()
        bench.server.add("Item", #"{"insert":{"3":{"a":"x"}}}"#, token: "11")
        bench.server.add("Item", #"{"insert":{"1":{"a":"y"}}}"#, token: "12")
        transport.setFate { $0.url.contains("token=11") ? .refuse : .pass }
        #expect(bench.client.syncAll().errorCode == .network)
        transport.setFate { _ in .pass }
        bench.server.forgetRequests()
        try bench.item.destroy(["object": "2"])
        #expect(bench.client.syncAll().errorCode == .none)
        #expect(bench.server.requests.map { $0.method + ($0.query["token"] ?? "") } == ["GET11", "GET12", "POST", "GET1"])
        bench.check()
    }

    @Test("a search receives the page first, and then uploads the deletions")
    func search() throws {
        let bench = try bench()
        Self.serve(#"{"insert":{"1":{"a":"y"}}}"#, token: "12", on: bench)
        transport.setFate { $0.method == "GET" ? .loseAnswer : .pass }
        #expect(bench.client.syncAll().errorCode == .network)
        transport.setFate { _ in .pass }
        bench.server.forgetRequests()
        try bench.item.destroy(["object": "2"])
        #expect(bench.client.search([bench.item], syncChanges: true).errorCode == .none)
        #expect(Self.calls(bench) == ["GET /app/v1/Item", "POST /app/v1/Item", "POST /rc/v1/app/search"])
        #expect(try bench.upload(0)["delete"] == ["2": ["a": "x"]])
        #expect(try bench.item.findAll().map { $0["a"] } == ["y"])
        bench.client.syncAll()
        #expect(bench.server.queries.last?.query["token"] == "12")
    }

    @Test("a page that reports a new schema has no data: deletions do not wait for it")
    func schemaPage() throws {
        let bench = try bench()
        Self.serve(#"{"schema-changed":"true"}"#, token: "51", on: bench)
        #expect(bench.client.syncAll().status == .schemaChanged)
        bench.server.forgetRequests()
        try bench.item.destroy(["object": "2"])
        #expect(bench.client.syncAll().status == .schemaChanged)
        #expect(Self.calls(bench) == ["POST /app/v1/Item", "GET /app/v1/Item"])
        #expect(try bench.upload(0)["delete"] == ["2": ["a": "x"]])
    }

    @Test("servers keep no page of a pass-through model: neither deletions nor searches wait for one")
    func passThrough() throws {
        var options = RhomModel.Options()
        options.isPassThrough = true
        let bench = try bench(RhomModel("Item", options: options))
        transport.setFate { $0.method == "GET" ? .loseAnswer : .pass }
        #expect(bench.client.syncAll().errorCode == .network)
        transport.setFate { _ in .pass }
        bench.server.forgetRequests()
        #expect(bench.client.search([bench.item]).errorCode == .none)
        try bench.item.destroy(["object": "2"])
        #expect(bench.client.syncAll().errorCode == .none)
        #expect(Self.calls(bench) == ["POST /rc/v1/app/search", "POST /app/v1/Item", "GET /app/v1/Item"])
    }
}
