internal import MobileModel
internal import MobileStore

/// The form in which a column has the values of an attribute, where its type does not prescribe one.
protocol ValueForm: Sendable {
    /// Returns a value of a device in this form.
    func value(_ value: Value, _ type: AttributeType) -> Value
}

/// The words that a column of SQLite has for true and false, such as `Y` and `N`.
///
/// **A boolean is written in the words that the column's rows have.** *Why:* other applications ask for `admin = 't'`, and checks list the words. *If you break
/// it:* a user who is an administrator on the device is not one for the application. Rows of several forms, and no words at all, leave the numbers 1 and 0.
struct BooleanForm: ValueForm, Equatable {
    let yes: String, no: String

    /// The pairs of words that belong together, in small letters.
    private static let pairs = Array(zip(ColumnExpression.trueWords, ColumnExpression.falseWords)).filter { $0.0 != "1" }

    /// Finds the form of values; nil if they have none in common, or are not words.
    /// - Parameter values: present values, not NULL. An empty text is false as well, and none of the words if there is another one for it.
    init?(of values: [Value]) {
        let texts = Set(values.map(\.text))
        guard !texts.contains(nil) else { return nil }
        let words = texts.compactMap(\.self).filter { !$0.isEmpty }
        guard let word = words.first, let pair = Self.pairs.first(where: { [$0.0, $0.1].contains(word.lowercased()) }) else { return nil }
        let yes = words.filter { $0.lowercased() == pair.0 }, no = words.filter { $0.lowercased() == pair.1 }
        guard yes.count <= 1, no.count <= 1, yes.count + no.count == words.count else { return nil }
        self.yes = yes.first ?? Self.written(pair.0, like: word)
        self.no = no.first ?? (texts.contains("") ? "" : Self.written(pair.1, like: word))
    }

    /// The word in the letters of case of the other one.
    private static func written(_ word: String, like other: String) -> String {
        guard let first = other.first, first.isUppercase else { return word }
        return other == other.uppercased() ? word.uppercased() : word.prefix(1).uppercased() + word.dropFirst()
    }

    func value(_ value: Value, _ type: AttributeType) -> Value {
        guard type == .boolean, let number = value.integer else { return value }
        return .text(number == 0 ? no : yes)
    }
}
