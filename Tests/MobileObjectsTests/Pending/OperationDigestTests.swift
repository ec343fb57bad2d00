import MobileObjects
import MobileStore
import Testing

/// The digests of submitted operations: one content has one digest, and another content another one.
@Suite struct OperationDigestTests {
    let shop: Shop
    init() throws {
        shop = try Shop()
        try shop.importRows("Product", ["id", "name", "price"], "[[1,1,\"Tea\",2.50]]")
    }

    private func submit(_ change: (GenericEntity) throws -> Void) throws -> String {
        let product = try shop.objects("Product").load(1)
        try change(product)
        try product.update()
        try product.submitPending()
        let last = try #require(try shop.database.outbox.last)
        #expect(last.digest.utf8.count == 64 && last.digest.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        return last.digest
    }

    @Test("a digest covers values and large values, and does not change with time")
    func contents() throws {
        // Each batch has an id of its own, which takes part: so each is compared with a second database at the same time.
        let twin = try OperationDigestTests()
        func differs(_ one: (GenericEntity) throws -> Void, _ other: (GenericEntity) throws -> Void) throws -> Bool {
            try submit(one) != twin.submit(other)
        }
        #expect(try !differs({ try $0.set("name", "Coffee") }, { try $0.set("name", "Coffee") }))
        #expect(try differs({ try $0.set("name", "A") }, { try $0.set("name", "B") }))
        let bytes = (0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        var (other, longer, late) = (bytes, bytes + [0], bytes)
        (other[65_535], late[65_536]) = (0, 0)
        #expect(try !differs({ try $0.write(bytes, "picture") }, { try $0.write(bytes, "picture") }))
        #expect(try differs({ try $0.write(bytes, "picture") }, { try $0.write(other, "picture") }))
        #expect(try differs({ try $0.write(bytes, "picture") }, { try $0.write(longer, "picture") }))
        #expect(try !differs({ try $0.write(bytes, "picture") }, { try $0.write(late, "picture") }), "the length must do beyond the first 64 KB")
        #expect(try differs({ try $0.write("hot", "manual") }, { try $0.write("hut", "manual") }))
        let before = try shop.database.outbox.map(\.digest)
        try shop.importRows("Product", ["id", "name", "price"], "[[1,1,\"Milk\",3.50]]")
        let id = try #require(try shop.database.outbox.first).id
        try shop.postpone(id)
        #expect(try shop.database.outbox.map(\.digest) == before && Set(before).count == before.count)
    }
}
