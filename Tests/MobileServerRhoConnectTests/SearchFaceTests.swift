import MobileExecution
import MobileProtocol
import MobileServer
import MobileServerRhoConnect
import MobileStore
import TestSupport
import Testing

@Suite struct SearchFaceTests {
    static let objects = ["1": ["t": "Saw"], "2": ["t": "Saw"], "3": ["t": "Saw"], "4": ["t": "Axe"]]
    static let saw = ["search[t]": "Saw", "p_size": "2"]

    @Test(
        "RC-124 RC-125 RC-130: pages of one search have one token, which acknowledges; empty without further results; what the client holds is not sent again"
    )
    func pages() throws {
        let bench = try FaceBench(Self.objects)
        let client = try bench.client()
        let first = try client.search(["sources": [["name": "Item"]]], Self.saw)
        let token = try #require(first.json?[0]?[1]?["token"]?.string)
        #expect(
            first.json == [
                [["version": 3], ["token": .string(token)], ["source": "Item"], ["count": 2], ["insert": ["1": ["t": "Saw"], "2": ["t": "Saw"]]]]
            ])
        let again: JSONValue = ["sources": [["name": "Item", "token": .string(token)]]]
        let second = try client.search(again, Self.saw)
        #expect(second.json == [[["version": 3], ["token": .string(token)], ["source": "Item"], ["count": 1], ["insert": ["3": ["t": "Saw"]]]]])
        #expect(try client.search(again, Self.saw).json == [[]])
        #expect(try client.search(["sources": [["name": "Item"]]], Self.saw).json == [[]])
        #expect(bench.adapter.state.withLock { $0.searches } == 2)
        #expect(try client.search(["sources": [["name": "Item"], ["name": "Item"]]], ["search[t]": "Axe"]).json?.array?.count == 2)
    }

    @Test("RC-126 RC-127: a wrong token is an error and drops the search; with resend the last page comes again")
    func recovery() throws {
        let bench = try FaceBench(Self.objects)
        let client = try bench.client()
        let first = try client.search(["sources": [["name": "Item"]]], Self.saw)
        let token = try #require(first.json?[0]?[1]?["token"])
        #expect(try client.search(["sources": [["name": "Item", "token": "any"]]], ["resend": "1", "p_size": "2"]).json == first.json)
        let failure: JSONValue = [
            [["version": 3], ["source": "Item"], ["search-error": ["search-error": ["message": "Search error - invalid token"]]]]
        ]
        #expect(try client.search(["sources": [["name": "Item", "token": "wrong"]]]).json == failure)
        #expect(try client.search(["sources": [["name": "Item", "token": token]]]).json == failure)
    }

    @Test("a search of the older style names several sources, each with its own token")
    func olderStyle() throws {
        var note = RhoConnectSource("Note", adapter: MemoryAdapter(["n1": ["t": "Saw"], "n2": ["t": "Saw"], "n3": ["t": "Saw"]]))
        note.pollInterval = 0
        let bench = try FaceBench(Self.objects, others: [note])
        let client = try bench.client()
        func search(_ items: [(name: String, value: String)]) throws -> JSONValue? {
            let all = [("client_id", client.id), ("p_size", "2"), ("version", "3"), ("search[t]", "Saw")] + items
            let response = bench.face.respond(
                to: ServerRequest(
                    path: "/application/search", query: Dictionary(all.map { ($0.0, $0.1) }) { $1 },
                    queryItems: all.map { (name: $0.0, value: $0.1) },
                    headers: ["cookie": client.cookie]))
            guard case .bytes(let body) = response.body else { return nil }
            return try JSONValue(parsing: body)
        }
        let first = try search([("sources[][name]", "Item"), ("sources[][name]", "Note")])
        let item = try #require(first?[0]?[1]?["token"]?.string), other = try #require(first?[1]?[1]?["token"]?.string)
        #expect(item != other && first?[0]?[4] == ["insert": ["1": ["t": "Saw"], "2": ["t": "Saw"]]])
        let second = try search([
            ("sources[][name]", "Item"), ("sources[][token]", item), ("sources[][name]", "Note"), ("sources[][token]", other),
        ])
        #expect(second?[0]?[4] == ["insert": ["3": ["t": "Saw"]]] && second?[1]?[4] == ["insert": ["n3": ["t": "Saw"]]])
    }

    @Test("RC-128 RC-129: an error of the adapter is a search error without a token; no sources give an empty array, unknown ones 500")
    func errors() throws {
        let bench = try FaceBench()
        let client = try bench.client()
        #expect(
            try client.search(["sources": [["name": "Item"]]], ["search[fail]": "1"]).json == [
                [["version": 3], ["source": "Item"], ["search-error": ["search-error": ["message": "search failed"]]]]
            ])
        #expect(try client.search([:]).json == [])
        #expect(try client.search(["sources": [["name": "Nothing"]]]).status == 500)
    }
}
