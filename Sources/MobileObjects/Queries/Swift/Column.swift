/// An attribute as part of a query: `Customer.columns.city`. Generated classes have one per attribute in their `Columns`.
public struct Column<Root: Entity, Value>: Sendable {
    /// The position of the attribute, from 0.
    public let index: Int
    /// The modelled name.
    public let name: String

    /// For generated classes.
    @_spi(GeneratedCode) public init(_ index: Int, _ name: String) { (self.index, self.name) = (index, name) }
}

// Tests of one attribute: `$0.city == "Dublin"`. The same as those of ``TestCriteria``.

extension Column where Root: QueryableEntity, Value: AttributeConvertible {
    /// Equal to a value; null is equal to nil alone.
    public static func == (column: Column, value: Value) -> EntityPredicate<Root> { column.test(.equal, value) }
    /// Not null, and other than a value; with nil: not null.
    public static func != (column: Column, value: Value) -> EntityPredicate<Root> { column.test(.notEqual, value) }

    /// Equal to one of these.
    ///
    ///     let query = Customer.where { $0.city.isIn(["Cork", "Galway"]) }
    ///     let customers = try query.find(in: crm)
    public func isIn(_ values: some Sequence<Value>) -> EntityPredicate<Root> { predicate(.in, .list(values.map(\.attributeValue))) }

    /// Not null, and equal to none of these. With an empty list it holds for every object.
    ///
    ///     let query = Customer.where { $0.city.isNotIn(["Cork", "Galway"]) }
    ///     let customers = try query.find(in: crm)
    public func isNotIn(_ values: some Sequence<Value>) -> EntityPredicate<Root> { predicate(.notIn, .list(values.map(\.attributeValue))) }

    fileprivate func test(_ operator: AttributeTest.Operator, _ value: some AttributeConvertible) -> EntityPredicate<Root> {
        predicate(`operator`, .value(value.attributeValue))
    }
}

extension Column where Root: QueryableEntity, Value: AttributeConvertible & Comparable {
    /// Less than a value, and not null.
    public static func < (column: Column, value: Value) -> EntityPredicate<Root> { column.test(.lessThan, value) }
    /// Less than another attribute of the object; neither is null.
    public static func < (left: Column, right: Column) -> EntityPredicate<Root> { left.test(.lessThan, right) }
    /// Less than, or equal to, a value, and not null.
    public static func <= (column: Column, value: Value) -> EntityPredicate<Root> { column.test(.lessEqual, value) }
    /// Less than, or equal to, another attribute of the object; neither is null.
    public static func <= (left: Column, right: Column) -> EntityPredicate<Root> { left.test(.lessEqual, right) }
    /// Greater than a value, and not null.
    public static func > (column: Column, value: Value) -> EntityPredicate<Root> { column.test(.greaterThan, value) }
    /// Greater than another attribute of the object; neither is null.
    public static func > (left: Column, right: Column) -> EntityPredicate<Root> { left.test(.greaterThan, right) }
    /// Greater than, or equal to, a value, and not null.
    public static func >= (column: Column, value: Value) -> EntityPredicate<Root> { column.test(.greaterEqual, value) }
    /// Greater than, or equal to, another attribute of the object; neither is null.
    public static func >= (left: Column, right: Column) -> EntityPredicate<Root> { left.test(.greaterEqual, right) }
}

extension Column where Root: QueryableEntity {
    /// Less than a value, and not null.
    public static func < <Wrapped: AttributeConvertible & Comparable>(column: Column, value: Wrapped) -> EntityPredicate<Root>
    where Value == Wrapped? { column.predicate(.lessThan, .value(value.attributeValue)) }
    /// Less than, or equal to, a value, and not null.
    public static func <= <Wrapped: AttributeConvertible & Comparable>(column: Column, value: Wrapped) -> EntityPredicate<Root>
    where Value == Wrapped? { column.predicate(.lessEqual, .value(value.attributeValue)) }
    /// Greater than a value, and not null.
    public static func > <Wrapped: AttributeConvertible & Comparable>(column: Column, value: Wrapped) -> EntityPredicate<Root>
    where Value == Wrapped? { column.predicate(.greaterThan, .value(value.attributeValue)) }
    /// Greater than, or equal to, a value, and not null.
    public static func >= <Wrapped: AttributeConvertible & Comparable>(column: Column, value: Wrapped) -> EntityPredicate<Root>
    where Value == Wrapped? { column.predicate(.greaterEqual, .value(value.attributeValue)) }

    /// Two attributes of an object with equal values.
    public static func == (left: Column, right: Column) -> EntityPredicate<Root> { left.test(.equal, right) }
    /// Two attributes of an object with values that are not equal, neither of them null.
    public static func != (left: Column, right: Column) -> EntityPredicate<Root> { left.test(.notEqual, right) }

    fileprivate func test(_ operator: AttributeTest.Operator, _ other: Column) -> EntityPredicate<Root> {
        predicate(`operator`, .column(QueryColumn(Root.metadata.name, other.name)))
    }

    fileprivate func predicate(_ operator: AttributeTest.Operator, _ value: TestValue) -> EntityPredicate<Root> {
        EntityPredicate(.attribute(AttributeTest(name, `operator`, value)))
    }
}

/// Texts, which may be null: nothing is a part of null.
public protocol TextualValue {}
extension String: TextualValue {}
extension Optional: TextualValue where Wrapped == String {}

extension Column where Root: QueryableEntity, Value: TextualValue {
    /// `%` stands for any characters, `_` for one; A to Z and a to z are the same.
    ///
    ///     let query = Customer.where { $0.name.like("%inn") }
    ///     let customers = try query.find(in: crm)
    public func like(_ pattern: String) -> EntityPredicate<Root> { predicate(.like, .value(.string(pattern))) }

    /// The text is a part of the attribute's; A to Z and a to z are the same.
    ///
    ///     let query = Customer.where { $0.name.contains("food") }
    ///     let customers = try query.find(in: crm)
    public func contains(_ text: String) -> EntityPredicate<Root> { predicate(.contains, .value(.string(text))) }

    /// The attribute's text begins with this one; A to Z and a to z are the same.
    ///
    ///     let query = Customer.where { $0.name.starts(with: "Mill") }
    ///     let customers = try query.find(in: crm)
    public func starts(with text: String) -> EntityPredicate<Root> { predicate(.startsWith, .value(.string(text))) }

    /// The attribute's text ends with this one; A to Z and a to z are the same.
    ///
    ///     let query = Customer.where { $0.street.ends(with: "Street 3") }
    ///     let customers = try query.find(in: crm)
    public func ends(with text: String) -> EntityPredicate<Root> { predicate(.endsWith, .value(.string(text))) }
}
