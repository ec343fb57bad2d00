import MobileModel
import Testing

/// A small valid model in which tests make one place invalid.
enum ShopModel {
    static let json = """
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

    /// Returns the model's text with one part replaced. The part must occur exactly once; otherwise the test itself is wrong.
    static func json(replacing part: String, with replacement: String) throws -> String {
        let pieces = json.split(separator: part, omittingEmptySubsequences: false)
        try #require(pieces.count == 2, "\(part) is in the model \(pieces.count - 1) times")
        return pieces.joined(separator: replacement)
    }
}

/// A change that makes the shop's model invalid, and the resulting problem.
struct BadModel: Sendable, CustomTestStringConvertible {
    let part: String
    let replacement: String
    /// The path of the problem.
    let path: String
    let message: String

    init(_ part: String, _ replacement: String, _ path: String, _ message: String) {
        (self.part, self.replacement, self.path, self.message) = (part, replacement, path, message)
    }

    var testDescription: String { "\(path): \(message)" }

    /// Returns the problems of reading the invalid model.
    func problems() throws -> [ModelProblem] {
        let json = try ShopModel.json(replacing: part, with: replacement)
        do {
            _ = try PackageModel(json: json, file: "shop.mbo.json")
            return []
        } catch {
            return error.problems
        }
    }
}
