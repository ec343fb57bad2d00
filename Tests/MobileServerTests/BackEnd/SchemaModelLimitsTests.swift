import MobileModel
import MobileStore
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import MobileServer

/// Tables and columns that a model cannot have as they are: they are left out, each with its reason, and the others are in the model.
@Suite struct SchemaModelLimitsTests {
    /// The model of tables in SQLite, which a server takes.
    private func model(_ tables: String) throws -> SchemaModel {
        let folder = try TemporaryDirectory(), path = folder.file("any.db")
        let database = try Database(ConnectionProfile(path: path, journal: .unchanged))
        try database.write { _ = try $0.execute(tables) }
        try database.close()
        let schema = try SchemaModel(of: path, name: "Field")
        #expect(try PackageModel(json: schema.model.json) == schema.model)
        try PackageDeployment(schema.model, backEnds: ["enterprise": path]).verify()
        return schema
    }

    @Test func `a computed column of bytes is in the row, and one of large values is left out`() throws {
        let schema = try model(
            """
            CREATE TABLE doc (id INTEGER PRIMARY KEY, body TEXT, twice TEXT AS (body || body), hash BLOB AS (CAST(substr(body, 1, 9) AS BLOB)),
                copy BLOB AS (CAST(body AS BLOB)), size AS (length(body)));
            CREATE TABLE fine (id INTEGER PRIMARY KEY); INSERT INTO doc (body) VALUES ('\(String(repeating: "a", count: 40_000))');
            """)
        #expect(schema.model.objects.map(\.name) == ["Doc", "Fine"])
        #expect(schema.model.objects[0].attributes.map(\.name) == ["id", "body", "hash", "size"])
        #expect(schema.model.objects[0].attributes.map(\.type) == [.long, .bigString, .binary, .long])
        #expect(
            schema.omissions == [
                "table \"doc\", column \"twice\": the database computes values that are too large for the rows of a device",
                "table \"doc\", column \"copy\": the database computes values that are too large for the rows of a device",
            ])
    }

    @Test(.needsPostgreSQL) func `computed columns of PostgreSQL do not end the command`() throws {
        let database = try PostgreSQLTestDatabase(
            tables: """
                CREATE TABLE article (id int PRIMARY KEY, body text, words tsvector GENERATED ALWAYS AS (to_tsvector('english', body)) STORED,
                    hash bytea GENERATED ALWAYS AS (sha256(body::bytea)) STORED);
                INSERT INTO article (id, body) SELECT 1, string_agg('word' || g, ' ') FROM generate_series(1, 1200) AS g;
                """)
        let schema = try SchemaModel(of: database.address, name: "Field")
        try schema.model.validate()
        #expect(schema.model.objects.first?.attributes.map(\.name) == ["id", "body", "hash"])
        #expect(schema.omissions.map { $0.contains("\"words\"") } == [true])
    }

    @Test func `numbers of a declaration that say nothing do not count`() throws {
        let schema = try model(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, a VARCHAR(0), b NVARCHAR(-1), c VARCHAR(9223372036854775807), d VARCHAR(99999999999999999999),
                e VARCHAR(4611686018427387904), f DECIMAL(0), g DECIMAL(-3, 2), h DECIMAL(9223372036854775807, -5), i VARCHAR(20));
            """)
        let t = try #require(schema.model.object(named: "T"))
        #expect(t.attributes.map(\.length) == [nil, nil, nil, nil, nil, nil, nil, nil, nil, 20])
        #expect(t.attributes.compactMap(\.precision) == [18, 18, 38] && t.attributes.compactMap(\.scale) == [4, 4, 0])
    }

    @Test(.needsPostgreSQL) func `digits before the point that are zeros count as digits`() throws {
        let database = try PostgreSQLTestDatabase(tables: "CREATE TABLE t (id int PRIMARY KEY, a numeric(5, -2), b numeric(3, 5))")
        let t = try #require(SchemaModel(of: database.address, name: "Field").model.objects.first)
        #expect(t.attributes.compactMap(\.precision) == [7, 5] && t.attributes.compactMap(\.scale) == [0, 5])
    }

    @Test func `empty names, and a column twice in a foreign key, are left out`() throws {
        let schema = try model(
            """
            CREATE TABLE "" (id INTEGER PRIMARY KEY); CREATE TABLE a (id INTEGER PRIMARY KEY, "" TEXT); CREATE TABLE b ("" INTEGER PRIMARY KEY);
            CREATE TABLE p (x INT, y INT, PRIMARY KEY (x, y)); CREATE TABLE c (id INTEGER PRIMARY KEY, x INT, FOREIGN KEY (x, x) REFERENCES p (x, y));
            """)
        #expect(schema.model.objects.map(\.name) == ["A", "C", "P"])
        #expect(schema.model.objects.map(\.attributes.count) == [1, 2, 2] && schema.model.objects.allSatisfy(\.relationships.isEmpty))
        #expect(
            schema.omissions.sorted() == [
                "table \"\": a table has an empty name", "table \"a\", column \"\": it has an empty name",
                "table \"b\", column \"\": it has an empty name",
                "table \"b\": a column of its primary key is left out", "table \"c\": the reference by x, x names a column twice",
            ])
    }

    @Test func `defaults and rules are those of the type that a reference gives to both ends`() throws {
        let schema = try model(
            """
            CREATE TABLE p (k INT PRIMARY KEY DEFAULT 5 CHECK (k > 2)); CREATE TABLE q (k TEXT PRIMARY KEY);
            CREATE TABLE c (id INTEGER PRIMARY KEY, p TEXT DEFAULT 'x' REFERENCES p, q INTEGER DEFAULT 0 REFERENCES q, r REAL CHECK (r >= 5 AND r <= 1));
            """)
        let c = try #require(schema.model.object(named: "C")), p = try #require(schema.model.object(named: "P"))
        #expect(c.attributes.map(\.type) == [.long, .string, .string, .double] && c.attributes.map(\.defaultValue) == [nil, "\"x\"", "\"0\"", nil])
        #expect(p.attributes[0].type == .string && !p.attributes[0].hasValueRule && p.attributes[0].documentation != nil)
        #expect(c.attributes[3].documentation == "The database checks `r >= 5 AND r <= 1`.")
    }

    @Test func `what the reader of a model refuses is left out with its words`() throws {
        var tables = DescribedTables(
            tables: ["a", "b"].map { name in
                let columns = ["id", "x"].map { column in
                    DescribedTable.Column(name: column, declaredType: "INTEGER", affinity: .integer, isNullable: column == "x", isGenerated: false)
                }
                return DescribedTable(
                    name: name, sql: name, columns: columns, primaryKey: ["id"],
                    references: name == "b" ? [DescribedTable.Reference(columns: ["x"], table: "a", targets: ["id"])] : [])
            })
        var writer = SchemaModelWriter(tables, package: "Field", hasTimes: false)
        var model = PackageModel(name: "Field", backEnds: [BackEndModel(name: "enterprise")], objects: writer.objects())
        model.objects[0].attributes[1].scale = 5
        model.objects[1].relationships[0].name = ""
        var isLeftOut = tables.leaveOut(Self.problems(of: model), of: model)
        #expect(isLeftOut)
        #expect(tables.omissions.map { $0.prefix(31) } == ["table \"a\", column \"x\": a long h", "table \"b\": the reference by x: "])
        writer = SchemaModelWriter(tables, package: "Field", hasTimes: false)
        model = PackageModel(name: "Field", backEnds: [BackEndModel(name: "enterprise")], objects: writer.objects())
        #expect(model.objects.map(\.attributes.count) == [1, 2] && model.objects.allSatisfy(\.relationships.isEmpty))
        model.objects[1].name = ""
        isLeftOut = tables.leaveOut(Self.problems(of: model), of: model)
        #expect(isLeftOut)
        #expect(tables.tables.map(\.name) == ["a"] && tables.omissions.last == "table \"b\": an object has an empty name")
        (model.objects, model.name) = ([], "")
        isLeftOut = tables.leaveOut(Self.problems(of: model), of: model)
        #expect(!isLeftOut, "the name of the package is nobody else's")
    }

    private static func problems(of model: PackageModel) -> [ModelProblem] {
        do { try model.validate() } catch { return error.problems }
        return []
    }

    @Test func `a table with more columns than a device has room for is left out`() throws {
        func table(_ name: String, _ count: Int) -> String {
            "CREATE TABLE \(name) (id INTEGER PRIMARY KEY, \((1..<count).map { "c\($0) INT" }.joined(separator: ", ")));"
        }
        let schema = try model(table("widest", 1987) + table("wider", 1988))
        #expect(schema.model.objects.map(\.name) == ["Widest"])
        #expect(schema.omissions == ["table \"wider\": a device has room for 1987 columns and references, the table has 1988"])
    }

    @Test func `a server serves a table of many large values`() throws {
        let schema = try model("CREATE TABLE wide (id INTEGER PRIMARY KEY, \((1..<1987).map { "c\($0) BLOB" }.joined(separator: ", ")));")
        #expect(schema.model.objects.first?.attributes.filter(\.isLarge).count == 1986)
    }

    @Test func `names that a device or generated code has for itself are completed, also with a number`() throws {
        let schema = try model(
            """
            CREATE TABLE "sqlite" (id INTEGER PRIMARY KEY); CREATE TABLE "Int3" (id INTEGER PRIMARY KEY); CREATE TABLE int_3 (id INTEGER PRIMARY KEY);
            CREATE TABLE a (id INTEGER PRIMARY KEY, b INTEGER REFERENCES b); CREATE TABLE b (id INTEGER PRIMARY KEY);
            """)
        #expect(Set(schema.model.objects.map(\.name)) == ["SqliteObject", "Int3", "Int33", "A", "B"])
        #expect(schema.model.object(named: "B")?.relationships.map(\.name) == ["asObjects"])
    }

    @Test func `SQLite compares names of tables and columns in any letters of case`() throws {
        let schema = try model(
            """
            CREATE TABLE Artist (ArtistId INTEGER PRIMARY KEY, Name TEXT); CREATE TABLE Album (AlbumId INTEGER PRIMARY KEY, ArtistId INT REFERENCES artist(ARTISTID));
            """)
        #expect(schema.omissions == [] && schema.model.object(named: "Album")?.relationships.map(\.target) == ["Artist"])
    }

    @Test(.needsPostgreSQL) func `a reference of PostgreSQL leads to the table of exactly its name`() throws {
        let database = try PostgreSQLTestDatabase(
            tables: """
                CREATE TABLE "Artist" (id int PRIMARY KEY); CREATE TABLE artist (id int PRIMARY KEY);
                CREATE TABLE album (id int PRIMARY KEY, artist int REFERENCES artist);
                """)
        let schema = try SchemaModel(of: database.address, name: "Field"), album = try #require(schema.model.object(named: "Album"))
        #expect(album.relationships.compactMap { schema.model.object(named: $0.target)?.binding?.table } == ["artist"])
    }
}
