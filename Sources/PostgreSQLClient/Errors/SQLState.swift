/// The meaning of the server's error codes, as in PostgreSQL's documentation, "Appendix A. PostgreSQL Error Codes".
enum SQLState {
    /// The kind of a failure. `57014` is ``PostgreSQLError/Code/cancelled`` here; the session knows whose wish that was.
    static func code(_ state: String) -> PostgreSQLError.Code { single[state] ?? classes[String(state.prefix(2))] ?? .other }

    /// The kind of a refused row.
    static func violation(_ state: String) -> PostgreSQLError.Violation.Kind {
        switch state {
        case "23505": .unique
        case "23503": .foreignKey
        case "23502": .notNull
        case "23514": .check
        default: .other
        }
    }

    /// Whether the server ended the session while it waited for a statement: none can have taken effect.
    static func isEndOfIdleSession(_ state: String?) -> Bool { state == "25P03" || state == "57P05" }

    private static let single: [String: PostgreSQLError.Code] = [
        "0A000": .other, "22021": .invalidText, "22P05": .invalidText, "25006": .readOnly, "25P02": .transactionFailed,
        "25P03": .connectionLost, "25P04": .connectionLost, "26000": .staleStatement, "3D000": .undefinedObject, "3F000": .undefinedObject,
        "40001": .serialization, "40003": .commitUnknown, "40P01": .deadlock, "42501": .permission, "42601": .syntax,
        "42703": .undefinedObject, "42704": .undefinedObject, "42883": .undefinedObject, "42P01": .undefinedObject, "55P03": .lockNotAvailable,
        "57014": .cancelled, "57P01": .shuttingDown, "57P02": .shuttingDown, "57P03": .shuttingDown, "57P04": .connectionLost,
        "57P05": .connectionLost,
    ]

    private static let classes: [String: PostgreSQLError.Code] = [
        "08": .connectionLost, "22": .invalidValue, "23": .constraint, "28": .authentication, "40": .serialization, "53": .outOfResources,
    ]
}
