import MobileModel
import MobileStore
import TestSupport
import Testing

@testable import MobileServer

/// Values of SQLite files that their attributes cannot hold, and numbers and times in all forms.
@Suite struct UnfitValueTests {
    /// Loads a table through a model that the server makes of its declaration, and returns the attributes of its rows as they travel, and the sentences about
    /// those that are held back.
    private func load(_ table: String, _ change: String) throws -> [String] {
        let folder = try TemporaryDirectory(), path = folder.file("any.db")
        func run(_ sql: String) throws {
            let database = try Database(ConnectionProfile(path: path, journal: .unchanged))
            try database.write { _ = try $0.execute(sql) }
            try database.close()
        }
        try run("CREATE TABLE \(table);")
        let model = try SchemaModel(of: path, name: "Any").model
        try run(change)
        let backEnd = try SQLBackEnd.enterprise(path, for: model)
        defer { try? backEnd.close() }
        var rows: [String] = []
        try backEnd.read { snapshot in
            try snapshot.load(model.objects[0], parameters: [:], keys: nil) { row in
                let plan = ObjectPlan(model.objects[0], binding: try #require(model.objects[0].binding), in: model)
                switch row.held(by: plan) {
                case .fit(let row): rows.append(row.attributes)
                case .unfit(let row): rows.append(row.sentence(plan))
                }
            }
        }
        return rows
    }

    private static let declaration =
        "t (id INTEGER PRIMARY KEY, i INTEGER, price DECIMAL(5,2), wide NUMERIC(30,10), b BOOLEAN, f FLOAT, txt TEXT, parent INTEGER REFERENCES t)"

    @Test(
        "a value that its attribute cannot hold is named with table, key and column, and never becomes 0; all other rows are loaded",
        arguments: [
            ("i", "'abc'", "an integer", "\"abc\""), ("i", "1.5", "an integer", "1.5"), ("i", "1e19", "an integer", "1e+19"),
            ("i", "x'00'", "an integer", "1 bytes"), ("price", "'n/a'", "a decimal of at most 5 digits, 2 of them after the point", "\"n/a\""),
            ("price", "'1,5'", "a decimal of at most 5 digits, 2 of them after the point", "\"1,5\""),
            ("price", "1234567.89", "a decimal of at most 5 digits, 2 of them after the point", "1234567.89"),
            ("price", "123456", "a decimal of at most 5 digits, 2 of them after the point", "123456"),
            ("price", "12.345", "a decimal of at most 5 digits, 2 of them after the point", "12.345"),
            ("price", "'12.345'", "a decimal of at most 5 digits, 2 of them after the point", "12.345"),
            ("wide", "'much'", "a decimal of at most 30 digits, 10 of them after the point", "\"much\""),
            ("b", "'perhaps'", "true or false", "\"perhaps\""), ("f", "'fast'", "a finite number", "\"fast\""),
            ("f", "9e999", "a finite number", "inf"),
            ("txt", "CAST(x'61ff' AS TEXT)", "text in UTF-8", "\"a\u{FFFD}\""), ("parent", "'root'", "an integer", "\"root\""),
        ])
    func refused(column: String, value: String, expected: String, found: String) throws {
        let rows = try load(Self.declaration, "INSERT INTO t (id) VALUES (3), (7), (8); UPDATE t SET \(column) = \(value) WHERE id = 7")
        #expect(
            rows == [
                "3,null,null,null,null,null,null,null",
                "load of \"T\" from back end \"enterprise\": table \"t\", row with the key 7, column \"\(column)\": expected \(expected) for the attribute \"\(column)\", found \(found)",
                "8,null,null,null,null,null,null,null",
            ])
    }

    @Test("a number is itself in any form, and a decimal has every digit that its column has")
    func numbers() throws {
        let rows = try load(
            Self.declaration,
            """
            INSERT INTO t (id, i, price, wide, b, f) VALUES (1, ' 007 ', '12.350', 123456789012345.67, 'Off', 3), (2, '1e3', 12.35, 0.1, 'y', '1e-3'),
                (3, 5.0, -0.01, 12345678901234567, 2, 0.5), (4, NULL, 999.99, 1e-10, '', NULL), (5, 5, 1.1 * 1.1 * 100, 0.1 + 0.2, 1, 1)
            """)
        #expect(
            rows == [
                "1,7,12.35,123456789012345.67,false,3.0,null,null", "2,1000,12.35,0.1,true,0.001,null,null",
                "3,5,-0.01,12345678901234567,true,0.5,null,null", "4,null,999.99,0.0000000001,false,null,null,null",
                "5,5,121,0.3,true,1.0,null,null",
            ])
    }

    @Test("an integer is a time in seconds, or in milliseconds from 100,000,000,000 on; a real is a Julian day; a text is a time or unfit")
    func times() throws {
        let rows = try load(
            "t (id INTEGER PRIMARY KEY, at DATETIME, day DATE, clock TIME)",
            """
            INSERT INTO t VALUES (1, 0, 0, 3600), (2, 1700000000, 1700000000, 1700000000), (3, 1700000000123, -86400, 86399), (4, 2460263.5, 2460263.25, 0.5),
                (6, '2023-11-14 22:13', '2023-11-14T22:13:20Z', '22:13'), (7, NULL, NULL, NULL)
            """)
        #expect(
            rows == [
                #"1,"1970-01-01T00:00:00.000Z","1970-01-01","01:00:00""#, #"2,"2023-11-14T22:13:20.000Z","2023-11-14","22:13:20""#,
                #"3,"2023-11-14T22:13:20.123Z","1969-12-31","23:59:59""#, #"4,"2023-11-15T00:00:00.000Z","2023-11-14","00:00:00""#,
                #"6,"2023-11-14T22:13:00.000Z","2023-11-14","22:13:00""#, "7,null,null,null",
            ])
    }

    @Test(
        "a text that is no time is held back, and moves to no other day",
        arguments: [
            ("at", "now", "a moment of the years 1 to 9999"), ("at", "soon", "a moment of the years 1 to 9999"),
            ("at", "14.11.2023", "a moment of the years 1 to 9999"), ("at", "2023-02-29 10:00", "a moment of the years 1 to 9999"),
            ("at", "2023-02-28 24:00", "a moment of the years 1 to 9999"), ("day", "", "a date of the years 1 to 9999"),
            ("day", "2023-02-30", "a date of the years 1 to 9999"), ("day", "31.12.2020", "a date of the years 1 to 9999"),
            ("clock", "24:00", "a time of day before 24:00"), ("clock", "25:00", "a time of day before 24:00"),
            ("clock", "now", "a time of day before 24:00"),
        ])
    func noTimes(column: String, text: String, expected: String) throws {
        let rows = try load("t (id INTEGER PRIMARY KEY, at DATETIME, day DATE, clock TIME)", "INSERT INTO t (id, \(column)) VALUES (1, '\(text)')")
        #expect(
            rows == [
                "load of \"T\" from back end \"enterprise\": table \"t\", row with the key 1, column \"\(column)\": expected \(expected) for the attribute \"\(column)\", found \"\(text)\""
            ])
    }
}
