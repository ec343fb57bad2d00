import Foundation
import MobileStore
import TestSupport
import Testing

@testable import mobile

/// `mobile model` and `mobile demo` on foreign databases.
@Suite struct ModelCommandTests {
    private func database(_ sql: String) throws -> (path: String, folder: TemporaryDirectory) {
        let folder = try TemporaryDirectory(), path = folder.file("any.db")
        let database = try Database(ConnectionProfile(path: path, journal: .unchanged))
        try database.write { _ = try $0.execute(sql) }
        try database.close()
        return (path, folder)
    }

    @Test func `a model that was edited is not overwritten unless told so`() throws {
        let (path, folder) = try database("CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT)"), model = folder.file("any.mbo.json")
        try "edited".write(toFile: model, atomically: true, encoding: .utf8)
        let (status, output) = try Tool.run(["model", "--from", path, "--output", model])
        #expect(status == 1)
        #expect(
            output
                == "mobile model: \(model): there is a file of this name, which may have been edited; name another one, or overwrite it with --force\n"
        )
        #expect(try String(contentsOfFile: model, encoding: .utf8) == "edited")
        let forced = try Tool.run(["model", "--from", path, "--output", model, "--force"])
        #expect(
            forced.status == 0
                && forced.output
                    == "\(model): 1 objects, 0 relationships. Next: put it into a target with MobileGenPlugin, or run mobile generate \(model)\n"
        )
    }

    @Test func `a file without tables is a failure without a next step, and writes nothing`() throws {
        let (path, folder) = try database("CREATE VIEW v AS SELECT 1 AS one"), model = folder.file("any.mbo.json")
        let (status, output) = try Tool.run(["model", "--from", path, "--output", model])
        #expect(status == 1 && !FileManager.default.fileExists(atPath: model))
        #expect(
            output
                == "left out: view \"v\": it has no primary key\nmobile model: \(path): there is no table with a primary key, so there is nothing for a model\n"
        )
    }

    @Test func `a schema is an option of PostgreSQL alone`() throws {
        let (status, output) = try Tool.run(["model", "--from", "any.db", "--schema", "sales"])
        #expect(status == 64 && output.hasPrefix("model: only a PostgreSQL database has schemas; omit --schema\n"))
    }

    @Test func `the demonstration refuses the address of a PostgreSQL database by name`() throws {
        let (status, output) = try Tool.run(["demo", "--backend", "postgresql://db/shop", "--model", "shop.mbo.json"])
        #expect(status == 64)
        #expect(
            output.hasPrefix(
                "--backend postgresql://db/shop: the demonstration works on a copy of an SQLite file; use mobile serve with a PostgreSQL database\n"))
    }

    @Test func `the demonstration goes through tables with a key alone and with a reference to a table that is missing`() throws {
        let (path, folder) = try database(
            """
            CREATE TABLE only_id (id INTEGER PRIMARY KEY); CREATE TABLE orphan (id INTEGER PRIMARY KEY, name TEXT, ghost INTEGER REFERENCES missing (id));
            INSERT INTO only_id VALUES (1), (2); INSERT INTO orphan (id, name) VALUES (1, 'a'), (2, 'b');
            """)
        let model = folder.file("any.mbo.json")
        #expect(try Tool.run(["model", "--from", path, "--output", model]).status == 0)
        let (status, output) = try Tool.run(["demo", "--backend", path, "--model", model])
        #expect(status == 0 && output.contains("checked: both devices have the same"), "\(output)")
    }

    @Test(
        "the demonstration goes through databases that do something else than its statements say",
        arguments: [
            "CREATE TABLE t (id BIGINT PRIMARY KEY, v TEXT); INSERT INTO t VALUES (9223372036854775807, 'a'), (2, 'b');",
            "CREATE TABLE t (k DATETIME PRIMARY KEY, v TEXT); INSERT INTO t VALUES ('2024-01-01 10:00:00', 'a'), ('2024-01-02 10:00:00', 'b');",
            "CREATE TABLE t (k BOOLEAN PRIMARY KEY, v TEXT); INSERT INTO t VALUES ('t', 'a'), ('f', 'b');",
            "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); CREATE TRIGGER g BEFORE UPDATE ON t BEGIN SELECT RAISE(IGNORE); END;",
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT);
            CREATE TRIGGER g BEFORE DELETE ON t BEGIN UPDATE t SET v = 'deleted' WHERE id = OLD.id; SELECT RAISE(IGNORE); END;
            """,
            "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT UNIQUE ON CONFLICT IGNORE);",
            "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT UNIQUE ON CONFLICT REPLACE);",
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT);
            CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO t (v) SELECT 'twin' WHERE NEW.v <> 'twin'; END;
            """,
            "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); CREATE TABLE other (id INTEGER PRIMARY KEY, v TEXT REFERENCES t (v));",
            "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); CREATE TABLE \"sqlite\" (id INTEGER PRIMARY KEY, v TEXT);",
        ])
    func strangeDatabases(sql: String) throws {
        let rows = sql.contains("INSERT INTO t VALUES") ? "" : "INSERT INTO t VALUES (1, 'a'), (2, 'b');"
        let (path, folder) = try database(
            sql.contains("TRIGGER g AFTER INSERT") ? sql.replacing("CREATE TRIGGER", with: rows + "CREATE TRIGGER") : sql + rows)
        let model = folder.file("any.mbo.json")
        #expect(try Tool.run(["model", "--from", path, "--output", model]).status == 0)
        let (status, output) = try Tool.run(["demo", "--backend", path, "--model", model])
        #expect(status == 0 && output.contains("checked: both devices have the same"), "\(output)")
    }

    @Test func `one column that no model can have does not end the command`() throws {
        let (path, folder) = try database(
            "CREATE TABLE a (id INTEGER PRIMARY KEY, \"\" TEXT, v VARCHAR(9223372036854775807)); CREATE TABLE fine (id INTEGER PRIMARY KEY)")
        let model = folder.file("any.mbo.json")
        let (status, output) = try Tool.run(["model", "--from", path, "--output", model])
        #expect(status == 0 && output.hasPrefix("left out: table \"a\", column \"\": it has an empty name\n\(model): 2 objects"), "\(output)")
    }
}
