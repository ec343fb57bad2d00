import Foundation
import MobileModel
import MobileObjects
import MobileStore
import TestSupport
import Testing

/// Random queries have the same result as SQL that is written here from the same choices in another way: with the values in the text, and the tables'
/// and attributes' own names.
@Suite struct RandomQueryTests {
    @Test(
        "QRY-05 QRY-08 QRY-11 QRY-18 QRY-20 QRY-22 QRY-23 QRY-28 QRY-30: random queries against SQL built by hand",
        arguments: RandomSequences.seeds(12))
    func randomQueries(seed: UInt64) throws {
        let samples = try QueryDatabase()
        var random = SeededGenerator(seed: seed)
        try Self.fill(samples, &random)
        var failed = 0, rows = 0
        for round in 0..<150 {
            var builder = RandomQuery(random: random)
            let (query, sql) = builder.query()
            random = builder.random
            let expected = try samples.database.read { try $0.rows(sql) }
            let found = try samples.database.executeQuery(query).map { row in row.map(Self.plain) }
            rows += found.count
            if found != expected.map({ $0.map(Self.plain) }) { failed += 1 }
            #expect(found == expected.map { $0.map(Self.plain) }, "seed \(seed), round \(round): \(sql)")
            #expect(try samples.database.countQuery(query) == expected.count)
            if failed > 3 { return }
        }
        #expect(rows > 1000, "the queries find something")
    }

    /// Inserts a hundred orders and customers, with nulls and equal values.
    private static func fill(_ samples: QueryDatabase, _ random: inout SeededGenerator) throws {
        func pick(_ values: [String]) -> String { values.randomElement(using: &random) ?? "null" }
        let customers = (100..<160).map { id in
            let credit = pick(["null", "0", "10.25", "99.99", "-3.5", "1000"])
            return "[\(id),\(id),\(pick(["\"Ann\"", "\"Bob\"", "\"b%b\"", "\"\""])),\(pick(["\"Doe\"", "\"O'Neil\"", "\"Ä_\""])),"
                + "\(pick(["null", "\"CA\"", "\"NY\"", "\"ca\""])),\(credit)]"
        }
        try samples.shop.importRows("Customer", ["id", "fname", "lname", "state", "credit"], "[\(customers.joined(separator: ","))]")
        let orders = (3000..<3100).map { id in
            let customer = Int.random(in: 95...165, using: &random)
            return "[\(id),\(id),\(pick(["null", "\(customer)", "\(customer)"])),\(pick(["null", "\"2020-01-01\"", "\"2021-12-31\""])),"
                + "\(pick(["null", "\"East\"", "\"West\""])),\(pick(["0.01", "7", "99.99", "10.25"]))]"
        }
        try samples.shop.importRows("SalesOrder", ["id", "cust_id", "order_date", "region", "total"], "[\(orders.joined(separator: ","))]")
    }

    /// Returns a value in the common form of the two sides: decimals are scaled integers in the database.
    private static func plain(_ value: AttributeValue) -> String {
        switch value {
        case .null: "NULL"
        case .decimal(let decimal): "\(decimal * 100)"
        case .real(let real): String(format: "%.6f", real)
        case .boolean(let boolean): boolean ? "1" : "0"
        default: value.description
        }
    }

    private static func plain(_ value: Value) -> String {
        switch value {
        case .null: "NULL"
        case .integer(let integer): "\(integer)"
        case .real(let real): String(format: "%.6f", real)
        case .text(let text): text
        case .blob: "BLOB"
        }
    }
}

/// Makes a query and, from the same random choices, its SQL.
private struct RandomQuery {
    var random: SeededGenerator

    /// An attribute with values that are worth comparing, as values and as SQL.
    private struct Attribute {
        let name: String
        let values: [(AttributeValue, String)]
        var isText = false
    }

    private struct Source {
        let entity: String
        let attributes: [Attribute]
    }

    private static func decimal(_ text: String) -> (AttributeValue, String) {
        (QueryDatabase.decimal(text), "\((Decimal(string: text, locale: nil) ?? 0) * 100)")
    }

    private static func text(_ text: String) -> (AttributeValue, String) { (.string(text), "'\(text.replacing("'", with: "''"))'") }

    private static let customer = Source(
        entity: "Customer",
        attributes: [
            Attribute(name: "id", values: [1, 50, 120, 140].map { (.integer(Int64($0)), "\($0)") }),
            Attribute(name: "fname", values: ["Ann", "Bob", "b%b", "", "John"].map(text), isText: true),
            Attribute(name: "lname", values: ["Doe", "O'Neil", "Ä_", "x' OR 1"].map(text), isText: true),
            Attribute(name: "state", values: ["CA", "NY", "ca", "TX"].map(text), isText: true),
            Attribute(name: "credit", values: ["0", "10.25", "99.99", "-3.5", "20.5"].map(decimal)),
        ])
    private static let order = Source(
        entity: "SalesOrder",
        attributes: [
            Attribute(name: "id", values: [2001, 3000, 3050].map { (.integer(Int64($0)), "\($0)") }),
            Attribute(name: "cust_id", values: [1, 120, 150].map { (.integer(Int64($0)), "\($0)") }),
            Attribute(
                name: "order_date", values: ["2020-01-01", "2021-12-31", "2010-03-02"].map { (.date(LocalDate($0) ?? .epoch), "'\($0)'") },
                isText: true),
            Attribute(name: "region", values: ["East", "West", "Eastern"].map(text), isText: true),
            Attribute(name: "total", values: ["0.01", "7", "99.99", "10.25"].map(decimal)),
        ])

    private mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
    private mutating func chance(_ oneIn: Int) -> Bool { number(0..<oneIn) == 0 }
    private mutating func pick<T>(_ values: [T]) -> T { values[number(0..<values.count)] }

    mutating func query() -> (Query, String) {
        switch number(0..<6) {
        case 0: combination()
        case 1: groups()
        default: rows()
        }
    }

    // MARK: Rows

    private mutating func rows() -> (Query, String) {
        let isJoined = chance(2)
        var sources = [("c", Self.customer)]
        var query = Query().from("Customer", "c"), from = "\"Customer\" c"
        if isJoined {
            let (type, words): (JoinType, String) = pick([(.inner, "JOIN"), (.left, "LEFT JOIN")])
            query = query.join("SalesOrder", "o", "o.cust_id", "c.id", type: type)
            from += " \(words) \"SalesOrder\" o ON o.cust_id = c.id"
            sources.append(("o", Self.order))
        }
        if !isJoined && chance(3) {
            let (inner, condition) = test([("i", Self.customer)], depth: 2)
            let all = Self.customer.attributes.map { "i.\($0.name)" }.joined(separator: ", ")
            query = Query().from(Query().select(all).from("Customer", "i").where(inner), "d")
            from = "(SELECT \(all) FROM \"Customer\" i WHERE \(condition)) d"
            sources = [("d", Self.customer)]
        }
        var items: [String] = []
        for _ in 0...number(0..<4) { items.append(item(sources).0) }
        query = query.select(items.joined(separator: ", "))
        var sql = "FROM \(from)"
        if !chance(4) {
            let (test, condition) = test(sources, depth: 3)
            query = query.where(test)
            sql += " WHERE \(condition)"
        }
        let isDistinct = chance(4)
        if isDistinct { query = query.distinct() }
        sql = "SELECT \(isDistinct ? "DISTINCT " : "")\(items.joined(separator: ", ")) \(sql)"
        // Sorted by all items, and by the keys where there are some: only then the rows have one order.
        var order = items.map { (name: $0, isDown: chance(2)) }
        if !isDistinct { order += sources.map { ("\($0.0).id", chance(2)) } }
        query.sortCriteria = order.map { AttributeSort($0.name, $0.isDown ? .descending : .ascending) }
        sql += " ORDER BY " + order.map { $0.isDown ? "\($0.name) DESC" : $0.name }.joined(separator: ", ")
        if chance(3) {
            (query.skip, query.take) = (number(0..<20), number(0..<20))
            sql += " LIMIT \(query.take) OFFSET \(query.skip)"
        }
        return (query, sql)
    }

    private mutating func item(_ sources: [(String, Source)]) -> (String, Attribute) {
        let (alias, source) = pick(sources), attribute = pick(source.attributes)
        return ("\(alias).\(attribute.name)", attribute)
    }

    private mutating func combination() -> (Query, String) {
        let names = ["id", "fname", "lname", "credit"].filter { _ in chance(2) } + ["state"]
        func member(_ alias: String, _ random: inout RandomQuery) -> (Query, String) {
            let (test, condition) = random.test([(alias, Self.customer)], depth: 2)
            let items = names.map { "\(alias).\($0)" }.joined(separator: ", ")
            return (Query().select(items).from("Customer", alias).where(test), "SELECT \(items) FROM \"Customer\" \(alias) WHERE \(condition)")
        }
        let (left, leftSQL) = member("a", &self), (right, rightSQL) = member("b", &self)
        let order = names.indices.map { "\($0 + 1)" }.joined(separator: ", ")
        let (combined, words): (Query, String) =
            switch number(0..<4) {
            case 0: (left.union(right), "UNION")
            case 1: (left.unionAll(right), "UNION ALL")
            case 2: (left.except(right), "EXCEPT")
            default: (left.intersect(right), "INTERSECT")
            }
        var query = combined
        query.sortCriteria = Array(names.map { AttributeSort("a.\($0)") })
        return (query, "\(leftSQL) \(words) \(rightSQL) ORDER BY \(order)")
    }

    // MARK: Groups

    private mutating func groups() -> (Query, String) {
        let group = pick(["o.region", "o.cust_id", "o.order_date"])
        let aggregates = [
            "count(*)", "COUNT(o.region)", "SUM(o.total)", "MAX(o.order_date)", "MIN(o.total)", "MAX(o.region)", "COUNT(DISTINCT o.total)",
        ]
        let chosen = pick(aggregates)
        let (test, condition) = test([("o", Self.order)], depth: 2)
        var query = Query().select("\(group), \(chosen) as result").from("SalesOrder", "o").where(test).groupBy(group)
        var sql = "SELECT \(group), \(chosen) AS result FROM \"SalesOrder\" o WHERE \(condition) GROUP BY \(group)"
        if chance(2) {
            let limit = number(0..<6)
            query = query.having(chance(2) ? .greaterThan("count(*)", limit) : .notNull("result"))
            let isCount = query.havingCriteria == .greaterThan("count(*)", limit)
            sql += " HAVING \(isCount ? "count(*) > \(limit)" : "\(chosen) IS NOT NULL")"
        }
        query = query.sorted(by: .descending("result"), .ascending(group))
        return (query, sql + " ORDER BY 2 DESC, 1")
    }

    // MARK: Tests

    private mutating func test(_ sources: [(String, Source)], depth: Int) -> (TestCriteria, String) {
        guard depth > 0, !chance(3) else { return single(sources, depth: depth) }
        let count = number(1..<4)
        let operands = (0..<count).map { _ in test(sources, depth: depth - 1) }
        let tests = operands.map(\.0), conditions = operands.map { "(\($0.1))" }
        switch number(0..<3) {
        case 0: return (.composite(CompositeTest(.and, tests)), conditions.joined(separator: " AND "))
        case 1: return (.composite(CompositeTest(.or, tests)), conditions.joined(separator: " OR "))
        default: return (.composite(CompositeTest(.not, tests)), "NOT (\(conditions.joined(separator: " AND ")))")
        }
    }

    /// Searches for words, the last one being a beginning, in one or both of the searchable names.
    private mutating func search(_ source: String) -> (TestCriteria, String) {
        let words = (0..<number(1..<3)).map { _ in pick(["ann", "B", "neil", "o", "doe", "a", "john", "x"]) }
        let attributes = pick([[], ["fname"], ["lname"], ["fname", "lname"]]), isAll = chance(2)
        let search = TextSearch(words.joined(separator: " "), in: attributes, requiring: isAll ? .all : .any, source: source)
        let conditions = words.enumerated().map { index, word in
            let ending = index == words.count - 1 ? "" : " "
            return (attributes.isEmpty ? ["fname", "lname"] : attributes).map { name in
                let separated = ["''''", "'%'", "'_'", "'.'", "'-'"].reduce("replace(lower(\(source).\(name)), 'Ä', 'a')") {
                    "replace(\($0), \($1), ' ')"
                }
                return "' ' || \(separated) || ' ' LIKE '% \(word.lowercased())\(ending)%'"
            }.joined(separator: " OR ")
        }
        // A row that a left join lacks has no words, and its search is false.
        return (.search(search), conditions.map { "coalesce(\($0), 0)" }.joined(separator: isAll ? " AND " : " OR "))
    }

    private mutating func single(_ sources: [(String, Source)], depth: Int) -> (TestCriteria, String) {
        if let customer = sources.first(where: { $0.1.entity == "Customer" && $0.0 != "d" }), chance(6) { return search(customer.0) }
        let (name, attribute) = item(sources), (value, literal) = pick(attribute.values)
        switch number(0..<12) {
        case 0: return (.isNull(name), "\(name) ISNULL")
        case 1: return (.notNull(name), "\(name) NOTNULL")
        case 2: return (.equal(name, value), "\(name) == \(literal)")
        case 3: return (.notEqual(name, value), "\(name) != \(literal)")
        case 4:
            let (word, form): (AttributeTest.Operator, String) = pick([
                (.lessThan, "<"), (.lessEqual, "<="), (.greaterThan, ">"), (.greaterEqual, ">="),
            ])
            return (.attribute(AttributeTest(name, word, value)), "\(name) \(form) \(literal)")
        case 5:
            let list = (0..<number(0..<4)).map { _ in pick(attribute.values) }
            let isIn = chance(2)
            let members = list.map(\.1).joined(separator: ", ")
            return (isIn ? .in(name, list.map(\.0)) : .notIn(name, list.map(\.0)), "\(name) \(isIn ? "" : "NOT ")IN (\(members))")
        case 6 where attribute.isText:
            let part = pick(["a", "o", "B", "%", "_", "e", "20", "Ä", "'"])
            let quoted = part.replacing("'", with: "''"), lower = "lower(\(name))"
            switch number(0..<4) {
            case 0: return (.contains(name, part), "instr(\(lower), lower('\(quoted)')) > 0")
            case 1: return (.startsWith(name, part), "substr(\(lower), 1, length('\(quoted)')) = lower('\(quoted)')")
            case 2:
                return (
                    .endsWith(name, part),
                    "substr(\(lower), -length('\(quoted)'), length('\(quoted)')) = lower('\(quoted)') AND length(\(name)) >= length('\(quoted)')"
                )
            default: return (.notContains(name, part), "instr(\(lower), lower('\(quoted)')) = 0")
            }
        case 7 where depth > 0 && sources.contains { $0.0 == "c" }:
            let (inner, condition) = test([("i", Self.order)], depth: depth - 1)
            let query = Query().select("i.id").from("SalesOrder", "i").where(.equal("i.cust_id", QueryColumn("c", "id")) && inner)
            let sql = "(SELECT 1 FROM \"SalesOrder\" i WHERE i.cust_id = c.id AND (\(condition)))"
            return chance(2) ? (.exists(query), "EXISTS \(sql)") : (.notExists(query), "NOT EXISTS \(sql)")
        case 8 where depth > 0 && attribute.name == "cust_id":
            let (inner, condition) = test([("k", Self.customer)], depth: depth - 1)
            let query = Query().select("k.id").from("Customer", "k").where(inner)
            let isIn = chance(2)
            return (
                isIn ? .in(name, query) : .notIn(name, query), "\(name) \(isIn ? "" : "NOT ")IN (SELECT k.id FROM \"Customer\" k WHERE \(condition))"
            )
        case 9:
            let (_, other) = item(sources.filter { name.hasPrefix($0.0 + ".") })
            guard other.isText == attribute.isText, (other.name == "order_date") == (attribute.name == "order_date"),
                ["credit", "total"].contains(other.name) == ["credit", "total"].contains(attribute.name), let alias = name.split(separator: ".").first
            else { return (.notNull(name), "\(name) IS NOT NULL") }
            return (.lessEqual(name, QueryColumn(String(alias), other.name)), "\(name) <= \(alias).\(other.name)")
        default: return (.match(name, value), "\(name) = \(literal)")
        }
    }
}
