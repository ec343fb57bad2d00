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
        #expect(page.attributes.map(\.length) == [600, nil, 20, nil], "a key needs a length")
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
        #expect(schema.omissions == ["table \"a\": there are rows without a value in the primary key"])
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
        #expect(schema.model.object(named: "C")?.attribute(named: "b")?.length == 100)
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

    @Test func `names that generated code has for itself are completed`() throws {
        let schema = try model(
            """
            CREATE TABLE errors (id INTEGER PRIMARY KEY, pending BOOLEAN, class TEXT, description TEXT, "date of birth" DATE, "2nd" TEXT);
            CREATE TABLE field (id INTEGER PRIMARY KEY, "a b" TEXT, a_b TEXT);
            CREATE TABLE "values" (id INTEGER PRIMARY KEY, "is_new" INTEGER);
            """)
        #expect(schema.model.objects.map(\.name) == ["ErrorObject", "Field2", "ValueObject"])
        #expect(
            schema.model.objects.map { $0.attributes.map(\.name) } == [
                ["id", "pendingValue", "class", "description", "dateOfBirth", "n2nd"], ["id", "aB", "aB2"], ["id", "isNewValue"],
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
