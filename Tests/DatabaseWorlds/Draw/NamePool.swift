/// Names of tables and columns that people have, and that a language, an engine or the product may stumble over.
enum NamePool {
    /// Names by what is special about them.
    static let names: [DatabaseFeature: [String]] = [
        .swiftWord: ["class", "self", "init", "Type", "where", "protocol", "nil", "async", "some"],
        .sqlWord: ["order", "select", "group", "user", "check", "from", "primary", "values"],
        .spaces: ["unit price", "two  spaces", " first", "last "],
        .quotes: ["say \"hi\"", "it's", "back`tick", "[bracket]", "\"", "semi;colon--"],
        .foreignLetters: ["straße", "价格", "имя", "naïve", "İd", "café", "🍎"],
        .dots: ["a.b", "main.x", ".first", "public.t9"],
        .marks: ["per%cent", "que?stion1", "col:on", "dol$1lar", "at@home", "a-b", "a/b", "***", "back\\slash", "+"],
        .digitName: ["1st", "42", "2fa_code"],
        .longName: [
            "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff123", "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff124",
        ],
        .memberName: ["description", "hash", "children", "metadata", "state", "package", "find", "save", "hashValue", "entity", "value", "columns"],
        .stateName: ["_sk", "_pc", "surrogateKey", "pending", "is_new", "replay_counter", "rowid", "_rowid_"],
        .tablePackages: ["packages"], .tableAny: ["any", "Any"], .tableMobile: ["mobile_notes", "mobile_numbers", "sqlite"],
        .columnTrue: ["true", "false"],
        .caseOnlyTables: ["PLAIN", "Plain", "plain"], .caseOnlyColumns: ["NOTE", "Note", "note"],
    ]

    /// Names that only tables have, and names that only columns have.
    static let ofTables: Set<DatabaseFeature> = [.caseOnlyTables, .tablePackages, .tableAny, .tableMobile]
    static let ofColumns: Set<DatabaseFeature> = [.caseOnlyColumns, .stateName, .columnTrue]

    private static let features: [String: DatabaseFeature] = Dictionary(
        names.flatMap { feature, names in names.map { ($0, feature) } }, uniquingKeysWith: { min($0, $1) })

    /// The features of a name; names in other letters of case are special only with one another.
    static func features(of name: String) -> Set<DatabaseFeature> { features[name].map { [$0] } ?? [] }

    /// A name of SQL in quotation marks.
    static func quoted(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }

    /// A text as SQL.
    static func literal(_ text: String) -> String { "'" + text.replacing("'", with: "''") + "'" }
}
