import MobileModel
import MobileStore
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import MobileServer

/// Conditions of databases that become rules of devices.
@Suite struct ColumnRuleTests {
    private func rule(_ condition: String, _ attribute: AttributeModel, _ affinity: BackEndTable.Affinity, comparesBytes: Bool = true) -> String? {
        let column = DescribedTable.Column(name: "state", declaredType: "", affinity: affinity, isNullable: true, isGenerated: false)
        var attribute = attribute
        guard ColumnRule(condition, column: "state")?.give(to: &attribute, of: column, comparesBytes: comparesBytes) == true else { return nil }
        return attribute.valueRule
    }

    @Test(
        "lists of texts, as both engines write them",
        arguments: [
            ("state IN ('open', 'it''s')", "one of \"open\", \"it's\""), ("(\"State\" in ('open'))", "one of \"open\""),
            ("state IS NULL OR state IN ('a', 'b', 'a')", "one of \"a\", \"b\""), ("(state IN ('a')) OR (state IS NULL)", "one of \"a\""),
            ("(state = ANY (ARRAY['a'::text, 'b'::text]))", "one of \"a\", \"b\""),
            ("((state)::text = ANY ((ARRAY['a'::character varying, 'b'::character varying])::text[]))", "one of \"a\", \"b\""),
            ("((state IS NULL) OR (state = ANY (ARRAY['a'::text])))", "one of \"a\""),
        ])
    func texts(condition: String, words: String) {
        #expect(rule(condition, AttributeModel(name: "state", type: .string, length: 10), .text) == words)
    }

    @Test(
        "bounds and lists of numbers",
        arguments: [
            ("state >= 0", "at least 0"), ("state > 0", "at least 1"), ("(state > 0.5)", "at least 1"), ("state < 10", "at most 9"),
            ("state BETWEEN 1 AND 5", "1 to 5"), ("state between -5 and -1", "-5 to -1"), ("((state >= 1) AND (state <= 5))", "1 to 5"),
            ("state >= (-3)", "at least -3"), ("(state >= '-3'::integer)", "at least -3"), ("state IN (1, 2, 3)", "one of 1, 2, 3"),
            ("(state = ANY (ARRAY[1, 2]))", "one of 1, 2"), ("[state] > 0 AND `state` < 3", "1 to 2"),
        ])
    func numbers(condition: String, words: String) { #expect(rule(condition, AttributeModel(name: "state", type: .int), .integer) == words) }

    @Test("bounds of decimals and doubles")
    func fractions() {
        let price = AttributeModel(name: "state", type: .decimal, precision: 8, scale: 2), weight = AttributeModel(name: "state", type: .double)
        #expect(rule("state > 0", price, .numeric) == "at least 0.01" && rule("(state > (0)::numeric)", price, .numeric) == "at least 0.01")
        #expect(rule("(state >= 0.005)", price, .numeric) == "at least 0.01" && rule("state < 99.999", price, .numeric) == "at most 99.99")
        #expect(rule("state >= 0.5", weight, .real) == "at least 0.5" && rule("(state <= (2)::double precision)", weight, .real) == "at most 2")
        #expect(rule("state > 0", weight, .real) == nil, "the first double after 0 is no sensible bound")
    }

    @Test(
        "conditions that are not simple, and ones that mean something else, give no rule",
        arguments: [
            "", "state", "(", "state IN", "state IN (", "state IN ()", "state IN ('a', other)", "other IN ('a')", "state IN (SELECT 'a')",
            "state <> 'a'",
            "state = 'a'", "NOT state IN ('a')", "state IN ('a') OR other = 1", "state IN ('a') AND state <> 'b'", "lower(state) IN ('a')",
            "state COLLATE NOCASE IN ('a')", "state IN ('a' COLLATE NOCASE)", "((state)::bpchar = ANY (ARRAY['a'::bpchar]))", "state IN (1, 2)",
            "(state = ANY (ARRAY['a'::citext]))", "state IN (\"a\")", "state IN ('a') state", "state IN ('far longer than ten')",
        ])
    func otherConditions(condition: String) {
        #expect(rule(condition, AttributeModel(name: "state", type: .string, length: 10), .text) == nil)
    }

    @Test func `a rule that the attribute cannot have is left out`() {
        let number = AttributeModel(name: "state", type: .short), text = AttributeModel(name: "state", type: .string)
        #expect(rule("state < 100000", number, .integer) == nil && rule("state > 5 AND state < 6", number, .integer) == nil)
        #expect(rule("state IN ('1')", number, .integer) == nil && rule("state IN ('1')", text, .numeric) == nil)
        #expect(rule("state IN ('a')", text, .text, comparesBytes: false) == nil)
        var other = number
        other.defaultValue = "7"
        #expect(rule("state < 5", other, .integer) == nil && rule("state < 8", other, .integer) == "at most 7")
        (other.defaultValue, other.isGenerated) = (nil, true)
        #expect(rule("state < 5", other, .integer) == nil)
    }

    private func attributes(_ model: PackageModel) throws -> [String: AttributeModel] {
        let ticket = try #require(model.object(named: "Ticket"))
        return Dictionary(uniqueKeysWithValues: ticket.attributes.map { ($0.name, $0) })
    }

    @Test func `a model of SQLite has them, and no sentence about them`() throws {
        let folder = try TemporaryDirectory(), path = folder.file("tickets.db")
        let database = try Database(ConnectionProfile(path: path, journal: .unchanged))
        try database.write {
            _ = try $0.execute(
                """
                CREATE TABLE ticket (id INTEGER PRIMARY KEY CHECK (id > 0), state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'closed')),
                    level INTEGER CONSTRAINT few CHECK (level BETWEEN 1 AND 5), word TEXT CHECK (word <> ''), parent INTEGER REFERENCES ticket CHECK (parent > 0));
                CREATE TABLE other (id INTEGER PRIMARY KEY, state TEXT COLLATE NOCASE CHECK (state IN ('open')));
                """)
        }
        try database.close()
        let model = try SchemaModel(of: path, name: "Tickets").model, found = try attributes(model)
        try model.validate()
        #expect(found["state"]?.values == ["\"open\"", "\"closed\""] && found["state"]?.documentation == nil)
        #expect(found["level"]?.minimum == "1" && found["level"]?.maximum == "5" && found["level"]?.documentation == nil)
        #expect(found["word"]?.documentation == "The database checks `word <> ''`." && found["word"]?.hasValueRule == false)
        #expect(found["id"]?.hasValueRule == false && found["parent"]?.hasValueRule == false)
        #expect(model.object(named: "Other")?.attribute(named: "state")?.hasValueRule == false)
    }

    @Test(.needsPostgreSQL) func `a model of PostgreSQL has them, unless a trigger may change a value first`() throws {
        let tables = """
            CREATE TYPE mood AS ENUM ('ok', 'sad');
            CREATE TABLE ticket (id integer PRIMARY KEY, state varchar(10) DEFAULT 'open' CHECK (state IN ('open', 'closed')), mood mood,
                level smallint CHECK (level BETWEEN 1 AND 5), price numeric(8, 2) CHECK (price > 0), weight double precision CHECK (weight >= 0.5),
                code char(3) CHECK (code IN ('a', 'b')));
            CREATE TABLE other (id integer PRIMARY KEY, state text CHECK (state IN ('OPEN')));
            CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.state = upper(NEW.state); RETURN NEW; END';
            CREATE TRIGGER change BEFORE INSERT ON other FOR EACH ROW EXECUTE FUNCTION change();
            """
        let database = try PostgreSQLTestDatabase(tables: tables)
        let model = try SchemaModel(of: database.address, name: "Tickets").model, found = try attributes(model)
        try model.validate()
        #expect(found["state"]?.values == ["\"open\"", "\"closed\""] && found["mood"]?.values == ["\"ok\"", "\"sad\""])
        #expect(found["level"]?.valueRule == "1 to 5" && found["price"]?.valueRule == "at least 0.01" && found["weight"]?.valueRule == "at least 0.5")
        #expect(found["code"]?.hasValueRule == false && found["code"]?.documentation?.hasPrefix("The database checks") == true)
        #expect(model.object(named: "Other")?.attribute(named: "state")?.hasValueRule == false)
    }
}
