/// The deployed package: attributes of every type, keys of several parts, parents, large values, statements of the model, and tables with
/// few constraints.
enum FuzzSample {
    static let tables = """
        CREATE TABLE thing (
            id INTEGER PRIMARY KEY AUTOINCREMENT, region TEXT, tiny INTEGER, small INTEGER, whole INTEGER, long INTEGER, flag TEXT, single REAL,
            twice REAL, amount NUMERIC, exact TEXT, name TEXT CHECK (length(name) < 1000), letter TEXT, raw BLOB, day DATE, hour TIME, moment DATETIME,
            essay TEXT, picture BLOB);
        CREATE TABLE part (
            thing INTEGER NOT NULL REFERENCES thing (id), code TEXT NOT NULL, quantity INTEGER CHECK (quantity > 0), PRIMARY KEY (thing, code))
            WITHOUT ROWID;
        CREATE TABLE mark (ratio REAL, raw BLOB, day TEXT, amount NUMERIC, remark TEXT);
        CREATE TABLE note (id INTEGER PRIMARY KEY AUTOINCREMENT, above INTEGER, text TEXT, seen INTEGER);
        CREATE TRIGGER no_tuesday BEFORE INSERT ON part WHEN new.code = 'TUESDAY' BEGIN SELECT RAISE(ABORT, 'no parts on Tuesday'); END;
        INSERT INTO thing (id, region, name, amount, essay, picture) VALUES (1, 'NORTH', 'first', 12.5, 'Grüße', x'00ff'), (2, 'SOUTH', 'second', 7, NULL, NULL);
        INSERT INTO part VALUES (1, 'a', 3), (1, 'b', 4), (2, 'a', 5);
        INSERT INTO mark VALUES (0.5, x'01', '2026-01-31', 12.34, 'here');
        INSERT INTO note (id, above, text) VALUES (1, NULL, 'top'), (2, 1, 'below');
        """

    static let model = """
        {
          "format": 1, "name": "Fuzz", "version": "1.0",
          "personalizationKeys": [{"name": "region", "type": "string"}],
          "synchronizationGroups": [{"name": "default"}, {"name": "marks"}],
          "backEnds": [{"name": "enterprise", "kind": "sqlite"}],
          "objects": [
            {
              "name": "Thing",
              "attributes": [
                {"name": "id", "type": "long", "generated": true}, {"name": "region", "type": "string", "nullable": true, "length": 10},
                {"name": "tiny", "type": "byte", "nullable": true}, {"name": "small", "type": "short", "nullable": true},
                {"name": "whole", "type": "int", "nullable": true}, {"name": "long", "type": "long", "nullable": true},
                {"name": "flag", "type": "boolean", "nullable": true}, {"name": "single", "type": "float", "nullable": true},
                {"name": "twice", "type": "double", "nullable": true},
                {"name": "amount", "type": "decimal", "precision": 12, "scale": 2, "nullable": true},
                {"name": "exact", "type": "decimal", "precision": 38, "scale": 10, "nullable": true},
                {"name": "name", "type": "string", "nullable": true, "length": 40}, {"name": "letter", "type": "char", "nullable": true},
                {"name": "raw", "type": "binary", "nullable": true, "length": 100}, {"name": "day", "type": "date", "nullable": true},
                {"name": "hour", "type": "time", "nullable": true}, {"name": "moment", "type": "dateTime", "nullable": true},
                {"name": "essay", "type": "bigString", "nullable": true}, {"name": "picture", "type": "bigBinary", "nullable": true}
              ],
              "primaryKey": ["id"],
              "relationships": [
                {"name": "parts", "target": "Part", "cardinality": "oneToMany", "composite": true, "inverse": "thing", "mapping": {"id": "thingId"}}
              ],
              "synchronizationParameters": [{"name": "region", "type": "string", "personalizationKey": "region"}],
              "operations": [
                "create", "update", "delete",
                {"name": "raise", "kind": "other", "parameters": [{"name": "number", "type": "long"}, {"name": "by", "type": "decimal"}],
                 "statements": ["UPDATE thing SET amount = amount + :by WHERE id = :number"]}
              ],
              "binding": {"backEnd": "enterprise", "table": "thing", "load": "SELECT * FROM thing WHERE region = :region"}
            },
            {
              "name": "Part",
              "attributes": [
                {"name": "thingId", "type": "long"}, {"name": "code", "type": "string", "length": 20},
                {"name": "quantity", "type": "int", "nullable": true}
              ],
              "primaryKey": ["thingId", "code"],
              "relationships": [{"name": "thing", "target": "Thing", "cardinality": "manyToOne", "inverse": "parts", "mapping": {"thingId": "id"}}],
              "operations": ["create", "update", "delete"],
              "binding": {"backEnd": "enterprise", "table": "part", "columns": {"thingId": "thing"}}
            },
            {
              "name": "Mark", "synchronizationGroup": "marks",
              "attributes": [
                {"name": "ratio", "type": "double"}, {"name": "raw", "type": "binary", "length": 20}, {"name": "day", "type": "date"},
                {"name": "amount", "type": "decimal", "precision": 9, "scale": 3}, {"name": "remark", "type": "string", "nullable": true, "length": 40}
              ],
              "primaryKey": ["ratio", "raw", "day", "amount"], "operations": ["create", "update", "delete"],
              "binding": {"backEnd": "enterprise", "table": "mark"}
            },
            {
              "name": "Note",
              "attributes": [
                {"name": "id", "type": "long", "generated": true}, {"name": "aboveId", "type": "long", "nullable": true},
                {"name": "text", "type": "string", "nullable": true, "length": 100}
              ],
              "primaryKey": ["id"],
              "relationships": [{"name": "above", "target": "Note", "cardinality": "manyToOne", "mapping": {"aboveId": "id"}}],
              "operations": [
                {"name": "create", "kind": "create", "statements": ["INSERT INTO note (above, text) VALUES (:aboveId, :text)"]},
                {"name": "update", "kind": "update", "statements": ["UPDATE note SET above = :aboveId, text = :text || :old.text WHERE id = :id"]},
                {"name": "delete", "kind": "delete", "statements": ["DELETE FROM note WHERE id = :id"]}
              ],
              "binding": {"backEnd": "enterprise", "table": "note", "columns": {"aboveId": "above"}}
            }
          ]
        }
        """
}
