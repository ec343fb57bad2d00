import MobileModel

/// A model with one object of many attributes, `c1`, `c2` and so on, on the table `wide`.
struct WideSheet {
    let columns: [String]
    let model: PackageModel

    init(columns count: Int) throws {
        columns = (1...count).map { "c\($0)" }
        let attributes = columns.map { "{\"name\": \"\($0)\", \"type\": \"int\", \"nullable\": true}" }.joined(separator: ", ")
        model = try PackageModel(
            json: """
                {
                  "format": 1, "name": "Sheets", "version": "1.0", "backEnds": [{"name": "enterprise", "kind": "sqlite"}],
                  "objects": [{
                    "name": "Wide", "attributes": [{"name": "id", "type": "long"}, \(attributes)], "primaryKey": ["id"],
                    "binding": {"backEnd": "enterprise", "table": "wide"}}]
                }
                """)
    }
}
