import Foundation
import MobileModel
import MobileStore
import SampleCRM
import TestSupport
import Testing

/// The sample's back end at a hundredth of its size.
@Suite struct SampleBackEndTests {
    let directory: TemporaryDirectory
    init() throws { directory = try TemporaryDirectory() }

    private func open(_ name: String) throws -> Database {
        var profile = ConnectionProfile(path: directory.file(name))
        profile.journal = .unchanged
        profile.foreignKeys = true
        return try Database(profile)
    }

    private func count(_ sql: String, in database: Database) throws -> Int64 {
        guard case .integer(let count)? = try database.read({ try $0.first(sql) })?.first else { return -1 }
        return count
    }

    @Test func `two runs give the same bytes`() throws {
        try SampleBackEnd.create(at: directory.file("a.db"), scale: 0.01)
        try SampleBackEnd.create(at: directory.file("b.db"), scale: 0.01)
        let first = try Data(contentsOf: directory.url.appending(path: "a.db"))
        #expect(try first == Data(contentsOf: directory.url.appending(path: "b.db")))
        #expect(first.count > 1_000_000)
    }

    @Test func `the contents are what was promised, at any scale`() throws {
        let contents = try SampleBackEnd.create(at: directory.file("a.db"), scale: 0.01)
        let database = try open("a.db")
        #expect(try count("SELECT count(*) FROM customer", in: database) == Int64(contents.customers))
        #expect(try count("SELECT count(*) FROM customer WHERE region = 'NORTH'", in: database) == Int64(contents.northCustomers))
        #expect(try count("SELECT count(*) FROM customer WHERE notes IS NOT NULL", in: database) == Int64(contents.notes))
        #expect(try count("SELECT count(*) FROM sales_order", in: database) == Int64(contents.orders))
        #expect(try count("SELECT count(*) FROM product", in: database) == Int64(contents.products))
        #expect(try count("SELECT count(*) FROM product WHERE picture IS NOT NULL", in: database) == Int64(contents.pictures))
        #expect(SampleBackEnd.Contents() == SampleBackEnd.Contents(scale: 1))
        #expect(SampleBackEnd.Contents().customers == 40_000 && SampleBackEnd.Contents().northCustomers == 30_000)
        #expect(SampleBackEnd.Contents().orders == 60_000 && SampleBackEnd.Contents().products == 500)
        #expect(SampleBackEnd.Contents().pictures == 60)
        try database.close()
    }

    @Test func `large values have the promised sizes, references hold and totals add up`() throws {
        try SampleBackEnd.create(at: directory.file("a.db"), scale: 0.01)
        let database = try open("a.db")
        let sizes = try database.read { try $0.first("SELECT min(length(picture)), max(length(picture)) FROM product") }
        guard case .integer(let smallest)? = sizes?.first, case .integer(let largest)? = sizes?.last else { return #expect(Bool(false)) }
        #expect(smallest >= 20_480 && largest > 2_000_000 && largest <= 2_097_152)
        let longest = try count("SELECT max(length(CAST(notes AS BLOB))) FROM customer", in: database)
        #expect(longest > 102_000 && longest <= 102_400)
        #expect(try count("SELECT count(*) FROM pragma_foreign_key_check", in: database) == 0)
        let wrong = """
            SELECT count(*) FROM sales_order o
            WHERE abs(total - (SELECT sum(quantity * price) FROM sales_order_line WHERE order_id = o.id)) > 0.001
            """
        #expect(try count(wrong, in: database) == 0)
        #expect(
            try count("SELECT count(*) FROM sales_order WHERE total > 0", in: database) == count("SELECT count(*) FROM sales_order", in: database))
        try database.close()
    }

    @Test func `the back end refuses a negative credit limit and an order without a customer`() throws {
        try SampleBackEnd.create(at: directory.file("a.db"), scale: 0.01)
        let database = try open("a.db")
        #expect(throws: StoreError.self) { try database.write { try $0.execute("UPDATE customer SET credit_limit = -1 WHERE id = 1") } }
        #expect(throws: StoreError.self) {
            try database.write { try $0.execute("INSERT INTO sales_order (customer_id, order_date) VALUES (999999, '2025-01-01')") }
        }
        try database.close()
    }

    @Test func `a database that is there already is refused and stays as it was`() throws {
        try SampleBackEnd.create(at: directory.file("a.db"), scale: 0.01)
        let before = try Data(contentsOf: directory.url.appending(path: "a.db"))
        #expect(throws: StoreError.self) { try SampleBackEnd.create(at: directory.file("a.db"), scale: 0.01) }
        #expect(try before == Data(contentsOf: directory.url.appending(path: "a.db")))
    }
}
