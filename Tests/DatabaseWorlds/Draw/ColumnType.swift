/// A type of columns with values that are worth a try. All are SQL.
struct ColumnType: Sendable {
    /// The declaration.
    let sql: String
    /// Ordinary values; a check excludes the last one.
    let values: [String]
    /// Values that are not ordinary, by what is special about them.
    var specials: [DatabaseFeature: [String]] = [:]
    /// The n-th of values that differ from each other; nil where there are few.
    var distinct: (@Sendable (Int) -> String)?
    /// A default that the back end computes.
    var function: String?
    /// Statements that the type needs.
    var prelude: [String] = []
    /// Whether `<>` compares values.
    var isComparable = true
    /// A value that a column without constraints refuses.
    var refused: String?
    /// The declaration of a column that refers to such a column; nil for the same.
    var referring: String?

    /// The type with this name; features that are not types have that of texts.
    static func of(_ feature: DatabaseFeature, _ engine: DatabaseEngine) -> ColumnType {
        (engine == .sqlite ? sqlite[feature] : postgreSQL[feature]) ?? ColumnType(sql: "TEXT", values: ["'a'", "'b'", "'c'"], distinct: texts)
    }

    /// The features that are types.
    static func features(_ engine: DatabaseEngine) -> [DatabaseFeature] { (engine == .sqlite ? sqlite : postgreSQL).keys.sorted() }

    // MARK: Common values

    static let texts: @Sendable (Int) -> String = { "'key \($0)'" }
    static let numbers: @Sendable (Int) -> String = { "\($0 + 1)" }
    static let dates: @Sendable (Int) -> String = { "'2024-\($0 % 12 < 9 ? "0" : "")\($0 % 12 + 1)-\($0 / 12 % 18 + 10)'" }
    static let clocks: @Sendable (Int) -> String = { "'\($0 / 50 % 10 + 10):\($0 % 50 + 10):00'" }
    static let moments: @Sendable (Int) -> String = { "'2024-\($0 % 12 < 9 ? "0" : "")\($0 % 12 + 1)-\($0 / 12 % 18 + 10) 08:30:00'" }
    static let identifiers: @Sendable (Int) -> String = { "'6f9619ff-8b86-d011-b42d-00c04f\(100_000 + $0)'" }

    static let identifierValues = [
        "'6f9619ff-8b86-d011-b42d-00c04fc964ff'", "'00000000-0000-0000-0000-000000000000'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'",
        "'123e4567-e89b-12d3-a456-426614174000'",
    ]
    static let textValues = ["'open'", "'shipped'", "'O''Neill; --'", "' lead and trail '", "'excluded'"]
    static let textSpecials: [DatabaseFeature: [String]] = [
        .emptyText: ["''"], .unicodeText: ["'Äpfel 🍎 ﷽ e\u{301}'", "'line\nbreak\ttab\r\n'", "'\u{2028}\u{FEFF}'"],
    ]
}
