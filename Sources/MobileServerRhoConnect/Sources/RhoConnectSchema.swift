internal import MobileStore

/// The columns of a source with a fixed schema. RhoConnect: the `schema` of an adapter.
///
/// Clients store such a source in a table of its own, and bulk files have that table. All columns hold texts, and may be empty.
public struct RhoConnectSchema: Sendable, Hashable {
    /// One column.
    public struct Property: Sendable, Hashable {
        /// The attribute.
        public var name: String
        /// The documented type, such as `string`, `blob` or `blob,overwrite`; the server knows `blob` and `overwrite` alone.
        public var type: String

        /// Makes a column.
        public init(_ name: String, type: String = "string") {
            self.name = name
            self.type = type
        }
    }

    /// The version. Another one is reported to each client once, and ends the use of the bulk files that were made before.
    public var version: String
    /// The columns in their order.
    public var properties: [Property]
    /// The indexes of bulk files: names with their columns.
    public var indexes: [String: [String]]
    /// The unique indexes of bulk files: names with their columns.
    public var uniqueIndexes: [String: [String]]

    /// Makes a schema.
    public init(version: String, properties: [Property] = [], indexes: [String: [String]] = [:], uniqueIndexes: [String: [String]] = [:]) {
        self.version = version
        self.properties = properties
        self.indexes = indexes
        self.uniqueIndexes = uniqueIndexes
    }

    /// Makes a schema of strings: `RhoConnectSchema(version: "1.0", "name", "price")`.
    public init(version: String, _ properties: String...) { self.init(version: version, properties: properties.map { Property($0) }) }

    /// The text in the form of the original adapters.
    var text: String {
        var members: [(String, JSONValue)] = [("version", .string(version))]
        members.append(("property", .object(JSONObject(uniqueKeys: properties.map { ($0.name, .string($0.type)) }))))
        for (name, indexes) in [("index", indexes), ("unique_index", uniqueIndexes)] where !indexes.isEmpty {
            let texts = indexes.sorted { $0.key < $1.key }.map { ($0.key, JSONValue.string($0.value.joined(separator: ","))) }
            members.append((name, .object(JSONObject(uniqueKeys: texts))))
        }
        return JSONValue.object(JSONObject(uniqueKeys: members)).description
    }

    /// The columns that hold files, each with 1 for a file that replaces that of a client, else 0.
    var blobAttributes: String {
        properties.filter { $0.type.contains("blob") }.sorted { $0.name < $1.name }
            .map { "\($0.name),\($0.type.contains("overwrite") ? 1 : 0)" }.joined(separator: ",")
    }
}
