import Foundation
import MobileModel
import MobileObjects
import MobileStore
import TestSupport
import Testing

/// Queries over the Northwind package on a device, compared with the same queries to the real database, which is not part of the repository.
@Suite(.enabled(if: Northwind.isThere, Comment(rawValue: Northwind.reason)))
final class NorthwindQueryTests {
    private let directory: TemporaryDirectory
    private let backEnd: Database
    private let device: PackageDatabase

    init() throws {
        directory = try TemporaryDirectory()
        var profile = ConnectionProfile(path: directory.file("backend.db"))
        profile.synchronous = .off
        backEnd = try Database(profile)
        let model = try PackageModel(contentsOf: Northwind.model)
        profile = ConnectionProfile(path: directory.file("device.db"))
        profile.synchronous = .off
        device = try PackageDatabase(model: model, profile: profile)
        try backEnd.write { _ = try $0.execute(String(contentsOf: Northwind.script, encoding: .utf8)) }
        for name in ["Customer", "Order", "Order Details"] { try download(#require(model.object(named: name))) }
    }

    deinit {
        try? backEnd.close()
        try? device.close()
    }

    /// Imports the rows of an object, with surrogate keys of their own.
    private func download(_ object: ObjectModel) throws {
        let binding = try #require(object.binding)
        func quoted(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }
        let columns = object.attributes.map { quoted(binding.column(of: $0.name)) }.joined(separator: ", ")
        let load = binding.load ?? "SELECT * FROM \(quoted(binding.table))"
        let rows = try backEnd.read { try $0.rows("SELECT json_array(row_number() OVER (), \(columns)) FROM (\(load))") }
        try device.write("import") { transaction in
            let session = try transaction.importSession(for: object.name).rows(["_sk"] + object.attributes.map(\.name))
            try session.push([UInt8](("[" + rows.compactMap { $0[0].text }.joined(separator: ",") + "]").utf8))
            try session.finish()
        }
    }

    private func expect(_ query: Query, _ sql: String) throws {
        let expected = try backEnd.read { try $0.rows(sql) }
        let found = try device.executeQuery(query).map { row in row.map(text) }
        #expect(found.count > 3 && found == expected.map { $0.map(text) }, "\(sql)")
        #expect(try device.countQuery(query) == expected.count)
    }

    private func text(_ value: AttributeValue) -> String {
        switch value {
        case .decimal(let decimal): String(format: "%.4f", Double(truncating: decimal as NSDecimalNumber))
        case .real(let real): String(format: "%.4f", real)
        default: value.description
        }
    }

    private func text(_ value: Value) -> String {
        switch value {
        case .null: ""
        case .integer(let integer): "\(integer)"
        case .real(let real): String(format: "%.4f", real)
        case .text(let text): text
        case .blob(let bytes): "\(bytes.count) bytes"
        }
    }

    @Test("QRY-02 QRY-06 QRY-26 QRY-28 QRY-29: freight and orders of each country")
    func groups() throws {
        try expect(
            Query().select("c.country, COUNT(*) as orders, SUM(o.freight), MAX(o.orderDate)").from("Customer", "c")
                .join("Order", "o", "o.customerID", "c.customerID").where(.notNull("o.shippedDate")).groupBy("c.country")
                .having(.greaterThan("orders", 20)).sorted(by: .descending("orders"), .ascending("c.country")),
            """
            SELECT c.Country, count(*), sum(o.Freight) * 1.0, max(date(o.OrderDate)) FROM Customers c JOIN Orders o ON o.CustomerID = c.CustomerID
            WHERE o.ShippedDate IS NOT NULL GROUP BY c.Country HAVING count(*) > 20 ORDER BY 2 DESC, 1
            """)
    }

    @Test("QRY-05 QRY-07 QRY-36: an object and attributes whose names have spaces, joined to a subquery")
    func spaces() throws {
        let dear = Query().select("o.orderID as id").from("Order", "o").where(.greaterThan("o.freight", 500))
        try expect(
            Query().select("d.orderID, COUNT(*), MAX(d.Unit Price) as most").from("Order Details", "d")
                .where(.in("d.orderID", Query().select("x.id").from(dear, "x"))).groupBy("d.orderID")
                .sorted(by: .ascending("d.orderID")),
            """
            SELECT OrderID, count(*), max(UnitPrice) * 1.0 FROM "Order Details" WHERE OrderID IN (SELECT OrderID FROM Orders WHERE Freight > 500)
            GROUP BY OrderID ORDER BY OrderID
            """)
    }

    @Test("QRY-14 QRY-16 QRY-18 QRY-20 QRY-22: customers by parts of names who have no order of a year")
    func notExists() throws {
        let orders = Query().from("Order", "o").where(
            .equal("o.customerID", QueryColumn("c", "customerID")) && .greaterEqual("o.orderDate", "2018-01-01") && .lessThan("o.freight", 10))
        try expect(
            Query().select("c.companyName, c.city, c.region").from("Customer", "c")
                .where((.contains("c.companyName", "er") || .startsWith("c.contactName", "A") || .isNull("c.region")) && .notNull("c.city"))
                .sorted(by: .ascending("c.city"), .descending("c.companyName")).skip(2).take(20),
            """
            SELECT CompanyName, City, Region FROM Customers
            WHERE (CompanyName LIKE '%er%' OR ContactName LIKE 'A%' OR Region IS NULL) AND City IS NOT NULL
            ORDER BY City, CompanyName DESC LIMIT 20 OFFSET 2
            """)
        let found = try device.executeQuery(Query().select("c.customerID").from("Customer", "c").where(.notExists(orders))).map { $0[0].description }
        let expected = try backEnd.read {
            try $0.rows(
                """
                SELECT CustomerID FROM Customers c WHERE NOT EXISTS
                (SELECT 1 FROM Orders o WHERE o.CustomerID = c.CustomerID AND date(o.OrderDate) >= '2018-01-01' AND o.Freight < 10)
                """)
        }
        #expect(Set(found) == Set(expected.map { text($0[0]) }) && found.count == expected.count)
    }
}
