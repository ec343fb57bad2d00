import MobileModel
import MobileServer

/// A package whose back end has few constraints: folders with notes that need no folder and refer to it without a constraint, labels in a
/// table that accepts duplicate keys, and pictures that have only bytes.
enum Folders {
    static let tables = """
        CREATE TABLE folder (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL CHECK (length(name) > 0));
        CREATE TABLE note (id INTEGER PRIMARY KEY AUTOINCREMENT, folder INTEGER, text TEXT, above INTEGER);
        CREATE TABLE label (code TEXT, color TEXT);
        CREATE TABLE badge (code TEXT PRIMARY KEY, color TEXT);
        CREATE TABLE picture (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT, content BLOB);
        INSERT INTO folder VALUES (1, 'first');
        INSERT INTO label VALUES ('a', 'red');
        INSERT INTO badge VALUES ('a', 'red');
        """

    /// Makes a server.
    /// - Parameters:
    ///   - isIdempotent: whether the back end has no record of the operations.
    ///   - sql: statements that change the back end before it is deployed.
    static func server(
        isIdempotent: Bool = false, also sql: String = "", adjust: @escaping (inout ServerConfiguration) -> Void = { _ in }
    ) throws -> TestServer {
        try TestServer(model: PackageModel(json: json.replacing("IDEMPOTENT", with: "\(isIdempotent)")), tables: tables + sql, adjust: adjust)
    }

    static let json = """
        {
          "format": 1, "name": "Folders", "version": "1.0", "synchronizationGroups": [{"name": "default"}],
          "backEnds": [{"name": "enterprise", "kind": "sqlite", "idempotent": IDEMPOTENT}],
          "objects": [
            {
              "name": "Folder",
              "attributes": [{"name": "id", "type": "long", "generated": true}, {"name": "name", "type": "string", "length": 40}],
              "primaryKey": ["id"],
              "relationships": [{"name": "notes", "target": "Note", "cardinality": "oneToMany", "inverse": "folder", "mapping": {"id": "folderId"}}],
              "operations": ["create", "update", "delete"],
              "binding": {"backEnd": "enterprise", "table": "folder"}
            },
            {
              "name": "Note",
              "attributes": [
                {"name": "id", "type": "long", "generated": true}, {"name": "folderId", "type": "long", "nullable": true},
                {"name": "text", "type": "string", "nullable": true, "length": 100}, {"name": "aboveId", "type": "long", "nullable": true}
              ],
              "primaryKey": ["id"],
              "relationships": [
                {"name": "folder", "target": "Folder", "cardinality": "manyToOne", "inverse": "notes", "mapping": {"folderId": "id"}},
                {"name": "above", "target": "Note", "cardinality": "manyToOne", "mapping": {"aboveId": "id"}}
              ],
              "operations": ["create", "update", "delete"],
              "binding": {"backEnd": "enterprise", "table": "note", "columns": {"folderId": "folder", "aboveId": "above"}}
            },
            {
              "name": "Label",
              "attributes": [{"name": "code", "type": "string", "length": 10}, {"name": "color", "type": "string", "nullable": true, "length": 10}],
              "primaryKey": ["code"], "operations": ["create", "update", "delete"],
              "binding": {"backEnd": "enterprise", "table": "label"}
            },
            {
              "name": "Picture",
              "attributes": [
                {"name": "id", "type": "long", "generated": true}, {"name": "title", "type": "string", "nullable": true, "length": 100},
                {"name": "content", "type": "bigBinary", "nullable": true}
              ],
              "primaryKey": ["id"], "operations": ["create", "update", "delete"], "binding": {"backEnd": "enterprise", "table": "picture"}
            },
            {
              "name": "Badge",
              "attributes": [{"name": "code", "type": "string", "length": 10}, {"name": "color", "type": "string", "nullable": true, "length": 10}],
              "primaryKey": ["code"],
              "operations": [
                {"name": "create", "kind": "create", "parameters": [{"name": "code", "type": "string", "attribute": "code"},
                    {"name": "color", "type": "string", "nullable": true, "attribute": "color"}],
                 "statements": ["INSERT OR REPLACE INTO badge (code, color) VALUES (:code, :color)"]},
                "delete"
              ],
              "binding": {"backEnd": "enterprise", "table": "badge"}
            }
          ]
        }
        """
}
