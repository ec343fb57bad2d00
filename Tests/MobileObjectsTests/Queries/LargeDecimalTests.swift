import Foundation
import MobileModel
import MobileObjects
import Testing

/// Decimals of more than 18 digits in queries: as exact as those of fewer.
@Suite struct LargeDecimalTests {
    private let shop: Shop
    private static let values = [
        "-12345678901234567890.5", "0", "0.0000000001", "2.5", "9", "10", "12345678901234567890", "12345678901234567890.0000000001",
    ]

    init() throws {
        let account = ObjectModel(
            name: "Account",
            attributes: [
                AttributeModel(name: "id", type: .long), AttributeModel(name: "owner", type: .string),
                AttributeModel(name: "balance", type: .decimal, isNullable: true, precision: 30, scale: 10),
                AttributeModel(name: "limit", type: .decimal, isNullable: true, precision: 30, scale: 10),
            ], primaryKey: ["id"],
            queries: [
                QueryModel(
                    name: "findBetween", parameters: [ParameterModel(name: "least", type: .decimal)],
                    sql: "SELECT x.* FROM Account x WHERE x.balance BETWEEN :least AND 10.00 OR x.balance > 1e20 ORDER BY x.balance DESC"),
                QueryModel(
                    name: "findRichOwners", parameters: [ParameterModel(name: "least", type: .decimal)],
                    sql: "SELECT x.* FROM Account x GROUP BY x.owner HAVING sum(x.balance) > :least AND max(x.balance) < 11 ORDER BY avg(x.balance)"),
            ])
        shop = try Shop(PackageModel(name: "Bank", objects: [account]))
        // Shuffled, so that keys do not give the order.
        let rows = [3, 7, 0, 5, 1, 6, 2, 4].enumerated().map { position, index in
            "[\(index + 1),\(index + 1),\"\(position % 2 == 0 ? "a" : "b")\",\(Self.values[index]),9.5]"
        }
        try shop.importRows("Account", ["id", "owner", "balance", "limit"], "[" + rows.joined(separator: ",") + ",[9,9,\"c\",null,null]]")
    }

    private var accounts: EntityClass { get throws { try shop.objects("Account") } }
    private func keys(_ query: Query) throws -> [Int64] { try accounts.findWithQuery(query).map(\.surrogateKey) }
    private func first(_ items: String) throws -> [AttributeValue] {
        try shop.database.executeQuery(Query().select(items).from("Account", "a")).first.map(Array.init) ?? []
    }
    private func decimal(_ text: String) -> AttributeValue { QueryDatabase.decimal(text) }

    @Test("QRY-20 FND-12: they sort as numbers, null before them, in lists by key as well", arguments: [1, 3, 100])
    func sorting(pageSize: Int) throws {
        let up = Query().sorted(by: .ascending("balance"))
        #expect(try keys(up) == [9, 1, 2, 3, 4, 5, 6, 7, 8])
        #expect(try accounts.list(up, pageSize: pageSize).map(\.surrogateKey) == [9, 1, 2, 3, 4, 5, 6, 7, 8])
        #expect(try accounts.list(Query().sorted(by: .descending("balance")), pageSize: pageSize).map(\.surrogateKey) == [8, 7, 6, 5, 4, 3, 2, 1, 9])
    }

    @Test("QRY-14 QRY-15: they are compared as numbers, with values of any kind and with each other")
    func comparing() throws {
        #expect(try keys(Query().where(.lessThan("balance", 9))) == [1, 2, 3, 4])
        #expect(try keys(Query().where(.lessEqual("balance", 9.0))) == [1, 2, 3, 4, 5])
        #expect(try keys(Query().where(.greaterThan("balance", decimal("12345678901234567890")))) == [8])
        #expect(
            try keys(Query().where(.greaterEqual("balance", "10") && .lessThan("balance", decimal("12345678901234567890.0000000001")))) == [6, 7])
        #expect(try keys(Query().where(.greaterThan("balance", QueryColumn("Account", "limit")))) == [6, 7, 8])
        #expect(try keys(Query().where(.in("balance", [decimal("2.50"), decimal("-1")]))) == [4])
        let largest = Query().select("MAX(o.balance)").from("Account", "o")
        #expect(try keys(Query().where(.equal("balance", largest))) == [8])
    }

    @Test("QRY-25 QRY-26: least, greatest, sum and mean are exact")
    func aggregates() throws {
        #expect(try first("MIN(a.balance), MAX(a.balance)") == [decimal("-12345678901234567890.5"), decimal("12345678901234567890.0000000001")])
        #expect(try first("SUM(a.balance), COUNT(a.balance)") == [decimal("12345678901234567911.0000000002"), 8])
        #expect(try first("AVG(a.limit)") == [decimal("9.5")])
        let groups = Query().select("a.owner, SUM(a.limit) as s").from("Account", "a").groupBy("a.owner").having(.greaterThan("s", 9)).sorted(
            by: .descending("s"), .ascending("a.owner"))
        #expect(try shop.database.executeQuery(groups).map { Array($0) } == [["a", decimal("38")], ["b", decimal("38")]])
        #expect(try shop.database.executeQuery(Query().select("SUM(a.balance)").from("Account", "a").where(.equal("id", 99))).first?[0] == .null)
    }

    @Test("FND-11 X-27: queries of the model compare, sort, add up and average them as numbers")
    func modelled() throws {
        let between = try accounts.query("findBetween", [decimal("2.50")])
        #expect(between.map(\.surrogateKey) == [6, 5, 4])
        #expect(try accounts.query("findBetween", [decimal("0.0000000001")]).map(\.surrogateKey) == [6, 5, 4, 3])
        let owners = try accounts.query("findRichOwners", [decimal("-100000000000000000000000")])
        #expect(owners.count <= 2 && owners.allSatisfy { (try? $0.value("owner")) != "c" })
        #expect(try accounts.query("findRichOwners", [decimal("99999999999999999999")]).isEmpty)
    }
}
