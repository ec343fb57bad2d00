import Foundation
import MobileModel
import MobileObjects
import Testing

/// Functions over groups of rows.
@Suite struct AggregateTests {
    let samples: QueryDatabase
    init() throws { samples = try QueryDatabase() }

    private func value(_ item: String) throws -> AttributeValue? {
        try samples.rows(Query().select(item).from("AllType", "a")).first?.first
    }

    @Test("QRY-24: count gives an integer: of rows, of values, of different values")
    func count() throws {
        let results = try samples.database.executeQuery(
            Query().select("COUNT(*), COUNT(c.state), count(DISTINCT c.state), Count(1)").from("Customer", "c"))
        #expect(results.map(Array.init) == [[6, 5, 3, 6]])
        #expect(results.columnTypes == [.integer, .integer, .integer, .integer])
        #expect(try value("COUNT(a.place)") == 2 && value("COUNT(a.picture)") == 0, "of every type")
    }

    @Test(
        "QRY-25: max and min of every type that has an order give a value of that type",
        arguments: [
            ("string", "alpha", "beta"), ("binary", .binary([0, 1]), .binary([0, 2])), ("char", "a", "b"), ("byte", -2, 1), ("short", -20, 10),
            ("int", -200, 100), ("long", -2000, 1000), ("integer", -20000, 10000),
            ("decimal", QueryDatabase.decimal("-2.25"), QueryDatabase.decimal("1.5")), ("float", 0.5, 1.5), ("double", -4.5, 2.25),
            ("date", .date(LocalDate("2020-01-01") ?? .epoch), .date(LocalDate("2021-02-03") ?? .epoch)),
            ("time", .time(LocalTime("08:00:00") ?? .midnight), .time(LocalTime("09:30:00") ?? .midnight)),
            ("dateTime", .dateTime(Date(timeIntervalSince1970: 1_577_865_600)), .dateTime(Date(timeIntervalSince1970: 1_612_344_600.25))),
        ] as [(String, AttributeValue, AttributeValue)])
    func extremes(attribute: String, least: AttributeValue, most: AttributeValue) throws {
        #expect(try value("MIN(a.\(attribute))") == least)
        #expect(try value("MAX(a.\(attribute))") == most)
    }

    @Test(
        "QRY-26: sum and avg of every number",
        arguments: [
            ("byte", -1, -0.5), ("short", -10, -5.0), ("int", -100, -50.0), ("long", -1000, -500.0), ("integer", -10000, -5000.0),
            ("decimal", QueryDatabase.decimal("-0.75"), -0.375), ("float", 2.0, 1.0), ("double", -2.25, -1.125),
        ] as [(String, AttributeValue, AttributeValue)])
    func sums(attribute: String, sum: AttributeValue, average: AttributeValue) throws {
        #expect(try value("SUM(a.\(attribute))") == sum)
        #expect(try value("AVG(a.\(attribute))") == average)
    }

    @Test("QRY-24 QRY-25 QRY-26: of no rows there is a count of 0, and null else")
    func nothing() throws {
        let query = Query().select("count(*), MAX(a.int), SUM(a.int), AVG(a.decimal)").from("AllType", "a").where(.equal("id", 99))
        #expect(try samples.rows(query) == [[0, .null, .null, .null]])
    }

    @Test(
        "QRY-27 EXC-04: an aggregate of a type that has none is an error",
        arguments: [
            "MAX(a.boolean)", "MIN(a.place)", "MAX(a.days)", "MIN(a.picture)", "SUM(a.string)", "SUM(a.date)", "AVG(a.time)", "AVG(a.dateTime)",
            "SUM(a.binary)", "SUM(a.char)", "AVG(a.boolean)", "SUM(a.hasLogRecords)",
        ])
    func unsupported(item: String) {
        #expect(samples.error(Query().select(item).from("AllType", "a")) == .unsupportedType)
        #expect(samples.error(Query().select("count(*)").from("AllType", "a").groupBy("a.id").having(.isNull(item))) == .unsupportedType)
    }

    @Test("QRY-28: groups by one item or several, by attributes or names of items")
    func groupBy() throws {
        let query = Query().select("c.lname, count(*) as n").from("Customer", "c")
        #expect(
            try samples.rows(query.groupBy("c.lname").sorted(by: .ascending("c.lname")))
                == [["Devlin", 1], ["Doe", 2], ["O'Neil", 1], ["Smith", 2]])
        #expect(try samples.rows(query.groupBy("c.lname, c.state").where(.equal("lname", "Doe"))).count == 2)
        #expect(try samples.rows(query.select("c.state as place").groupBy("c.lname, place")).count == 6)
        #expect(try samples.texts(Query().select("count(*)").from("Customer").groupBy("state")).sorted() == ["1", "1", "2", "2"])
        #expect(samples.error(query.groupBy("c.state")) == .invalidQuery, "a name that groups do not have")
        #expect(samples.error(query.groupBy("c.lname").sorted(by: .ascending("c.id"))) == .invalidQuery)
        #expect(samples.error(query.groupBy("c.nothing")) == .noSuchAttribute)
        #expect(samples.error(query.groupBy("count(*)")) == .noSuchAttribute)
        #expect(samples.error(Query().select("count(*)").from("AllType").groupBy("place")) == .unsupportedType)
    }

    @Test("QRY-29: having tests groups by aggregates, names of items and what is grouped by, beside a where on rows")
    func having() throws {
        let query = Query().select("s.cust_id, SUM(s.total) as turnover").from("SalesOrder", "s").groupBy("s.cust_id").sorted(
            by: .ascending("s.cust_id"))
        func keys(_ query: Query) throws -> [String] { try samples.texts(query) }
        #expect(try keys(query.having(.greaterThan("COUNT(*)", 1))) == ["1"])
        #expect(try keys(query.having(.greaterEqual("turnover", QueryDatabase.decimal("3")))) == ["1", "5", "99"])
        #expect(try keys(query.having(.greaterEqual("turnover", 3)).where(.notNull("order_date"))) == ["1", "99"])
        #expect(try keys(query.having(.in("s.cust_id", [1, 2]) && !.equal("AVG(s.total)", 1.0))) == ["1"])
        #expect(samples.error(query.having(.equal("s.region", "Eastern"))) == .invalidQuery)
        #expect(samples.error(query.where(.greaterThan("COUNT(*)", 1))) == .invalidQuery)
        #expect(samples.error(query.having(.greaterThan("MEDIAN(s.total)", 1))) == .noSuchOperation)
        #expect(try samples.texts(Query().select("count(*)").from("Customer").having(.greaterThan("count(*)", 5))) == ["6"])
        #expect(try samples.texts(Query().select("count(*)").from("Customer").having(.greaterThan("count(*)", 6))) == [])
    }

    @Test("QRY-26: a sum beyond 64 bits is an error, not a wrong number")
    func overflow() throws {
        try samples.shop.importRows("AllType", ["id", "name", "long"], "[[51,51,\"x\",9223372036854775807],[52,52,\"y\",5000]]")
        #expect(samples.error(Query().select("SUM(a.long)").from("AllType", "a")) == .store)
    }
}
