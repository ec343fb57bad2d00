import Foundation
import MobileObjects
import Testing

/// Texts from users and servers never become SQL.
@Suite struct InjectionTests {
    let trace = StatementTrace()
    let samples: QueryDatabase
    init() throws {
        let trace = trace
        samples = try QueryDatabase { trace.append($0) }
    }

    static let attacks = [
        "x'; DROP TABLE \"Customer\"; --", "\"; DROP TABLE \"Customer\"; --", "id\" OR 1=1 --", "1 OR 1=1", "id) OR (1=1", "*", "c.*, (SELECT 1)",
        "id; DELETE FROM \"Customer\"", "\0", "id\0\" --", "\u{0}\u{1}\u{FFFD}", "`id`", "[id]", "?1", ":id", "@id", "id COLLATE NOCASE", "/* */",
        "MAX(id); --", "MAX(id) FROM Customer; --", "count(*) FROM sqlite_master --", "randomblob(1000000000)", "c0", "t0", "t0.\"_sk\"", "_sk",
        "%", "_", "\\", "''", "\"\"", String(repeating: "(", count: 2000), String(repeating: "x", count: 100_000), "🐟", "id AS \"x\"",
    ]

    /// Every string of a query, one at a time.
    private static let places: [(String, @Sendable (String) -> Query)] = [
        ("select", { Query().select($0).from("Customer", "c") }),
        ("item", { Query().select([SelectItem($0)]).from("Customer", "c") }),
        ("name of an item", { Query().select([SelectItem("c.id", as: $0)]).from("Customer", "c").sorted(by: .ascending($0)) }),
        ("entity", { Query().select("id").from($0) }),
        ("alias", { Query().select("\($0).id").from("Customer", $0) }),
        ("alias of a subquery", { Query().from(Query().select([SelectItem("id", as: $0)]).from("Customer"), $0) }),
        ("joined entity", { Query().from("Customer", "c").join($0, "s", "s.id", "c.id") }),
        ("alias of a join", { Query().select("c.id").from("Customer", "c").join("SalesOrder", $0, "\($0).cust_id", "c.id") }),
        ("left item", { Query().from("Customer", "c").join("SalesOrder", "s", $0, "c.id") }),
        ("right item", { Query().from("Customer", "c").join("SalesOrder", "s", "s.id", $0) }),
        ("attribute", { Query().from("Customer", "c").where(.equal($0, 1)) }),
        ("alias of a column", { Query().from("Customer", "c").where(.equal("id", QueryColumn($0, "id"))) }),
        ("column", { Query().from("Customer", "c").where(.equal("id", QueryColumn("c", $0))) }),
        ("group", { Query().select("count(*)").from("Customer", "c").groupBy($0) }),
        ("having", { Query().select("count(*)").from("Customer", "c").having(.equal($0, 1)) }),
        ("sort", { Query().from("Customer", "c").sorted(by: .descending($0)) }),
        ("value", { Query().from("Customer", "c").where(.equal("lname", $0)) }),
        ("number", { Query().from("Customer", "c").where(.equal("id", $0)) }),
        ("list", { Query().from("Customer", "c").where(.in("lname", [$0, "Doe"])) }),
        ("pattern", { Query().from("Customer", "c").where(.like("lname", $0)) }),
        ("part", { Query().from("Customer", "c").where(.contains("lname", $0) || .startsWith("fname", $0) || .endsWith("fname", $0)) }),
    ]

    @Test("QRY-38 QRY-08: no string of a query becomes SQL: it is a name of the model, a bound value, or an error")
    func everyString() throws {
        let database = samples.database
        for (place, query) in Self.places {
            for attack in Self.attacks {
                do {
                    let results = try database.executeQuery(query(attack))
                    #expect(results.count <= 6, "\(place): \(attack.prefix(40))")
                } catch let error as ObjectError {
                    // The database itself never receives a text that it could reject.
                    #expect(error.code != .store, "\(place): \(attack.prefix(40)): \(error.message.prefix(200))")
                }
                _ = try? database.entity("Customer").findWithQuery(query(attack))
                _ = try? database.entity("Customer").countWithQuery(query(attack))
            }
        }
        #expect(try samples.customers(.notNull("id")) == [1, 2, 3, 4, 5, 6])
        #expect(try samples.shop.count("SalesOrder") == 6)
        // Except for texts that statements contain in any case.
        for attack in Self.attacks where attack.utf8.count > 4 && !attack.hasPrefix("t0") {
            #expect(trace.all.allSatisfy { !$0.contains(attack) }, "\(attack.prefix(40)) stands in a statement")
        }
    }

    @Test("QRY-08: what was saved as text is found as that text, whatever it looks like")
    func valuesComeBack() throws {
        for (number, attack) in Self.attacks.enumerated() where attack.utf8.count < 1000 {
            let object = try samples.shop.new("AllType", ["id": .integer(Int64(1000 + number)), "name": .string(attack)])
            try object.create()
            #expect(try samples.texts(Query().select("id").from("AllType").where(.equal("name", attack))) == ["\(1000 + number)"])
            #expect(
                try samples.texts(Query().select("id").from("AllType").where(.in("name", [attack]) && .contains("name", attack))) == [
                    "\(1000 + number)"
                ])
        }
    }

    @Test("QRY-08: queries that differ in values alone are one statement")
    func oneStatement() throws {
        func statements(_ body: () throws -> Void) rethrows -> Set<String> {
            let before = trace.count
            try body()
            return Set(trace.all[before...].filter { $0.hasPrefix("SELECT") })
        }
        let seen = try statements {
            for name in ["Doe", "Smith", "x' OR 'x' = 'x"] {
                for page in 0..<3 {
                    _ = try samples.database.executeQuery(Query().from("Customer").where(.equal("lname", name)).skip(page + 1).take(2))
                }
            }
        }
        #expect(seen.count == 1, "\(seen)")
    }
}
