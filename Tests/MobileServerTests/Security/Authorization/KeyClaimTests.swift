import MobileStore
import Testing

@testable import MobileServer

/// Ranges of surrogate keys that clients made themselves and claim. The requests are made by hand.
@Suite struct KeyClaimTests {
    static let range: Int64 = 1 << 62 + 7 << 16

    private func synchronize(_ client: HandmadeClient, _ claims: String, _ operations: [String] = []) throws -> HandmadeClient.Answer {
        try client.synchronize(operations, header: client.header(more: ", \"keyClaims\": \(claims)"))
    }

    /// Returns the claimed ranges, with their owners.
    private func claims(_ client: HandmadeClient) throws -> [String] {
        var found: [String] = []
        try client.restart {
            let rows: [[Value]] = try client.cache { connection in
                try connection.rows("SELECT first, client FROM _key_range WHERE first >= 4611686018427387904 ORDER BY first")
            }
            found = rows.map { row in "\(row[0].integer ?? 0) \(row[1].text ?? "")" }
        }
        return found
    }

    @Test func `a key of a claimed range is accepted like a granted one, up to the greatest of all keys, and the counter does not follow`() throws {
        let client = try HandmadeClient(), last = Int64.max - 65_535
        let answer = try synchronize(
            client, "[\(Self.range), \(last)]",
            [
                KeyAttackTests.create(1, key: Self.range), KeyAttackTests.create(2, key: .max), KeyAttackTests.create(3, key: Self.range + 65_536),
                KeyAttackTests.create(4, key: Self.range - 1),
            ])
        #expect(answer.outcomes == ["accepted 200", "accepted 200", "rejected 403", "rejected 403"])
        #expect(answer.isComplete && answer.rows("upsert", of: "Customer") == 4 && answer.results.map { $0["key"]?.integer }.contains(.max))
        #expect(try IdentityAttackTests.key("Customer", "5", client) == .max)
        try client.server.backEnd { try $0.execute("INSERT INTO \"the customers\" (name, region) VALUES ('Next', 'NORTH')") }
        let next = try client.synchronize()
        let granted = try #require(next.keys), own = try #require(try IdentityAttackTests.key("Customer", "6", client))
        #expect(granted.upperBound < 1 << 62 && next.isComplete && own < 1 << 62)
    }

    @Test func `a claim holds from then on, may be repeated, and is taken again by a server that lost its cache`() throws {
        let client = try HandmadeClient()
        for id in 1...2 as ClosedRange<Int64> {
            #expect(try synchronize(client, "[\(Self.range)]", [KeyAttackTests.create(id, key: Self.range + id)]).outcomes == ["accepted 200"])
        }
        #expect(try client.synchronize([KeyAttackTests.create(3, key: Self.range + 3)]).outcomes == ["accepted 200"])
        #expect(try claims(client) == ["\(Self.range) handmade"])
        try client.restart { try client.server.removeCache() }
        try client.register("handmade")
        #expect(try client.synchronize([KeyAttackTests.create(4, key: Self.range + 4)]).outcomes == ["rejected 403"], "nobody claims it")
        #expect(try synchronize(client, "[\(Self.range)]", [KeyAttackTests.create(5, key: Self.range + 4)]).outcomes == ["accepted 200"])
        #expect(try IdentityAttackTests.key("Customer", "5", client) == Self.range + 2, "earlier rows have their keys back")
    }

    @Test func `a range of another client is refused by name, and no operation of the upload is done, whatever keys it uses`() throws {
        let client = try HandmadeClient()
        #expect(try synchronize(client, "[\(Self.range)]").isComplete)
        client.clientID = "another"
        let keys = try #require(try client.synchronize().keys)
        let operations = [KeyAttackTests.create(1, key: keys.lowerBound), KeyAttackTests.create(2, key: Self.range + 1)]
        let refused = try synchronize(client, "[\(Self.range), \(Self.range + 65_536)]", operations)
        #expect(refused.status == 200 && refused.isComplete && refused.results.isEmpty && refused.tokens.isEmpty)
        let header = try JSONValue(parsing: #require(refused.frames.first).payload)
        #expect(header["refusedClaims"] == [.integer(Self.range)] && header["groups"] == [] && header["operations"] == 0)
        #expect(try KeyAttackTests.customers(client) == 3)
        #expect(try claims(client) == ["\(Self.range) handmade", "\(Self.range + 65_536) another"])
        // Without the claim, a key of the range is rejected like any other that the client may not give.
        #expect(try client.synchronize(operations).outcomes == ["accepted 200", "rejected 403"])
    }

    @Test func `an operation that an earlier upload has brought gets its recorded result although the range is refused now`() throws {
        let client = try HandmadeClient(), first = KeyAttackTests.create(1, key: Self.range + 1)
        #expect(try synchronize(client, "[\(Self.range)]", [first]).outcomes == ["accepted 200"])
        try client.restart { try client.server.removeCache() }
        try client.register("handmade")
        client.clientID = "another"
        _ = try synchronize(client, "[\(Self.range)]")
        client.clientID = "handmade"
        let refused = try synchronize(client, "[\(Self.range)]", [first, KeyAttackTests.create(2, key: Self.range + 2)])
        #expect(refused.results.map { $0["id"] } == [1] && refused.outcomes == ["accepted 200"] && refused.isComplete)
        #expect(try KeyAttackTests.customers(client) == 4)
    }

    @Test(
        "a claim that no client makes is refused as a whole",
        arguments: [
            "[4611686018427387903]", "[4611686018427387905]", "[9223372036854775807]", "[9223372036854775808]", "[-4611686018427387904]", "[0]",
            "[4611686018427387904.0]", "[4.611686018427387904e18]", "[\"4611686018427387904\"]", "[null]", "[[4611686018427387904]]", "7", "granted",
            "many",
        ])
    func badClaims(claim: String) throws {
        let client = try HandmadeClient()
        let keys = try #require(try client.synchronize().keys)
        var list = claim
        if claim == "granted" { list = "[\(keys.lowerBound / 65_536 * 65_536)]" }
        if claim == "many" { list = "[\((0...1024).map { String(Self.range + $0 << 16) }.joined(separator: ","))]" }
        let answer = try synchronize(client, list, [KeyAttackTests.create(1, key: keys.lowerBound)])
        #expect(answer.status == 400 && answer.text.contains("keyClaims"), "\(answer.text)")
        #expect(try KeyAttackTests.customers(client) == 3 && claims(client) == [])
        #expect(try client.synchronize([KeyAttackTests.create(1, key: keys.lowerBound)]).outcomes == ["accepted 200"])
    }

    @Test func `a client claims 10,000 ranges over its life, and not one more`() throws {
        let client = try HandmadeClient()
        _ = try client.synchronize()
        try client.restart {
            try client.cache { connection in
                _ = try connection.execute(
                    """
                    WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 10998)
                    INSERT INTO _key_range (package, first, last, client, granted) SELECT 0, 4611686018427387904 + i * 65536, 0, 'handmade', 0 FROM n
                    """)
            }
        }
        let refused = try synchronize(client, "[\(Self.range), \(Self.range + 65_536)]", [KeyAttackTests.create(1, key: Self.range)])
        #expect(refused.status == 400 && refused.text.contains("10001 ranges"), "\(refused.text)")
        #expect(try KeyAttackTests.customers(client) == 3)
        #expect(try synchronize(client, "[\(Self.range)]", [KeyAttackTests.create(1, key: Self.range)]).outcomes == ["accepted 200"])
        client.clientID = "another"
        #expect(try synchronize(client, "[\(Self.range + 65_536)]").isComplete, "the limit is that of one client")
    }
}
