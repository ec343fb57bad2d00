import MobileStore
import Testing

@testable import MobileServer

/// Operations that try to present a row as another one. The requests are made by hand.
@Suite struct IdentityAttackTests {
    /// Reads the surrogate key of a row of the back end from the cache.
    static func key(_ object: String, _ key: String, _ client: HandmadeClient) throws -> Int64? {
        var found: Value?
        try client.restart {
            found = try client.cache {
                try $0.first(
                    "SELECT k.sk FROM _key AS k JOIN _key_space AS s ON s.space = k.object JOIN _object AS o ON o.id = s.object WHERE o.name = ?1 AND CAST(k.k AS TEXT) = ?2",
                    [.text(object), .text(key)])?[0]
            }
        }
        guard case .integer(let key)? = found else { return nil }
        return key
    }

    @Test func `a second create under the key of a row is rejected, and the row stays who it is`() throws {
        let client = try HandmadeClient()
        let keys = try #require(try client.synchronize().keys)
        #expect(try client.synchronize([KeyAttackTests.create(1, key: keys.lowerBound)]).outcomes == ["accepted 200"])
        let again = try client.synchronize([
            KeyAttackTests.create(2, key: keys.lowerBound), KeyAttackTests.create(3, key: keys.lowerBound + 1),
            KeyAttackTests.create(4, key: keys.lowerBound + 1),
        ])
        #expect(again.outcomes == ["rejected 403", "accepted 200", "rejected 403"])
        #expect(try KeyAttackTests.customers(client) == 5)
        #expect(try Self.key("Customer", "4", client) == keys.lowerBound)
    }

    @Test func `a row that is gone from the back end may be created again under its key`() throws {
        let client = try HandmadeClient()
        let keys = try #require(try client.synchronize().keys)
        _ = try client.synchronize([KeyAttackTests.create(1, key: keys.lowerBound)])
        try client.server.backEnd { try $0.execute("DELETE FROM \"the customers\" WHERE \"customer no\" = 4") }
        #expect(try client.synchronize([KeyAttackTests.create(2, key: keys.lowerBound)]).outcomes == ["accepted 200"])
        #expect(try Self.key("Customer", "5", client) == keys.lowerBound)
    }

    @Test("a create with the primary key of another row is rejected, also where the back end lets it through", arguments: ["Label", "Badge"])
    func takenPrimaryKey(object: String) throws {
        let client = try HandmadeClient(Folders.server())
        let keys = try #require(try client.synchronize(header: client.header(subscriptions: "{}", groups: #"["default"]"#)).keys)
        let before = try Self.key(object, #""a""#, client)
        let header = client.header(subscriptions: "{}", groups: #"["default"]"#)
        let answer = try client.synchronize(
            [
                KeyAttackTests.create(1, key: keys.lowerBound, object: object, #""attributes": {"code": "a", "color": "black"}"#),
                KeyAttackTests.create(2, key: keys.lowerBound + 1, object: object, #""attributes": {"code": "b", "color": "black"}"#),
                KeyAttackTests.create(3, key: keys.lowerBound + 2, object: object, #""attributes": {"code": "b", "color": "white"}"#),
            ], header: header)
        #expect(answer.outcomes == ["rejected 403", "accepted 200", "rejected 403"])
        #expect(answer.isComplete)
        #expect(
            try client.server.backEndValue("SELECT group_concat(code || color) FROM (SELECT * FROM \(object.lowercased()) ORDER BY code) AS t")
                == "ared,bblack")
        #expect(try Self.key(object, #""a""#, client) == before && before != nil)
        #expect(try Self.key(object, #""b""#, client) == keys.lowerBound + 1)
    }

    @Test func `an update cannot move a row onto the primary key of another one`() throws {
        let client = try HandmadeClient(Folders.server())
        let header = client.header(subscriptions: "{}", groups: #"["default"]"#)
        let keys = try #require(try client.synchronize(header: header).keys)
        let victim = try #require(try Self.key("Label", #""a""#, client))
        let answer = try client.synchronize(
            [
                KeyAttackTests.create(1, key: keys.lowerBound, object: "Label", #""attributes": {"code": "b", "color": "black"}"#),
                #"{"id": 2, "mbo": "Label", "change": "U", "key": \#(keys.lowerBound), "attributes": {"code": "a"}, "primaryKey": {"code": "b"}}"#,
            ], header: header)
        #expect(answer.outcomes == ["accepted 200", "rejected 403"])
        #expect(try Self.key("Label", #""a""#, client) == victim)
    }

    @Test func `an update under a key that nobody knows changes the row and gives it no other identity`() throws {
        let client = try HandmadeClient()
        let keys = try #require(try client.synchronize().keys)
        let foreign = keys.upperBound + 100_000
        let update = """
            {"id": 1, "mbo": "Line", "change": "U", "key": \(foreign), "attributes": {"line": 9}, "primaryKey": {"orderId": 11, "line": 1}}
            """
        #expect(try client.synchronize([update]).outcomes == ["accepted 200"])
        #expect(try client.server.backEndValue("SELECT line FROM \"order line\" WHERE product = 'tea'") == 9)
        let key = try #require(try Self.key("Line", #""[11,9]""#, client))
        #expect(key != foreign)
    }

    @Test(
        "a key of this upload is a row of its own object alone",
        arguments: [
            #"{"id": 2, "mbo": "Line", "change": "U", "key": KEY, "attributes": {"quantity": 70}, "primaryKey": {"orderId": 10, "line": 2}}"#,
            #"{"id": 2, "mbo": "Line", "change": "U", "key": KEY, "attributes": {"line": 9, "quantity": 70}, "primaryKey": {"orderId": 10, "line": 2}}"#,
            #"{"id": 2, "mbo": "Line", "change": "D", "key": KEY, "primaryKey": {"orderId": 10, "line": 2}}"#,
        ])
    func keyOfAnotherObject(operation: String) throws {
        let client = try HandmadeClient()
        let keys = try #require(try client.synchronize().keys)
        let create = KeyAttackTests.create(1, key: keys.lowerBound)
        let answer = try client.synchronize([create, operation.replacing("KEY", with: "\(keys.lowerBound)")])
        #expect(answer.outcomes == ["accepted 200", "accepted 200"])
        #expect(try client.server.backEndValue("SELECT count(*) FROM \"order line\" WHERE product = 'pepper' AND quantity = 7") == 0)
    }
}
