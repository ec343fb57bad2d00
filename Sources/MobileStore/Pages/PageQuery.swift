/// A SELECT in parts, whose rows are paged through by key.
///
///     PageQuery(["id", "name"], from: "customer", where: "city = ?1", orderedBy: [.init("name"), .init("id")], ["Dublin"])
///
/// The parts are SQL and are run as they are: never make them from what users write; give values as ``values``. Parameters are
/// numbered (`?1`, `?2`), because the parts are used more than once.
public struct PageQuery: Sendable, Hashable {
    /// Expressions, without names given by AS. Up to 127, those of the order included, are read fastest.
    public var columns: [String]
    /// What stands behind FROM.
    public var source: String
    /// What stands behind WHERE; `nil`: all rows.
    public var condition: String?
    /// The terms together tell any two rows apart, and the last one, mostly the key, is never NULL. 1 to 16.
    public var order: [OrderTerm]
    /// The values of the parameters, in order.
    public var values: [Value]

    /// Columns of a table or join, of the rows where the condition holds, in an order; `values` are bound to the condition's parameters.
    public init(_ columns: [String], from source: String, where condition: String? = nil, orderedBy order: [OrderTerm], _ values: [Value] = []) {
        self.columns = columns
        self.source = source
        self.condition = condition
        self.order = order
        self.values = values
    }

    /// A quoted name without its quotes; other expressions as they are.
    var columnNames: [String] {
        columns.map { expression in
            guard expression.count > 2, expression.first == "\"", expression.last == "\"" else { return expression }
            let inner = expression.dropFirst().dropLast().replacing("\"\"", with: "\u{0}")
            return inner.contains("\"") ? expression : String(inner.replacing("\u{0}", with: "\""))
        }
    }

    /// One term of an order.
    public struct OrderTerm: Sendable, Hashable {
        /// SQL, with a COLLATE if it is not the column's own. Where it is written like one of the columns, it is read once.
        public var expression: String
        /// Whether the largest value comes first.
        public var isDescending: Bool
        /// Where NULL stands.
        public var nulls: Nulls

        /// A term of an order.
        public init(_ expression: String, descending: Bool = false, nulls: Nulls = .asSmallest) {
            self.expression = expression
            isDescending = descending
            self.nulls = nulls
        }
    }

    /// Where NULL stands in an order.
    public enum Nulls: Sendable, Hashable {
        /// As SQLite has it: before all values when ascending, behind them when descending. An index has this order.
        case asSmallest
        /// Before all values.
        case first
        /// Behind all values.
        case last
    }
}
