/// A test of the objects of one class, whose attributes and values the compiler has checked.
public struct EntityPredicate<Root: QueryableEntity>: Sendable, Hashable {
    /// The test as one made by names.
    public let test: TestCriteria

    init(_ test: TestCriteria) { self.test = test }

    /// Objects that have log records.
    public static var hasLogRecords: EntityPredicate { EntityPredicate(.equal(SyntheticAttribute.hasLogRecords.rawValue, true)) }

    /// Objects for which a query with its own test has rows; the query refers to this class's attributes with a ``QueryColumn`` whose alias is
    /// the class's modelled name.
    ///
    ///     let orders = Query().select("o.id").from("SalesOrder", "o").where(.equal("o.customerId", QueryColumn("Customer", "id")))
    ///     let buyers = try Customer.where(.exists(orders)).find(in: crm)
    public static func exists(_ query: Query) -> EntityPredicate { EntityPredicate(.exists(query)) }

    /// Objects with a related object that passes a test: those that have such an object in the list of the relationship, or at its one end. Without
    /// a test: those that have any.
    ///
    ///     let buyers = Customer.where(\.city == "Dublin" && .contains(\.orders, where: \.total > 100))
    ///     for customer in try buyers.find(in: crm) { print(customer.name) }
    public static func contains<Target: QueryableEntity>(
        _ relationship: KeyPath<Root.Relationships, Relationship<Root, Target>>, where test: EntityPredicate<Target>? = nil
    ) -> EntityPredicate {
        var related = Query().select("surrogateKey").from(Target.metadata.name)
        (related.testCriteria, related.relationship) = (test?.test, Root.relationships[keyPath: relationship].name)
        return exists(related)
    }

    /// The same with the attributes of the related object as an argument.
    public static func contains<Target: QueryableEntity>(
        _ relationship: KeyPath<Root.Relationships, Relationship<Root, Target>>, where test: (Target.Columns) -> EntityPredicate<Target>
    ) -> EntityPredicate { contains(relationship, where: test(Target.columns)) }

    /// The text is a part of the attribute's; A to Z and a to z are the same. It is `$0.name.contains("food")` for tests by key path, which cannot have
    /// methods.
    ///
    ///     let query = Customer.where(\.city == "Dublin" && .contains(\.name, "food"))
    ///     let customers = try query.find(in: crm)
    public static func contains<Value: TextualValue>(_ column: KeyPath<Root.Columns, Column<Root, Value>>, _ text: String) -> EntityPredicate {
        Root.columns[keyPath: column].contains(text)
    }

    /// The object has the words of a text in its searchable attributes, the last word being the beginning of one: see ``TextSearch``.
    ///
    ///     let query = Customer.where(\.city == "Dublin" && .matching("harbour fo"))
    ///     for customer in try query.find(in: crm) { print(customer.name) }
    public static func matching(_ text: String) -> EntityPredicate { matching(TextSearch(text)) }

    /// The object passes a search.
    ///
    ///     let anyWord = TextSearch("harbour mill", in: ["name"], requiring: .any)
    ///     for customer in try Customer.where(.matching(anyWord)).find(in: crm) { print(customer.name) }
    public static func matching(_ search: TextSearch) -> EntityPredicate { EntityPredicate(.search(search)) }

    /// Both hold.
    public static func && (left: EntityPredicate, right: EntityPredicate) -> EntityPredicate { EntityPredicate(left.test && right.test) }
    /// At least one of both holds.
    public static func || (left: EntityPredicate, right: EntityPredicate) -> EntityPredicate { EntityPredicate(left.test || right.test) }
    /// The test does not hold.
    public static prefix func ! (predicate: EntityPredicate) -> EntityPredicate { EntityPredicate(!predicate.test) }
}

// MARK: Attributes by key path: `\.city == "Dublin"`

/// An attribute that is equal to a value; with nil: null.
public func == <Root: QueryableEntity, Value: AttributeConvertible>(
    column: KeyPath<Root.Columns, Column<Root, Value>>, value: Value
) -> EntityPredicate<Root> { Root.columns[keyPath: column] == value }

/// An attribute that is other than a value, and not null; with nil: not null.
public func != <Root: QueryableEntity, Value: AttributeConvertible>(
    column: KeyPath<Root.Columns, Column<Root, Value>>, value: Value
) -> EntityPredicate<Root> { Root.columns[keyPath: column] != value }

/// An attribute that is less than a value, and not null.
public func < <Root: QueryableEntity, Value: AttributeConvertible & Comparable>(
    column: KeyPath<Root.Columns, Column<Root, Value>>, value: Value
) -> EntityPredicate<Root> { Root.columns[keyPath: column] < value }

/// An attribute that is less than a value or equal, and not null.
public func <= <Root: QueryableEntity, Value: AttributeConvertible & Comparable>(
    column: KeyPath<Root.Columns, Column<Root, Value>>, value: Value
) -> EntityPredicate<Root> { Root.columns[keyPath: column] <= value }

/// An attribute that is greater than a value, and not null.
public func > <Root: QueryableEntity, Value: AttributeConvertible & Comparable>(
    column: KeyPath<Root.Columns, Column<Root, Value>>, value: Value
) -> EntityPredicate<Root> { Root.columns[keyPath: column] > value }

/// An attribute that is greater than a value or equal, and not null.
public func >= <Root: QueryableEntity, Value: AttributeConvertible & Comparable>(
    column: KeyPath<Root.Columns, Column<Root, Value>>, value: Value
) -> EntityPredicate<Root> { Root.columns[keyPath: column] >= value }

/// An attribute that is less than a value, and not null.
public func < <Root: QueryableEntity, Value: AttributeConvertible & Comparable>(
    column: KeyPath<Root.Columns, Column<Root, Value?>>, value: Value
) -> EntityPredicate<Root> { Root.columns[keyPath: column] < value }

/// An attribute that is less than a value or equal, and not null.
public func <= <Root: QueryableEntity, Value: AttributeConvertible & Comparable>(
    column: KeyPath<Root.Columns, Column<Root, Value?>>, value: Value
) -> EntityPredicate<Root> { Root.columns[keyPath: column] <= value }

/// An attribute that is greater than a value, and not null.
public func > <Root: QueryableEntity, Value: AttributeConvertible & Comparable>(
    column: KeyPath<Root.Columns, Column<Root, Value?>>, value: Value
) -> EntityPredicate<Root> { Root.columns[keyPath: column] > value }

/// An attribute that is greater than a value or equal, and not null.
public func >= <Root: QueryableEntity, Value: AttributeConvertible & Comparable>(
    column: KeyPath<Root.Columns, Column<Root, Value?>>, value: Value
) -> EntityPredicate<Root> { Root.columns[keyPath: column] >= value }

/// Two attributes of an object with equal values.
public func == <Root: QueryableEntity, Value>(
    left: KeyPath<Root.Columns, Column<Root, Value>>, right: KeyPath<Root.Columns, Column<Root, Value>>
) -> EntityPredicate<Root> { Root.columns[keyPath: left] == Root.columns[keyPath: right] }
