import MobileObjects
import Testing

/// The queries that the documents show, in Swift.
@Suite struct DocumentedQueryTests {
    let samples: QueryDatabase
    init() throws { samples = try QueryDatabase() }

    @Test("QRY-01 QRY-13: find with match, and count the same")
    func findWithMatch() throws {
        let customers = try samples.database.entity("Customer")
        var query = Query()
        query.testCriteria = .match("fname", "Erin")
        #expect(try customers.findWithQuery(query).map(\.surrogateKey) == [1])
        #expect(try customers.countWithQuery(query) == 1)
    }

    @Test("QRY-02 QRY-06 QRY-13 QRS-01 DTT-03: names, dates and regions of one customer's orders")
    func join() throws {
        var query = Query().select("c.fname,c.lname,s.order_date,s.region").from("Customer", "c").join("SalesOrder", "s", "s.cust_id", "c.id")
        query.testCriteria = .match("c.lname", "Devlin")
        var lines: [String] = []
        for result in try samples.database.executeQuery(query) {
            let name = try "\(result[0].nullableString() ?? "") \(result[1].nullableString() ?? "")"
            lines.append(try "\(name) \(result[2].nullableDate()?.description ?? "") \(result[3].nullableString() ?? "")")
        }
        #expect(lines.sorted() == ["Erin Devlin 2010-03-01 Eastern", "Erin Devlin 2010-04-01 Western"])
    }

    @Test("QRS-03 QRS-04: the same with a cursor, a test of an attribute without alias, and getters by number and name")
    func cursor() throws {
        var test = AttributeTest()
        test.attribute = "lname"
        test.testValue = .value("Devlin")
        test.operator = .equal
        var query = Query().select("c.fname,c.lname,s.order_date,s.region").from("Customer", "c").join("SalesOrder", "s", "s.cust_id", "c.id")
        query.testCriteria = .attribute(test)
        var results = try samples.database.executeQuery(query), lines: Set<String> = []
        while results.next() {
            let name = try "\(results.string(1, "c.fname")) \(results.string(2, "c.lname"))"
            lines.insert(try "\(name) \(results.date(3, "s.order_date")) \(results.string(4, "s.region"))")
        }
        #expect(lines == ["Erin Devlin 2010-03-01 Eastern", "Erin Devlin 2010-04-01 Western"])
    }

    @Test("QRY-07 QRY-18: join criteria and a composite test in detail, and the same in short")
    func details() throws {
        var query = Query().select("c.fname,c.lname,s.order_date,s.region").from("Customer", "c")
        var join = JoinCondition("SalesOrder", "s", "s.cust_id", "c.id")
        join.joinType = .inner
        query.joinCriteria.append(join)
        var both = CompositeTest(.and)
        both.add(.equal("c.fname", "Douglas"))
        both.add(.equal("c.lname", "Smith"))
        query.testCriteria = .composite(both)
        #expect(try samples.rows(query) == [["Douglas", "Smith", .null, "Central"]])
        let short = Query().select("c.fname,c.lname,s.order_date,s.region").from("Customer", "c").join("SalesOrder", "s", "s.cust_id", "c.id")
            .where(.equal("c.fname", "Douglas").and(.equal("c.lname", "Smith")))
        #expect(short == query)
    }

    @Test("QRY-22: page by skip and take")
    func paging() throws {
        var query = Query()
        query.skip = 3
        query.take = 2
        #expect(try samples.database.entity("Customer").findWithQuery(query).map(\.surrogateKey) == [4, 5])
    }

    @Test("QRY-15: ids as texts, in a list")
    func list() throws {
        var test = AttributeTest()
        test.attribute = "id"
        test.testValue = .list(["1", "2", "3"])
        test.operator = .in
        #expect(try samples.allTypes(.attribute(test)) == [1, 2, 3])
    }

    @Test("QRY-16 QRY-17 QRY-34: exists with an attribute of the outer query")
    func exists() throws {
        let inner = Query().select("b.id").from("AllType", "b").where(.equal("b.id", QueryColumn("a", "id")))
        let query = Query().select("a.id").from("AllType", "a").where(.attribute(AttributeTest("", .exists, inner)))
        #expect(try samples.texts(query).sorted() == ["1", "2", "3"])
    }

    @Test("QRY-25: the largest id and the first name")
    func aggregates() throws {
        let results = try samples.database.executeQuery(Query().select("MAX(c.id), MIN(c.name) as minName").from("AllType", "c"))
        #expect(results.columnNames == ["MAX(c.id)", "minName"])
        #expect(results.map(Array.init) == [[3, "one"]])
    }

    @Test("QRY-26 QRY-28 QRY-29: groups with where and having side by side")
    func groups() throws {
        let query = Query().select("c.id, SUM(c.id)").from("AllType", "c").where(.attribute(AttributeTest("c.id", .greaterEqual, "0")))
            .groupBy("c.id").having(.attribute(AttributeTest("c.id", .greaterEqual, "2"))).sorted(by: .ascending("c.id"))
        #expect(try samples.rows(query) == [[2, 2], [3, 3]])
        let two = Query().select("count(*)").from("AllType", "c").groupBy("c.id, c.name")
        #expect(try samples.rows(two) == [[1], [1], [1]])
    }

    @Test("QRY-30: the results of one query except those of another")
    func except() throws {
        let all = Query().select("a.id").from("AllType", "a"), two = Query().select("b.id").from("AllType", "b").where(.equal("b.id", "2"))
        #expect(try samples.texts(all.except(two).sorted(by: .ascending("a.id"))) == ["1", "3"])
    }

    @Test("QRY-05 QRY-32: a query from a query, with a number as text")
    func fromQuery() throws {
        let inner = Query().select("b.id").from("AllType", "b")
        var test = AttributeTest()
        test.attribute = "a.id"
        test.testValue = .value("1")
        #expect(try samples.rows(Query().select("a.id").from(inner, "a").where(.attribute(test))) == [[1]])
    }

    @Test("QRY-03 QRY-33: for each row the number of rows that are not smaller")
    func selectedQuery() throws {
        let inner = Query().select("count(1)").from("AllType", "c").where(.greaterEqual("c.id", QueryColumn("d", "id")))
        var query = Query().from("AllType", "d")
        query.selectItems = [SelectItem(inner, as: "cn"), SelectItem("id")]
        #expect(try samples.rows(query.sorted(by: .ascending("id"))) == [[3, 1], [2, 2], [1, 3]])
    }

    @Test("QRY-37 QRY-18 QRY-19 QRY-20 QRY-22: the complex example as its code has it, and as its text has it")
    func complexExample() throws {
        let names = [("Jane", "Roe"), ("Jim", "Doe"), ("Jon", "Poe"), ("John", "Doe")]
        let states = ["CA", "NY", "TX"]
        let rows = (0..<60).map { number in
            let name = names[number % 4]
            return "[\(100 + number),\(100 + number),\"\(name.0)\",\"\(name.1)\",\"\(states[number % 3])\",\(number % 7)]"
        }
        try samples.shop.importRows("Customer", ["id", "fname", "lname", "state", "credit"], "[\(rows.joined(separator: ","))]")
        let customers = try samples.database.entity("Customer")
        let inState = CompositeTest(.or, [.equal("state", "CA"), .equal("state", "NY")])

        var query = Query()
        query.testCriteria = .composite(CompositeTest(.or, [.equal("fname", "Jane"), .equal("lname", "Doe"), .composite(inState)]))
        query.sortCriteria = [.ascending("fname"), .ascending("lname")]
        (query.skip, query.take) = (10, 5)
        let found = try customers.findWithQuery(query)
        let all = try customers.findAll().filter { object in
            let state = try object.value("state")
            return try object.value("fname") == "Jane" || object.value("lname") == "Doe" || state == "CA" || state == "NY"
        }
        func order(_ object: GenericEntity) throws -> (String, String, Int64) {
            (try object.value("fname").string(), try object.value("lname").string(), object.surrogateKey)
        }
        #expect(try found.map(\.surrogateKey) == all.sorted { try order($0) < order($1) }.dropFirst(10).prefix(5).map(\.surrogateKey))

        // As in the document. Every customer John Doe of CA or NY is changed here.
        for object in try customers.findAll() where try object.value("lname") == "Doe" && object.value("fname") == "John" {
            try object.setValue(.decimal(QueryDatabase.number(object.surrogateKey % 5)), "credit")
            try object.update()
        }
        query.testCriteria = .equal("fname", "John") && .equal("lname", "Doe") && .composite(inState)
        query.entityFilter = [.created, .updated]
        query.sortCriteria = [.ascending("lname"), .ascending("fname"), .descending("credit")]
        (query.skip, query.take) = (4, 3)
        let johns = try customers.findAll().filter { object in
            let state = try object.value("state")
            return try object.value("fname") == "John" && object.value("lname") == "Doe" && (state == "CA" || state == "NY") && object.isUpdated
        }
        let expected = try johns.sorted { one, other in
            let credits = try (one.value("credit").decimal(), other.value("credit").decimal())
            return credits.0 == credits.1 ? one.surrogateKey < other.surrogateKey : credits.0 > credits.1
        }
        #expect(expected.count > 7)
        #expect(try customers.findWithQuery(query).map(\.surrogateKey) == expected.dropFirst(4).prefix(3).map(\.surrogateKey))
    }

    @Test("FND-03: a modelled query by id finds its object, or none")
    func findById() throws {
        let customers = try samples.database.entity("Customer")
        #expect(try customers.query("findById", [5]).map { try $0.value("fname") } == ["Douglas"])
        #expect(try customers.query("findById", ["id": 5]).map(\.surrogateKey) == [5])
        #expect(try customers.query("findById", [99]).isEmpty)
    }

    @Test("FND-11: modelled queries group, aggregate, test groups with less and greater, and sort by aggregates")
    func modelledAggregates() throws {
        let customers = try samples.database.entity("Customer")
        #expect(try customers.query("findBusy", [0, 100]).map(\.surrogateKey) == [1, 2, 5])
        #expect(try customers.query("findBusy", [0, 5]).map(\.surrogateKey) == [1, 2])
        #expect(try customers.query("findBusy", [1, 100]).map(\.surrogateKey) == [1])
        #expect(try customers.query("findByTurnover", [QueryDatabase.decimal("7.50")]).map(\.surrogateKey) == [1, 5])
        #expect(try customers.query("findByTurnover", [QueryDatabase.decimal("7.51")]).map(\.surrogateKey) == [1])
        #expect(try customers.query("findByTurnover", [0]).map(\.surrogateKey) == [1, 5], "the average of one is below 1.50")
    }
}
