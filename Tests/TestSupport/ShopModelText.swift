/// A small valid model as text, in which tests change one place.
public enum ShopModelText {
    /// The whole text.
    public static let json = """
        {
          "format": 1,
          "name": "Shop",
          "version": "2.1",
          "pageSize": 4096,
          "structures": [{"name": "Address", "attributes": [{"name": "street", "type": "string", "length": 40}, {"name": "tags", "type": "string[]"}]}],
          "personalizationKeys": [{"name": "region", "type": "string"}],
          "synchronizationGroups": [{"name": "orders", "interval": 5}],
          "backEnds": [{"name": "erp", "kind": "sqlite"}],
          "objects": [
            {
              "name": "Customer",
              "attributes": [
                {"name": "id", "type": "long", "generated": true},
                {"name": "name", "type": "string", "length": 80, "default": "NEW"},
                {"name": "city", "type": "string", "nullable": true, "length": 40},
                {"name": "credit", "type": "decimal", "precision": 10, "scale": 2, "default": 0},
                {"name": "since", "type": "date", "default": "2025-12-31"},
                {"name": "address", "type": "Address", "nullable": true},
                {"name": "photo", "type": "bigBinary", "nullable": true}
              ],
              "primaryKey": ["id"],
              "relationships": [
                {"name": "orders", "target": "Order", "cardinality": "oneToMany", "composite": true, "inverse": "customer", "mapping": {"id": "customerId"}}
              ],
              "synchronizationParameters": [{"name": "region", "type": "string", "personalizationKey": "region"}],
              "queries": [
                {"name": "findByCity", "parameters": [{"name": "city", "type": "string"}], "sql": "SELECT x.* FROM Customer x WHERE x.city = :city"},
                {"name": "findBusy", "sql": "SELECT DISTINCT c.* FROM Customer AS c JOIN \\"Order\\" o ON o.customerId = c.id WHERE o.state = 'NEW'"}
              ],
              "operations": ["create", "update", {"name": "merge", "kind": "other", "parameters": [{"name": "into", "type": "long"}], "statements": ["UPDATE customer SET merged = :into"]}],
              "binding": {"backEnd": "erp", "table": "customer", "columns": {"name": "full name"}, "load": "SELECT * FROM customer WHERE region = :region"}
            },
            {
              "name": "Order",
              "synchronizationGroup": "orders",
              "attributes": [
                {"name": "number", "type": "int"},
                {"name": "customerId", "type": "long"},
                {"name": "state", "type": "string", "length": 10}
              ],
              "primaryKey": ["number"],
              "relationships": [{"name": "customer", "target": "Customer", "cardinality": "manyToOne", "inverse": "orders"}],
              "operations": [{"name": "update", "kind": "update", "statements": ["UPDATE orders SET state = :state WHERE no = :old.number"]}],
              "binding": {"backEnd": "erp", "table": "orders", "changeDetection": {"versionColumn": "v"}}
            },
            {"name": "Note", "local": true, "attributes": [{"name": "text", "type": "string"}]}
          ]
        }
        """

    /// Returns the text with one part replaced.
    /// - Throws: an error unless the part occurs exactly once: the test itself is wrong then.
    public static func json(replacing part: String, with replacement: String) throws -> String {
        let pieces = json.split(separator: part, omittingEmptySubsequences: false)
        guard pieces.count == 2 else { throw WrongPart(description: "\(part) is in the model \(pieces.count - 1) times") }
        return pieces.joined(separator: replacement)
    }

    private struct WrongPart: Error, CustomStringConvertible {
        let description: String
    }
}
