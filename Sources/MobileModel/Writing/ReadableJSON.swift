/// Writes JSON text the way a person would: two spaces per level, one member per line, short values on one line.
package enum ReadableJSON {
    /// A value on its way to text; members keep their order.
    indirect enum Value {
        case raw(String)
        case object([(String, Value)])
        case array([Value])

        static func string(_ string: String) -> Value { .raw(quoted(string)) }
        static func integer(_ integer: Int) -> Value { .raw(String(integer)) }
        static func boolean(_ value: Bool) -> Value { .raw(value ? "true" : "false") }
    }

    /// The longest line that an object or array may fill unbroken.
    static let width = 120

    /// `string` in double quotes. Only characters that need an escape are escaped, so that people can read it.
    package static func quoted(_ string: String) -> String {
        quoted(string) { "\\u" + String(repeating: "0", count: 4 - $0.count) + $0 }
    }

    /// `string` in double quotes, for a language that writes control characters in its own way.
    /// - Parameter control: gets the hexadecimal digits of a control character.
    package static func quoted(_ string: String, control: (String) -> String) -> String {
        var text = "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case "\u{0}"..<"\u{20}", "\u{7F}": text += control(String(scalar.value, radix: 16))
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }

    /// The document's text, with a line feed at its end.
    static func document(_ value: Value) -> String { lines(value, indent: 0) + "\n" }

    private static func lines(_ value: Value, indent: Int) -> String {
        let line = oneLine(value)
        // The root and lists of objects are always broken: one value per line makes differences readable.
        if indent > 0, indent + line.utf8.count <= width, !holdsObjects(value) { return line }
        let inner = String(repeating: " ", count: indent + 2)
        let outer = String(repeating: " ", count: indent)
        switch value {
        case .raw(let text): return text
        case .object(let members):
            let parts = members.map { "\(inner)\(quoted($0.0)): \(lines($0.1, indent: indent + 2))" }
            return parts.isEmpty ? "{}" : "{\n" + parts.joined(separator: ",\n") + "\n\(outer)}"
        case .array(let elements):
            let parts = elements.map { inner + lines($0, indent: indent + 2) }
            return parts.isEmpty ? "[]" : "[\n" + parts.joined(separator: ",\n") + "\n\(outer)]"
        }
    }

    private static func holdsObjects(_ value: Value) -> Bool {
        switch value {
        case .raw: false
        case .object(let members): members.contains { holdsObjects($0.1) }
        case .array: isArrayOfObjects(value)
        }
    }

    private static func isArrayOfObjects(_ value: Value) -> Bool {
        guard case .array(let elements) = value else { return false }
        return elements.contains { if case .object = $0 { true } else { false } }
    }

    private static func oneLine(_ value: Value) -> String {
        switch value {
        case .raw(let text): text
        case .object(let members):
            members.isEmpty ? "{}" : "{" + members.map { "\(quoted($0.0)): \(oneLine($0.1))" }.joined(separator: ", ") + "}"
        case .array(let elements): "[" + elements.map(oneLine).joined(separator: ", ") + "]"
        }
    }
}
