/// A text of any length in a short form: `long 1200000 17` is a text of 1,200,000 characters that begins with these words. Oracle and rig keep the short form alone.
enum LongText {
    /// The column and the attribute of long texts.
    static let column = "text"
    /// The members of the model.
    static let modelled = #""type": "bigString""#
    private static let pattern = "0123456789abcdefghijklmnopqrstuvwxyz_"

    static func form(length: Int, number: Int) -> String { "long \(length) \(number)" }

    /// The text of a form.
    static func content(_ form: String) -> String {
        let length = length(form), start = form + "|"
        let count = max(0, length - start.count), whole = String(repeating: pattern, count: count / pattern.count)
        return start + whole + pattern.prefix(count % pattern.count)
    }

    private static func length(_ form: String) -> Int {
        let words = form.split(separator: " ")
        return words.count == 3 ? Int(words[1]) ?? 0 : 0
    }

    /// The form of a text of this length; its beginning and some of its places are enough.
    static func form(length: Int, reading: (_ position: Int, _ count: Int) throws -> String) rethrows -> String {
        let start = try reading(0, min(length, 40)), form = String(start.prefix { $0 != "|" })
        guard Self.length(form) == length else { return "damaged text of \(length) characters: \(start)" }
        for position in [length / 3, length / 2, max(0, length - 30)] where position > form.count {
            let found = try reading(position, min(20, length - position)), first = (position - form.count - 1) % pattern.count
            guard found == (pattern + pattern).dropFirst(first).prefix(found.count) else {
                return "damaged text of \(length) characters: at \(position) \(found)"
            }
        }
        return form
    }

    /// The form of the column as an expression of PostgreSQL, which compares the whole text.
    static let expression = """
        CASE WHEN \(column) = rpad(split_part(\(column), '|', 1) || '|', length(\(column)), '\(pattern)') \
        AND split_part(\(column), ' ', 2) = length(\(column))::text THEN split_part(\(column), '|', 1) \
        WHEN \(column) IS NOT NULL THEN 'damaged text of ' || length(\(column)) || ' characters' END
        """
}
