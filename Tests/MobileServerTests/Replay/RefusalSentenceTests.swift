import MobileModel
import MobileProtocol
import MobileStore
import TestSupport
import Testing

@testable import MobileServer

/// The sentences of refusals name what they can, and nothing that is not so.
@Suite struct RefusalSentenceTests {
    /// A model of one object with these attributes besides its key, all of them nullable.
    private func model(_ table: String, _ attributes: [(name: String, type: String)]) throws -> PackageModel {
        let list = attributes.map { #"{"name": "\#($0.name)", "type": "\#($0.type)", "nullable": true}"# }.joined(separator: ", ")
        return try PackageModel(
            json: """
                {"format": 1, "name": "Refusing", "version": "1.0", "backEnds": [{"name": "enterprise", "kind": "sqlite"}],
                 "objects": [{"name": "Thing", "primaryKey": ["id"], "attributes": [{"name": "id", "type": "int"}, \(list)],
                    "operations": ["create", "update", "delete"], "binding": {"backEnd": "enterprise", "table": "\(table)"}}]}
                """)
    }

    /// Returns the sentence about an update of row 1.
    private func sentence(_ server: TestServer, _ attributes: JSONObject, code: Int64 = 412) throws -> String? {
        let device = try TestDevice(server)
        try device.synchronize()
        let update = device.update("Thing", where: "id", is: 1, set: attributes, primaryKey: ["id": 1])
        let result = try #require(try device.synchronize([update]).results.first)
        #expect(result.outcome == .rejected && result.code == code)
        return result.message
    }

    private static let other = "the back end changes another table together with \"Thing\", and a constraint there refused it"

    @Test func `a constraint of a table that a trigger fills is not told as one of the object`() throws {
        let tables = """
            CREATE TABLE log (id INTEGER PRIMARY KEY, w INTEGER UNIQUE, what TEXT NOT NULL CONSTRAINT no_bad CHECK (what <> 'bad'));
            INSERT INTO log VALUES (1, 1, 'x');
            CREATE TABLE thing (id INTEGER PRIMARY KEY, v TEXT, w INTEGER, active INTEGER CHECK (active), mail TEXT);
            CREATE UNIQUE INDEX one_mail ON thing (lower(mail));
            INSERT INTO thing VALUES (1, 'a', 5, 1, 'a'), (2, 'b', 6, 1, 'b');
            CREATE TRIGGER note AFTER UPDATE ON thing BEGIN INSERT INTO log (w, what) VALUES (new.w, new.v); END;
            """
        let server = try TestServer(
            model: model("thing", [("v", "string"), ("w", "int"), ("active", "int"), ("mail", "string")]), tables: tables, on: .sqlite)
        #expect(try sentence(server, ["w": 1]) == Self.other)
        #expect(try sentence(server, ["v": .null]) == Self.other)
        #expect(try sentence(server, ["v": "bad"]) == Self.other + " (constraint \"no_bad\")")
        #expect(try sentence(server, ["active": 0])?.hasPrefix("the back end does not accept this value of \"active\" of \"Thing\"") == true)
        #expect(try sentence(server, ["mail": "B"]) == "there is another row with a value that \"Thing\" must have alone (constraint \"one_mail\")")
    }

    @Test(.needsPostgreSQL) func `a trigger of PostgreSQL is quoted whatever code it raises, and constraints are told where they are`() throws {
        let tables = """
            CREATE TABLE log (w INT UNIQUE); INSERT INTO log VALUES (1);
            CREATE TABLE thing (id INT PRIMARY KEY, amount INT, w INT, span INT4RANGE, CONSTRAINT apart EXCLUDE USING gist (span WITH &&),
                part INT CHECK (part < 10));
            INSERT INTO thing VALUES (1, 5, 5, '[1,5)', 1), (2, 6, 6, '[6,9)', 1);
            CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF new.amount > 100 THEN RAISE insufficient_privilege USING MESSAGE = 'only a manager may do this'; END IF;
                IF new.amount = 50 THEN RAISE undefined_table USING MESSAGE = 'not fifty'; END IF;
                IF new.w = 1 THEN INSERT INTO log VALUES (1); END IF;
                RETURN new; END $$;
            CREATE TRIGGER look BEFORE UPDATE ON thing FOR EACH ROW EXECUTE FUNCTION look();
            """
        let server = try TestServer(
            model: model("thing", [("amount", "int"), ("w", "int"), ("span", "string"), ("part", "int")]), tables: nil, postgreSQL: tables,
            on: .postgreSQL)
        #expect(try sentence(server, ["amount": 200], code: 403) == "only a manager may do this")
        #expect(try sentence(server, ["amount": 50], code: 404) == "not fifty")
        #expect(try sentence(server, ["w": 1])?.hasPrefix(Self.other) == true)
        #expect(try sentence(server, ["span": "[1,7)"])?.contains("of \"span\" of \"Thing\" (constraint \"apart\")") == true)
        #expect(try sentence(server, ["part": 11])?.hasPrefix("the back end does not accept this value of \"part\" of \"Thing\"") == true)
    }
}
