import MobileModel
import MobileObjects
import MobileStore

/// A value of a client database, for people and for scripts: a decimal with its point, a large value by its length.
struct ShownValue {
    /// The value in a line of text.
    let text: String
    /// The value in JSON: bytes in hexadecimal digits, a large value as `{"bytes": 2621440}` or `{"characters": 120}`.
    let json: JSONValue

    /// - Parameter attribute: nil where the model is not known; the value is then shown as it is stored.
    init(_ value: Value, of attribute: AttributeMetadata?, _ connection: Connection) throws {
        if let attribute, attribute.isLarge, let id = value.integer,
            let length = try connection.first(#"SELECT "length" FROM "_mc_value" WHERE "id" = ?1"#, [.integer(id)])?[0].integer
        {
            let unit = [.binary, .bigBinary].contains(attribute.type) ? "byte" : "character"
            self.init(text: Format.count(length, unit), json: .object([unit + "s": .integer(length)]))
            return
        }
        switch (value, attribute?.json(of: value)) {
        case (.blob(let bytes), _): self.init(text: Format.count(bytes.count, "byte"), json: JSONValue(inspected: value))
        case (_, .string(let text)?), (.text(let text), nil): self.init(text: Self.excerpt(text), json: .string(text))
        case (_, let json?): self.init(text: json.description, json: json)
        default:
            let json = JSONValue(inspected: value)
            self.init(text: json.description, json: json)
        }
    }

    private init(text: String, json: JSONValue) { (self.text, self.json) = (text, json) }

    /// The longest text that is shown as a whole.
    private static let shownLength = 80

    private static func excerpt(_ text: String) -> String {
        text.count > shownLength ? "\"\(text.prefix(shownLength))\"... (\(Format.count(text.count, "character")))" : "\"\(text)\""
    }
}
