/// A SELECT in parts, whose rows are read page by page, by key.
///
///     PageQuery(["id", "name"], from: "customer", where: "city = ?1", orderedBy: [.init("name"), .init("id")], ["Dublin"])
///
/// The parts are SQL and run unchanged: never make them from users' input; pass values as ``values``. Parameters are
/// numbered (`?1`, `?2`), because the parts are used more than once.
public struct PageQuery: Sendable, Hashable {
    /// The expressions of the columns, without AS names. Reading is fastest with up to 127 expressions, including those of the order.
    public var columns: [String]
    /// The SQL after FROM.
    public var source: String
    /// The SQL after WHERE; `nil`: all rows.
    public var condition: String?
    /// The terms of the order, 1 to 16. Together they distinguish any two rows. The last one, usually the key, is never NULL.
    public var order: [OrderTerm]
    /// The values of the parameters, in order.
    public var values: [Value]

    /// Makes a query of columns of a table or join, of the rows that meet the condition, in an order. `values` are those of its parameters.
    public init(_ columns: [String], from source: String, where condition: String? = nil, orderedBy order: [OrderTerm], _ values: [Value] = []) {
        self.columns = columns
        self.source = source
        self.condition = condition
        self.order = order
        self.values = values
    }

    /// The names of the columns: a quoted name without its quotes, other expressions unchanged.
    var columnNames: [String] {
        columns.map { expression in
            guard expression.count > 2, expression.first == "\"", expression.last == "\"" else { return expression }
            let inner = expression.dropFirst().dropLast().replacing("\"\"", with: "\u{0}")
            return inner.contains("\"") ? expression : String(inner.replacing("\u{0}", with: "\""))
        }
    }

    /// One term of an order.
    public struct OrderTerm: Sendable, Hashable {
        /// The SQL of the term, with a COLLATE unless the column's own applies. A term that is spelled like one of the columns is read once.
        public var expression: String
        /// Whether the largest value comes first.
        public var isDescending: Bool
        /// The position of NULL.
        public var nulls: Nulls

        /// Makes a term of an order.
        public init(_ expression: String, descending: Bool = false, nulls: Nulls = .asSmallest) {
            self.expression = expression
            isDescending = descending
            self.nulls = nulls
        }
    }

    /// The position of NULL in an order.
    public enum Nulls: Sendable, Hashable {
        /// SQLite's default: before all values when ascending, after them when descending. An index has this order.
        case asSmallest
        /// Before all values.
        case first
        /// After all values.
        case last
    }
}
