@_spi(GeneratedCode) import MobileObjects
import MobileStore
import Testing

/// The order in which trees of pending rows are submitted, and rows within a tree.
@Suite struct SubmitOrderTests {
    let shop: Shop
    init() throws {
        shop = try Shop(SupplyModel.model)
        for name in ["Contact", "Product"] { try shop.importRows(name, ["id", "name"], "[[1,1,\"one\"],[2,2,\"two\"],[3,3,\"three\"]]") }
    }

    private func new(_ object: String, _ id: Int64, _ references: [String: GenericEntity] = [:]) throws -> GenericEntity {
        let made = try shop.new(object, ["id": .integer(id), "name": .string("new \(id)")])
        for (name, target) in references { try made.setParent(target, name) }
        try made.create()
        return made
    }

    private func change(_ object: GenericEntity, _ references: [String: GenericEntity?] = [:]) throws {
        try object.set("name", .string(object.name + "!"))
        for (name, target) in references { try object.setParent(target, name) }
        try object.update()
    }

    private func load(_ object: String, _ key: Int64) throws -> GenericEntity { try shop.objects(object).load(key) }

    private func submitted() throws -> [String] {
        try shop.database.submitPendingOperations()
        return try shop.outboxLines()
    }

    @Test("PND-04: rows go in the order in which they were changed first, whatever object they are of")
    func byTime() throws {
        let product = try new("Product", 11), contact = try new("Contact", 12)
        try change(load("Product", 1))
        try change(load("Contact", 1))
        // A row that is changed once more keeps its place.
        try change(contact)
        try change(product)
        #expect(try submitted() == ["C Product 1000", "C Contact 1001", "U Product 1", "U Contact 1"])
    }

    @Test("a row that was created here goes before those that refer to it, in the model's order and against it")
    func references() throws {
        let product = try new("Product", 11)
        let contact = try new("Contact", 12, ["product": product])
        _ = try new("Product", 13, ["supplier": contact])
        #expect(try submitted() == ["C Product 1000", "C Contact 1001", "C Product 1002"])
    }

    @Test("and where the reference was set later, so that the referrer was changed first")
    func lateReference() throws {
        let contact = try load("Contact", 1)
        try change(contact)
        let first = try new("Product", 11), second = try new("Product", 12), third = try new("Product", 13)
        // A chain within one object.
        try change(first, ["substitute": second])
        try change(second, ["substitute": third])
        try change(contact, ["product": first])
        #expect(try submitted() == ["C Product 1002", "C Product 1001", "C Product 1000", "U Contact 1"])
    }

    @Test("rows that were created here and refer to each other go one after the other, always in the same order")
    func cycle() throws {
        let contact = try new("Contact", 11)
        let product = try new("Product", 12, ["supplier": contact])
        try change(contact, ["product": product])
        let own = try new("Product", 13)
        try change(own, ["substitute": own])
        let after = try new("Contact", 14, ["product": product])
        #expect(after.isPending)
        #expect(try submitted() == ["C Product 1001", "C Contact 1000", "C Product 1002", "C Contact 1003", "U Product 1001"])
    }

    @Test(arguments: [true, false])
    func `the reference that closes a cycle of new rows follows with an update, and the rows settle with the answers`(isAccepted: Bool) throws {
        let contact = try new("Contact", 11), product = try new("Product", 12, ["supplier": contact])
        try change(contact, ["product": product])
        #expect(try submitted() == ["C Product 1001", "C Contact 1000", "U Product 1001"])
        let records = try shop.database.outbox
        #expect(records.map(\.references) == [[:], ["product": 1001], ["supplier": 1000]])
        #expect(records[2].attributes.isEmpty)
        for record in records { try shop.answer(record.id, accepted: isAccepted) }
        #expect(try shop.database.outbox.isEmpty && shop.value("SELECT \"_ref_supplier\" FROM \"Product\" WHERE \"_sk\" = 1001") == .integer(1000))
        #expect(try shop.database.hasPendingOperations() == !isAccepted)
        // After a rejection all of it is sent again.
        if !isAccepted { #expect(try submitted() == ["C Product 1001", "C Contact 1000", "U Product 1001"]) }
    }

    @Test("a tree stays together: all of it goes before what refers to a row in it, and each tree is one batch")
    func trees() throws {
        let first = try shop.new("Product", ["id": 11, "name": "first"]), second = try shop.new("Product", ["id": 12, "name": "second"])
        let part = try shop.new("Part", ["id": 21, "name": "part"]), other = try shop.new("Part", ["id": 22, "name": "other"])
        (first.children(2) as Children<GenericEntity>).append(part)
        (second.children(2) as Children<GenericEntity>).append(other)
        try first.save()
        try second.save()
        try part.setParent(other, "twin")
        try part.update()
        let contact = try new("Contact", 13, ["product": first])
        #expect(contact.isPending)
        #expect(try submitted() == ["C Product 1002", "C Part 1003", "C Product 1000", "C Part 1001", "C Contact 1004"])
        let records = try shop.database.outbox
        #expect(records.map(\.batch) == [0, 0, 2, 2, 4].map { records[$0].id })
    }

    @Test("PND-13: the children of a row go from first to last, but each behind those that it refers to")
    func siblings() throws {
        let product = try shop.new("Product", ["id": 11, "name": "first"])
        let parts = try (21...23).map { try shop.new("Part", ["id": .integer($0), "name": "part"]) }
        for part in parts { (product.children(2) as Children<GenericEntity>).append(part) }
        try product.save()
        try parts[0].setParent(parts[2], "twin")
        try parts[0].update()
        #expect(try submitted() == ["C Product 1000", "C Part 1003", "C Part 1001", "C Part 1002"])
    }

    @Test("a row that was submitted and is changed again goes by the time of what was not submitted")
    func changedAgain() throws {
        let contact = try load("Contact", 1)
        try change(contact)
        try contact.submitPending()
        _ = try new("Product", 11)
        try change(contact)
        #expect(try submitted() == ["U Contact 1", "C Product 1000", "U Contact 1"])
    }

    @Test("a row that was refused keeps its time")
    func refused() throws {
        let contact = try load("Contact", 1), product = try new("Product", 11)
        try product.submitPending()
        try change(contact)
        try shop.reject(product.replayPending)
        #expect(try submitted() == ["C Product 1000", "U Contact 1"])
    }

    @Test("submitting one row, or those of one object, takes along what was created here and is referred to", arguments: [true, false])
    func takesAlong(single: Bool) throws {
        let last = try new("Product", 11), first = try new("Product", 12, ["substitute": last]), unrelated = try new("Product", 13)
        let contact = try new("Contact", 14, ["product": first])
        if single { try contact.submitPending() } else { try shop.database.submitPendingOperations(of: contact.metadata) }
        #expect(try shop.outboxLines() == ["C Product 1000", "C Product 1001", "C Contact 1003"])
        let records = try shop.database.outbox
        #expect(records.map(\.batch) == records.map(\.id))
        // Rows that wait for an answer, and rows that the server has, are not sent again.
        try contact.refresh()
        try change(contact, ["product": unrelated])
        try unrelated.submitPending()
        try contact.submitPending()
        #expect(try shop.outboxLines().suffix(2) == ["C Product 1002", "U Contact 1003"])
    }

    @Test("a row that is deleted goes behind those that referred to it", arguments: ["cleared before", "cleared after", "deleted"])
    func deletes(referrer: String) throws {
        try shop.importRows("Product", ["_ref_supplier"], "[[1,1]]")
        let contact = try load("Contact", 1), product = try load("Product", 1)
        try change(contact)
        if referrer == "cleared before" { try change(product, ["supplier": nil]) }
        try contact.delete()
        if referrer == "cleared after" { try change(product, ["supplier": load("Contact", 2)]) }
        if referrer == "deleted" { try product.delete() }
        #expect(try submitted() == [referrer == "deleted" ? "D Product 1" : "U Product 1", "D Contact 1"])
    }

    @Test(arguments: [true, false])
    func `a row that is deleted goes behind those that referred to it in a submission that waits, also if it is submitted alone`(single: Bool) throws
    {
        let contact = try new("Contact", 11), product = try load("Product", 1), bystander = try load("Product", 2)
        try change(product, ["supplier": contact])
        try shop.database.submitPendingOperations()
        for object in [contact, product] { try object.refresh() }
        try change(bystander)
        try contact.delete()
        try change(product, ["supplier": nil])
        if single { try contact.submitPending() } else { try shop.database.submitPendingOperations() }
        let rest = ["U Product 1", "D Contact 1000"]
        #expect(try shop.outboxLines() == ["C Contact 1000", "U Product 1"] + (single ? rest : ["U Product 2"] + rest))
    }

    @Test(arguments: ["moved", "deleted", "edited"])
    func `a row that is deleted and submitted alone takes along those that have left it, and no others`(referrer: String) throws {
        try shop.importRows("Product", ["_ref_supplier"], "[[1,1],[2,2]]")
        let contact = try load("Contact", 1), product = try load("Product", 1), other = try load("Product", 2)
        switch referrer {
        case "moved": try change(product, ["supplier": load("Contact", 2)])
        case "deleted": try product.delete()
        default: try change(product)
        }
        try change(other, ["supplier": nil])
        try contact.delete()
        try contact.submitPending()
        let expected = ["moved": ["U Product 1", "D Contact 1"], "deleted": ["D Product 1", "D Contact 1"], "edited": ["D Contact 1"]]
        #expect(try shop.outboxLines() == expected[referrer])
    }

    @Test(arguments: [true, false])
    func `a new row with the key of a deleted one goes behind it, and before a row that refers to the new one now`(single: Bool) throws {
        try shop.importRows("Product", ["_ref_supplier"], "[[1,1]]")
        let former = try load("Contact", 1), product = try load("Product", 1)
        try former.delete()
        let contact = try new("Contact", 1)
        try change(product, ["supplier": contact])
        if single { try contact.submitPending() } else { try shop.database.submitPendingOperations() }
        let lines = try shop.outboxLines()
        #expect(lines == ["D Contact 1", "C Contact 1000", "U Product 1"] || single && lines == ["D Contact 1", "C Contact 1000"])
    }

    @Test("a long chain of references is followed to its end")
    func chain() throws {
        var products: [GenericEntity] = []
        try shop.database.transaction { for id in 0..<300 { products.append(try new("Product", Int64(100 + id))) } }
        try shop.database.transaction { for id in 0..<299 { try change(products[id], ["substitute": products[id + 1]]) } }
        #expect(try submitted() == products.reversed().map { "C Product \($0.surrogateKey)" })
    }
}
