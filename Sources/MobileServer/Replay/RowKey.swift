internal import MobileCrypto
public import MobileModel
internal import MobileProtocol
public import MobileStore

/// The key of one row in its back end. Keys are equal when all parts of the modelled primary key are.
public struct RowKey: Sendable, Hashable {
    /// The parts in the cache's form, in the order of the modelled primary key.
    let parts: [Value]
    /// The key as one value, as its back end writes it.
    let value: Value

    private init(parts: [Value], value: Value) { (self.parts, self.value) = (parts, value) }

    /// Creates a key.
    /// - Parameters:
    ///   - values: a value for each attribute of the primary key, by name, in the form of ``BackEndRow``.
    ///   - object: the object of the row.
    /// - Returns: nil if a part is missing, NULL, or of another type than its attribute.
    public init?(_ values: JSONObject, of object: ObjectModel) {
        self.init(wire: values, object.primaryKey.compactMap { object.attribute(named: $0) })
    }

    /// Returns the value of each attribute of the primary key, by name, in the form of ``BackEndRow``.
    public func values(of object: ObjectModel) -> JSONObject {
        let attributes = object.primaryKey.compactMap { object.attribute(named: $0) }
        return JSONObject(uniqueKeys: zip(attributes, parts).map { ($0.name, WireConversion.json(cached: $1, of: $0)) })
    }

    /// Whether all parts are equal; texts by their bytes, as back ends compare them: two that read alike are two keys.
    public static func == (left: RowKey, right: RowKey) -> Bool {
        left.parts.elementsEqual(right.parts) { left, right in
            if case (.text(let left), .text(let right)) = (left, right) { left.utf8.elementsEqual(right.utf8) } else { left == right }
        }
    }

    /// Hashes the parts.
    public func hash(into hasher: inout Hasher) { hasher.combine(parts) }
}

extension RowKey {
    /// Splits a key of the key map into its parts; nil for a text that is not a key.
    init?(_ key: Value, of object: ObjectPlan) {
        guard object.keyAttributes.count > 1 else {
            self.init(parts: [key], value: key)
            return
        }
        guard let text = key.text, let values = try? JSONValue(parsing: text).array, values.count == object.keyAttributes.count else { return nil }
        let parts = zip(values, object.keyAttributes).map { value, attribute in
            switch attribute.type {
            case .float, .double: Value.real(Double(value.string ?? "") ?? 0)
            case .binary: Value(key: ["hex": .string((value.string ?? "").lowercased())]) ?? .null
            default: Value(key: value) ?? .null
            }
        }
        self.init(parts: parts, value: key)
    }

    /// Converts the key in a device's form; nil if a part is missing.
    init?(wire key: JSONObject, of object: ObjectPlan) { self.init(wire: key, object.keyAttributes) }

    /// Converts values in the form of the protocol; nil if one of the attributes has none.
    init?(wire key: JSONObject, _ attributes: [AttributeModel]) {
        var parts: [Value] = []
        for attribute in attributes {
            guard let json = key[attribute.name], !json.isNull,
                let value = try? WireConversion.value(json, of: attribute, affinity: attribute.type == .decimal ? .text : .blob)
            else { return nil }
            let isScaled = attribute.type == .decimal && attribute.cachedType == .integer
            parts.append(isScaled ? Self.scaled(value.text ?? "", attribute.scale ?? 2) : value)
        }
        guard !parts.isEmpty else { return nil }
        self.init(parts: parts, value: parts.count == 1 ? parts[0] : .text(Self.text(parts)))
    }

    /// Joins the parts of a composite key. Doubles and binary values are texts.
    private static func text(_ parts: [Value]) -> String {
        let values = parts.map { part -> JSONValue in
            switch part {
            case .real(let value): .string("\(value)")
            case .blob(let bytes): .string(bytes.hexadecimal.uppercased())
            default: part.keyJSON
            }
        }
        return JSONValue.array(values).description
    }

    /// Converts decimal text to the scaled integer of the cache.
    private static func scaled(_ text: String, _ scale: Int) -> Value {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let fraction = (parts.count > 1 ? parts[1] : "") + String(repeating: "0", count: scale)
        return Int64(parts[0] + fraction.prefix(scale)).map { .integer($0) } ?? .text(text)
    }
}
