import MobileModel
import MobileProtocol
import MobileStore
import TestSupport
import Testing

@testable import MobileServer

/// Values that a back end would keep as other ones: the operation is refused in its own transaction.
@Suite struct KeptValueTests {
    private static let model = Result {
        try PackageModel(
            json: """
                {"format": 1, "name": "Amounts", "version": "1.0", "backEnds": [{"name": "enterprise", "kind": "sqlite"}],
                 "objects": [{"name": "Amount", "primaryKey": ["id"], "operations": ["create", "update", "delete"],
                    "attributes": [{"name": "id", "type": "int"}, {"name": "price", "type": "decimal", "precision": 18, "scale": 2, "nullable": true},
                        {"name": "code", "type": "string", "length": 40, "nullable": true}, {"name": "active", "type": "boolean", "nullable": true},
                        {"name": "day", "type": "date", "nullable": true}],
                    "binding": {"backEnd": "enterprise", "table": "amount"}}]}
                """)
    }

    /// A value that SQLite's affinity changes, and one that it keeps.
    struct Changed: Sendable {
        let attribute: String, lost: JSONValue, kept: JSONValue, message: String
    }

    private static let changed = [
        Changed(
            attribute: "price", lost: .number("9999999999999999.99"), kept: .number("9999999999999.99"),
            message: "\"Amount\", \"price\": the back end would keep 1e+16 in place of 9999999999999999.99"),
        Changed(
            attribute: "price", lost: .number("-1234567890123456.78"), kept: .number("-12345678901234.5"),
            message: "\"Amount\", \"price\": the back end would keep -1234567890123456.8 in place of -1234567890123456.78"),
        Changed(
            attribute: "code", lost: "007", kept: "A 007", message: "\"Amount\", \"code\": the back end would keep \"7\" in place of \"007\""),
    ]

    private func device() throws -> TestDevice {
        let tables =
            "CREATE TABLE amount (id INTEGER PRIMARY KEY, price NUMERIC, code INTEGER, active TEXT, day DATE); INSERT INTO amount VALUES (1, 1, 1, 1, NULL)"
        let device = try TestDevice(TestServer(model: Self.model.get(), tables: tables, on: .sqlite))
        try device.synchronize()
        return device
    }

    @Test("a value that its column would change refuses a create and an update, and the message names the attribute", arguments: changed)
    func refused(value: Changed) throws {
        let device = try device()
        func update(_ json: JSONValue) -> OperationFrame {
            device.update("Amount", where: "id", is: 1, set: [value.attribute: json], primaryKey: ["id": 1])
        }
        let results = try device.synchronize([device.create("Amount", ["id": 2, value.attribute: value.lost]), update(value.lost)]).results
        #expect(results.map(\.code) == [412, 412] && results.map(\.message) == [value.message, value.message])
        #expect(try device.server.backEndValue("SELECT count(*) FROM amount") == 1)
        #expect(try device.server.backEndValue("SELECT typeof(price) || typeof(code) FROM amount") == "integerinteger")
        let kept = try device.synchronize([device.create("Amount", ["id": 3, value.attribute: value.kept]), update(value.kept)]).results
        #expect(kept.map(\.outcome) == [.accepted, .accepted])
        #expect(
            device.rows("Amount", by: "id")[3]?[value.attribute] == value.kept && device.rows("Amount", by: "id")[1]?[value.attribute] == value.kept)
        #expect(try device.server.server.administration.quarantine() == [])
    }

    @Test func `another form of the same value is no change`() throws {
        let device = try device()
        let create = device.create("Amount", ["id": 2, "price": .number("12.50"), "code": "7", "active": true, "day": "2024-02-29"])
        #expect(try device.synchronize([create]).results.map(\.outcome) == [.accepted])
        #expect(device.rows("Amount", by: "id")[2]?["price"] == .number("12.5") && device.rows("Amount", by: "id")[2]?["day"] == "2024-02-29")
    }

    @Test(
        "a default that its attribute cannot hold refuses a create that leaves it out",
        arguments: [
            ("code BLOB DEFAULT x'fe'", "code", "1 bytes"), ("day DATE DEFAULT 'someday'", "day", "\"someday\""),
            ("price NUMERIC DEFAULT 1e17", "price", "1e+17"), ("active TEXT DEFAULT 'maybe'", "active", "\"maybe\""),
        ])
    func defaults(column: String, attribute: String, value: String) throws {
        let columns = ["price NUMERIC", "code TEXT", "active TEXT", "day DATE"].map { $0.hasPrefix(attribute + " ") ? column : $0 }
        let tables = "CREATE TABLE amount (id INTEGER PRIMARY KEY, \(columns.joined(separator: ", ")))"
        let device = try TestDevice(TestServer(model: Self.model.get(), tables: tables, on: .sqlite))
        try device.synchronize()
        let results = try device.synchronize([device.create("Amount", ["id": 1])]).results
        #expect(results.map(\.code) == [412])
        let start = "\"Amount\", \"\(attribute)\": the back end would give the new row \(value), and the attribute expects "
        #expect(results.first?.message.hasPrefix(start) == true, "\(results.first?.message ?? "")")
        #expect(try device.server.backEndValue("SELECT count(*) FROM amount") == 0)
    }

    @Test func `of a load that makes other values of its columns, the column's default is not judged`() throws {
        var model = try Self.model.get()
        model.objects[0].binding?.load = "SELECT id, price, code, active, nullif(day, 'someday') AS day FROM amount"
        let tables = "CREATE TABLE amount (id INTEGER PRIMARY KEY, price NUMERIC, code TEXT, active TEXT, day DATE DEFAULT 'someday')"
        let device = try TestDevice(TestServer(model: model, tables: tables, on: .sqlite))
        try device.synchronize()
        #expect(try device.synchronize([device.create("Amount", ["id": 1])]).results.map(\.outcome) == [.accepted])
        #expect(device.rows("Amount", by: "id")[1]?["day"] == .null)
    }

    @Test func `defaults that their attributes can hold are kept`() throws {
        let tables = """
            CREATE TABLE amount (id INTEGER PRIMARY KEY, price NUMERIC DEFAULT 1.5, code TEXT DEFAULT 'new', active TEXT DEFAULT 'yes',
                day DATE DEFAULT CURRENT_DATE)
            """
        let device = try TestDevice(TestServer(model: Self.model.get(), tables: tables, on: .sqlite))
        try device.synchronize()
        #expect(try device.synchronize([device.create("Amount", ["id": 1])]).results.map(\.outcome) == [.accepted])
        let row = device.rows("Amount", by: "id")[1]
        #expect(row?["price"] == .number("1.5") && row?["code"] == "new")
        #expect(row?["active"] == 1)
    }

    @Test(.needsPostgreSQL) func `a default of PostgreSQL that its attribute cannot hold refuses a create`() throws {
        let tables = "CREATE TABLE amount (id integer PRIMARY KEY, price numeric, code text, active boolean, day date DEFAULT 'infinity')"
        let device = try TestDevice(TestServer(model: Self.model.get(), tables: "", postgreSQL: tables, on: .postgreSQL))
        try device.synchronize()
        let results = try device.synchronize([device.create("Amount", ["id": 1])]).results
        #expect(results.map(\.code) == [412])
        #expect(results.first?.message.contains("\"day\": the back end would give the new row \"infinity\"") == true)
    }

    @Test(.needsPostgreSQL) func `a trigger may change a value, but not to one that its attribute cannot hold`() throws {
        let tables = """
            CREATE TABLE amount (id integer PRIMARY KEY, price numeric, code text, active boolean, day date);
            CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                NEW.code = upper(NEW.code);
                IF NEW.code = 'ENDLESS' THEN NEW.day = 'infinity'; END IF;
                RETURN NEW;
            END $$;
            CREATE TRIGGER change BEFORE INSERT OR UPDATE ON amount FOR EACH ROW EXECUTE FUNCTION change();
            """
        let device = try TestDevice(TestServer(model: Self.model.get(), tables: "", postgreSQL: tables, on: .postgreSQL))
        try device.synchronize()
        let creates = ["open", "endless"].enumerated().map { index, code in
            device.create(
                "Amount", ["id": .integer(Int64(index)), "code": .string(code), "day": "2024-02-29", "price": .number("9999999999999999.99")])
        }
        let results = try device.synchronize(creates).results
        #expect(results.map(\.outcome) == [.accepted, .rejected])
        #expect(results.last?.message == "\"Amount\", \"day\": the back end would keep \"infinity\" in place of \"2024-02-29\"")
        #expect(device.rows["Amount"]?.count == 1 && device.rows("Amount", by: "id")[0]?["code"] == "OPEN")
    }

    @Test(.needsPostgreSQL) func `a column of PostgreSQL that would round or cut a value refuses it, and takes those that it keeps`() throws {
        let model = try PackageModel(
            json: """
                {"format": 1, "name": "Narrowing", "version": "1.0", "backEnds": [{"name": "enterprise", "kind": "sqlite"}],
                 "objects": [{"name": "Narrow", "primaryKey": ["id"], "operations": ["create", "update"],
                    "attributes": [{"name": "id", "type": "int"}, {"name": "moment", "type": "dateTime", "nullable": true},
                        {"name": "tens", "type": "int", "nullable": true}, {"name": "single", "type": "double", "nullable": true},
                        {"name": "price", "type": "decimal", "precision": 10, "scale": 2, "nullable": true},
                        {"name": "letter", "type": "string", "nullable": true}],
                    "binding": {"backEnd": "enterprise", "table": "narrow"}}]}
                """)
        // A trigger may change what it likes.
        let tables = """
            CREATE DOMAIN tens AS NUMERIC(3, -1);
            CREATE TABLE narrow (id INT PRIMARY KEY, moment TIMESTAMP(0), tens tens, single REAL, price NUMERIC(10, 1), letter "char");
            INSERT INTO narrow VALUES (1);
            CREATE FUNCTION twice() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN new.tens = new.tens * 2; RETURN new; END $$;
            CREATE TRIGGER twice BEFORE UPDATE ON narrow FOR EACH ROW EXECUTE FUNCTION twice();
            """
        let device = try TestDevice(TestServer(model: model, tables: nil, postgreSQL: tables, on: .postgreSQL))
        try device.synchronize()
        func result(_ attributes: JSONObject) throws -> ReplayResult? {
            try device.synchronize([device.update("Narrow", where: "id", is: 1, set: attributes, primaryKey: ["id": 1])]).results.first
        }
        let lost: [JSONObject] = [
            ["moment": "2024-01-01T10:00:00.600Z"], ["tens": 17], ["single": .number("16777217.0")], ["price": .number("1.25")], ["letter": "abc"],
        ]
        for attributes in lost {
            let found = try #require(try result(attributes))
            #expect(found.code == 412 && found.message.contains("the back end would keep"), "\(attributes): \(found.message)")
        }
        let kept: JSONObject = [
            "moment": "2024-01-01T10:00:00.000Z", "tens": 20, "single": .number("0.5"), "price": .number("1.5"), "letter": "a",
        ]
        #expect(try result(kept)?.code == 200)
        #expect(device.rows("Narrow", by: "id")[1]?["tens"] == 40)
    }
}
