/// Escapes and cuts texts from outside (names of devices, paths, statements) in lines for people: no text forges a line of a log or moves a
/// terminal's cursor.
package enum LogSanitizer {
    /// The maximum length of a line, in bytes.
    static let longest = 4096
    /// The maximum length of a name that is shown as a whole, in scalars.
    static let longestName = 80

    /// Returns the text as one line. Characters that would begin another line, move the cursor, change the writing direction or be invisible appear
    /// as escape sequences. Longer texts are cut and end with `...`. A text that was escaped before stays unchanged.
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

    /// Returns the beginning of a name that was chosen outside the server. The cut counts scalars, because one character may be as long as the whole
    /// text.
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
