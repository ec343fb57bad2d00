import MobileStore
import MobileTransport
import RhoConnectClient
import TestSupport
import Testing

@Suite struct SearchTests {
    static let place = "POST /rc/v1/app/search"

    static func page(_ source: String, _ insert: String, token: String = "87", count: Int = 1) -> String {
        "[[{\"version\":3},{\"token\":\"\(token)\"},{\"source\":\"\(source)\"},{\"count\":\(count)},{\"insert\":\(insert)}]]"
    }

    @Test("RC-131 RC-134: it asks each model until there are no more results, finished ones not again, and reports the end once")
    func loop() async throws {
        let other = RhomModel("Other")
        let bench = try Bench(others: [other])
        bench.server.answer(Self.place, .json(Self.page("Item", #"{"1":{"title":"Saw"},"2":{"title":"Saw 2"}}"#, count: 2)))
        bench.server.answer(Self.place, .json(Self.page("Item", #"{"3":{"title":"Saw 3"}}"#)))
        bench.server.answer(Self.place, .json("[[]]"))
        bench.server.answer(Self.place, .json(Self.page("Other", #"{"9":{"title":"Saw"}}"#, token: "99")))
        bench.server.answer(Self.place, .json("[[]]"))
        let notes = bench.notes
        let end = await withCheckedContinuation { done in
            bench.client.search([bench.item, other], parameters: "search[title]=Saw%20") {
                notes.add($0)
                if $0.status != .inProgress { done.resume(returning: $0) }
            }
        }
        #expect(end.status == .complete && end.errorCode == .none)
        #expect(notes.words == ["Item:in_progress", "Item:in_progress", "Other:in_progress", "complete"])
        let requests = bench.server.requests.filter { $0.path == "/rc/v1/app/search" }
        #expect(
            requests.map { $0.json?["sources"] } == [
                [["name": "Item"]], [["name": "Item", "token": "87"]], [["name": "Item", "token": "87"]], [["name": "Other"]],
                [["name": "Other", "token": "99"]],
            ] as [JSONValue])
        #expect(requests.allSatisfy { $0.query["search[title]"] == "Saw " })
        #expect(try bench.item.count() == 3)
        #expect(try other.count() == 1)
        #expect(bench.server.queries.isEmpty)
        bench.check()
    }

    @Test("RC-132: with sync_changes local changes are uploaded before the search, without a query", arguments: [true, false])
    func syncChanges(isOn: Bool) throws {
        let bench = try Bench()
        try bench.item.create(["title": "Saw"])
        #expect(bench.client.search([bench.item], syncChanges: isOn).status == .complete)
        #expect(bench.server.requests.map(\.path) == ["/rc/v1/clients"] + (isOn ? ["/app/v1/Item"] : []) + ["/rc/v1/app/search"])
        #expect(bench.server.queries.isEmpty)
        bench.check()
    }

    @Test("RC-133: a progress step reports after each such number of objects, in addition to the one per page")
    func progressStep() async throws {
        let bench = try Bench()
        let objects = (1...5).map { "\"\($0)\":{\"a\":\"b\"}" }.joined(separator: ",")
        bench.server.answer(Self.place, .json(Self.page("Item", "{\(objects)}", count: 5)))
        bench.server.answer(Self.place, .json("[[]]"))
        let notes = bench.notes
        _ = await withCheckedContinuation { done in
            bench.client.search([bench.item], progressStep: 2) {
                notes.add($0)
                if $0.status == .complete { done.resume(returning: $0) }
            }
        }
        #expect(notes.all.map(\.cumulativeCount) == [2, 4, 5, 0])
        #expect(notes.words == ["Item:in_progress", "Item:in_progress", "Item:in_progress", "complete"])
    }

    @Test("RC-133: the steps count on from page to page; a step at the end of a page is reported next to the page")
    func progressOverPages() async throws {
        let bench = try Bench()
        for first in [1, 4] {
            let objects = (first..<first + 3).map { "\"\($0)\":{\"a\":\"b\"}" }.joined(separator: ",")
            bench.server.answer(Self.place, .json(Self.page("Item", "{\(objects)}", count: 3)))
        }
        bench.server.answer(Self.place, .json("[[]]"))
        let notes = bench.notes
        _ = await withCheckedContinuation { done in
            bench.client.search([bench.item], progressStep: 2) {
                notes.add($0)
                if $0.status == .complete { done.resume(returning: $0) }
            }
        }
        #expect(notes.all.map(\.cumulativeCount) == [2, 3, 4, 6, 6, 0])
        #expect(notes.all.map(\.processedCount) == [2, 3, 1, 3, 3, 0])
    }

    @Test(arguments: [
        (#"[[{"version":3},{"source":"Item"},{"search-error":{"search-error":{"message":"backend down"}}}]]"#, 200, 8),
        (#"[[{"version":2},{"token":"1"},{"source":"Item"},{"count":1},{"insert":{}}]]"#, 200, 11),
        (#"[[{"version":3},{"token":"1"},{"source":"Wrong"},{"count":1},{"insert":{}}]]"#, 200, 4), ("{}", 200, 4), ("boom", 500, 2),
        ("Not authenticated", 401, 9),
    ])
    func `failures end a search with their code, once`(body: String, status: Int, code: Int) async throws {
        let bench = try Bench()
        bench.server.answer(Self.place, .init(status: status, body: [UInt8](body.utf8)))
        let result = await bench.client.search([bench.item])
        #expect(result.status == .error && result.errorCode.rawValue == code)
        #expect(bench.server.requests.filter { $0.path == "/rc/v1/app/search" }.count == 1)
        if code == 8 { #expect(result.serverErrors.source == ["search-error": "backend down"] && result.errorMessage == "backend down") }
    }

    @Test func `the page that an interrupted search lost is requested again by the next one`() throws {
        let transport = CuttingTransport()
        let bench = try Bench(transport: transport)
        bench.server.onRequest { request in
            guard request.path == "/rc/v1/app/search" else { return nil }
            return .json(request.query["resend"] == "1" ? Self.page("Item", #"{"1":{"title":"Saw"}}"#) : "[[]]")
        }
        transport.setFate { $0.url.contains("/search") ? .loseAnswer : .pass }
        #expect(bench.client.search([bench.item], parameters: "search[title]=Saw").errorCode == .network)
        transport.setFate { _ in .pass }
        #expect(bench.client.search([bench.item], parameters: "search[title]=Axe").status == .complete)
        #expect(try bench.item.findAll().map(\.attributes) == [["title": "Saw"]])
        let again = try #require(bench.server.requests.first { $0.query["resend"] == "1" })
        #expect(again.query["search[title]"] == "Saw" && again.json?["sources"] == [["name": "Item", "token": "1"]])
        #expect(bench.server.requests.filter { $0.query["resend"] == "1" }.count == 1)
    }

    @Test func `the path and the older style of a search`() throws {
        let bench = try Bench(style: .version3)
        #expect(bench.client.search([bench.item], parameters: "a=b").status == .complete)
        let request = try #require(bench.server.requests.last)
        #expect(
            request.method == "GET" && request.path == "/application/search" && request.query["sources[][name]"] == "Item"
                && request.query["a"] == "b")
        bench.check()
        let current = try Bench()
        current.server.onRequest { $0.path == "/rc/v1/app/nearby" ? .json("[[]]") : nil }
        #expect(current.client.search([current.item], from: "nearby").status == .complete)
    }
}
