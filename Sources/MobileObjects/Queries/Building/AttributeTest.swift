public import Foundation

/// A condition on one attribute. SMP 2.3: `SUPAttributeTest`.
public struct AttributeTest: Sendable, Hashable {
    /// An attribute; in `having` also an aggregate. Not looked at by the operators for subqueries, which need none.
    public var attribute: String
    /// How the attribute is compared. SMP 2.3: `operator`.
    public var `operator`: Operator
    /// What is compared with. Not looked at by the operators for null.
    public var testValue: TestValue

    /// A test; its parts can be set one by one as well.
    public init(_ attribute: String = "", _ operator: Operator = .equal, _ value: some TestOperand = TestValue.value(.null)) {
        (self.attribute, self.operator, testValue) = (attribute, `operator`, value.testValue)
    }

    /// The documented operators with their numbers. Values of the wrong type are errors when the query runs; a text is taken for a number, a
    /// date or a boolean where it is one. As in SQL, no comparison holds for null, its opposite neither: ask with ``isNull``.
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
        /// The value is a part of the attribute's; A to Z and a to z are the same, `%` and `_` stand for themselves. So the five below.
        case contains
        /// Not null, and the value is no part of it.
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
        /// Equal to none of them.
        case notIn
        /// The query has rows; it may refer to attributes of the outer query with a ``QueryColumn``.
        case exists
        /// The query has no rows.
        case notExists
    }
}

/// What an attribute is compared with.
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

    /// An attribute of the source with this alias.
    public init(_ alias: String, _ attribute: String) { (self.alias, self.attribute) = (alias, attribute) }
}

/// What can stand at the right side of a test: values of attributes, lists of them, a ``QueryColumn``, a ``Query``.
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
