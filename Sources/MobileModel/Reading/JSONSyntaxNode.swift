/// A JSON document with all details of its file: members in order, numbers as text, and the place where each value begins.
///
/// Foundation's `JSONSerialization` keeps none of the three, and silently takes the last of two equal keys. A model needs the
/// order (of attributes, of mappings), the exact digits (of default values), and the place (for messages that editors can jump to).
package struct JSONSyntaxNode {
    package enum Value {
        case object([Member])
        case array([JSONSyntaxNode])
        case string(String)
        /// The number's text, such as `12.50`.
        case number(String)
        case boolean(Bool)
        case null
    }

    package struct Member {
        package let key: String
        let keyLine: Int, keyColumn: Int
        package let node: JSONSyntaxNode
    }

    package let value: Value
    /// The place where the value begins, from 1; the column counts bytes.
    let line: Int, column: Int

    /// The kind of the value with its article, for messages.
    var kind: String {
        switch value {
        case .object: "an object"
        case .array: "an array"
        case .string: "a string"
        case .number: "a number"
        case .boolean(let value): value ? "true" : "false"
        case .null: "null"
        }
    }

    /// The value at `path`, or the innermost value around it that is there.
    func nearest(to path: ModelPath) -> JSONSyntaxNode {
        var node = self
        for step in path.steps {
            switch (step, node.value) {
            case (.key(let key), .object(let members)):
                guard let member = members.first(where: { $0.key == key }) else { return node }
                node = member.node
            case (.index(let index), .array(let elements)):
                guard elements.indices.contains(index) else { return node }
                node = elements[index]
            default: return node
            }
        }
        return node
    }

    /// The document in `text`, such as a default value of a model; nil where it is not JSON.
    package init?(text: String) {
        guard let node = try? JSONSyntaxParser.parse(Array(text.utf8)) else { return nil }
        self = node
    }

    init(value: Value, line: Int, column: Int) { (self.value, self.line, self.column) = (value, line, column) }

    /// The value as JSON text: no white space, members in order, numbers as they were written.
    var text: String {
        switch value {
        case .object(let members): "{" + members.map { ReadableJSON.quoted($0.key) + ":" + $0.node.text }.joined(separator: ",") + "}"
        case .array(let elements): "[" + elements.map(\.text).joined(separator: ",") + "]"
        case .string(let string): ReadableJSON.quoted(string)
        case .number(let digits): digits
        case .boolean(let value): value ? "true" : "false"
        case .null: "null"
        }
    }
}
