/// Translates the parameters of shared SQL, `?1`, to PostgreSQL's, `$1`.
///
/// Question marks in strings, quoted names, comments and dollar quotes stay, and so do those without a number, which are operators of JSON.
/// The text keeps its length, so positions in the server's messages hold for both, unless a parameter touches the word before it.
struct ParameterTranslation {
    private let sql: [UInt8]
    private var position = 0
    private var translated: [UInt8] = []

    /// Returns the statement with `$1` for `?1`.
    static func translate(_ sql: String) -> String {
        guard sql.utf8.contains(UInt8(ascii: "?")) else { return sql }
        var translation = ParameterTranslation(sql: Array(sql.utf8))
        translation.run()
        return String(decoding: translation.translated, as: UTF8.self)
    }

    private init(sql: [UInt8]) { self.sql = sql }

    private mutating func run() {
        translated.reserveCapacity(sql.count)
        while position < sql.count {
            switch sql[position] {
            case UInt8(ascii: "'"): copyQuoted(by: UInt8(ascii: "'"), hasEscapes: isEscapeString)
            case UInt8(ascii: "\""): copyQuoted(by: UInt8(ascii: "\""), hasEscapes: false)
            case UInt8(ascii: "-") where byte(1) == UInt8(ascii: "-"): copyLine()
            case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "*"): copyComment()
            case UInt8(ascii: "$") where !followsName: copyDollarQuoted()
            case UInt8(ascii: "?") where byte(1).map(isDigit) == true:
                if followsName { translated.append(UInt8(ascii: " ")) }
                translated.append(UInt8(ascii: "$"))
                position += 1
                copy(while: isDigit)
            default: copy(1)
            }
        }
    }

    private func byte(_ distance: Int) -> UInt8? { sql.indices.contains(position + distance) ? sql[position + distance] : nil }

    private mutating func copy(_ count: Int) {
        let end = min(position + count, sql.count)
        translated += sql[position..<end]
        position = end
    }

    private mutating func copy(while condition: (UInt8) -> Bool) {
        copy(sql[position...].prefix(while: condition).count)
    }

    private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private func isNameStart(_ byte: UInt8) -> Bool { byte >= 0x80 || byte == UInt8(ascii: "_") || (byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A) }

    private func isName(_ byte: UInt8) -> Bool { isNameStart(byte) || isDigit(byte) || byte == UInt8(ascii: "$") }

    /// Whether the byte before this place belongs to a name, a key word or a number.
    private var followsName: Bool { byte(-1).map(isName) == true }

    /// Whether the quotation mark at this place begins a string like `E'...'`.
    private var isEscapeString: Bool {
        guard let letter = byte(-1), letter | 0x20 == UInt8(ascii: "e") else { return false }
        return byte(-2).map(isName) != true
    }

    /// Doubled quotation marks need no rule: they end one quotation and begin the next.
    private mutating func copyQuoted(by mark: UInt8, hasEscapes: Bool) {
        copy(1)
        while let next = byte(0), next != mark { copy(hasEscapes && next == UInt8(ascii: "\\") ? 2 : 1) }
        copy(1)
        // With escapes, the second half of a doubled mark still belongs to the string.
        if hasEscapes, byte(0) == mark { copyQuoted(by: mark, hasEscapes: true) }
    }

    private mutating func copyLine() { copy { $0 != UInt8(ascii: "\n") } }

    /// Comments nest.
    private mutating func copyComment() {
        var depth = 0
        repeat {
            switch (byte(0), byte(1)) {
            case (UInt8(ascii: "/"), UInt8(ascii: "*")):
                depth += 1
                copy(2)
            case (UInt8(ascii: "*"), UInt8(ascii: "/")):
                depth -= 1
                copy(2)
            default: copy(1)
            }
        } while depth > 0 && position < sql.count
    }

    /// Copies `$tag$ ... $tag$`, or the dollar alone where no such quotation begins.
    private mutating func copyDollarQuoted() {
        let rest = sql[(position + 1)...]
        let name = rest.first.map(isNameStart) == true ? rest.prefix { isNameStart($0) || isDigit($0) } : rest.prefix(0)
        guard byte(1 + name.count) == UInt8(ascii: "$") else { return copy(1) }
        let tag = sql[position..<(position + name.count + 2)]
        copy(tag.count)
        while position < sql.count, !sql[position...].starts(with: tag) { copy(1) }
        copy(tag.count)
    }
}
