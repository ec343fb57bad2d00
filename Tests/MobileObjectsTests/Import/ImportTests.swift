import Foundation
import MobileObjects
import MobileStore
import TestSupport
import Testing

/// Rows from the server.
@Suite struct ImportTests {
    @Test("imported rows are not pending and have the clock's counter, which later imports leave alone")
    func counter() throws {
        let shop = try Shop()
        shop.clock.seconds = 5_000
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        shop.clock.seconds = 6_000
        try shop.importCustomer(1, id: "c1", name: "Harbour")
        let customer = try shop.objects("Customer").load(1)
        #expect(customer.name == "Harbour" && customer.replayCounter == 5_000 && !customer.isPending)
    }

    @Test("every type comes through an import exactly as it was sent")
    func types() throws {
        let shop = try Shop()
        try shop.importRows(
            "Product", ["id", "name", "price", "released"], "[[1,9007199254740993,\"Tea \\u00e9\",12345678.90,\"2026-11-21T17:05:09.250Z\"]]")
        let product = try shop.objects("Product").load(1)
        #expect(try product.value("id") == 9_007_199_254_740_993)
        #expect(try product.value("name") == "Tea é")
        #expect(try product.value("price") == .decimal(Decimal(string: "12345678.9")!))
        #expect(try product.value("released") == .dateTime(Date(timeIntervalSince1970: 1_795_280_709.25)))
    }

    @Test("rows that do not fit the model are refused as a whole, with the reason")
    func badRows() throws {
        let shop = try Shop()
        for json in [
            "[[1,\"c1\",\"A\",null,1.00],[2,\"c2\",\"B\",null,1.234]]", "[[1,\"c1\",null,null,1]]", "[[1,\"c1\",5,null,1]]", "[[1,\"c1\"",
        ] {
            #expect(throws: ObjectError.self) { try shop.importRows("Customer", ["id", "name", "city", "credit"], json) }
        }
        #expect(#expect(throws: ObjectError.self) { try shop.importRows("Customer", ["colour"], "[]") }?.code == .noSuchAttribute)
        #expect(#expect(throws: ObjectError.self) { try shop.importRows("Note", [], "[]") }?.code == .misuse)
        #expect(try shop.count("Customer") == 0)
    }

    @Test("an import that fails halfway leaves tokens, rows and original states as they were")
    func atomic() throws {
        let shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        let customer = try shop.objects("Customer").load(1)
        try customer.set("city", "Cork")
        try customer.update()
        #expect(throws: ObjectError.self) {
            try shop.database.write("import") { transaction in
                let rows = try transaction.importSession(for: "Customer").rows(["_sk", "id", "name", "credit"])
                try rows.push([UInt8]("[[1,\"c1\",\"Changed\",1],[2,\"c2\",\"New\",1]]".utf8))
                try rows.finish()
                try transaction.setToken("t", ofGroup: "default")
                let more = try transaction.importSession(for: "SalesOrder").rows(["_sk", "number"])
                try more.push([UInt8]("[[1,\"x\"]]".utf8))
                try more.finish()
            }
        }
        #expect(try shop.count("Customer") == 1 && shop.database.token(ofGroup: "default") == nil)
        try customer.cancelPending()
        #expect(customer.name == "Harbour Foods")
    }
}
