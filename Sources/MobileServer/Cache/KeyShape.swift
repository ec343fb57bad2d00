internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// The key attributes of an object, in the order of the key, as far as two versions of it need them to have the same rows.
struct KeyShape: Sendable, Equatable {
    private struct Part: Sendable, Equatable {
        let name: String
        /// The column in the back end.
        let column: String
        /// The form of the values in texts of keys.
        let type: String
    }

    private let parts: [Part]
    /// The names that the attributes have had before, in the same order. They are not stored.
    private let formerNames: [String?]

    init(_ object: ObjectPlan) {
        parts = object.keyAttributes.map { attribute in
            let type =
                switch attribute.type {
                case .byte, .short, .int, .long, .integer: "integer"
                case .decimal: "decimal \(attribute.precision ?? 0),\(attribute.scale ?? 0)"
                default: "\(attribute.type)"
                }
            return Part(name: attribute.name, column: object.binding.column(of: attribute.name), type: type)
        }
        formerNames = object.keyAttributes.map(\.was)
    }

    /// Reads a stored shape; nil for another text.
    init?(text: String) {
        guard let list = try? JSONValue(parsing: text).array else { return nil }
        var parts: [Part] = []
        for part in list {
            guard let values = part.array, values.count == 3, let name = values[0].string, let column = values[1].string, let type = values[2].string
            else { return nil }
            parts.append(Part(name: name, column: column, type: type))
        }
        (self.parts, formerNames) = (parts, parts.map { _ in nil })
    }

    /// The stored form.
    var text: String { JSONValue.array(parts.map { .array([.string($0.name), .string($0.column), .string($0.type)]) }).description }

    /// Whether an object with this shape has the keys of an object of another version: its attributes are the same by name, former name or column.
    func isSame(as former: KeyShape) -> Bool {
        parts.count == former.parts.count
            && zip(zip(parts, formerNames), former.parts).allSatisfy { own, other in
                own.0.type == other.type && [own.0.name == other.name, own.1 == other.name, own.0.column == other.column].contains(true)
            }
    }
}
