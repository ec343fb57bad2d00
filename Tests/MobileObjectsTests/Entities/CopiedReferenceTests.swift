@_spi(GeneratedCode) import MobileObjects
import MobileStore
import Testing

/// `copyAll` copies attributes with the objects that they name.
@Suite struct CopiedReferenceTests {
    @Test("a reference without attributes of its own is copied")
    func unmapped() throws {
        let shop = try Shop()
        try shop.importRows("Product", ["id", "name", "price"], "[[31,1,\"Salmon\",2.50]]")
        let product = try #require(try shop.objects("Product").find(31))
        let customer = try shop.newCustomer("c1"), copy = try shop.newCustomer("c2")
        customer.setParent(product, 1)
        try customer.create()
        try copy.copyAll(customer)
        try copy.set("id", "c2")
        try copy.create()
        #expect(try shop.value("SELECT \"_ref_favourite\" FROM \"Customer\" WHERE \"id\" = 'c2'") == .integer(31))
        // A cleared reference is copied as well.
        customer.setParent(nil as GenericEntity?, 1)
        try copy.copyAll(customer)
        try copy.set("id", "c2")
        try copy.update()
        #expect(try shop.value("SELECT \"_ref_favourite\" FROM \"Customer\" WHERE \"id\" = 'c2'") == .null)
    }

    @Test("so is a reference to an object that is not saved yet: the copy belongs to the same one")
    func unsavedParent() throws {
        let shop = try Shop()
        let customer = try shop.newCustomer("c1"), order = try shop.newOrder(of: customer)
        let copy = try shop.objects("SalesOrder").newObject()
        try copy.copyAll(order)
        try customer.save()
        try copy.create()
        #expect(
            try shop.value("SELECT count(*) FROM \"SalesOrder\" WHERE \"_ref_customer\" = ?1".replacing("?1", with: "\(customer.surrogateKey)"))
                == .integer(2))
    }
}
