import MobileObjects
import MobileStore
import Testing

/// Impossible queries: every name that the model does not have is an error of its own, and nothing is changed.
@Suite struct QueryErrorTests {
    let samples: QueryDatabase
    init() throws { samples = try QueryDatabase() }

    @Test("QRY-38 EXC-08: a class that does not exist, as source, join or in a subquery")
    func unknownClass() throws {
        #expect(samples.error(Query().from("Cusomer")) == .noSuchClass)
        #expect(samples.error(Query().from("Customer", "c").join("Order", "o", "o.id", "c.id")) == .noSuchClass)
        #expect(samples.error(Query().from("Customer", "c").where(.exists(Query().from("Nothing")))) == .noSuchClass)
        #expect(samples.error(Query().from("Customer").unionAll(Query().from("sqlite_master"))) == .noSuchClass)
        #expect(samples.error(Query().from("_settings")) == .noSuchClass, "tables that no model has")
        #expect(samples.error(Query().from("Customer_os")) == .noSuchClass)
        #expect(#expect(throws: ObjectError.self) { try samples.database.entity("Nothing") }?.code == .noSuchClass)
    }

    @Test(
        "QRY-38 EXC-07 EXC-04: an attribute that does not exist, wherever one can be named",
        arguments: [
            Query().select("c.nme"), Query().where(.equal("c.nme", 1)), Query().where(.equal("nme", 1)), Query().where(.equal("", 1)),
            Query().sorted(by: .ascending("c.nme")), Query().groupBy("c.nme").select("count(*)"), Query().select("MAX(c.nme)"),
            Query().select("count(*)").having(.equal("c.nme", 1)), Query().where(.equal("c.id", QueryColumn("c", "nme"))),
            Query().where(.equal("c.id", QueryColumn("x", "id"))), Query().select("x.id"), Query().select("x.*"),
            Query().join("SalesOrder", "s", "s.nme", "c.id"), Query().join("SalesOrder", "s", "s.id", "c.nme"), Query().select("id,,lname"),
            Query().where(.equal("c.\"id\"", 1)), Query().select("c.id + 1"), Query().select("(c.id)").groupBy("c.id"),
        ])
    func unknownAttribute(query: Query) throws {
        let code = samples.error(query.from("Customer", "c"))
        // `(c.id)` looks like an aggregate without a name.
        #expect(code == .noSuchAttribute || (query.selectItems.first?.attribute == "(c.id)" && code == .noSuchOperation))
        #expect(try samples.customers(.notNull("id")).count == 6)
    }

    @Test("QRY-38 EXC-06 EXC-09: an operation or a parameter that does not exist")
    func unknownOperationAndParameter() throws {
        #expect(samples.error(Query().select("MEDIAN(c.id)").from("Customer", "c")) == .noSuchOperation)
        #expect(samples.error(Query().select("load_extension(c.lname)").from("Customer", "c")) == .noSuchOperation)
        let customers = try samples.database.entity("Customer")
        func code(_ body: () throws -> Any) -> ObjectError.Code? { #expect(throws: ObjectError.self) { _ = try body() }?.code }
        #expect(code { try customers.query("findNobody") } == .noSuchOperation)
        #expect(code { try customers.query("findBusy", ["least": 1, "mst": 2]) } == .noSuchParameter)
        #expect(code { try customers.query("findBusy", ["least": 1]) } == .noSuchParameter)
        #expect(code { try customers.query("findBusy", ["least": 1, "most": 2, "more": 3]) } == .noSuchParameter)
        #expect(code { try customers.query("findBusy", [1]) } == .noSuchParameter)
        #expect(code { try customers.query("findBusy", ["least": "x", "most": 2]) } == .invalidValue)
        #expect(try customers.query("findBusy", ["most": 100, "least": 1]).map(\.surrogateKey) == [1])
    }

    @Test("QRY-38 EXC-10: a structure has no rows to select")
    func abstractClass() {
        #expect(samples.error(Query().from("Address")) == .abstractClass)
        #expect(samples.error(Query().from("Customer", "c").join("Address", "a", "a.street", "c.fname")) == .abstractClass)
    }

    @Test("FND-09: a class that the model keeps from dynamic queries cannot be queried, and is found in other ways")
    func notAllowed() async throws {
        #expect(samples.error(Query().from("Hidden")) == .misuse)
        #expect(samples.error(Query().from("Customer", "c").where(.in("c.id", Query().select("id").from("Hidden")))) == .misuse)
        let hidden = try samples.database.entity("Hidden")
        #expect(#expect(throws: ObjectError.self) { try hidden.findWithQuery(Query()) }?.code == .misuse)
        #expect(#expect(throws: ObjectError.self) { try hidden.countWithQuery(Query()) }?.code == .misuse)
        #expect(try await hidden.findAll().count == 1)
        #expect(#expect(throws: ObjectError.self) { try hidden.cursor(Query()) }?.code == .misuse)
        #expect(try Array(hidden.cursor()).count == 1)
        for try await page in hidden.pages() { #expect(page.count == 1) }
    }

    @Test("QRY-38: parts that do not go together")
    func contradictions() {
        let customers = Query().from("Customer", "c")
        #expect(samples.error(customers.join("SalesOrder", "c", "c.id", "c.id")) == .invalidQuery, "one alias twice")
        #expect(samples.error(customers.select("MAX(MIN(c.id))")) == .noSuchAttribute)
        #expect(samples.error(customers.skip(-1)) == .invalidQuery)
        #expect(samples.error(customers.sorted(by: .ascending("MAX(c.id)"))) == .invalidQuery)
        let twice = Query().select("c.id, s.id").from("Customer", "c").join("SalesOrder", "s", "s.cust_id", "c.id")
        #expect(samples.error(Query().select("x.id").from(twice, "x")) == .invalidQuery)
    }

    @Test("QRY-39: a query that fails throws, inside of a transaction too, which goes on")
    func failure() throws {
        try samples.shop.importRows("AllType", ["id", "name", "long"], "[[51,51,\"x\",9223372036854775807],[52,52,\"y\",5000]]")
        let overflow = Query().select("SUM(a.long)").from("AllType", "a")
        let error = #expect(throws: ObjectError.self) { try samples.database.executeQuery(overflow) }
        #expect(error?.code == .store && error?.cause is StoreError)
        try samples.database.transaction {
            let customer = try #require(try samples.database.entity("Customer").find(1))
            try customer.setValue("Eve", "fname")
            try customer.update()
            #expect(throws: ObjectError.self) { try samples.database.executeQuery(overflow) }
            #expect(try samples.customers(.equal("fname", "Eve")) == [1], "it sees what the transaction has written")
        }
        #expect(try samples.customers(.equal("fname", "Eve")) == [1])
    }

    @Test("QRY-39: the asynchronous forms give and throw the same")
    func asynchronous() async throws {
        let query = Query().select("fname").from("Customer").where(.equal("lname", "Doe"))
        #expect(try await samples.database.executeQuery(query).map { $0[0] } == ["Jane", "John"])
        #expect(try await samples.database.countQuery(query) == 2)
        await #expect(throws: ObjectError.self) { try await samples.database.executeQuery(query.where(.equal("nme", 1))) }
    }
}
