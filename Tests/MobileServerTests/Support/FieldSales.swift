import MobileModel
import MobileProtocol
import MobileServer
import MobileStore

/// The package that most tests use: customers by region with large values, their orders, and lines with a composite key. The names and
/// types of the tables are as awkward as SQL allows.
enum FieldSales {
    static let tables = """
        CREATE TABLE "the customers" (
            "customer no" INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL CHECK (length(name) > 0), region TEXT NOT NULL,
            credit NUMERIC NOT NULL DEFAULT 0 CHECK (credit >= 0), active TEXT NOT NULL DEFAULT '1', since DATETIME, rate REAL, code TEXT UNIQUE,
            notes TEXT, photo BLOB);
        CREATE TABLE "order" (
            id INTEGER PRIMARY KEY AUTOINCREMENT, customer INTEGER NOT NULL REFERENCES "the customers" ("customer no"), status TEXT NOT NULL DEFAULT 'NEW');
        CREATE TABLE [order line] (
            "order" INTEGER NOT NULL REFERENCES "order" (id), line INTEGER NOT NULL, product TEXT NOT NULL, quantity INTEGER NOT NULL CHECK (quantity > 0),
            PRIMARY KEY ("order", line));
        CREATE TRIGGER no_tuesday BEFORE INSERT ON "order" WHEN new.status = 'TUESDAY' BEGIN SELECT RAISE(ABORT, 'no orders on Tuesday'); END;
        INSERT INTO "the customers" ("customer no", name, region, credit, active, since, rate, notes, photo) VALUES
            (1, 'Harbour Foods', 'NORTH', 1250.5, '1', '2020-02-29 00:00:00.000', 0.1, 'Grüße', x'00ff'),
            (2, 'Mill & Sons', 'NORTH', 12, 'false', '2021-03-04', NULL, NULL, NULL),
            (3, 'Quay "27"', 'SOUTH', 0.07, 'TRUE', NULL, 1e300, NULL, x'');
        INSERT INTO "order" (id, customer) VALUES (10, 1), (11, 3);
        INSERT INTO "order line" VALUES (10, 1, 'salt', 5), (10, 2, 'pepper', 7), (11, 1, 'tea', 1);
        """

    static let model = try! PackageModel(json: json)

    static let json = """
        {
          "format": 1, "name": "Field", "version": "2.0",
          "personalizationKeys": [{"name": "region", "type": "string"}],
          "synchronizationGroups": [{"name": "default"}, {"name": "lines"}],
          "backEnds": [{"name": "enterprise", "kind": "sqlite"}],
          "objects": [
            {
              "name": "Customer",
              "attributes": [
                {"name": "id", "type": "long", "generated": true}, {"name": "name", "type": "string", "length": 40},
                {"name": "region", "type": "string", "length": 10}, {"name": "credit", "type": "decimal", "precision": 12, "scale": 2},
                {"name": "active", "type": "boolean"}, {"name": "since", "type": "date", "nullable": true},
                {"name": "rate", "type": "double", "nullable": true}, {"name": "code", "type": "string", "nullable": true, "length": 10},
                {"name": "notes", "type": "bigString", "nullable": true}, {"name": "photo", "type": "bigBinary", "nullable": true}
              ],
              "primaryKey": ["id"],
              "relationships": [
                {"name": "orders", "target": "Order", "cardinality": "oneToMany", "composite": true, "inverse": "customer", "mapping": {"id": "customerId"}}
              ],
              "synchronizationParameters": [{"name": "region", "type": "string", "personalizationKey": "region"}],
              "operations": [
                "create", "update", "delete",
                {"name": "raise", "kind": "other", "parameters": [{"name": "number", "type": "long"}, {"name": "amount", "type": "decimal", "precision": 8, "scale": 3}],
                 "statements": ["UPDATE \\"the customers\\" SET credit = credit + :amount WHERE \\"customer no\\" = :number"]}
              ],
              "binding": {"backEnd": "enterprise", "table": "the customers", "columns": {"id": "customer no"},
                          "load": "SELECT * FROM \\"the customers\\" WHERE region = :region -- by region"}
            },
            {
              "name": "Order",
              "attributes": [
                {"name": "id", "type": "long", "generated": true}, {"name": "customerId", "type": "long"}, {"name": "status", "type": "string", "length": 12}
              ],
              "primaryKey": ["id"],
              "relationships": [
                {"name": "customer", "target": "Customer", "cardinality": "manyToOne", "inverse": "orders", "mapping": {"customerId": "id"}},
                {"name": "lines", "target": "Line", "cardinality": "oneToMany", "composite": true, "inverse": "order", "mapping": {"id": "orderId"}}
              ],
              "operations": ["create", "update", "delete"],
              "binding": {"backEnd": "enterprise", "table": "order", "columns": {"customerId": "customer"}}
            },
            {
              "name": "Line", "synchronizationGroup": "lines",
              "attributes": [
                {"name": "orderId", "type": "long"}, {"name": "line", "type": "int"}, {"name": "product", "type": "string", "length": 20},
                {"name": "quantity", "type": "int"}
              ],
              "primaryKey": ["orderId", "line"],
              "relationships": [{"name": "order", "target": "Order", "cardinality": "manyToOne", "inverse": "lines", "mapping": {"orderId": "id"}}],
              "operations": ["create", "update", "delete"],
              "binding": {"backEnd": "enterprise", "table": "order line", "columns": {"orderId": "order"}}
            }
          ]
        }
        """

    /// Makes a server over a back end with the rows above.
    static func server(adjust: @escaping (inout ServerConfiguration) -> Void = { _ in }) throws -> TestServer {
        try TestServer(model: model, tables: tables, adjust: adjust)
    }
}

extension TestDevice {
    /// Makes a device that is subscribed to one region, and has its keys.
    static func inRegion(_ region: String, of server: TestServer, name: String = "phone") throws -> TestDevice {
        let device = try TestDevice(server, name: name)
        device.subscriptions = ["Customer": [["region": .string(region)]]]
        try device.synchronize(groups: ["default", "lines"])
        return device
    }

    func create(_ object: String, _ attributes: JSONObject, refs: JSONObject = [:], batch: Int64? = nil) -> OperationFrame {
        OperationFrame(id: nextID(), object: object, change: .create, batch: batch, key: nextKey(), attributes: attributes, refs: refs)
    }

    /// Makes an update of the row whose `attribute` has `value`.
    func update(_ object: String, where attribute: String, is value: JSONValue, set attributes: JSONObject, primaryKey: JSONObject) -> OperationFrame
    {
        OperationFrame(
            id: nextID(), object: object, change: .update, key: key(object, attribute, value), attributes: attributes, primaryKey: primaryKey)
    }

    func key(_ object: String, _ attribute: String, _ value: JSONValue) -> Int64 {
        rows(object, by: attribute)[value]?["_sk"]?.integer ?? 0
    }
}
