/// The texts that name the items to select, group or sort by. They are only split here; names are looked up when the query runs.
enum ItemText {
    /// Returns the items separated by commas outside of parentheses, without white space around them.
    static func list(_ text: String) -> [String] {
        var items: [String] = [], start = text.startIndex, depth = 0
        for index in text.indices {
            switch text[index] {
            case "(": depth += 1
            case ")": depth -= 1
            case "," where depth == 0:
                items.append(trimmed(text[start..<index]))
                start = text.index(after: index)
            default: break
            }
        }
        let last = trimmed(text[start...])
        return items.isEmpty && last.isEmpty ? [] : items + [last]
    }

    /// Parses `MIN(c.name) as minName`, `c.name`.
    static func selectItem(_ text: String) -> SelectItem {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count > 2, words[words.count - 2].lowercased() == "as", let alias = words.last else { return SelectItem(text) }
        return SelectItem(trimmed(text[..<words[words.count - 2].startIndex]), as: String(alias))
    }

    /// Parses `function(argument)` or `function(DISTINCT argument)`; nil for any other text.
    static func call(_ text: String) -> (function: String, isDistinct: Bool, argument: String)? {
        guard text.last == ")", let open = text.firstIndex(of: "(") else { return nil }
        let function = trimmed(text[..<open])
        var argument = trimmed(text[text.index(after: open)...].dropLast())
        let words = argument.split(maxSplits: 1, whereSeparator: \.isWhitespace)
        let isDistinct = words.count == 2 && words[0].uppercased() == "DISTINCT"
        if isDistinct { argument = trimmed(words[1]) }
        return (function, isDistinct, argument)
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
