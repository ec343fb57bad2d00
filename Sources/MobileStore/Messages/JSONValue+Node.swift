extension JSONValue {
    /// Makes a tree of a value of a document that was parsed with ``JSONDocument/DuplicateKeys/lastWins``: of two members with one key, the last
    /// one counts, at the place of the first one. A value that does not exist becomes null.
    package init(lastMembersOf node: JSONNode) {
        if node.isObject {
            self = .object(Self.members(of: node))
        } else if node.isArray {
            self = .array(node.map { JSONValue(lastMembersOf: $0) })
        } else if let boolean = node.boolean {
            self = .boolean(boolean)
        } else if let integer = node.integer {
            self = .integer(integer)
        } else if let text = node.numberText {
            self = .number(text)
        } else if let string = node.string {
            self = .string(string)
        } else {
            self = .null
        }
    }

    /// Finds keys by their bytes: strings of Swift are already equal when they are canonically equivalent.
    private static func members(of node: JSONNode) -> JSONObject {
        var members: [JSONObject.Member] = [], places: [[UInt8]: Int] = [:]
        for (key, value) in zip(node.keys, node) {
            let value = JSONValue(lastMembersOf: value)
            if let place = places[Array(key.utf8)] {
                members[place].value = value
            } else {
                places[Array(key.utf8)] = members.count
                members.append(JSONObject.Member(key: key, value: value))
            }
        }
        return JSONObject(checked: members)
    }
}
