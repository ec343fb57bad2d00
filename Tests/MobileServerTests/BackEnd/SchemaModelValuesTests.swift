import MobileModel
import MobileStore
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import MobileServer

/// Types and rules of attributes by what the rows and the conditions of a database have.
@Suite struct SchemaModelValuesTests {
    /// The model of tables in SQLite.
    private func model(_ tables: String) throws -> SchemaModel {
        let folder = try TemporaryDirectory(), path = folder.file("any.db")
        let database = try Database(ConnectionProfile(path: path, journal: .unchanged))
        try database.write { _ = try $0.execute(tables) }
        try database.close()
        let schema = try SchemaModel(of: path, name: "Field")
        try schema.model.validate()
        return schema
    }

    /// A column of dates or times with the values of other applications, and the type that its attribute needs.
    struct Column: Sendable {
        let type: String, values: [String], attribute: AttributeType
        var reason: String?
    }

    private static let columns = [
        Column(type: "DATE", values: ["'2024-12-31'", "NULL"], attribute: .date),
        Column(type: "DATE", values: ["'31.12.2024'", "'2024-12-31'"], attribute: .string, reason: "there are texts that are not dates"),
        Column(type: "DATE", values: ["'2024/02/18'"], attribute: .string, reason: "there are texts that are not dates"),
        Column(type: "DATE", values: ["'2024-02-30'"], attribute: .string, reason: "there are texts that are not dates"),
        Column(
            type: "DATE", values: ["20240101", "20231231"], attribute: .long,
            reason: "there are numbers that have the digits of dates, and count nothing since 1970"),
        Column(type: "DATE", values: ["20240101", "1700000000"], attribute: .date), Column(type: "DATE", values: ["20241340"], attribute: .date),
        Column(type: "DATETIME", values: ["'2024-01-01 10:00:00'", "'2024-01-01T10:00Z'", "2460263.5", "1700000000123"], attribute: .dateTime),
        Column(type: "DATETIME", values: ["'2024-01-01 10:00:00 UTC'"], attribute: .string, reason: "there are texts that are not times"),
        Column(type: "TIMESTAMP", values: ["1700000000000000"], attribute: .long, reason: "there are numbers that are not times"),
        Column(
            type: "DATETIME", values: ["20240101103000"], attribute: .long,
            reason: "there are numbers that have the digits of times, and count nothing since 1970"),
        Column(type: "TIME", values: ["'9:30 AM'", "'10:00'"], attribute: .string, reason: "there are texts that are not times"),
        Column(type: "TIME", values: ["'10:00'", "'10:00:30'", "36000"], attribute: .time),
    ]

    @Test("a column of dates or times whose rows need another type has it, and a line says so", arguments: columns)
    func times(_ column: Column) throws {
        let rows = column.values.map { "(\($0))" }.joined(separator: ", ")
        let schema = try model("CREATE TABLE t (id INTEGER PRIMARY KEY, d \(column.type)); INSERT INTO t (d) VALUES \(rows)")
        #expect(schema.model.objects.first?.attributes.map(\.type) == [.long, column.attribute])
        #expect(
            schema.remarks
                == (column.reason.map { ["table \"t\", column \"d\" of type \(column.type): \($0); the attribute is a \(column.attribute)"] } ?? []))
    }

    @Test func `keys and references of texts without a declared length have any length`() throws {
        let schema = try model(
            """
            CREATE TABLE page (url TEXT PRIMARY KEY, v TEXT); CREATE TABLE link (id INTEGER PRIMARY KEY, url TEXT REFERENCES page, code VARCHAR(9) UNIQUE);
            INSERT INTO page (url) VALUES ('\(String(repeating: "a", count: 9000))');
            """)
        #expect(schema.model.objects.flatMap(\.attributes).map(\.length) == [nil, nil, 9, nil, nil])
        #expect(schema.model.object(named: "Page")?.attributes.map(\.type) == [.string, .string])
    }

    @Test func `a text that is equal to the name of a column is no column of a condition`() throws {
        let schema = try model(
            """
            CREATE TABLE contact (id INTEGER PRIMARY KEY, kind TEXT CHECK (kind IN ('email', 'phone')), email TEXT CHECK (length(email) > 3), phone TEXT,
                length INTEGER, x INTEGER, note TEXT CHECK (note <> x'00' AND CAST(note AS phone) <> 'x'));
            """)
        let attributes = try #require(schema.model.object(named: "Contact")).attributes
        #expect(attributes.map(\.values.count) == [0, 2, 0, 0, 0, 0, 0] && schema.model.objects.first?.documentation == nil)
        #expect(attributes[2].documentation == "The database checks `length(email) > 3`." && attributes[6].documentation != nil)
    }

    @Test func `a comment ends with its line, also where lines end with a carriage return`() throws {
        let schema = try model(
            "CREATE TABLE t (\r\n id INTEGER PRIMARY KEY, -- the key\r\n a INTEGER CHECK (a > 5),\r\n b TEXT CHECK (b IN ('x')) -- kind\r\n COLLATE NOCASE)"
        )
        let attributes = try #require(schema.model.object(named: "T")).attributes
        #expect(attributes[1].minimum == "6" && attributes[2].values == [], "the collation is no comment")
    }

    @Test func `bounds that are texts are rules of columns that SQLite compares as numbers`() throws {
        let schema = try model(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, untyped CHECK (untyped <= '10'), typed INTEGER CHECK (typed <= '10'), word NUMERIC CHECK (word IN ('1')));
            INSERT INTO t VALUES (1, 3, 3, 1), (2, 100, 3, 1);
            """)
        let attributes = try #require(schema.model.object(named: "T")).attributes
        #expect(attributes.map(\.maximum) == [nil, nil, "10", nil] && attributes.allSatisfy(\.values.isEmpty))
        #expect(attributes[1].documentation == "The database checks `untyped <= '10'`.")
    }

    @Test(.needsPostgreSQL) func `a condition that tables below do not have is documentation only`() throws {
        let database = try PostgreSQLTestDatabase(
            tables: """
                CREATE TABLE city (id int PRIMARY KEY, pop int CHECK (pop > 100) NO INHERIT, area int CHECK (area > 0));
                CREATE TABLE village (PRIMARY KEY (id)) INHERITS (city); INSERT INTO village VALUES (1, 5, 1);
                """)
        let city = try #require(SchemaModel(of: database.address, name: "Field").model.object(named: "City"))
        #expect(city.attributes.map(\.minimum) == [nil, nil, "1"] && city.attributes[1].documentation == "The database checks `(pop > 100)`.")
    }

    @Test(.needsPostgreSQL) func `a domain is the type at its end, with the conditions of all levels`() throws {
        let tables = """
            CREATE DOMAIN positive AS int CHECK (VALUE > 0); CREATE DOMAIN small AS positive CHECK (VALUE < 100);
            CREATE DOMAIN amount AS numeric(8, 2) NOT NULL; CREATE DOMAIN price AS amount; CREATE DOMAIN moment AS timestamptz; CREATE DOMAIN due AS moment;
            CREATE DOMAIN code AS text CHECK (VALUE <> 'VALUE');
            CREATE TABLE t (id int PRIMARY KEY, a positive, "The B" small, c price, d due, e code);
            INSERT INTO t VALUES (1, 2, 3, 4.5, '2024-01-01 10:00Z', 'x');
            """
        let database = try PostgreSQLTestDatabase(tables: tables)
        let schema = try SchemaModel(of: database.address, name: "Field"), t = try #require(schema.model.object(named: "T"))
        try schema.model.validate()
        #expect(t.attributes.map(\.type) == [.int, .int, .int, .decimal, .dateTime, .string])
        #expect(t.attributes.map(\.valueRule) == ["", "at least 1", "1 to 99", "", "", ""])
        #expect(t.attributes[3].scale == 2 && !t.attributes[3].isNullable && t.attributes[4].isNullable)
        #expect(t.attributes[5].documentation == "The database checks `(e <> 'VALUE'::text)`.")
        let device = try TestDevice(TestServer(model: schema.model, postgreSQL: tables, on: .postgreSQL))
        try device.synchronize()
        let row = device.rows("T", by: "id")[.integer(1)]
        #expect(row?["d"] == .string("2024-01-01T10:00:00.000Z"))
    }
}
