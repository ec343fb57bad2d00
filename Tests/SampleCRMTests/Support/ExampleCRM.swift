import Foundation
import MobileObjects
import MobileStore
import SampleCRM
import TestSupport

/// The sample package on a device after its first synchronization: three customers, an order with one line and a product.
final class ExampleCRM {
    let crm: CRM
    private let directory: TemporaryDirectory
    var folder: URL { directory.url }
    private var printed: [String] = []

    init() throws {
        directory = try TemporaryDirectory()
        crm = try CRM.open(ConnectionProfile(path: directory.file("crm.db")))
        try crm.write("grant") { try $0.grantKeyRange(first: 1000, last: 2000) }
        try importRows(
            "Customer", ["id", "name", "street", "city", "region", "creditLimit", "active", "since"],
            """
            [[1,101,"Harbour Foods","Quay 1","Dublin","NORTH",1500,true,"2026-01-02"],
             [2,102,"Mill & Sons","Mill Street 2","Cork","NORTH",500,true,"2026-02-03"],
             [3,103,"Castle Inn","High Street 3","Cork","NORTH",2000,true,"2026-03-04"]]
            """)
        try importRows(
            "SalesOrder", ["id", "customerId", "orderDate", "status", "total", "_ref_customer"], "[[11,17,101,\"2026-05-06\",\"NEW\",120,1]]")
        try importRows(
            "SalesOrderLine", ["orderId", "line", "productId", "quantity", "price", "_ref_order"], "[[21,17,1,5,4,30,11]]")
        try importRows("Product", ["id", "name", "price", "category"], "[[31,5,\"Tea\",30,\"drinks\"]]")
    }

    deinit { try? crm.close() }

    private func importRows(_ object: String, _ columns: [String], _ rows: String) throws {
        try crm.write("import") { transaction in
            let importer = try transaction.importSession(for: object).rows(["_sk"] + columns)
            try importer.push([UInt8](rows.utf8))
            try importer.finish()
        }
    }

    /// Replaces `print` in an example.
    func add(_ value: Any) { printed.append("\(value)") }

    /// Returns the lines that were printed since the last call.
    func take() -> [String] {
        defer { printed = [] }
        return printed
    }
}
