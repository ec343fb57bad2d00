import MobileModel
import MobileStore

/// The type of a value in a query: its modelled type, and its stored form.
struct QueryType: Sendable, Equatable {
    let type: AttributeType
    let storage: Storage

    init(_ type: AttributeType, _ storage: Storage) { (self.type, self.storage) = (type, storage) }

    /// Creates a type whose storage follows from it alone.
    init(_ type: AttributeType) { self.init(type, Storage(type)) }

    init(_ attribute: AttributeMetadata) { self.init(attribute.type, attribute.storage) }

    /// Whether it is text with an order that people know: such text is compared with patterns.
    var isTextual: Bool {
        switch storage {
        case .text, .date, .time, .dateTime: true
        default: false
        }
    }

    /// Whether it is a decimal of more digits than an integer has.
    var isTextDecimal: Bool {
        if case .textDecimal = storage { true } else { false }
    }

    /// Whether it is kept as JSON or outside of the row: such values are only compared with null.
    var isOpaque: Bool { storage == .json || storage == .large }
}

/// A piece of SQL with a value.
struct SQLExpression {
    let sql: String
    let type: QueryType

    /// The expression where its order matters: decimals that are kept as text are ordered as numbers.
    var ordered: String {
        guard case .textDecimal = type.storage else { return sql }
        return "\(sql) COLLATE \(ExactDecimal.collation)"
    }

    /// Makes two expressions comparable by SQLite: of the same kind, numbers of the same scale. Returns nil where they are not of one kind.
    static func comparable(_ left: SQLExpression, _ right: SQLExpression) -> (String, String)? {
        switch (left.type.storage, right.type.storage) {
        case (.real, .real): return (left.sql, right.sql)
        case (.real, _): return right.asReal.map { (left.sql, $0) }
        case (_, .real): return left.asReal.map { ($0, right.sql) }
        default: break
        }
        if let leftScale = left.scale, let rightScale = right.scale {
            let scale = max(leftScale, rightScale)
            return (left.shifted(by: scale - leftScale), right.shifted(by: scale - rightScale))
        }
        guard !left.type.isOpaque else { return nil }
        switch (left.type.storage, right.type.storage) {
        case (.textDecimal, .textDecimal): return (left.sql, right.sql)
        case (let one, let other): return one == other ? (left.sql, right.sql) : nil
        }
    }

    /// The digits after the point of a number that is kept as an integer; nil for all other values.
    private var scale: Int? {
        switch type.storage {
        case .integer: 0
        case .scaledDecimal(_, let scale): scale
        default: nil
        }
    }

    private var asReal: String? { scale.map { $0 == 0 ? sql : "(\(sql) / 1e\($0))" } }

    private func shifted(by digits: Int) -> String { digits == 0 ? sql : "(\(sql) * 1\(String(repeating: "0", count: digits)))" }

    /// Returns the common type of two columns of a combination, whose stored values stay unchanged; nil where there is none.
    static func unified(_ left: QueryType, _ right: QueryType) -> QueryType? {
        if left == right { return left }
        switch (left.storage, right.storage) {
        case (.integer, .integer): return QueryType(.long)
        case (.scaledDecimal(_, let one), .scaledDecimal(_, let other)): return one == other ? left : nil
        case (.text, .text): return QueryType(.string)
        case (.real, .real): return QueryType(.double)
        case (let one, let other): return one == other ? left : nil
        }
    }
}
