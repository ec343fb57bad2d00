import MobileStore
import Testing

@testable import MobileServer

/// Surrogate keys that were not granted to the client, or that belong to other rows. The requests are made by hand.
@Suite struct KeyAttackTests {
    static let attributes = #""attributes": {"name": "Intruder", "region": "NORTH", "credit": 1, "active": true}"#

    static func create(_ id: Int64, key: Int64, object: String = "Customer", _ more: String = attributes) -> String {
        #"{"id": \#(id), "mbo": "\#(object)", "change": "C", "key": \#(key), \#(more)}"#
    }

    static func customers(_ client: HandmadeClient) throws -> Value? {
        try client.server.backEndValue("SELECT count(*) FROM \"the customers\"")
    }

    @Test(
        "a create under a key that this client was not granted is rejected, and the server goes on, also after a restart",
        arguments: [.max, .max - 1, 1 << 62, 0, -1, .min])
    func keysOutOfNowhere(key: Int64) throws {
        let client = try HandmadeClient()
        let keys = try #require(try client.synchronize().keys)
        #expect(try client.synchronize([Self.create(1, key: key)]).outcomes == ["rejected 403"])
        #expect(try Self.customers(client) == 3)
        // For a new row of the back end, the server assigns one of its own keys.
        try client.server.backEnd { try $0.execute("INSERT INTO \"the customers\" (name, region) VALUES ('Next', 'NORTH')") }
        let next = try client.synchronize([Self.create(2, key: keys.lowerBound)])
        #expect(next.outcomes == ["accepted 200"] && next.isComplete)
        try client.restart()
        let again = try client.synchronize()
        #expect(again.isComplete && again.rows("upsert", of: "Customer") == 4)
        #expect(try #require(again.keys).lowerBound > keys.upperBound)
    }

    @Test func `keys that were granted to another client, or will be granted next, are not this one's`() throws {
        let client = try HandmadeClient()
        let keys = try #require(try client.synchronize().keys)
        client.clientID = "another"
        let others = try #require(try client.synchronize().keys)
        let answer = try client.synchronize([
            Self.create(1, key: keys.lowerBound), Self.create(2, key: others.upperBound + 100_000), Self.create(3, key: others.upperBound),
        ])
        #expect(answer.outcomes == ["rejected 403", "rejected 403", "accepted 200"])
        #expect(answer.results.first?["message"]?.string?.contains("\(keys.lowerBound)") == true)
        #expect(try Self.customers(client) == 4)
    }

    @Test func `a client whose grants were lost with the cache goes on with its keys`() throws {
        let client = try HandmadeClient()
        let keys = try #require(try client.synchronize().keys)
        try client.restart { try client.server.removeCache() }
        try client.register("handmade")
        let answer = try client.synchronize([Self.create(1, key: keys.lowerBound), Self.create(2, key: keys.upperBound)])
        #expect(answer.outcomes == ["accepted 200", "accepted 200"])
        #expect(try client.synchronize([Self.create(3, key: keys.lowerBound)]).outcomes == ["rejected 403"], "it is a row's by now")
    }

    @Test(
        "a cache that holds the greatest of all keys, or of those that a server grants, opens and goes on granting keys",
        arguments: [
            "INSERT INTO _key (object, sk, k) SELECT space, 9223372036854775807, 77 FROM _key_space AS s JOIN _object AS o ON o.id = s.object WHERE name = 'Customer'",
            "UPDATE _counter SET next = 9223372036854775807", "UPDATE _counter SET next = 9223372036854775000",
            "INSERT INTO _key (object, sk, k) SELECT space, next + 1, 78 FROM _object, _counter, _key_space WHERE _object.name = 'Order' AND _key_space.object = _object.id",
            "UPDATE _counter SET next = 4611686018427387404", "UPDATE _counter SET next = 4611686018427387904",
            "INSERT INTO _key (object, sk, k) SELECT space, 4611686018427387903, 77 FROM _key_space AS s JOIN _object AS o ON o.id = s.object WHERE name = 'Customer'",
        ])
    func greatestKey(damage: String) throws {
        let client = try HandmadeClient()
        let keys = try #require(try client.synchronize().keys)
        try client.restart { try client.cache { _ = try $0.execute(damage) } }
        try client.server.backEnd {
            try $0.execute("INSERT INTO \"the customers\" (name, region) VALUES ('a', 'NORTH'), ('b', 'NORTH'), ('c', 'NORTH'), ('d', 'NORTH')")
        }
        let first = try client.synchronize(), second = try client.synchronize()
        let granted = try [#require(first.keys), #require(second.keys)]
        #expect(first.isComplete && granted.allSatisfy { $0.count == 1000 && $0.upperBound < 1 << 62 })
        #expect(granted[0].lowerBound > keys.upperBound && granted[1].lowerBound > granted[0].upperBound)
        #expect(try client.synchronize([Self.create(1, key: granted[1].lowerBound)]).outcomes == ["accepted 200"])
    }

    @Test func `a record of an earlier release about the greatest of all keys does no harm`() throws {
        let client = try HandmadeClient()
        _ = try client.synchronize()
        try client.server.backEnd { connection in
            try connection.execute("INSERT INTO \"the customers\" (\"customer no\", name, region) VALUES (50, 'Old', 'NORTH')")
            try connection.execute(
                """
                INSERT INTO mobile_processed_operation (client, operation, outcome) VALUES ('old', 1, '{"id": 1, "outcome": "accepted", "code": 200,
                    "message": "", "mbo": "Customer", "key": 9223372036854775807, "pkg": "Field:2.0", "rowKey": 50}')
                """)
        }
        #expect(try client.synchronize().isComplete)
        try client.server.backEnd { try $0.execute("INSERT INTO \"the customers\" (name, region) VALUES ('Next', 'NORTH')") }
        let next = try client.synchronize()
        #expect(next.isComplete && next.keys != nil)
    }
}
