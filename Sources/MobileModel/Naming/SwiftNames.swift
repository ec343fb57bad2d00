/// How modelled names become Swift names. The documented rules (GEN-14, GEN-15) and nothing else: white space is removed, `.` becomes
/// `_`, and a member that the runtime's classes have already gets a `_` at its end, as `id_` and `description_`.
public enum SwiftNames {
    /// The modelled name as a Swift identifier; not one yet where the modelled name begins with a digit or holds other characters.
    public static func converted(_ modelled: String) -> String {
        String(String.UnicodeScalarView(modelled.unicodeScalars.filter { !$0.properties.isWhitespace }.map { $0 == "." ? "_" : $0 }))
    }

    /// The name of a property or method: `id` becomes `id_`, because every entity has an `id` of its own.
    public static func member(_ modelled: String) -> String {
        let name = converted(modelled)
        return ReservedNames.members.contains(name) ? name + "_" : name
    }

    /// A member's name as it stands in Swift code: keywords in backticks.
    public static func memberInCode(_ modelled: String) -> String { inCode(member(modelled)) }

    /// A name as it stands in Swift code: keywords in backticks.
    public static func inCode(_ name: String) -> String { ReservedNames.keywords.contains(name) ? "`\(name)`" : name }

    /// The name of a generated class.
    public static func type(_ modelled: String, prefix: String) -> String { prefix + converted(modelled) }

    /// Letters A to Z of both cases, digits and underscores, not beginning with a digit.
    public static func isIdentifier(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, !("0"..."9").contains(first) else { return false }
        return name.unicodeScalars.allSatisfy {
            ("a"..."z").contains($0) || ("A"..."Z").contains($0) || ("0"..."9").contains($0) || $0 == "_"
        }
    }

    /// `name` with its first letter in upper case: `changeLastName` in `CustomerChangeLastNameOperation`.
    public static func capitalized(_ name: String) -> String { name.prefix(1).uppercased() + name.dropFirst() }
}

/// Names that generated code, the runtime or the local database use themselves.
enum ReservedNames {
    /// Words of the language that can be a member's name only in backticks.
    static let keywords: Set<String> = [
        "Any", "Self", "actor", "any", "as", "associatedtype", "async", "await", "borrowing", "break", "case", "catch", "class", "consuming",
        "continue", "convenience", "default", "defer", "deinit", "do", "dynamic", "else", "enum", "extension", "fallthrough", "false",
        "fileprivate", "for", "func", "guard", "if", "import", "in", "inout", "internal", "is", "let", "nil", "operator", "package",
        "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return", "some", "static", "struct", "subscript", "super",
        "switch", "throw", "throws", "true", "try", "typealias", "unowned", "var", "weak", "where", "while",
    ]

    /// Members of the runtime's entities, and words that cannot be a member's name even in backticks.
    static let members: Set<String> = [
        "Columns", "Protocol", "Self", "Type", "attributeChanged", "bigBinary", "bigString", "cancelPending", "children", "columns", "copyAll",
        "countWithQuery", "create", "delete", "description", "debugDescription", "entity", "entityMetadata", "find", "findAll",
        "findByPrimaryKey", "findWithQuery", "getInstance", "hash", "hashValue", "id", "init", "isLoading", "json", "keyToString",
        "lastOperation", "load", "logRecords", "metaData", "metadata", "newLogRecord", "object", "observe", "originalState", "package", "page",
        "parent", "query", "refresh", "save", "self", "setChildren", "setParent", "setValue", "setAttribute", "state", "submitPending",
        "downloadState", "update", "value",
    ]

    /// Attributes that every object has in queries (state and key); a modelled attribute cannot have such a name.
    static let queryAttributes: Set<String> = [
        "surrogateKey", "pending", "isPending", "isNew", "isDirty", "isCreated", "isUpdated", "isDeleted", "pendingChange", "replayCounter",
        "replayPending", "replayFailure", "disableSubmit", "hasLogRecords",
    ]

    /// Columns that every table of the local database has; object SQL may name them.
    static let stateColumns: Set<String> = ["_sk", "_pc", "_rc", "_rp", "_rf"]

    /// Types that generated code refers to; a class of that name would hide them.
    static let types: Set<String> = [
        "Any", "AnyObject", "Array", "AsyncSequence", "AttributeMetadata", "AttributeValue", "BigBinary", "BigString", "Bool", "ByteCount",
        "CallbackHandler", "Character", "Children", "Codable", "Column", "Columns", "ConnectionProfile", "Data", "Database", "Date", "Decimal",
        "Dictionary", "Double", "Entity", "EntityList", "EntityMetadata", "Environment", "Error", "Float", "GenericEntity", "Hashable", "Int",
        "Int16", "Int32", "Int64", "Int8", "KeyGenerator", "LocalDate", "LocalTime", "LogRecord", "MobileObjects", "MobileStore",
        "MobileModel", "MobileSync", "Never", "Operation", "Optional", "OutboxRecord", "PackageDatabase", "PackageMetadata", "PackageModel",
        "Protocol", "Query", "Result", "Row", "RowPage", "Self", "Sendable", "Sequence", "Set", "String", "Structure", "Swift", "Subscription",
        "Type", "UInt8", "UUID", "Value", "Void",
    ]

    /// Names of generated parameters of finders; a query's parameter of that name would be there twice.
    static let finderParameters: Set<String> = ["in", "package", "self", "skip", "take"]

    /// Personalization keys that every package has: the session's user.
    static let personalizationKeys: Set<String> = ["username", "password"]

    /// Properties that the original's parameter classes have beside the modelled ones.
    static let parameterProperties: Set<String> = ["size", "user"]
}
