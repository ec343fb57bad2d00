import MobileModel
import MobileObjects
import Testing

/// The items of a query, and their sources.
@Suite struct SelectingTests {
    let samples: QueryDatabase
    init() throws { samples = try QueryDatabase() }

    @Test("QRY-01 FND-09: findWithQuery gives objects of one class, executeQuery a result set that may join several")
    func twoUses() throws {
        let query = Query().from("Customer", "c").where(.equal("c.lname", "Doe"))
        let objects = try samples.database.entity("Customer").findWithQuery(query)
        #expect(try objects.map { try $0.value("fname") } == ["Jane", "John"])
        try objects[0].setValue("Janet", "fname")
        try objects[0].update()
        let joined = query.join("SalesOrder", "s", "s.cust_id", "c.id").select("c.fname, s.id")
        #expect(try samples.rows(joined) == [["Janet", 2003]])
        #expect(try samples.database.entity("Customer").findWithQuery(Query()).count == 6)
    }

    @Test("FND-10: countWithQuery counts what findWithQuery would give, skip and take included")
    func count() throws {
        let customers = try samples.database.entity("Customer")
        let doe = Query().where(.equal("lname", "Doe"))
        #expect(try customers.countWithQuery(Query()) == 6)
        #expect(try customers.countWithQuery(doe) == 2)
        #expect(try customers.countWithQuery(doe.skip(1)) == 1)
        #expect(try customers.countWithQuery(Query().skip(2).take(3)) == 3)
        #expect(try customers.countWithQuery(Query().take(0)) == 0)
        let joined = Query().join("SalesOrder", "s", "s.cust_id", "Customer.id")
        #expect(try customers.countWithQuery(joined) == 4 && customers.findWithQuery(joined).count == 4)
        #expect(try customers.countWithQuery(joined.distinct()) == 3 && customers.findWithQuery(joined.distinct()).count == 3)
        #expect(try samples.database.countQuery(Query().from("Customer").select("lname").distinct()) == 4)
        #expect(throws: ObjectError.self) { try customers.countWithQuery(Query().where(.equal("nothing", 1))) }
    }

    @Test("QRY-02: items are attributes of an alias, aggregates, and names given by as")
    func select() throws {
        let query = Query().select("c.id, MAX(s.total) as largest , count(*)").from("Customer", "c").join("SalesOrder", "s", "s.cust_id", "c.id")
            .groupBy("c.id").sorted(by: .ascending("c.id"))
        let results = try samples.database.executeQuery(query)
        #expect(results.columnNames == ["c.id", "largest", "count(*)"])
        #expect(
            results.map(Array.init) == [
                [1, QueryDatabase.decimal("100"), 2], [2, QueryDatabase.decimal("1"), 1], [5, QueryDatabase.decimal("7.5"), 1],
            ])
    }

    @Test("QRY-03: items as a list, of attributes and subqueries")
    func selectItems() throws {
        var query = Query().from("Customer", "d").where(.lessEqual("id", 2))
        let orders = Query().select("count(1)").from("SalesOrder", "s").where(.equal("s.cust_id", QueryColumn("d", "id")))
        query.selectItems = [SelectItem("id"), SelectItem("d.fname", as: "name"), SelectItem(orders, as: "orders")]
        let results = try samples.database.executeQuery(query)
        #expect(results.columnNames == ["id", "name", "orders"])
        #expect(results.map(Array.init) == [[1, "Erin", 2], [2, "Jane", 1]])
    }

    @Test("QRY-04: the source is an object by its modelled name, under an alias or its own name")
    func from() throws {
        #expect(try samples.texts(Query().select("c.fname").from("Customer", "c").take(1)) == ["Erin"])
        #expect(try samples.texts(Query().select("Customer.fname").from("Customer").take(1)) == ["Erin"])
        #expect(samples.error(Query().select("Customer.fname").from("Customer", "c")) == .noSuchAttribute)
        #expect(samples.error(Query().from("customer")) == .noSuchClass)
        #expect(samples.error(Query().select("id")) == .invalidQuery, "there is no source")
    }

    @Test("QRY-05 QRY-32: the source is another query, whose items are attributes under its alias")
    func fromQuery() throws {
        let inner = Query().select("b.lname, MAX(b.credit) as most").from("Customer", "b").groupBy("b.lname")
        let query = Query().select("a.lname, a.most").from(inner, "a").where(.greaterThan("a.most", 15)).sorted(by: .descending("a.most"))
        #expect(try samples.rows(query) == [["O'Neil", QueryDatabase.decimal("300")], ["Doe", QueryDatabase.decimal("20.5")]])
        // An inner limit cuts the rows of the outer query.
        let limited = Query().select("id").from("Customer").sorted(by: .descending("id")).take(2)
        #expect(try samples.texts(Query().select("MIN(x.id)").from(limited, "x")) == ["5"])
        #expect(samples.error(Query().select("a.credit").from(inner, "a")) == .noSuchAttribute)
    }

    @Test("QRY-06: join takes two equal items in either order")
    func join() throws {
        for (left, right) in [("s.cust_id", "c.id"), ("c.id", "s.cust_id")] {
            let query = Query().select("c.fname, s.id").from("Customer", "c").join("SalesOrder", "s", left, right).sorted(by: .ascending("s.id"))
            #expect(try samples.rows(query) == [["Erin", 2001], ["Erin", 2002], ["Jane", 2003], ["Douglas", 2004]])
        }
        // A decimal and an integer are compared as numbers, regardless of their stored form.
        let mixed = Query().select("a.id, c.id").from("AllType", "a").join("Customer", "c", "c.credit", "a.short")
        #expect(try samples.rows(mixed) == [[1, 1]])
        #expect(samples.error(Query().from("Customer", "c").join("SalesOrder", "s", "s.region", "c.id")) == .invalidValue)
    }

    @Test(
        "QRY-07: join conditions as a list, with each type of join",
        arguments: [
            (JoinType.inner, ["1 2001", "1 2002", "2 2003", "5 2004"]),
            (.left, ["1 2001", "1 2002", "2 2003", "3 ", "4 ", "5 2004", "6 "]),
            (.right, [" 2005", " 2006", "1 2001", "1 2002", "2 2003", "5 2004"]),
            (.fullOuter, [" 2005", " 2006", "1 2001", "1 2002", "2 2003", "3 ", "4 ", "5 2004", "6 "]),
        ])
    func joinCriteria(type: JoinType, expected: [String]) throws {
        var query = Query().select("c.id, s.id").from("Customer", "c")
        query.joinCriteria = [JoinCondition("SalesOrder", "s", "s.cust_id", "c.id", type: type)]
        #expect(try samples.rows(query).map { "\($0[0]) \($0[1])" }.sorted() == expected)
    }

    @Test("QRY-07: types of joins have the documented numbers")
    func joinNumbers() { #expect(JoinType.allCases.map(\.rawValue) == [1, 2, 3, 4]) }

    @Test("QRY-17 QRY-34: a subquery compares with an attribute of the query around it, through any number of levels")
    func outerColumns() throws {
        let east = Query().select("s.id").from("SalesOrder", "s").where(
            .equal("s.cust_id", QueryColumn("c", "id")) && .equal("s.region", "Eastern"))
        let query = Query().select("c.id").from("Customer", "c").where(.exists(east)).sorted(by: .ascending("c.id"))
        #expect(try samples.texts(query) == ["1", "2"])
        // Two levels: orders whose customer has another order.
        let other = Query().select("o.id").from("SalesOrder", "o").where(
            .equal("o.cust_id", QueryColumn("c", "id")) && .notEqual("o.id", QueryColumn("s", "id")))
        let owner = Query().select("c.id").from("Customer", "c").where(.equal("c.id", QueryColumn("s", "cust_id")) && .exists(other))
        #expect(try samples.texts(Query().select("s.id").from("SalesOrder", "s").where(.exists(owner))) == ["2001", "2002"])
        #expect(samples.error(Query().from("Customer", "c").where(.equal("c.id", QueryColumn("x", "id")))) == .noSuchAttribute)
    }

    @Test("QRY-33: a subquery as an item has the name it was given, and may refer to the row around it")
    func subqueryAsItem() throws {
        let larger = Query().select("count(1)").from("Customer", "c").where(.greaterThan("c.credit", QueryColumn("d", "credit")))
        let query = Query().select([SelectItem(larger, as: "cn"), SelectItem("id")]).from("Customer", "d")
            .sorted(by: .descending("cn"), .ascending("id"))
        let results = try samples.database.executeQuery(query)
        #expect(results.columnNames == ["cn", "id"])
        #expect(results.map(Array.init) == [[4, 4], [3, 1], [1, 2], [1, 3], [0, 5], [0, 6]])
        let two = Query().select("c.id, c.fname").from("Customer", "c")
        #expect(samples.error(Query().select([SelectItem(two, as: "x")]).from("Customer", "d")) == .invalidQuery)
    }

    @Test("QRY-36: attributes have their modelled names, exactly as written, alone where one source has them")
    func names() throws {
        #expect(try samples.texts(Query().select("order_date").from("SalesOrder").take(1)) == ["2010-03-01"])
        #expect(samples.error(Query().select("orderDate").from("SalesOrder")) == .noSuchAttribute)
        #expect(samples.error(Query().select("FNAME").from("Customer")) == .noSuchAttribute)
        #expect(samples.error(Query().select("_sk").from("Customer")) == .noSuchAttribute, "columns that no model has")
        let joined = Query().from("Customer", "c").join("SalesOrder", "s", "cust_id", "c.id")
        #expect(try samples.texts(joined.select("region").where(.equal("lname", "Doe"))) == ["Eastern"])
        #expect(samples.error(joined.select("id")) == .invalidQuery, "both have it")
        // Aliases may have points in them.
        let points = Query().select("a.b.fname, a.total").from("Customer", "a.b").join("SalesOrder", "a", "a.cust_id", "a.b.id").take(1)
        #expect(try samples.rows(points) == [["Erin", QueryDatabase.decimal("100")]])
    }

    @Test("QRY-23: distinct leaves out equal rows")
    func distinct() throws {
        let query = Query().select("lname").from("Customer").sorted(by: .ascending("lname"))
        #expect(try samples.texts(query) == ["Devlin", "Doe", "Doe", "O'Neil", "Smith", "Smith"])
        #expect(try samples.texts(query.distinct()) == ["Devlin", "Doe", "O'Neil", "Smith"])
        #expect(samples.error(query.distinct().sorted(by: .ascending("id"))) == .invalidQuery, "equal rows have several ids")
    }

    @Test("QRY-30: union, unionAll, except and intersect combine queries of the same items, and are queries themselves")
    func combinations() throws {
        let rich = Query().select("c.lname").from("Customer", "c").where(.greaterThan("c.credit", 15))
        let californian = Query().select("b.lname as name").from("Customer", "b").where(.equal("b.state", "CA"))
        #expect(try samples.texts(rich.union(californian).sorted(by: .ascending("c.lname"))) == ["Devlin", "Doe", "O'Neil"])
        #expect(try samples.texts(rich.unionAll(californian).sorted(by: .ascending("lname"))) == ["Devlin", "Doe", "Doe", "Doe", "O'Neil"])
        #expect(try samples.texts(rich.except(californian)) == ["O'Neil"])
        #expect(try samples.texts(rich.intersect(californian)) == ["Doe"])
        #expect(try samples.database.executeQuery(rich.intersect(californian)).columnNames == ["c.lname"])
        let nested = rich.union(californian).except(Query().select("lname").from("Customer").where(.equal("state", "NY")))
        #expect(try samples.texts(nested) == ["Devlin"])
        #expect(try samples.texts(Query().select("count(*)").from(rich.unionAll(californian), "u")) == ["5"])
        #expect(try samples.database.countQuery(rich.union(californian).skip(1)) == 2)
        #expect(samples.error(rich.union(californian.select("b.id"))) == .invalidQuery, "other numbers of items")
        #expect(samples.error(rich.union(Query().select("id").from("Customer"))) == .invalidValue, "other types")
        #expect(QueryCombination.allCases.map(\.rawValue) == [1, 2, 3, 4])
    }

    @Test("QRY-30: members of a combination keep their own order and limits")
    func limitedMembers() throws {
        let first = Query().select("id").from("Customer").sorted(by: .descending("id")).take(2)
        let second = Query().select("id").from("Customer").sorted(by: .ascending("id")).skip(1).take(1)
        #expect(try samples.texts(first.unionAll(second).sorted(by: .ascending("id"))) == ["2", "5", "6"])
    }

    @Test("QRY-31: a union of whole rows, large attributes included")
    func wholeRows() throws {
        let all = Query().select("x.*").from("AllType", "x")
        let results = try samples.database.executeQuery(all.union(Query().from("AllType")).sorted(by: .ascending("x.id")))
        #expect(results.count == 3)
        #expect(results.columnNames == (["id", "name"] + QuerySamples.attributes.map(\.name)).map { "x." + $0 })
        #expect(try results[1].value("x.name") == "two" && results[1].value("double") == -4.5)
        #expect(try samples.database.executeQuery(all.unionAll(all)).count == 6)
    }
}
