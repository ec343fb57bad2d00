/// Lines for people, with texts in them that came from outside: names of devices, paths, statements.
package enum LogLine {
    /// Bytes of the longest line.
    static let longest = 4096
    /// Scalars of the longest name that a line shows whole.
    static let longestName = 80

    /// The text as one line: what would begin another one, move the cursor, turn the direction of writing or cannot be seen stands as
    /// its number. Longer texts are cut, and say so. A text that was escaped before stays as it is.
    package static func escaped(_ text: String, keepingLines: Bool = false) -> String {
        var line = ""
        for scalar in text.unicodeScalars {
            if keepingLines || line.utf8.count < longest - 16 {
                append(scalar, to: &line, keepingLines)
            } else {
                return line + "..."
            }
        }
        return line
    }

    /// The beginning of a name that somebody outside has chosen, cut by scalars: one character may be as long as the whole text.
    static func name(_ text: String) -> String {
        guard let end = text.unicodeScalars.index(text.startIndex, offsetBy: longestName, limitedBy: text.endIndex), end < text.endIndex
        else { return text }
        return String(text.unicodeScalars[..<end]) + "..."
    }

    private static func append(_ scalar: Unicode.Scalar, to line: inout String, _ keepingLines: Bool) {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: break
        default:
            line.unicodeScalars.append(scalar)
            return
        }
        switch scalar {
        case "\n" where keepingLines: line.unicodeScalars.append(scalar)
        case "\n": line += "\\n"
        case "\r": line += "\\r"
        case "\t": line += "\\t"
        default: line += "\\u{\(String(scalar.value, radix: 16))}"
        }
    }
}
