public import Foundation

/// A condition on one attribute. SMP 2.3: `SUPAttributeTest`.
public struct AttributeTest: Sendable, Hashable {
    /// An attribute; in `having` also an aggregate. The operators for subqueries ignore it.
    public var attribute: String
    /// The comparison. SMP 2.3: `operator`.
    public var `operator`: Operator
    /// The value to compare with. The operators for null ignore it.
    public var testValue: TestValue

    /// Creates a test; its parts can also be set one by one.
    public init(_ attribute: String = "", _ operator: Operator = .equal, _ value: some TestOperand = TestValue.value(.null)) {
        (self.attribute, self.operator, testValue) = (attribute, `operator`, value.testValue)
    }

    /// The documented operators with their numbers. Values of the wrong type are errors when the query runs; a text is taken for a number, a date or
    /// a boolean where it is one. As in SQL, neither a comparison nor its opposite holds for null: test for null with ``isNull``.
    public enum Operator: Int, Sendable, Hashable, CaseIterable {
        /// There is no value.
        case isNull = 1
        /// There is a value.
        case notNull
        /// Null is equal to null alone.
        case equal
        /// With null: ``notNull``.
        case notEqual
        /// `%` stands for any characters, `_` for one; A to Z and a to z are the same. For strings, characters, dates and times, as are those below.
        case like
        /// Not null, and not like the pattern.
        case notLike
        /// The same as ``equal``.
        case match
        /// The same as ``notEqual``.
        case notMatch
        /// Less than a value.
        case lessThan
        /// Less than a value, or equal.
        case lessEqual
        /// Greater than a value.
        case greaterThan
        /// Greater than a value, or equal.
        case greaterEqual
        /// The value is a part of the attribute's; A to Z and a to z are the same, `%` and `_` stand for themselves. The same applies to the next
        /// five.
        case contains
        /// Not null, and the value is not a part of it.
        case notContains
        /// The attribute's text begins with the value.
        case startsWith
        /// Not null, and it does not begin with the value.
        case notStartsWith
        /// The attribute's text ends with the value.
        case endsWith
        /// Not null, and it does not end with the value.
        case notEndsWith
        /// Equal to one value of a list, or of the rows of a query with one item.
        case `in`
        /// Not null, and equal to none of them. With an empty list it holds for every row.
        case notIn
        /// The query has rows; it may refer to attributes of the outer query with a ``QueryColumn``.
        case exists
        /// The query has no rows.
        case notExists
    }
}

/// The right side of a comparison.
public indirect enum TestValue: Sendable, Hashable {
    /// One value, null included.
    case value(AttributeValue)
    /// For ``AttributeTest/Operator/in`` and its opposite.
    case list([AttributeValue])
    /// Another attribute of this query or of an outer one.
    case column(QueryColumn)
    /// The value of the first row, the rows of ``AttributeTest/Operator/in``, or the existence of rows.
    case query(Query)
}

/// An attribute as a value: of this query or, in a subquery, of an outer one. SMP 2.3: `SUPColumn`.
public struct QueryColumn: Sendable, Hashable {
    /// The alias of the source, this query's or an outer one's.
    public var alias: String
    /// The attribute's modelled name.
    public var attribute: String

    /// Names an attribute of the source with this alias.
    public init(_ alias: String, _ attribute: String) { (self.alias, self.attribute) = (alias, attribute) }
}

/// A possible right side of a test: values of attributes, lists of them, a ``QueryColumn``, a ``Query``.
public protocol TestOperand {
    /// The operand as a test keeps it.
    var testValue: TestValue { get }
}

extension TestOperand where Self: AttributeConvertible {
    /// The value.
    public var testValue: TestValue { .value(attributeValue) }
}

extension Int: TestOperand {}
extension Int64: TestOperand {}
extension Int32: TestOperand {}
extension Int16: TestOperand {}
extension Int8: TestOperand {}
extension Double: TestOperand {}
extension Float: TestOperand {}
extension Decimal: TestOperand {}
extension Bool: TestOperand {}
extension String: TestOperand {}
extension LocalDate: TestOperand {}
extension LocalTime: TestOperand {}
extension Date: TestOperand {}
extension AttributeValue: TestOperand {}
extension QueryColumn: TestOperand {
    /// The attribute.
    public var testValue: TestValue { .column(self) }
}

extension Query: TestOperand {
    /// The query.
    public var testValue: TestValue { .query(self) }
}

extension TestValue: TestOperand {
    /// Itself.
    public var testValue: TestValue { self }
}

extension Optional: TestOperand where Wrapped: TestOperand {
    /// The value, or null.
    public var testValue: TestValue { self?.testValue ?? .value(.null) }
}

extension Array: TestOperand where Element: AttributeConvertible {
    /// The elements in order.
    public var testValue: TestValue { .list(map(\.attributeValue)) }
}
