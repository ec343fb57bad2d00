internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// The key of one row in its back end: the parts in the cache's form, in the order of the modelled primary key.
struct RowKey: Sendable, Equatable {
    let parts: [Value]

    /// Splits a key of the key map into its parts; nil for a text that is not a key.
    init?(_ key: Value, of object: ObjectPlan) {
        guard object.keyAttributes.count > 1 else {
            parts = [key]
            return
        }
        guard let text = key.text, let values = try? JSONValue(parsing: text).array, values.count == object.keyAttributes.count else { return nil }
        parts = zip(values, object.keyAttributes).map { value, attribute in
            switch attribute.type {
            case .float, .double: .real(Double(value.string ?? "") ?? 0)
            case .binary: Value(key: ["hex": .string((value.string ?? "").lowercased())]) ?? .null
            default: Value(key: value) ?? .null
            }
        }
    }

    /// Returns a condition on the row, as SQL with parameters from `?first`, and the values to bind. Parts that a back end may store in several forms
    /// are compared in the cache's form; the others directly, so that the back end can use its index.
    func condition(on object: ObjectPlan, first: Int) -> (sql: String, values: [Value]) {
        let terms = object.keyAttributes.enumerated().map { index, attribute in
            let column = SQLText.quoted(object.binding.column(of: attribute.name))
            return switch attribute.type {
            case .date, .time, .dateTime, .decimal, .boolean:
                "(\(ColumnExpression.value(of: attribute, column: column))) = ?\(first + index)"
            default: "\(column) = ?\(first + index)"
            }
        }
        return (terms.joined(separator: " AND "), parts)
    }

    /// Returns the value of a part in the form of a column.
    func value(of attribute: AttributeModel, in object: ObjectPlan, affinity: BackEndTable.Affinity) -> Value? {
        object.keyAttributes.firstIndex { $0.name == attribute.name }.map {
            WireConversion.value(cached: parts[$0], of: attribute, affinity: affinity)
        }
    }
}

extension RowKey {
    /// Converts the key in a device's form; nil if a part is missing.
    init?(wire key: JSONObject, of object: ObjectPlan) {
        var parts: [Value] = []
        for attribute in object.keyAttributes {
            guard let json = key[attribute.name], !json.isNull,
                let value = try? WireConversion.value(json, of: attribute, affinity: attribute.type == .decimal ? .text : .blob)
            else { return nil }
            parts.append(attribute.type == .decimal ? Self.scaled(value.text ?? "", attribute.scale ?? 2) : value)
        }
        self.parts = parts
    }

    /// Converts decimal text to the scaled integer of the cache.
    private static func scaled(_ text: String, _ scale: Int) -> Value {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let fraction = (parts.count > 1 ? parts[1] : "") + String(repeating: "0", count: scale)
        return Int64(parts[0] + fraction.prefix(scale)).map { .integer($0) } ?? .text(text)
    }
}
