import MobileStore
import Testing

@testable import MobileServer

/// Many subscriptions of one client, up to the limit and beyond. The requests are made by hand.
@Suite struct SubscriptionLimitTests {
    /// Makes subscriptions of the regions NORTH, R1, R2...
    static func subscriptions(_ count: Int) -> String {
        let others = (1..<count).map { #", {"region": "R\#($0)"}"# }.joined()
        return #"{"Customer": [{"region": "NORTH"}\#(others)]}"#
    }

    @Test("SUB-04: a client with 2,000 subscriptions of one object gets what is new in each, and loses what it leaves")
    func many() throws {
        let client = try HandmadeClient()
        let header = client.header(subscriptions: Self.subscriptions(2000))
        let first = try client.synchronize(header: header)
        #expect(first.status == 200 && first.isComplete)
        try client.server.backEnd { connection in
            try connection.execute("INSERT INTO \"the customers\" (name, region) VALUES ('a', 'R7'), ('b', 'R1999'), ('c', 'R2000')")
            try connection.execute("DELETE FROM \"the customers\" WHERE \"customer no\" = 2")
        }
        let tokens = "{\"default\": \(try #require(first.tokens["default"]))}"
        let second = try client.synchronize(
            header: client.header(subscriptions: Self.subscriptions(2000), tokens: tokens, more: ", \"keysLeft\": 999"))
        #expect(second.status == 200 && second.isComplete, "\(second.text.prefix(300))")
        #expect(second.rows("upsert", of: "Customer") == 2 && second.rows("delete", of: "Customer") == 1)
        // One row moves between two subscribed regions, and only one subscription remains.
        try client.server.backEnd { try $0.execute("UPDATE \"the customers\" SET region = 'R8' WHERE region = 'R7'") }
        let last = "{\"default\": \(try #require(second.tokens["default"]))}"
        let third = try client.synchronize(header: client.header(subscriptions: Self.subscriptions(1999), tokens: last))
        #expect(third.isComplete && third.rows("upsert", of: "Customer") == 1 && third.rows("delete", of: "Customer") == 1)
    }

    @Test func `one subscription more is refused, and everything is as it was`() throws {
        let client = try HandmadeClient()
        let keys = try #require(try client.synchronize().keys)
        let answer = try client.synchronize(
            [KeyAttackTests.create(1, key: keys.lowerBound)], header: client.header(subscriptions: Self.subscriptions(2001)))
        #expect(answer.status == 400)
        #expect(answer.text.contains("2001 different subscriptions") && answer.text.contains("at most 2000"), "\(answer.text)")
        #expect(try KeyAttackTests.customers(client) == 3)
        let refused = try client.message("subscribe", #"{"subscriptions": \#(Self.subscriptions(2001))}"#)
        #expect(refused["header"]?["method"]?.string == "subscribeFailed" && refused["content"]?["code"]?.integer == 400)
        let accepted = try client.message("subscribe", #"{"subscriptions": \#(Self.subscriptions(2000))}"#)
        #expect(accepted["header"]?["method"]?.string == "subscribeResult")
        var partitions: Value?
        try client.restart { partitions = try client.cache { try $0.first("SELECT count(*) FROM _partition")?[0] } }
        #expect(partitions == 3)
    }

    @Test func `equal subscriptions count once, and those of all objects together`() throws {
        let client = try HandmadeClient()
        let equal = String(repeating: #", {"region": "NORTH"}"#, count: 5000)
        let answer = try client.synchronize(header: client.header(subscriptions: #"{"Customer": [{"region": "NORTH"}\#(equal)]}"#))
        #expect(answer.status == 200 && answer.rows("upsert", of: "Customer") == 2)
        let both = Self.subscriptions(2000).dropLast() + #", "Order": [{}]}"#
        #expect(try client.synchronize(header: client.header(subscriptions: String(both))).status == 400)
    }

    @Test func `a token with partitions that nobody ever had costs no more than its length`() throws {
        let client = try HandmadeClient()
        let first = try client.synchronize()
        let token = try #require(first.tokens["default"])
        let invented = (100...60_000).map { #""\#($0)": 3"# }.joined(separator: ", ")
        let damaged = token.replacing(#""Customer":{"#, with: #""Customer":{\#(invented),"#)
        #expect(damaged != token)
        let answer = try client.synchronize(header: client.header(tokens: "{\"default\": \(damaged)}"))
        #expect(answer.status == 200 && answer.isComplete, "\(answer.text.prefix(300))")
    }
}
