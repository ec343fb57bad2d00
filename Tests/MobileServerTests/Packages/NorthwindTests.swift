import Foundation
import MobileModel
import MobileProtocol
import MobileServer
import MobileStore
import TestSupport
import Testing

/// The package of a database from outside of the project: text keys, a composite key, names with spaces, photographs.
@Suite(.enabled(if: Northwind.isThere, Comment(rawValue: Northwind.reason)))
struct NorthwindTests {
    private static func server() throws -> TestServer {
        let model = try PackageModel(contentsOf: Northwind.model)
        return try TestServer(model: model, tables: String(contentsOf: Northwind.script, encoding: .utf8))
    }

    @Test func `every row, reference, photograph and picture of the database arrives`() throws {
        let server = try Self.server()
        let device = try TestDevice(server)
        let result = try device.synchronize()
        #expect(result.status == 200, "\(result.failure?.message ?? "")")
        for (object, table) in server.model.objects.compactMap({ object in object.binding.map { (object.name, $0.table) } }) {
            let count = try server.backEndValue("SELECT count(*) FROM \"\(table)\"")
            #expect(.integer(Int64(device.rows[object]?.count ?? 0)) == count, "\(object)")
        }
        let orders = device.rows["Order"] ?? [:]
        let alfki = try #require(device.rows("Customer", by: "customerID")["ALFKI"]?["_sk"])
        #expect(orders.values.filter { $0["_ref_customer"] == alfki }.count == 6)
        let details = device.rows["Order Details"] ?? [:]
        #expect(details.values.allSatisfy { orders[$0["_ref_order"]?.integer ?? 0] != nil })
        let pictures = device.largeValues.values.flatMap(\.values).flatMap(\.values)
        #expect(pictures.count >= 17 && pictures.allSatisfy { !$0.isEmpty })
    }

    @Test func `a text key is chosen by the device, a composite key is kept, and a constraint rejects`() throws {
        let server = try Self.server()
        let device = try TestDevice(server)
        try device.synchronize()
        let customer = device.create("Customer", ["customerID": "NEWCO", "companyName": "Ærlig & Sønner", "city": "Århus"])
        let order = device.create(
            "Order", ["customerID": "NEWCO", "orderDate": "2026-01-31", "freight": .number("12.3456")], refs: ["customer": .integer(customer.key)],
            batch: customer.id)
        let detail = device.create(
            "Order Details", ["orderID": 0, "productID": 1, "Unit Price": 18, "quantity": 3, "discount": .number("0.05")],
            refs: ["order": .integer(order.key)], batch: customer.id)
        let product = device.key("Product", "productID", 1)
        let refused = OperationFrame(
            id: device.nextID(), object: "Order Details", change: .update,
            key: device.rows["Order Details"]?.values.first { $0["orderID"] == 10248 && $0["productID"] == 11 }?["_sk"]?.integer ?? 0,
            attributes: ["quantity": 0], primaryKey: ["orderID": 10248, "productID": 11])
        let result = try device.synchronize([customer, order, detail, refused])
        #expect(result.results.map(\.outcome) == [.accepted, .accepted, .accepted, .rejected])
        #expect(result.results.last?.code == 412)
        #expect(device.rows["Order"]?[order.key]?["orderID"] == 11078)
        #expect(device.rows["Order"]?[order.key]?["freight"] == .number("12.3456"))
        #expect(device.rows["Order Details"]?[detail.key]?["orderID"] == 11078)
        #expect(device.rows["Order Details"]?[detail.key]?["_ref_product"] == .integer(product))
        #expect(try device.synchronize([customer]).results.map(\.outcome) == [.accepted])
        #expect(try server.backEndValue("SELECT count(*) FROM Customers WHERE CustomerID = 'NEWCO'") == 1)
    }
}
