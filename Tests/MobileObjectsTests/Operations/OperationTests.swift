import Foundation
import MobileObjects
import MobileStore
import Testing

/// Create, update, delete, save and refresh.
@Suite struct OperationTests {
    let shop: Shop
    init() throws { shop = try Shop() }

    private func imported(_ key: Int64 = 1) throws -> GenericEntity {
        try shop.importCustomer(key, id: "c\(key)", name: "Harbour Foods")
        return try shop.objects("Customer").load(key)
    }

    @Test("OPS-02 PSP-01 KEY-01: create inserts the row under a surrogate key and marks it as pending")
    func create() throws {
        let customer = try shop.newCustomer("c1")
        try customer.create()
        #expect(customer.surrogateKey == 1000)
        let found = try #require(try shop.customer(1000))
        #expect(found.name == "Harbour Foods" && found.isCreated && found.replayCounter == customer.replayCounter)
    }

    @Test("create of an object that is in the database is refused")
    func createTwice() throws {
        let customer = try shop.newCustomer("c1")
        try customer.create()
        let error = #expect(throws: ObjectError.self) { try customer.create() }
        #expect(error?.code == .alreadySaved)
        #expect(try shop.count("Customer") == 1)
    }

    @Test("OPS-22 EXC-04: create with an existing modelled key is refused, and nothing is written")
    func duplicateKey() throws {
        _ = try imported()
        let error = #expect(throws: ObjectError.self) { try shop.newCustomer("c1").create() }
        #expect(error?.code == .duplicateKey)
        #expect(error?.message == "create of Customer: a row with this key (id) exists already")
        #expect(try shop.count("Customer") == 1 && shop.count("Customer_os") == 0)
        #expect(try shop.database.keyGenerator.keysLeft == 9000)
    }

    @Test("OPS-21: an attribute without a natural empty value must be given one before create")
    func missingValue() throws {
        let product = try GenericEntity("Product", in: shop.database)
        try product.set("id", 1)
        let error = #expect(throws: ObjectError.self) { try product.create() }
        #expect(error?.code == .missingValue && error?.message == "create of Product: price has no value")
        #expect(product.isNew && product.isDirty)
        try product.set("price", .decimal(0))
        try product.create()
        #expect(try shop.count("Product") == 1)
    }

    @Test("OPS-04: update writes what was changed, and leaves what another program wrote to other columns")
    func updateChanged() throws {
        let customer = try imported()
        try shop.database.write("another program") { try $0.connection.execute("UPDATE \"Customer\" SET \"city\" = 'Sligo'") }
        try customer.set("name", "Harbour")
        try customer.update()
        try customer.refresh()
        #expect(try customer.value("city") == "Sligo" && customer.name == "Harbour")
    }

    @Test("update without a change writes nothing")
    func updateNothing() throws {
        let customer = try imported()
        try customer.update()
        #expect(!customer.isPending)
        #expect(try shop.count("Customer_os") == 0)
    }

    @Test("a second writer of the same row gets stale, and nothing is written")
    func stale() throws {
        let first = try imported(), second = try #require(try shop.customer(1))
        try first.set("city", "Cork")
        try first.update()
        try second.set("city", "Galway")
        let error = #expect(throws: ObjectError.self) { try second.update() }
        #expect(error?.code == .stale && second.isDirty)
        #expect(try shop.customer(1)?.value("city") == "Cork")
        try second.refresh()
        try second.set("city", "Galway")
        try second.update()
        #expect(try shop.customer(1)?.value("city") == "Galway")
    }

    @Test("OPS-06: update of a row that no longer exists is refused")
    func orphan() throws {
        let customer = try imported()
        try shop.importDeletions("Customer", 1)
        try customer.set("city", "Cork")
        let error = #expect(throws: ObjectError.self) { try customer.update() }
        #expect(error?.code == .notFound && customer.isDirty)
        #expect(try !shop.database.hasPendingOperations())
    }

    @Test("update and delete of a new object are refused")
    func notSaved() throws {
        let customer = try shop.newCustomer("c1")
        #expect(#expect(throws: ObjectError.self) { try customer.update() }?.code == .notSaved)
        #expect(#expect(throws: ObjectError.self) { try customer.delete() }?.code == .notSaved)
        #expect(#expect(throws: ObjectError.self) { try customer.submitPending() }?.code == .notSaved)
    }

    @Test("OPS-07: delete takes the row away and keeps the server's version; of a create that was never sent nothing is kept")
    func delete() throws {
        let customer = try imported(), created = try shop.newCustomer("c2")
        try created.create()
        try customer.delete()
        try created.delete()
        #expect(try shop.count("Customer") == 0 && shop.count("Customer_os") == 1)
        #expect(created.state == .deleted && customer.state == .pending)
        #expect(#expect(throws: ObjectError.self) { try customer.delete() }?.code == .notFound)
    }

    @Test("OPS-08: save creates a new object and updates one that is there")
    func save() throws {
        let customer = try shop.newCustomer("c2")
        try customer.save()
        #expect(customer.isCreated && customer.surrogateKey == 1000)
        let other = try imported()
        try other.set("city", "Cork")
        try other.save()
        #expect(other.isUpdated)
    }

    @Test("OPS-09 PND-16: save of a parent saves its new and changed children, and theirs, in one transaction")
    func saveCascades() throws {
        let customer = try shop.newCustomer("c1")
        let order = try shop.newOrder(of: customer)
        _ = try shop.newLine(of: order, 1)
        try customer.save()
        #expect(try [shop.count("Customer"), shop.count("SalesOrder"), shop.count("Line")] == [1, 1, 1])
        #expect(try order.value("customerId") == "c1")
        try order.set("status", "PAID")
        try customer.save()
        #expect(try shop.objects("SalesOrder").load(order.surrogateKey).value("status") == "PAID")
    }

    @Test("a cascaded save that fails at a child leaves nothing behind, in the database and in memory")
    func saveFails() throws {
        let customer = try shop.newCustomer("c1")
        let order = try shop.newOrder(of: customer)
        _ = try shop.newLine(of: order, 1)
        func change(_ sql: String) throws { try shop.database.write("trigger") { try $0.connection.execute(sql) } }
        try change("CREATE TRIGGER no_line BEFORE INSERT ON \"Line\" BEGIN SELECT RAISE(ABORT, 'no line'); END")
        let error = #expect(throws: ObjectError.self) { try customer.save() }
        #expect(error?.code == .store)
        #expect(customer.isNew && order.isNew && customer.isDirty && order.isDirty && customer.surrogateKey == 0)
        #expect(try shop.count("Customer") == 0 && shop.count("SalesOrder") == 0)
        try change("DROP TRIGGER no_line")
        try customer.save()
        #expect(try [shop.count("Customer"), shop.count("SalesOrder"), shop.count("Line")] == [1, 1, 1])
    }

    @Test("OPS-14: refresh reads the row again and drops changes in memory")
    func refresh() throws {
        let customer = try imported()
        try customer.set("city", "Cork")
        try customer.refresh()
        #expect(try customer.value("city") == "Dublin" && !customer.isDirty)
    }

    @Test("OPS-15: refresh of a new object is refused")
    func refreshNew() throws {
        #expect(#expect(throws: ObjectError.self) { try shop.newCustomer("c1").refresh() }?.code == .notSaved)
    }

    @Test("OPS-16: another object of a submitted row must be refreshed before it is used again")
    func refreshAfterSubmit() throws {
        let first = try imported()
        try first.set("city", "Cork")
        try first.update()
        let second = try #require(try shop.customer(1))
        try first.submitPending()
        try second.set("city", "Galway")
        #expect(#expect(throws: ObjectError.self) { try second.update() }?.code == .stale)
        try second.refresh()
        #expect(second.state == .submitted)
        try second.set("city", "Galway")
        try second.update()
    }

    @Test("OPS-03: a child is created by itself, its parent refreshed, and submitted through the parent")
    func createChild() throws {
        let customer = try imported()
        let order = try shop.newOrder(of: customer)
        try order.create()
        try customer.refresh()
        #expect(customer.pendingChange == .parent)
        try customer.submitPending()
        #expect(try shop.outboxLines() == ["C SalesOrder 1000"])
    }

    @Test("OPS-20 EXC-07 EXC-08: unknown attributes, classes and queries are told by their codes")
    func unknownNames() throws {
        let customer = try imported()
        #expect(#expect(throws: ObjectError.self) { _ = try customer.value("colour") }?.code == .noSuchAttribute)
        #expect(#expect(throws: ObjectError.self) { try customer.set("colour", "red") }?.code == .noSuchAttribute)
        #expect(#expect(throws: ObjectError.self) { _ = try shop.objects("Kustomer") }?.code == .noSuchClass)
        #expect(#expect(throws: ObjectError.self) { _ = try shop.objects("Customer").query("findByColour") }?.code == .noSuchOperation)
    }

    @Test("a value of another type, out of range, or null where that is not allowed is refused and leaves the attribute alone")
    func invalidValues() throws {
        let customer = try imported()
        for (name, value) in [("name", 5), ("name", .null), ("credit", .decimal(Decimal(string: "1.234")!)), ("since", "soon")]
            as [(String, AttributeValue)]
        {
            let error = #expect(throws: ObjectError.self) { try customer.set(name, value) }
            #expect(error?.code == .invalidValue)
        }
        #expect(!customer.isDirty)
        let line = try GenericEntity("Line", in: shop.database)
        #expect(#expect(throws: ObjectError.self) { try line.set("line", 3_000_000_000) }?.code == .invalidValue)
    }

    @Test("FND-15: description, JSON form, copy of all attributes and the key as text")
    func utilities() throws {
        let customer = try imported()
        #expect(customer.keyToString() == "1")
        #expect(
            JSONValue.object(try customer.json()).description == #"{"id":"c1","name":"Harbour Foods","city":"Dublin","credit":12.34,"since":null}"#)
        #expect(customer.description == "Customer 1 [N] id: c1, name: Harbour Foods, city: Dublin, credit: 12.34, since: ")
        let copy = try shop.newCustomer("c2")
        try copy.copyAll(customer)
        #expect(try copy.value("id") == "c1" && copy.value("credit") == .decimal(Decimal(string: "12.34")!) && copy.isNew)
    }

    @Test("LBO-01 LBO-02: a local object is saved without pending state and cannot be submitted")
    func localObject() throws {
        let note = try shop.new("Note", ["title": "shopping"])
        try note.save()
        #expect(!note.isPending && note.surrogateKey == 1)
        try note.set("body", "tea")
        try note.save()
        #expect(try shop.objects("Note").findByPrimaryKey("shopping")?.value("body") == "tea")
        #expect(#expect(throws: ObjectError.self) { try note.submitPending() }?.code == .misuse)
        #expect(#expect(throws: ObjectError.self) { try shop.new("Note", ["title": "shopping"]).create() }?.code == .duplicateKey)
        try note.delete()
        #expect(try shop.count("Note") == 0 && !shop.database.hasPendingOperations())
    }
}
