import Foundation
import MobileObjects
import Testing

/// Conditions on attributes.
@Suite struct TestOperatorTests {
    let samples: QueryDatabase
    init() throws { samples = try QueryDatabase() }

    @Test("QRY-08 QRY-09: a test is an attribute, an operator and a value, set one by one or in a short form")
    func parts() throws {
        var test = AttributeTest()
        test.attribute = "fname"
        test.testValue = "Erin".testValue
        test.operator = .equal
        #expect(.attribute(test) == TestCriteria.equal("fname", "Erin"))
        #expect(try samples.customers(.attribute(test)) == [1])
        var query = Query()
        query.testCriteria = .composite(CompositeTest(.or, [.attribute(test), .equal("fname", "Ann")]))
        #expect(try samples.database.entity("Customer").findWithQuery(query).map(\.surrogateKey) == [1, 6])
        #expect(AttributeTest.Operator.allCases.map(\.rawValue) == Array(1...22))
    }

    @Test(
        "QRY-09 QRY-10 QRY-11 QRY-12 QRY-13 QRY-14: every operator has a short form and does what it says",
        arguments: [
            (TestCriteria.isNull("state"), AttributeTest.Operator.isNull, [4]), (.notNull("state"), .notNull, [1, 2, 3, 5, 6]),
            (.equal("lname", "Doe"), .equal, [2, 3]), (.notEqual("state", "CA"), .notEqual, [2, 5, 6]),
            (.lessThan("id", 3), .lessThan, [1, 2]), (.lessEqual("id", 3), .lessEqual, [1, 2, 3]),
            (.greaterThan("id", 4), .greaterThan, [5, 6]), (.greaterEqual("id", 4), .greaterEqual, [4, 5, 6]),
            (.like("fname", "j%N_"), .like, [2]), (.notLike("fname", "J%"), .notLike, [1, 5, 6]),
            (.match("lname", "Devlin"), .match, [1]), (.notMatch("lname", "Doe"), .notMatch, [1, 4, 5, 6]),
            (.contains("lname", "EV"), .contains, [1]), (.notContains("lname", "o"), .notContains, [1, 4, 5]),
            (.startsWith("fname", "Jo"), .startsWith, [3, 4]), (.notStartsWith("fname", "J"), .notStartsWith, [1, 5, 6]),
            (.endsWith("lname", "th"), .endsWith, [4, 5]), (.notEndsWith("lname", "th"), .notEndsWith, [1, 2, 3, 6]),
            (.in("id", [1, 6, 7]), .in, [1, 6]), (.notIn("id", [1, 2, 3]), .notIn, [4, 5, 6]),
            (.exists(Query().from("SalesOrder")), .exists, [1, 2, 3, 4, 5, 6]), (.notExists(Query().from("SalesOrder")), .notExists, []),
        ] as [(TestCriteria, AttributeTest.Operator, [Int64])])
    func operators(test: TestCriteria, operator: AttributeTest.Operator, expected: [Int64]) throws {
        guard case .attribute(let single) = test else {
            Issue.record("a short form is a test of one attribute")
            return
        }
        #expect(single.operator == `operator`)
        #expect(try samples.customers(test) == expected)
    }

    @Test("QRY-10 QRY-11: null is equal to null alone, and neither less nor greater than anything")
    func null() throws {
        #expect(try samples.customers(.equal("state", AttributeValue.null)) == [4])
        #expect(try samples.customers(.equal("state", String?.none)) == [4])
        #expect(try samples.customers(.notEqual("state", AttributeValue.null)) == [1, 2, 3, 5, 6])
        #expect(try samples.customers(!.equal("state", "CA")) == [2, 5, 6], "the opposite of what is not known is not known")
        #expect(try samples.customers(.lessThan("credit", 1000)) == [1, 2, 3, 4, 6])
        #expect(throws: ObjectError.self) { try samples.customers(.lessThan("credit", AttributeValue.null)) }
    }

    @Test("QRY-12 QRY-14: wildcards are those of like alone; in the other operators they stand for themselves")
    func wildcards() throws {
        let texts = ["100%", "100x", "a_b", "axb", #"back\slash"#, "percent%", "Ä"]
        let rows = texts.enumerated().map { "[\(100 + $0.offset),\(100 + $0.offset),\"\($0.element.replacing("\\", with: "\\\\"))\"]" }
        try samples.shop.importRows("AllType", ["id", "name"], "[\(rows.joined(separator: ","))]")
        func found(_ test: TestCriteria) throws -> [String] {
            try samples.texts(Query().select("name").from("AllType").where(test && .greaterEqual("id", 100)).sorted(by: .ascending("id")))
        }
        #expect(try found(.like("name", "100%")) == ["100%", "100x"])
        #expect(try found(.contains("name", "0%")) == ["100%"])
        #expect(try found(.endsWith("name", "%")) == ["100%", "percent%"])
        #expect(try found(.startsWith("name", "a_")) == ["a_b"])
        #expect(try found(.like("name", "a_b")) == ["a_b", "axb"])
        #expect(try found(.contains("name", #"\"#)) == [#"back\slash"#])
        #expect(try found(.contains("name", "")) == texts)
        #expect(try found(.contains("name", "ä")) == [], "only A to Z lose their case")
        #expect(try found(.notContains("name", "0%")) == Array(texts.dropFirst()))
        let long = String(repeating: "%", count: 30_000)
        #expect(throws: ObjectError.self) { try found(.contains("name", long)) }
        #expect(samples.error(Query().from("Customer").where(.contains("id", "1"))) == .unsupportedType)
        #expect(try samples.texts(Query().select("id").from("SalesOrder").where(.startsWith("order_date", "2010-03"))) == ["2001", "2003"])
    }

    @Test("QRY-14: what is looked for can be another attribute")
    func patternOfColumn() throws {
        let query = Query().select("a.id").from("AllType", "a").where(.startsWith("a.name", QueryColumn("a", "char")))
        #expect(try samples.texts(query) == [])
        try samples.shop.importRows("AllType", ["id", "name", "char"], #"[[30,10,"%x","%"],[31,11,"yx","%"]]"#)
        #expect(try samples.texts(query) == ["10"])
    }

    @Test("QRY-15: in and notIn take lists, of any length, with null as a value like others")
    func lists() throws {
        #expect(try samples.customers(.in("state", ["CA", "NY", "CA"])) == [1, 2, 3, 6])
        #expect(try samples.customers(.in("state", ["TX", nil])) == [4, 5])
        #expect(try samples.customers(.notIn("state", ["CA"])) == [2, 5, 6])
        #expect(try samples.customers(.notIn("state", ["CA", nil])) == [2, 5, 6])
        #expect(try samples.customers(.in("id", [Int]())) == [])
        #expect(try samples.customers(.notIn("id", [Int]())) == [1, 2, 3, 4, 5, 6])
        #expect(try samples.customers(.in("id", Array(5...20_000))) == [5, 6])
        #expect(throws: ObjectError.self) { try samples.customers(.in("id", Array(0...40_000))) }
        #expect(throws: ObjectError.self) { try samples.customers(.in("id", 1)) }
        #expect(throws: ObjectError.self) { try samples.customers(.equal("id", [1, 2])) }
    }

    @Test("QRY-15 QRY-16: in and notIn take the rows of a query, its nulls left out")
    func memberOfQuery() throws {
        let customers = Query().select("s.cust_id").from("SalesOrder", "s")
        #expect(try samples.customers(.in("id", customers)) == [1, 2, 5])
        #expect(try samples.customers(.notIn("id", customers)) == [3, 4, 6])
        #expect(throws: ObjectError.self) { try samples.customers(.in("id", customers.select("s.id"))) }
        #expect(throws: ObjectError.self) { try samples.customers(.in("id", Query().select("s.region").from("SalesOrder", "s"))) }
        let most = Query().select("MAX(c.id)").from("Customer", "c")
        #expect(try samples.customers(.equal("id", most)) == [6], "a query of one row as a value")
    }

    @Test("QRY-16: exists and notExists need a query and no attribute")
    func exists() throws {
        let none = Query().from("SalesOrder").where(.equal("region", "Nowhere"))
        #expect(try samples.customers(.exists(none)) == [])
        #expect(try samples.customers(.notExists(none)).count == 6)
        #expect(throws: ObjectError.self) { try samples.customers(.attribute(AttributeTest("", .exists, 1))) }
    }

    @Test("QRY-18: and, or and not nest to any depth that the database takes, in either form")
    func composites() throws {
        let inner = CompositeTest(.or, [.equal("state", "CA"), .equal("state", "NY")])
        var outer = CompositeTest(.and)
        outer.add(.equal("lname", "Doe"))
        outer.add(.composite(inner))
        outer.add(.composite(CompositeTest(.not, [.equal("fname", "Jane")])))
        #expect(try samples.customers(.composite(outer)) == [3])
        let short: TestCriteria = .equal("lname", "Doe") && (.equal("state", "CA") || .equal("state", "NY")) && !.equal("fname", "Jane")
        #expect(short == .composite(outer))
        #expect(
            TestCriteria.equal("id", 1).and(.equal("id", 2)).and(.equal("id", 3))
                == .composite(CompositeTest(.and, [1, 2, 3].map { .equal("id", $0) })))
        #expect(try samples.customers(.composite(CompositeTest(.not, [.equal("lname", "Doe"), .equal("fname", "Jane")]))) == [1, 3, 4, 5, 6])
        #expect(throws: ObjectError.self) { try samples.customers(.composite(CompositeTest(.and))) }
        #expect(CompositeTest.Operator.allCases.map(\.rawValue) == [1, 2, 3])
    }

    @Test("QRY-18: thousands of terms side by side, and levels up to the limit; deeper is an error, not a crash")
    func manyTerms() throws {
        let terms = (0..<5000).map { TestCriteria.equal("id", $0) }
        #expect(try samples.customers(.composite(CompositeTest(.or, terms))) == [1, 2, 3, 4, 5, 6])
        func nested(_ levels: Int) -> TestCriteria {
            (0..<levels).reduce(.greaterEqual("id", 3)) { test, level in
                level % 3 == 0 ? .composite(CompositeTest(.not, [test])) : .composite(CompositeTest(level % 3 == 1 ? .and : .or, [test, test]))
            }
        }
        // Each level doubles the condition: few levels of lists, the rest of negations.
        let deep = (0..<18).reduce(nested(6)) { test, _ in !test }
        #expect(try samples.customers(deep) == [3, 4, 5, 6])
        let error = #expect(throws: ObjectError.self) { try samples.customers((0..<1000).reduce(nested(3)) { test, _ in !test }) }
        #expect(error?.code == .invalidQuery)
    }

    @Test("QRY-17 QRY-18: whatever nests does so up to the limit; deeper is an error that the query gives, not the database")
    func nesting() throws {
        let all = Query().select("id").from("Customer", "c")
        let steps: [(Query) -> Query] = [
            { Query().select("id").from("Customer", "c").where(.in("id", $0)) },
            { Query().select("id").from("Customer", "c").where(.exists($0) && .exists($0)) },
            { Query().select("id").from("Customer", "c").where(.equal("id", $0) || .notNull("id")) },
            { Query().select("x.id").from($0, "x") },
            { $0.union(all) }, { all.unionAll($0) },
            { Query().select([SelectItem($0, as: "id")]).from("Customer", "c") },
            { Query().select("id").from("Customer", "c").where(.in("id", $0.except(all).unionAll($0))) },
        ]
        for step in steps {
            var query = all.where(.contains("lname", QueryColumn("c", "fname")) || .notNull("id")), levels = 0
            while levels < 60, samples.error(query) == nil {
                query = step(query)
                levels += 1
            }
            #expect(levels > 1 && samples.error(query) == .invalidQuery)
        }
    }

    @Test("QRY-11: numbers are compared as numbers, whatever digits the value has and however it is given")
    func numbers() throws {
        let decimal = QueryDatabase.decimal
        #expect(try samples.customers(.equal("credit", decimal("20.50"))) == [2, 3])
        #expect(try samples.customers(.equal("credit", 20.5)) == [2, 3])
        #expect(try samples.customers(.equal("credit", "20.5")) == [2, 3])
        #expect(try samples.customers(.equal("credit", 300)) == [6])
        #expect(try samples.customers(.equal("credit", decimal("20.501"))) == [])
        #expect(try samples.customers(.notEqual("credit", decimal("20.501"))) == [1, 2, 3, 4, 6])
        #expect(try samples.customers(.lessThan("credit", decimal("20.501"))) == [1, 2, 3, 4])
        #expect(try samples.customers(.lessEqual("credit", decimal("20.499"))) == [1, 4])
        #expect(try samples.customers(.greaterThan("credit", decimal("20.499"))) == [2, 3, 6])
        #expect(try samples.customers(.greaterEqual("credit", decimal("20.501"))) == [6])
        #expect(try samples.customers(.greaterThan("credit", decimal("-0.001"))) == [1, 2, 3, 4, 6])
        #expect(try samples.customers(.lessThan("credit", decimal("-99999999999999999999999"))) == [])
        #expect(try samples.customers(.lessThan("credit", decimal("99999999999999999999999"))) == [1, 2, 3, 4, 6])
        #expect(try samples.customers(.in("credit", [decimal("5"), decimal("20.5")])) == [2, 3, 4])
        #expect(try samples.customers(.greaterThan("id", 4.5)) == [5, 6])
        #expect(try samples.customers(.lessThan("id", decimal("1.5"))) == [1])
        #expect(try samples.allTypes(.equal("byte", 300)) == [], "a number that the attribute cannot have is equal to none")
        #expect(try samples.allTypes(.lessThan("decimal", decimal("-2.24999"))) == [2])
        #expect(try samples.allTypes(.greaterThan("decimal", decimal("-2.25001"))) == [1, 2])
        #expect(try samples.allTypes(.equal("wide", decimal("1.50"))) == [1])
    }

    @Test("QRY-11: attributes are compared with attributes as numbers, whatever the database keeps")
    func attributesWithAttributes() throws {
        func ids(_ left: String, _ test: AttributeTest.Operator, _ right: String) throws -> [Int64] {
            try samples.allTypes(.attribute(AttributeTest(left, test, QueryColumn("AllType", right))))
        }
        #expect(try ids("decimal", .greaterThan, "byte") == [1])
        #expect(try ids("byte", .greaterThan, "decimal") == [2])
        #expect(try ids("decimal", .lessThan, "double") == [1])
        #expect(try ids("float", .greaterThan, "byte") == [2])
        #expect(try ids("short", .lessThan, "int") == [1])
        #expect(try ids("string", .notEqual, "char") == [1, 2])
        #expect(throws: ObjectError.self) { try ids("date", .lessThan, "dateTime") }
        #expect(throws: ObjectError.self) { try ids("string", .equal, "int") }
    }

    @Test(
        "QRY-09: a value of every type, as itself and as text",
        arguments: [
            ("string", "alpha", "alpha"), ("char", "a", "a"), ("byte", 1, "1"), ("short", 10, "10"), ("int", 100, "100"), ("long", 1000, "1000"),
            ("integer", 10000, "10000"), ("decimal", QueryDatabase.decimal("1.5"), "1.5000"), ("float", 0.5, "0.5"), ("double", 2.25, "2.25"),
            ("date", .date(LocalDate("2020-01-01") ?? .epoch), "2020-01-01"), ("time", .time(LocalTime("08:00:00") ?? .midnight), "08:00:00"),
            ("dateTime", .dateTime(Date(timeIntervalSince1970: 1_577_865_600)), "2020-01-01T08:00:00Z"), ("boolean", true, "true"),
            ("wide", QueryDatabase.decimal("1.5"), "1.50"),
        ] as [(String, AttributeValue, String)])
    func types(attribute: String, value: AttributeValue, text: String) throws {
        #expect(try samples.allTypes(.equal(attribute, value)) == [1])
        #expect(try samples.allTypes(.equal(attribute, text)) == [1])
        #expect(try samples.allTypes(.notEqual(attribute, value)) == [2])
        #expect(try samples.allTypes(.in(attribute, [value, .null])) == [1, 3])
        if attribute != "string" && attribute != "char" {
            #expect(samples.error(Query().from("AllType").where(.equal(attribute, "no such value"))) == .invalidValue)
        }
        #expect(samples.error(Query().from("AllType").where(.equal(attribute, AttributeValue.large(1)))) == .invalidValue)
    }

    @Test("QRY-09: binaries are compared as bytes; structures, lists and large values with null alone")
    func opaque() throws {
        #expect(try samples.allTypes(.equal("binary", AttributeValue.binary([0, 1]))) == [1])
        #expect(try samples.allTypes(.greaterThan("binary", AttributeValue.binary([0, 1]))) == [2])
        for attribute in ["place", "days"] {
            #expect(try samples.allTypes(.isNull(attribute)) == [3])
            #expect(samples.error(Query().from("AllType").where(.equal(attribute, "x"))) == .unsupportedType)
        }
        #expect(try samples.allTypes(.notNull("picture")) == [])
        #expect(samples.error(Query().from("AllType").where(.like("picture", "x"))) == .unsupportedType)
        #expect(try samples.allTypes(.lessThan("wide", 1)) == [2] && samples.allTypes(.greaterEqual("wide", QueryDatabase.decimal("1.5"))) == [1])
    }
}
