import MobileObjects
import MobileStore
import TestSupport
import Testing

/// Surrogate keys before the first grant, and beyond the granted ones: the database makes ranges of its own.
@Suite struct OwnKeyRangeTests {
    static let lowest: Int64 = 1 << 62
    static let size: Int64 = 65_536

    @Test("KEY-02: before the first grant, and when granted keys are used up, keys come from a range with bit 62 and 46 random bits")
    func order() throws {
        let shop = try Shop(grantingKeys: false, random: { 0xFFFF_0123_4567_89AB })
        let generator = shop.database.keyGenerator, first = Self.lowest + 0x0123_4567_89AB * Self.size
        #expect(try shop.database.keyClaims == [])
        #expect(try (0..<2).map { _ in try generator.generateID() } == [first, first + 1])
        try shop.grant(first: 10, last: 11)
        #expect(try (0..<4).map { _ in try generator.generateID() } == [10, 11, first + 2, first + 3])
        #expect(try shop.database.keyClaims == [first] && generator.keysLeft == 0)
        try shop.grant(first: 20, last: 29)
        #expect(try generator.generateID() == 20)
    }

    @Test("a range has 65,536 keys; a full one is followed by another, whatever chance says", arguments: [0, .max, 0x3FFF_FFFF_FFFE] as [UInt64])
    func ranges(bits: UInt64) throws {
        let shop = try Shop(grantingKeys: false, random: { bits })
        let generator = shop.database.keyGenerator, first = try generator.generateID()
        try shop.database.write("use up") { try $0.connection.execute("UPDATE \"_key_range\" SET \"next\" = \"last\"") }
        #expect(try generator.generateID() == first + Self.size - 1)
        let row = try shop.newCustomer("c1")
        try row.create()
        #expect(row.surrogateKey % Self.size == 0 && row.surrogateKey != first && row.surrogateKey > 0)
        // The first one has no row that waits, and is not claimed any more after a third was made.
        try shop.database.write("use up") { try $0.connection.execute("UPDATE \"_key_range\" SET \"next\" = \"last\" + 1") }
        let third = try generator.generateID()
        #expect(try shop.database.keyClaims == [row.surrogateKey, third].sorted() && Set([first, row.surrogateKey]).count == 2)
    }

    @Test("two connections of one file count in one range, and a failed transaction gives its keys and its range back")
    func shared() throws {
        let shop = try Shop(grantingKeys: false), database = shop.database
        struct Stop: Error {}
        let customer = try shop.newCustomer("c1")
        #expect(throws: Stop.self) {
            try database.transaction {
                try customer.create()
                throw Stop()
            }
        }
        #expect(try customer.isNew && customer.surrogateKey == 0 && database.keyClaims == [])
        let other = try PackageDatabase(model: ShopModel.model, profile: database.connectionProfile)
        let keys = try (0..<3).flatMap { _ in try [database.keyGenerator.generateID(), other.keyGenerator.generateID()] }
        #expect(keys == (0..<6).map { keys[0] + $0 } && keys[0] >= Self.lowest)
        try other.close()
    }

    @Test("with 1,024 ranges that wait for the server there is a clear error, and none after rows of a range are settled")
    func limit() throws {
        let shop = try Shop(grantingKeys: false, random: { 5 << 20 })
        try shop.database.write("ranges") { transaction in
            try transaction.connection.execute(
                """
                WITH RECURSIVE n(k) AS (SELECT 1 << 62 UNION ALL SELECT k + 65536 FROM n WHERE k < (1 << 62) + 1023 * 65536)
                INSERT INTO "_key_range" SELECT k, k + 65535, k + 65536 FROM n
                """)
            try transaction.connection.execute(
                """
                INSERT INTO "_outbox" ("id", "entity", "sk", "change", "operation", "batch", "attributes", "primary_key", "refs", "parameters", "submitted",
                    "changed", "imported", "digest", "deferrals")
                SELECT 1 + ("first" >> 16) - (1 << 46), 'Customer', "first" + 9, 'C', '', 1, '{}', '{}', '{}', '{}', '', '*', 0, '', 0
                FROM "_key_range"
                """)
        }
        let error = ObjectError.of { _ = try shop.database.keyGenerator.generateID() }
        #expect(error?.code == .keysUsedUp)
        #expect(
            error?.message == "no surrogate key: 1024 ranges of keys wait for the server; submit the pending changes and synchronize")
        try shop.reject(3)
        #expect(try shop.database.keyGenerator.generateID() == Self.lowest + (5 << 20) * Self.size)
        #expect(try shop.database.keyClaims.count == 1024)
    }

    @Test("the greatest key goes through import, query and JSON without a change")
    func greatest() throws {
        let shop = try Shop(grantingKeys: false)
        for key in [.max, .max - 1, Self.lowest + 1, 1 << 53 + 1] as [Int64] {
            try shop.importCustomer(key, id: "c\(key)", name: "Harbour Foods")
            try shop.importOrder(key, number: 1, customer: key)
            let customer = try #require(try shop.customer(key))
            #expect(try customer.surrogateKey == key && customer.orders.all().map(\.surrogateKey) == [key])
            #expect(try JSONValue(parsing: Array("[\(key)]".utf8)).array?.first?.integer == key)
        }
        let all = try shop.objects("Customer").findAll()
        try all.prefetch("orders")
        #expect(all.allSatisfy { $0.orders.map(\.surrogateKey) == [$0.surrogateKey] } && all.count == 4)
    }
}
