public import MobileStore

/// The columns of a model with a fixed schema. RhoConnect: `schema`.
///
/// All columns hold texts and may be empty: an object whose columns are all empty does not exist.
public struct RhomSchema: Sendable, Hashable {
    /// One column.
    public struct Property: Sendable, Hashable {
        /// The attribute.
        public var name: String
        /// The documented type, such as `string`, `blob` or `blob,overwrite`. Only `blob` has a meaning here.
        public var type: String

        /// Makes a column.
        public init(_ name: String, type: String = "string") {
            self.name = name
            self.type = type
        }

        /// The rule of a file; nil for other columns.
        var blob: RhomModel.BlobRule? {
            guard type.contains("blob") else { return nil }
            return type.contains("overwrite") ? .overwrites : .keeps
        }
    }

    /// The version. Another one rebuilds the local table, and has the server send all data again.
    public var version: String
    /// The columns in their order.
    public var properties: [Property]
    /// The indexes: names with their columns.
    public var indexes: [String: [String]]
    /// The unique indexes: names with their columns.
    public var uniqueIndexes: [String: [String]]

    /// Makes a schema.
    public init(version: String, properties: [Property], indexes: [String: [String]] = [:], uniqueIndexes: [String: [String]] = [:]) {
        self.version = version
        self.properties = properties
        self.indexes = indexes
        self.uniqueIndexes = uniqueIndexes
    }

    /// Makes a schema of strings: `RhomSchema(version: "1.0", "name", "price")`.
    public init(version: String, _ properties: String...) { self.init(version: version, properties: properties.map { Property($0) }) }

    /// Reads a schema in the form of the server's adapters:
    /// `{"version":"1.3","property":{"title":"string","photo":"blob"},"index":{"by_title":"title"},"unique_index":{}}`.
    /// - Throws: ``RhoConnectErrorCode/runtime`` for any other form.
    public init(json: JSONValue) throws(RhoConnectError) {
        guard let version = json["version"]?.string, case .object(let properties)? = json["property"] else {
            throw RhoConnectError(.runtime, "schema: expected an object with \"version\" and \"property\"")
        }
        func indexes(_ key: String) -> [String: [String]] {
            guard case .object(let list)? = json[key] else { return [:] }
            return Dictionary(
                list.map { ($0.key, ($0.value.string ?? "").split(separator: ",").map { $0.trimmingBlanks }) }, uniquingKeysWith: { $1 })
        }
        self.init(
            version: version, properties: properties.map { Property($0.key, type: $0.value.string ?? "string") }, indexes: indexes("index"),
            uniqueIndexes: indexes("unique_index"))
    }

    /// The columns that hold files.
    var blobAttributes: [String: RhomModel.BlobRule] {
        Dictionary(properties.compactMap { property in property.blob.map { (property.name, $0) } }) { $1 }
    }
}

extension Substring {
    /// The text without blanks at its ends.
    var trimmingBlanks: String {
        var text = self
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
