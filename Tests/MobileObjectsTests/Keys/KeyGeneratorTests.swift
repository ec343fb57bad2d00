import MobileObjects
import Testing

/// Surrogate keys from granted ranges.
@Suite struct KeyGeneratorTests {
    @Test("KEY-02: generateId counts through the granted range, and through the reserve when it is used up")
    func ranges() throws {
        let shop = try Shop(grantingKeys: false)
        try shop.grant(first: 10, last: 12)
        try shop.grant(first: 50, last: 51)
        let generator = shop.database.keyGenerator
        #expect(try generator.keysLeft == 5)
        #expect(try (0..<5).map { _ in try generator.generateID() } == [10, 11, 12, 50, 51])
        #expect(try generator.keysLeft == 0)
        #expect(try generator.generateID() >= OwnKeyRangeTests.lowest, "the next one is the database's own")
        #expect(try generator.keysLeft == 0)
        try shop.grant(first: 90, last: 99)
        #expect(try generator.generateID() == 90)
    }

    @Test("a range that is granted twice is known; one that overlaps another or is empty is refused")
    func badGrants() throws {
        let shop = try Shop(grantingKeys: false)
        try shop.grant(first: 10, last: 12)
        #expect(try shop.database.keyGenerator.generateID() == 10)
        try shop.grant(first: 10, last: 12)
        #expect(try shop.database.keyGenerator.keysLeft == 2)
        for (first, last) in [(12, 20), (1, 10), (30, 29), (0, 5), (OwnKeyRangeTests.lowest - 1, OwnKeyRangeTests.lowest)] as [(Int64, Int64)] {
            #expect(#expect(throws: ObjectError.self) { try shop.grant(first: first, last: last) }?.code == .invalidValue)
        }
    }

    @Test("a key that a failed create took is given again: keys are counted in the transaction of the row")
    func rollback() throws {
        let shop = try Shop()
        struct Stop: Error {}
        let customer = try shop.newCustomer("c1")
        #expect(throws: Stop.self) {
            try shop.database.transaction {
                try customer.create()
                throw Stop()
            }
        }
        #expect(customer.isNew && customer.surrogateKey == 0 && customer.isDirty)
        try customer.create()
        #expect(customer.surrogateKey == 1000)
    }

    @Test("KEY-05: local keys count from 1")
    func local() throws {
        let shop = try Shop(grantingKeys: false)
        #expect(try (0..<3).map { _ in try shop.database.localKeyGenerator.generateID() } == [1, 2, 3])
    }

    @Test("KEY-06: generated GUIDs are version 4 and differ")
    func guid() throws {
        let shop = try Shop()
        let ids = (0..<100).map { _ in shop.database.localKeyGenerator.generateGUID() }
        #expect(Set(ids).count == 100)
        let pattern = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/
        for id in ids { #expect(id.wholeMatch(of: pattern) != nil) }
    }
}
