import Foundation
import MobileObjects
import MobileStore
import SampleCRM
import TestSupport
import Testing

/// Queries that the compiler checks, over generated classes.
@Suite final class EntityQueryTests {
    let directory: TemporaryDirectory
    let crm: CRM

    init() throws {
        directory = try TemporaryDirectory()
        crm = try CRM.open(ConnectionProfile(path: directory.file("crm.db")))
        let columns = ["_sk", "id", "name", "contact", "street", "city", "region", "creditLimit", "discount", "active", "since"]
        try crm.write("import") { transaction in
            let rows = try transaction.importSession(for: "Customer").rows(columns)
            try rows.push(
                [UInt8](
                    """
                    [[1,1,"Harbour Foods","Ann","Quay 1","Dublin","NORTH",150.50,0.1,true,"2020-01-01"],
                     [2,2,"Airport Cafe",null,"Road 2","Dublin","NORTH",50,null,true,"2021-01-01"],
                     [3,3,"Old Portal","Bob","Lane 3","Cork","SOUTH",150.50,0.3,false,"2019-01-01"],
                     [4,4,"100% Tea","Cid","Lane 3","Cork","Cork",0,0.2,true,"2022-05-05"]]
                    """.utf8))
            try rows.finish()
        }
    }

    deinit { try? crm.close() }

    private func keys(_ query: EntityQuery<Customer>) throws -> [Int64] { try query.find(in: crm).map(\.surrogateKey) }

    @Test("QRY-01 QRY-08 QRY-20 FND-09: key paths and operators make the query that names make")
    func sameQuery() throws {
        let query = Customer.where(\.city == "Dublin" && \.creditLimit > 100).sorted(by: \.name).skip(0).take(10)
        #expect(
            query.query
                == Query().where(.equal("city", "Dublin") && .greaterThan("creditLimit", Decimal(100))).sorted(by: .ascending("name")).take(10))
        #expect(try keys(query) == [1])
        #expect(try Customer.findWithQuery(query.query, in: crm).map(\.name) == ["Harbour Foods"])
        #expect(try query.count(in: crm) == 1 && Customer.countWithQuery(query.query, in: crm) == 1)
    }

    @Test("QRY-10 QRY-11 QRY-18: comparisons of values that may be null, and their combinations")
    func comparisons() throws {
        #expect(try keys(Customer.where(\.contact == nil)) == [2])
        #expect(try keys(Customer.where(\.contact != nil)) == [1, 3, 4])
        #expect(try keys(Customer.where(\.contact == "Bob")) == [3])
        #expect(try keys(Customer.where(\.discount >= 0.2)) == [3, 4])
        #expect(try keys(Customer.where(\.discount < 0.2)) == [1])
        #expect(try keys(Customer.where(\.creditLimit <= 50 || \.active == false)) == [2, 3, 4])
        #expect(try keys(Customer.where(!(\.city == "Dublin"))) == [3, 4])
        #expect(try keys(Customer.where(\.id_ != 1 && \.id_ != 2)) == [3, 4])
        #expect(try keys(Customer.where(\.since > LocalDate(year: 2020, month: 6, day: 1) ?? .epoch)) == [2, 4])
        #expect(try keys(Customer.where(\.city == \.region)) == [4])
        let limit = Decimal(150), city: String = "Dublin", contact: String? = nil
        #expect(try keys(Customer.where(\.creditLimit > limit && \.city != city)) == [3])
        #expect(try keys(Customer.where(\.contact == contact)) == [2])
        #expect(try keys(Customer.where(\.city == "Cork").where(\.active == true)) == [4])
    }

    @Test("a decimal literal is the value that it was written as, in queries and in saves")
    func decimalLiterals() throws {
        let customer = try Customer.load(2, in: crm)
        customer.creditLimit = 4999.99
        try customer.save()
        #expect(customer.creditLimit.description == "4999.99" && !customer.isDirty)
        #expect(try Customer.load(2, in: crm).creditLimit == Decimal(string: "4999.99"))
        #expect(try keys(Customer.where(\.creditLimit == 4999.99)) == [2])
        #expect(try keys(Customer.where(\.creditLimit >= 4999.99)) == [2] && keys(Customer.where(\.creditLimit > 4999.99)) == [])
        #expect(try keys(Customer.where(\.creditLimit <= 4999.99)) == [1, 2, 3, 4] && keys(Customer.where(\.creditLimit < 4999.99)) == [1, 3, 4])
        #expect(try keys(Customer.where { $0.creditLimit.isIn([4999.99, 0]) }) == [2, 4])
        let other = try #require(Decimal(string: "4999.9900001"))
        #expect(try keys(Customer.where(\.creditLimit == other)) == [])
        customer.creditLimit = other
        #expect(#expect(throws: ObjectError.self) { try customer.save() }?.code == .invalidValue)
    }

    @Test("QRY-12 QRY-14 QRY-15: tests that are methods of an attribute")
    func methods() throws {
        #expect(try keys(Customer.where { $0.name.contains("port") }) == [2, 3])
        #expect(try keys(Customer.where { $0.name.contains("0%") }) == [4])
        #expect(try keys(Customer.where { $0.name.starts(with: "Har") || $0.contact.ends(with: "ob") }) == [1, 3])
        #expect(try keys(Customer.where { $0.name.like("%port%") && !$0.contact.like("B_b") }) == [])
        #expect(try keys(Customer.where { $0.id_.isIn([1, 4, 9]) }) == [1, 4])
        #expect(try keys(Customer.where { $0.contact.isIn([nil, "Cid"]) }) == [2, 4])
        #expect(try keys(Customer.where { $0.city.isNotIn(["Cork"]) }) == [1, 2])
        #expect(try keys(Customer.where { $0.id_ >= 3 && $0.discount < 0.3 }) == [4])
        #expect(try keys(Customer.where { $0.name < $0.street && $0.city != $0.region }) == [1, 2])
    }

    @Test("QRY-20 QRY-22: order, skip, take, first and all")
    func order() throws {
        #expect(try keys(Customer.all.sorted(by: \.creditLimit, .descending).sorted(by: \.name)) == [1, 3, 2, 4])
        #expect(try keys(Customer.all.sorted(by: \.discount).skip(1).take(2)) == [1, 4])
        #expect(try Customer.all.sorted(by: \.since).first(in: crm)?.surrogateKey == 3)
        #expect(try Customer.where(\.id_ == 99).first(in: crm) == nil)
        #expect(try Customer.all.take(0).first(in: crm) == nil)
        #expect(try Customer.all.count(in: crm) == 4)
    }

    @Test("QRY-16 QRY-19 QRY-35: states, log records and subqueries")
    func statesAndSubqueries() throws {
        let customer = try #require(try Customer.find(2, in: crm))
        customer.city = "Galway"
        try customer.update()
        var record = customer.newLogRecord(level: .info, message: "moved")
        try record.save()
        #expect(try keys(Customer.all.filter(.updated)) == [2])
        #expect(try keys(Customer.where(.hasLogRecords)) == [2])
        #expect(try keys(Customer.where(!.hasLogRecords && \.city == "Dublin")) == [1])
        let order = SalesOrder(in: crm)
        order.customer = customer
        order.customerId = 2
        order.orderDate = LocalDate(year: 2026, month: 1, day: 1) ?? .epoch
        try crm.write("keys") { try $0.grantKeyRange(first: 1000, last: 1999) }
        try order.save()
        let orders = Query().from("SalesOrder", "o").where(.equal("o.customerId", QueryColumn("Customer", "id")))
        #expect(try keys(Customer.where(.exists(orders))) == [2])
        #expect(try keys(Customer.where(!.exists(orders) && \.city == "Cork")) == [3, 4])
    }

    @Test("FND-09 FND-10: the asynchronous forms find and count the same")
    func asynchronous() async throws {
        let query = Customer.where(\.city == "Cork").sorted(by: \.name)
        #expect(try await query.find(in: crm).map(\.surrogateKey) == [4, 3])
        #expect(try await query.first(in: crm)?.surrogateKey == 4)
        #expect(try await query.count(in: crm) == 2)
        #expect(try await Customer.countWithQuery(query.query.take(1), in: crm) == 1)
        await #expect(throws: ObjectError.self) { try await Customer.findWithQuery(query.query.skip(-1), in: crm) }
    }
}
