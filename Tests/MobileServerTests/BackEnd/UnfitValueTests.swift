import MobileModel
import MobileStore
import TestSupport
import Testing

@testable import MobileServer

/// Values of SQLite files that their attributes cannot have, and numbers and times in all forms.
@Suite struct UnfitValueTests {
    /// Loads a table through a model that the server makes of its declaration, and returns the attributes of its rows as they travel.
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
                if case .loaded(let row) = row.content { rows.append(row.attributes) }
            }
        }
        return rows
    }

    private static let declaration =
        "t (id INTEGER PRIMARY KEY, i INTEGER, price DECIMAL(5,2), wide NUMERIC(30,10), b BOOLEAN, f FLOAT, txt TEXT, parent INTEGER REFERENCES t)"

    @Test(
        "a value that its attribute cannot have is refused with table, key, column and value, and never becomes 0",
        arguments: [
            ("i", "'abc'", "an integer", "\"abc\""), ("i", "1.5", "an integer", "1.5"), ("i", "1e19", "an integer", "1e+19"),
            ("i", "x'00'", "an integer", "1 bytes"), ("price", "'n/a'", "a decimal of at most 5 digits, 2 of them after the point", "\"n/a\""),
            ("price", "'1,5'", "a decimal of at most 5 digits, 2 of them after the point", "\"1,5\""),
            ("price", "1234567.89", "a decimal of at most 5 digits, 2 of them after the point", "1234567.89"),
            ("price", "123456", "a decimal of at most 5 digits, 2 of them after the point", "123456"),
            ("wide", "'much'", "a decimal of at most 30 digits, 10 of them after the point", "\"much\""),
            ("b", "'perhaps'", "true or false", "\"perhaps\""), ("f", "'fast'", "a finite number", "\"fast\""), ("f", "9e999", "a finite number", "inf"),
            ("txt", "CAST(x'61ff' AS TEXT)", "text in UTF-8", "\"a\u{FFFD}\""), ("parent", "'root'", "an integer", "\"root\""),
        ])
    func refused(column: String, value: String, expected: String, found: String) throws {
        let error = #expect(throws: ServerError.self) {
            try load(Self.declaration, "INSERT INTO t (id) VALUES (3), (7); UPDATE t SET \(column) = \(value) WHERE id = 7")
        }
        #expect(error?.code == .load)
        #expect(
            error?.message
                == "load of \"T\" from back end \"enterprise\": table \"t\", row with the key 7, column \"\(column)\": expected \(expected) for the attribute \"\(column)\", found \(found)"
        )
    }

    @Test("a number is itself in any form, and a decimal has every digit that its column has")
    func numbers() throws {
        let rows = try load(
            Self.declaration,
            """
            INSERT INTO t (id, i, price, wide, b, f) VALUES (1, ' 007 ', '12.345', 123456789012345.67, 'Off', 3), (2, '1e3', 12.345, 0.1, 'y', '1e-3'),
                (3, 5.0, -0.005, 12345678901234567, 2, 0.5), (4, NULL, 999.994, 1e-11, '', NULL)
            """)
        #expect(
            rows == [
                "1,7,12.35,123456789012345.67,false,3.0,null,null", "2,1000,12.35,0.1,true,0.001,null,null",
                "3,5,-0.01,12345678901234567,true,0.5,null,null", "4,null,999.99,0,false,null,null,null",
            ])
    }

    @Test("an integer is a time in seconds, or in milliseconds from 100,000,000,000 on; a real is a Julian day; a word is no time")
    func times() throws {
        let rows = try load(
            "t (id INTEGER PRIMARY KEY, at DATETIME, day DATE, clock TIME)",
            """
            INSERT INTO t VALUES (1, 0, 0, 3600), (2, 1700000000, 1700000000, 1700000000), (3, 1700000000123, -86400, 86399), (4, 2460263.5, 2460263.25, 0.5),
                (5, 'now', 'now', 'now'), (6, '2023-11-14 22:13', '2023-11-14T22:13:20Z', '22:13'), (7, '14.11.2023', '', NULL)
            """)
        #expect(
            rows == [
                #"1,"1970-01-01T00:00:00.000Z","1970-01-01","01:00:00""#, #"2,"2023-11-14T22:13:20.000Z","2023-11-14","22:13:20""#,
                #"3,"2023-11-14T22:13:20.123Z","1969-12-31","23:59:59""#, #"4,"2023-11-15T00:00:00.000Z","2023-11-14","00:00:00""#,
                #"5,"now","now","now""#, #"6,"2023-11-14T22:13:00.000Z","2023-11-14","22:13:00""#, #"7,"14.11.2023","",null"#,
            ])
    }
}
