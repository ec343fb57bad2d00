import MobileModel
import MobileStore
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import MobileServer

/// Models that are made from the tables of back ends.
@Suite struct SchemaModelTests {
    private func place(_ kind: BackEndKind, _ folder: TemporaryDirectory) throws -> (place: String, database: PostgreSQLTestDatabase?) {
        if kind == .postgreSQL {
            let database = try PostgreSQLTestDatabase(tables: FieldSales.postgreSQLTables + "CREATE TABLE loose (text text)")
            return (database.address, database)
        }
        let database = try Database(ConnectionProfile(path: folder.file("field.db"), journal: .unchanged))
        try database.write { _ = try $0.execute(FieldSales.tables + "CREATE TABLE loose (text TEXT)") }
        try database.close()
        return (folder.file("field.db"), nil)
    }

    private func check(_ kind: BackEndKind) throws {
        let folder = try TemporaryDirectory()
        let (place, database) = try place(kind, folder)
        let schema = try SchemaModel(of: place, name: "Field")
        try schema.model.validate()
        #expect(schema.omissions == ["table \"loose\": it has no primary key"])
        #expect(try PackageModel(json: schema.model.json) == schema.model)
        #expect(schema.model.objects.map(\.name).sorted() == ["Order", "OrderLine", "TheCustomer"])
        let customers = try #require(schema.model.object(named: "TheCustomer")), lines = try #require(schema.model.object(named: "OrderLine"))
        #expect(customers.primaryKey == ["customerNo"] && customers.binding?.column(of: "customerNo") == "customer no")
        let types = Dictionary(uniqueKeysWithValues: customers.attributes.map { ($0.name, $0.type) })
        #expect(types["customerNo"] == .long && types["credit"] == .decimal && types["since"] == .dateTime && types["rate"] == .double)
        #expect(types["photo"] == .bigBinary && types["notes"] == .string)
        #expect(customers.attribute(named: "customerNo")?.isGenerated == true && customers.attribute(named: "name")?.isNullable == false)
        #expect(lines.primaryKey == ["order", "line"] && lines.relationships.map(\.target) == ["Order"])
        let order = try #require(schema.model.object(named: "Order"))
        #expect(lines.relationships.map(\.name) == ["orderObject"], "the attribute has the name of the object")
        #expect(order.relationships.map(\.name) == ["theCustomer", "orderLines"] && customers.relationships.map(\.name) == ["orders"])
        #expect(order.relationships.map(\.inverse) == ["orders", "orderObject"])
        #expect(lines.relationships.first?.mapping == [.init(source: "order", target: "id")])
        // A server serves it as it is.
        try PackageDeployment(schema.model, backEnds: ["enterprise": place]).verify()
        _ = database
    }

    @Test func `an SQLite file gives a model that fits it`() throws { try check(.sqlite) }

    @Test(.needsPostgreSQL) func `a PostgreSQL database gives a model that fits it`() throws { try check(.postgreSQL) }

    /// The model of tables in SQLite.
    private func model(_ tables: String) throws -> SchemaModel {
        let folder = try TemporaryDirectory(), path = folder.file("any.db")
        let database = try Database(ConnectionProfile(path: path, journal: .unchanged))
        try database.write { _ = try $0.execute(tables) }
        try database.close()
        let schema = try SchemaModel(of: path, name: "Field")
        try schema.model.validate()
        try PackageDeployment(schema.model, backEnds: ["enterprise": path]).verify()
        return schema
    }

    @Test func `a text without a length is a string, and large where a row has a long one`() throws {
        let schema = try model(
            """
            CREATE TABLE page (address TEXT PRIMARY KEY, title TEXT, short VARCHAR(20), body TEXT);
            INSERT INTO page VALUES ('\(String(repeating: "a", count: 300))', 'ü', 'x', '\(String(repeating: "ü", count: 8192))'), ('b', '', '', '');
            """)
        let page = try #require(schema.model.object(named: "Page"))
        #expect(page.attributes.map(\.type) == [.string, .string, .string, .bigString])
        #expect(page.attributes.map(\.length) == [nil, nil, 20, nil], "a key has any length")
    }

    @Test func `a column of numbers that has texts is one of strings`() throws {
        let schema = try model(
            "CREATE TABLE axis (code INTEGER_OR_TEXT PRIMARY KEY, n INTEGER, r REAL); INSERT INTO axis VALUES (1, 1, 'x'), ('A', 2, 1.5);")
        let axis = try #require(schema.model.object(named: "Axis"))
        #expect(axis.attributes.map(\.type) == [.string, .long, .string])
    }

    @Test func `a table with rows that have no key is left out, with what leads to it`() throws {
        let schema = try model(
            """
            CREATE TABLE a (x TEXT, y INTEGER, PRIMARY KEY (x, y)); CREATE TABLE b (id INTEGER PRIMARY KEY, x TEXT, y INTEGER, FOREIGN KEY (x, y) REFERENCES a);
            INSERT INTO a VALUES ('x', 1), (NULL, 1), (NULL, 1);
            """)
        #expect(
            schema.omissions == [
                "table \"a\": there are rows without a value in the primary key",
                "table \"b\": the reference by x, y leads to \"a\", which the model does not have",
            ])
        #expect(schema.model.objects.map(\.name) == ["B"] && schema.model.objects.first?.relationships.isEmpty == true)
    }

    @Test func `both ends of a reference have one type, also over several references`() throws {
        let schema = try model(
            """
            CREATE TABLE a (code ANY_TYPE_INT PRIMARY KEY); CREATE TABLE b (code INTEGER PRIMARY KEY REFERENCES a);
            CREATE TABLE c (id INTEGER PRIMARY KEY, b INTEGER REFERENCES b, price NUMERIC(8, 2));
            INSERT INTO a VALUES (1), ('x');
            """)
        func type(_ object: String, _ attribute: String) throws -> AttributeType? {
            try #require(schema.model.object(named: object)).attribute(named: attribute)?.type
        }
        #expect(try type("A", "code") == .string && type("B", "code") == .string && type("C", "b") == .string && type("C", "price") == .decimal)
        #expect(schema.model.object(named: "C")?.attribute(named: "b")?.length == nil)
    }

    @Test func `references have names by their columns, at both ends, when several lead to one table and to their own`() throws {
        let schema = try model(
            """
            CREATE TABLE addresses (id INTEGER PRIMARY KEY, city TEXT);
            CREATE TABLE employees (employee_id INTEGER PRIMARY KEY, reports_to INTEGER REFERENCES employees, homeAddressID INTEGER REFERENCES addresses);
            CREATE TABLE unit_of_measure (auth TEXT, code INTEGER, PRIMARY KEY (auth, code));
            CREATE TABLE Invoices (id INTEGER PRIMARY KEY, billing INTEGER REFERENCES addresses, shipping INTEGER REFERENCES addresses (id),
                uom_auth TEXT, uom_code INTEGER, FOREIGN KEY (uom_auth, uom_code) REFERENCES unit_of_measure (auth, code));
            CREATE TABLE invoice_categories (invoice_id INTEGER REFERENCES Invoices, category TEXT, PRIMARY KEY (invoice_id, category));
            CREATE TABLE status (code TEXT PRIMARY KEY, city TEXT UNIQUE);
            CREATE TABLE visits (id INTEGER PRIMARY KEY, city TEXT REFERENCES status (city));
            """)
        let model = schema.model
        func names(_ object: String) throws -> [String] { try #require(model.object(named: object)).relationships.map(\.name).sorted() }
        #expect(model.objects.map(\.name) == ["Invoice", "Address", "Employee", "InvoiceCategory", "Status", "UnitOfMeasure", "Visit"])
        #expect(try names("Invoice") == ["billingAddress", "invoiceCategories", "shippingAddress", "uom"])
        #expect(try names("Address") == ["employees", "invoicesByBillingAddress", "invoicesByShippingAddress"])
        #expect(try names("Employee") == ["employees", "homeAddress", "reportsToEmployee"])
        #expect(try names("InvoiceCategory") == ["invoice"] && names("UnitOfMeasure") == ["invoices"] && names("Visit") == [])
        #expect(schema.omissions == ["table \"visits\": the reference by city leads to other columns than the primary key"])
    }

    @Test func `types that SQLite takes for numbers are strings and bytes, as their names say`() throws {
        let schema = try model(
            """
            CREATE TABLE doc (id INTEGER PRIMARY KEY, body JSON, key UUID, address INET, kind ENUM(5), phone PHONE, score SCORE, picture VARBINARY(10), n NUMBER);
            CREATE TABLE loose (id INTEGER PRIMARY KEY, x ANY) STRICT;
            INSERT INTO doc (id, body, score) VALUES (1, '{"a":1}', 1.5); INSERT INTO loose VALUES (1, 42), (2, 'any');
            """)
        let doc = try #require(schema.model.object(named: "Doc")), loose = try #require(schema.model.object(named: "Loose"))
        #expect(doc.attributes.map(\.type) == [.long, .string, .string, .string, .string, .string, .decimal, .bigBinary, .decimal])
        #expect(doc.attributes.compactMap(\.length) == [] && loose.attributes.map(\.type) == [.long, .string] && schema.remarks == [])
    }

    @Test func `columns whose rows need another type than the declared one have it, and a line says so`() throws {
        let schema = try model(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, i INTEGER, price DECIMAL(5,2), third DECIMAL(5,2), b BOOLEAN, word NUMERIC, huge NUMERIC(38,2));
            INSERT INTO t VALUES (1, 1.5, 1234567.875, 0.333333333333333, 'perhaps', 'n/a', '1234567890123456789012345678901234567890'), (2, 1, 0.5, 1, 'yes', 1, 1);
            """)
        let t = try #require(schema.model.object(named: "T"))
        #expect(t.attributes.map(\.type) == [.long, .double, .decimal, .decimal, .string, .string, .string])
        #expect(t.attributes[2].precision == 10 && t.attributes[2].scale == 3 && t.attributes[3].precision == 18 && t.attributes[3].scale == 15)
        #expect(
            schema.remarks.sorted() == [
                "table \"t\", column \"b\" of type BOOLEAN: there are texts that are neither true nor false; the attribute is a string",
                "table \"t\", column \"huge\" of type NUMERIC(38,2): there are numbers of 40 digits before the point; the attribute is a string",
                "table \"t\", column \"i\" of type INTEGER: there are numbers with a fraction, or beyond 64 bits; the attribute is a double",
                "table \"t\", column \"price\" of type DECIMAL(5,2): there are numbers of 7 digits before the point and 3 after it; the attribute is a decimal of 10 digits, 3 of them after the point",
                "table \"t\", column \"third\" of type DECIMAL(5,2): there are numbers of 1 digits before the point and 15 after it; the attribute is a decimal of 18 digits, 15 of them after the point",
                "table \"t\", column \"word\" of type NUMERIC: there are texts that are not numbers; the attribute is a string",
            ])
    }

    @Test func `views, virtual tables with those of their content, and references that no model can have are left out, each with a line`() throws {
        let schema = try model(
            """
            CREATE TABLE a (id BLOB PRIMARY KEY); CREATE TABLE b (id INTEGER PRIMARY KEY, a TEXT REFERENCES a, ghost INTEGER REFERENCES missing (id));
            CREATE VIEW v AS SELECT id FROM b; CREATE VIRTUAL TABLE search USING fts5(title); CREATE VIRTUAL TABLE places USING rtree(id, x1, x2);
            """)
        #expect(
            schema.omissions.sorted() == [
                "table \"b\": the reference by a compares string with binary in \"a\"",
                "table \"b\": the reference by ghost leads to \"missing\", which the model does not have", "view \"v\": it has no primary key",
                "virtual tables \"places\", \"search\" with 8 tables of their content: objects need ordinary tables",
            ])
        #expect(schema.model.objects.map(\.name) == ["A", "B"] && schema.model.objects.allSatisfy(\.relationships.isEmpty))
    }

    @Test func `ends of a reference by decimals have the digits of both`() throws {
        let schema = try model("CREATE TABLE a (id DECIMAL(4,0) PRIMARY KEY); CREATE TABLE b (id INTEGER PRIMARY KEY, a DECIMAL(5,2) REFERENCES a);")
        let ends = try [#require(schema.model.object(named: "A")?.attributes[0]), #require(schema.model.object(named: "B")?.attributes[1])]
        #expect(ends.map(\.precision) == [6, 6] && ends.map(\.scale) == [2, 2])
    }

    @Test(.needsPostgreSQL) func `the schemas of the search path are read, or those that are named, and a line says what is left out`() throws {
        let database = try PostgreSQLTestDatabase(
            tables: """
                CREATE SCHEMA sales; CREATE TABLE customer (id int PRIMARY KEY, rest numeric); CREATE VIEW v AS SELECT 1 AS one;
                CREATE TABLE sales.purchase (id int PRIMARY KEY, customer int REFERENCES customer); INSERT INTO customer VALUES (1, 123456.123456), (2, 'NaN');
                """)
        let path = try SchemaModel(of: database.address, name: "Field")
        #expect(path.model.objects.map(\.name) == ["Customer"])
        #expect(
            path.omissions == [
                "view \"v\": it has no primary key", "schema \"sales\" with 1 table: it is not on the search path; name it with --schema",
            ])
        #expect(path.model.objects[0].attributes[1].scale == 6 && path.remarks.count == 1)
        let both = try SchemaModel(of: database.address, name: "Field", schemas: ["public", "sales", "nowhere"])
        #expect(both.omissions == ["schema \"nowhere\": there is none of this name", "view \"v\": it has no primary key"])
        #expect(both.model.objects.map { $0.binding?.table } == ["customer", "sales.purchase"])
        #expect(both.model.objects[1].relationships.map(\.name) == ["customerObject"])
        try both.model.validate()
        try PackageDeployment(both.model, backEnds: ["enterprise": database.address]).verify()
    }

    @Test func `letters of other languages are written with those that names have`() throws {
        let schema = try model(
            """
            CREATE TABLE "Straße" (id INTEGER PRIMARY KEY, "Größe (cm)" REAL, "Łódź" TEXT, "Ærø" TEXT, "let" TEXT, "var" TEXT);
            CREATE TABLE "日本" ("番号" INTEGER PRIMARY KEY);
            """)
        #expect(schema.model.objects.map(\.name) == ["Strasse", "RiBen"])
        #expect(schema.model.objects.map { $0.attributes.map(\.name) } == [["id", "grosseCm", "lodz", "aEro", "letValue", "varValue"], ["fanHao"]])
    }

    @Test("GEN-14: references whose columns are words of the language are named after the object")
    func referencesWithWordsOfTheLanguage() throws {
        let schema = try model(
            """
            CREATE TABLE operators (id INTEGER PRIMARY KEY);
            CREATE TABLE calls (id INTEGER PRIMARY KEY, operator_id INTEGER REFERENCES operators, "case" INTEGER REFERENCES "case");
            CREATE TABLE "case" (id INTEGER PRIMARY KEY);
            """)
        try schema.model.validate()
        let calls = try #require(schema.model.object(named: "Call"))
        #expect(calls.attributes.map(\.name) == ["id", "operatorId", "caseValue"])
        #expect(calls.relationships.map(\.name).sorted() == ["caseObject", "operatorObject"])
    }

    @Test func `names that generated code has for itself are completed`() throws {
        let schema = try model(
            """
            CREATE TABLE errors (id INTEGER PRIMARY KEY, pending BOOLEAN, class TEXT, description TEXT, "date of birth" DATE, "2nd" TEXT, "IN" TEXT);
            CREATE TABLE field (id INTEGER PRIMARY KEY, "a b" TEXT, a_b TEXT);
            CREATE TABLE "values" (id INTEGER PRIMARY KEY, "is_new" INTEGER);
            """)
        #expect(schema.model.objects.map(\.name) == ["ErrorObject", "Field2", "ValueObject"])
        #expect(
            schema.model.objects.map { $0.attributes.map(\.name) } == [
                ["id", "pendingValue", "classValue", "description", "dateOfBirth", "n2nd", "inValue"], ["id", "aB", "aB2"], ["id", "isNewValue"],
            ])
    }

    @Test(
        "names of tables lose their plural, and get it back",
        arguments: [
            ("Categories", "Category"), ("OrderDetails", "OrderDetail"), ("Boxes", "Box"), ("Addresses", "Address"), ("Branches", "Branch"),
            ("Movies", "Movie"), ("People", "Person"), ("Houses", "House"), ("Statuses", "Status"), ("Days", "Day"), ("UserIndices", "UserIndex"),
            ("Axes", "Axis"),
        ])
    func number(plural: String, singular: String) {
        #expect(English.singular(plural) == singular)
        #expect(English.plural(singular) == plural)
    }

    @Test("names that are no plural stay", arguments: ["Status", "Axis", "Address", "Series", "News", "Metadata", "Bus", "OrderLine", "GPS"])
    func singular(name: String) { #expect(English.singular(name) == name) }
}
