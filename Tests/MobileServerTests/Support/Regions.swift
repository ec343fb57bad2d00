import MobileModel
import MobileServer

/// A package for users with the role `sales` or `management`. Its sites and notes are those of the user's regions: sites by a column, next to a year that
/// the client chooses; notes by a load that joins their sites. Tags belong to all users.
enum Regions {
    static let tables = """
        CREATE TABLE site (id INTEGER PRIMARY KEY AUTOINCREMENT, region TEXT NOT NULL, year INTEGER NOT NULL, name TEXT NOT NULL);
        CREATE TABLE note (id INTEGER PRIMARY KEY AUTOINCREMENT, site INTEGER REFERENCES site (id), text TEXT NOT NULL);
        CREATE TABLE tag (id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL);
        INSERT INTO site VALUES (1, 'NORTH', 2025, 'Quay'), (2, 'SOUTH', 2025, 'Mill'), (3, 'NORTH', 2026, 'Yard'), (4, 'EAST', 2025, 'Farm');
        INSERT INTO note VALUES (1, 1, 'north'), (2, 2, 'south'), (3, 4, 'east');
        INSERT INTO tag VALUES (1, 'open');
        """

    static let json = """
        {
          "format": 2, "name": "Regions", "version": "1.0", "roles": ["sales", "management"], "backEnds": [{"name": "enterprise", "kind": "sqlite"}],
          "objects": [
            {
              "name": "Site",
              "attributes": [
                {"name": "id", "type": "long", "generated": true}, {"name": "region", "type": "string", "length": 10}, {"name": "year", "type": "int"},
                {"name": "name", "type": "string", "length": 20}
              ],
              "primaryKey": ["id"],
              "relationships": [{"name": "notes", "target": "Note", "cardinality": "oneToMany", "inverse": "site", "mapping": {"id": "siteId"}}],
              "synchronizationParameters": [
                {"name": "region", "type": "string", "userAttribute": "region", "attribute": "region"}, {"name": "year", "type": "int", "default": 2025}
              ],
              "operations": [
                "create", "update", "delete",
                {"name": "rename", "kind": "update", "parameters": [{"name": "number", "type": "long", "attribute": "id"}, {"name": "label", "type": "string"}],
                 "statements": ["UPDATE site SET name = :label WHERE id = :number"]},
                {"name": "retitle", "kind": "update", "parameters": [{"name": "label", "type": "string"}],
                 "statements": ["UPDATE site SET name = :label WHERE id = :id"]}
              ],
              "binding": {"backEnd": "enterprise", "table": "site", "load": "SELECT * FROM site WHERE region = :region AND year = :year"}
            },
            {
              "name": "Note",
              "attributes": [
                {"name": "id", "type": "long", "generated": true}, {"name": "siteId", "type": "long", "nullable": true},
                {"name": "text", "type": "string", "length": 20}
              ],
              "primaryKey": ["id"],
              "relationships": [{"name": "site", "target": "Site", "cardinality": "manyToOne", "inverse": "notes", "mapping": {"siteId": "id"}}],
              "synchronizationParameters": [{"name": "area", "type": "string", "userAttribute": "region"}],
              "operations": ["create", "update", "delete"],
              "binding": {"backEnd": "enterprise", "table": "note", "columns": {"siteId": "site"},
                          "load": "SELECT n.* FROM note AS n JOIN site AS s ON s.id = n.site WHERE s.region = :area"}
            },
            {
              "name": "Tag",
              "attributes": [{"name": "id", "type": "long", "generated": true}, {"name": "text", "type": "string", "length": 20}],
              "primaryKey": ["id"], "operations": ["create", "update", "delete"], "binding": {"backEnd": "enterprise", "table": "tag"}
            }
          ]
        }
        """

    /// Makes a server whose user `ada` has the role `sales` and these regions.
    static func server(_ regions: Set<String> = ["NORTH"]) throws -> TestServer {
        let server = try TestServer(model: PackageModel(json: json), tables: tables)
        try server.server.administration.setRoles(["sales"], ofUser: "ada")
        try server.server.administration.setAttribute("region", to: regions, ofUser: "ada")
        return server
    }
}
