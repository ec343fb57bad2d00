/// The members of one object of the document, by key. A key that the format does not define and a value of the wrong kind are reported as
/// problems. Reading then continues with the value's default, so that one run finds all problems.
struct Fields {
    let path: ModelPath
    let node: JSONSyntaxNode
    private let members: [String: JSONSyntaxNode]
    private let reader: ModelReader

    /// Reads the members of `node`; the format defines `keys` there.
    init(_ node: JSONSyntaxNode, _ path: ModelPath, keys: [String], reader: ModelReader) {
        (self.node, self.path, self.reader) = (node, path, reader)
        guard case .object(let members) = node.value else {
            reader.report(.value, path, "expected an object, found \(node.kind)")
            self.members = [:]
            return
        }
        let later = reader.format == 1 ? ModelFormat.keysOfFormat2[keys] ?? [] : []
        for member in members where later.contains(member.key) {
            reader.report(
                .unknownKey, path[member.key], "format 1 has no key \"\(member.key)\" here", suggestion: "write \"format\": 2",
                line: member.keyLine, column: member.keyColumn)
        }
        for member in members where !keys.contains(member.key) {
            reader.report(
                .unknownKey, path[member.key], "the format has no key \"\(member.key)\" here",
                suggestion: Suggestion.didYouMean(member.key, among: keys) ?? "it knows \(keys.joined(separator: ", "))",
                line: member.keyLine, column: member.keyColumn)
        }
        self.members = Dictionary(members.map { ($0.key, $0.node) }) { first, _ in first }
    }

    /// The node under `key`; nil if there is none.
    subscript(key: String) -> JSONSyntaxNode? { members[key] }

    func string(_ key: String) -> String? {
        guard let node = members[key] else { return nil }
        guard case .string(let string) = node.value else {
            wrong(key, "a string", node)
            return nil
        }
        return string
    }

    /// A required string; empty, with a problem reported, if it is missing.
    func required(_ key: String) -> String {
        if members[key] == nil { missing(key) }
        return string(key) ?? ""
    }

    func boolean(_ key: String) -> Bool? {
        guard let node = members[key] else { return nil }
        guard case .boolean(let value) = node.value else {
            wrong(key, "true or false", node)
            return nil
        }
        return value
    }

    func integer(_ key: String) -> Int? {
        guard let node = members[key] else { return nil }
        guard case .number(let digits) = node.value, let value = Int(digits) else {
            wrong(key, "a whole number", node)
            return nil
        }
        return value
    }

    /// Any value as JSON text.
    func json(_ key: String) -> String? { members[key]?.text }

    /// One of an enumeration's words.
    func word<Word: RawRepresentable & CaseIterable>(_ key: String, of type: Word.Type) -> Word? where Word.RawValue == String {
        guard let text = string(key) else { return nil }
        let words = Word.allCases.map(\.rawValue)
        if let word = Word(rawValue: text) { return word }
        reader.report(
            .value, path[key], "\"\(text)\" is not one of \(words.joined(separator: ", "))",
            suggestion: Suggestion.didYouMean(text, among: words))
        return nil
    }

    /// The elements of a list, with their places; empty if there is no list.
    func list(_ key: String) -> [(node: JSONSyntaxNode, path: ModelPath)] {
        guard let node = members[key] else { return [] }
        guard case .array(let elements) = node.value else {
            wrong(key, "an array", node)
            return []
        }
        return elements.enumerated().map { ($0.element, path[key][$0.offset]) }
    }

    func strings(_ key: String) -> [String] {
        list(key).map { node, path in
            if case .string(let string) = node.value { return string }
            reader.report(.value, path, "expected a string, found \(node.kind)")
            return ""
        }
    }

    /// An object whose values are strings, in the order of the document: `{"id": "customerId"}`.
    func pairs(_ key: String) -> [(String, String)] {
        guard let node = members[key] else { return [] }
        guard case .object(let members) = node.value else {
            wrong(key, "an object", node)
            return []
        }
        return members.map { member in
            if case .string(let value) = member.node.value { return (member.key, value) }
            reader.report(.value, path[key][member.key], "expected a string, found \(member.node.kind)")
            return (member.key, "")
        }
    }

    func missing(_ key: String) {
        reader.markMisread(path[key])
        reader.report(.missing, path, "the key \"\(key)\" is missing", line: node.line, column: node.column)
    }

    private func wrong(_ key: String, _ expected: String, _ node: JSONSyntaxNode) {
        reader.report(.value, path[key], "expected \(expected), found \(node.kind)")
    }
}
