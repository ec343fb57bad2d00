/// A query made at run time: the selected items, their source, the test of the rows and their order. It is a value: every method returns a changed
/// copy.
///
///     let query = Query().select("c.name, o.orderDate").from("Customer", "c").join("SalesOrder", "o", "o.customerId", "c.id")
///         .where(.equal("c.city", "Dublin")).sorted(by: .ascending("c.name"))
///
/// Names are the model's: `alias.attribute`, or the attribute alone where only one source has it. They are looked up when the query runs, and
/// no character of them reaches the SQL text; values are always bound. Objects are found with `findWithQuery` of their class, anything else
/// with `PackageDatabase.executeQuery(_:)`. For queries that the compiler checks see ``EntityQuery``. SMP 2.3: `SUPQuery`.
public struct Query: Sendable, Hashable {
    /// The items to select; empty: all attributes of all sources. SMP 2.3: `selectItems`.
    public var selectItems: [SelectItem] = []
    /// The source of the rows; nil: the class that `findWithQuery` is called on.
    public var source: QuerySource?
    /// The objects joined to the source, in order. SMP 1.5.3: `SUPJoinCriteria`.
    public var joinCriteria: [JoinCondition] = []
    /// The test of the rows; nil: all rows. SMP 2.3: `testCriteria`.
    public var testCriteria: TestCriteria?
    /// The states of the objects whose rows are found; empty: all existing rows. For queries whose source is an entity. SMP 2.3: object state
    /// criteria.
    public var entityFilter: EntityFilter = []
    /// The items that rows are grouped by.
    public var groupItems: [String] = []
    /// The test of the groups; nil: all groups.
    public var havingCriteria: TestCriteria?
    /// The order; objects of equal rank, and all where this is empty, come in the order of their surrogate keys. SMP 2.3: `sortCriteria`.
    public var sortCriteria: [AttributeSort] = []
    /// The number of rows to leave out at the beginning, 0 or more. SMP 2.3: `skip`.
    public var skip = 0
    /// The maximum number of rows to return; a negative number, the default, means all. SMP 2.3: `take`.
    public var take = -1
    /// Whether equal rows are returned once. SMP 2.3: `DISTINCT`.
    public var isDistinct = false

    /// Relationships whose objects are read along with those that are found, each with one more statement: `["orders", "lines"]` for the orders
    /// of each object and their lines. For queries that find objects.
    public var prefetches: [[String]] = []

    /// The relationship of the outer query's first source whose objects the rows of this subquery are; nil: other rows as well.
    var relationship: String?

    /// Creates a query without conditions. SMP 2.3: `getInstance`.
    ///
    ///     var query = Query()
    ///     query.testCriteria = .equal("city", "Cork")
    ///     let inCork = try Customer.findWithQuery(query, in: crm)
    public init() {}
}

/// The source that a query selects from.
public indirect enum QuerySource: Sendable, Hashable {
    /// The rows of an object of the model, by its modelled name; without an alias attributes are qualified by that name.
    case entity(String, alias: String?)
    /// The result of another query.
    case query(Query, alias: String)
    /// Two queries with the same number of items, of types that can be compared; names are those of the first. SMP 2.3: `SUPCompositeQuery`.
    case combination(QueryCombination, Query, Query)
}

/// A way to combine two results. The numbers are the documented ones.
public enum QueryCombination: Int, Sendable, Hashable, CaseIterable {
    /// The rows of both, equal ones once.
    case union = 1
    /// The rows of both.
    case unionAll = 2
    /// The rows of the first that are not in the second, equal ones once.
    case except = 3
    /// The rows that are in both, equal ones once.
    case intersect = 4
}

/// One item of a query's selection.
public struct SelectItem: Sendable, Hashable {
    /// `alias.attribute`, an attribute, `alias.*`, or an aggregate such as `COUNT(*)` or `MAX(c.credit)`. Ignored where ``query`` is set.
    public var attribute: String
    /// A query of one item, whose first row gives the value; it may refer to the outer query's attributes. SMP 2.3: `query`.
    public var query: Query?
    /// The item's name in the result; nil: as ``attribute`` is written. SMP 2.3: `asAlias`.
    public var asAlias: String?

    /// Creates an item for an attribute or aggregate.
    ///
    ///     let total = SelectItem("SUM(total)", as: "sum")
    ///     let results = try crm.executeQuery(Query().select([total]).from("SalesOrder"))
    public init(_ attribute: String, as asAlias: String? = nil) {
        (self.attribute, self.asAlias) = (attribute, asAlias)
    }

    /// Creates an item for the value that another query returns.
    ///
    ///     let orders = Query().select("COUNT(*)").from("SalesOrder", "o").where(.equal("o.customerId", QueryColumn("c", "id")))
    ///     let query = Query().select([SelectItem("c.name"), SelectItem(orders, as: "orders")]).from("Customer", "c")
    ///     for row in try crm.executeQuery(query) { try print("\(row[0].string()): \(row[1].long())") }
    public init(_ query: Query, as asAlias: String) {
        (attribute, self.query, self.asAlias) = ("", query, asAlias)
    }
}

/// One place in an order.
public struct AttributeSort: Sendable, Hashable {
    /// An attribute, an aggregate, or the name that a select item was given.
    public var attribute: String
    /// The direction.
    public var order: SortOrder

    /// Sorts by an attribute.
    ///
    ///     let order = AttributeSort("name", isDescending ? .descending : .ascending)
    ///     let customers = try Customer.findWithQuery(Query().sorted(by: order), in: crm)
    public init(_ attribute: String, _ order: SortOrder = .ascending) { (self.attribute, self.order) = (attribute, order) }

    /// Sorts the smallest value first, null before it. SMP 2.3: `ascending:`.
    ///
    ///     let query = Query().sorted(by: .ascending("name"))
    ///     let customers = try Customer.findWithQuery(query, in: crm)
    public static func ascending(_ attribute: String) -> AttributeSort { AttributeSort(attribute, .ascending) }

    /// Sorts the largest value first, null at the end. SMP 2.3: `descending:`.
    ///
    ///     let query = Query().sorted(by: .descending("name"))
    ///     let customers = try Customer.findWithQuery(query, in: crm)
    public static func descending(_ attribute: String) -> AttributeSort { AttributeSort(attribute, .descending) }

    /// Sorts the smallest value first, null before it; the compiler knows the attribute: `.ascending(Customer.columns.name)`.
    ///
    ///     let smallestFirst: AttributeSort = .ascending(Customer.columns.creditLimit)
    ///     let customers = try Customer.findByCity(city: "Cork", sortedBy: [smallestFirst], in: crm)
    public static func ascending<Root, Value>(_ column: Column<Root, Value>) -> AttributeSort { AttributeSort(column.name, .ascending) }

    /// Sorts the largest value first, null at the end; the compiler knows the attribute.
    ///
    ///     let largestFirst: AttributeSort = .descending(Customer.columns.creditLimit)
    ///     let customers = try Customer.findByCity(city: "Cork", sortedBy: [largestFirst], in: crm)
    public static func descending<Root, Value>(_ column: Column<Root, Value>) -> AttributeSort { AttributeSort(column.name, .descending) }
}

/// The direction of an order. The numbers are the documented ones.
public enum SortOrder: Int, Sendable, Hashable, CaseIterable {
    /// The smallest value first.
    case ascending = 1
    /// The largest value first.
    case descending = 2
}

/// Another object whose rows are joined where two items are equal. SMP 1.5.3: `SUPJoinCondition`.
public struct JoinCondition: Sendable, Hashable {
    /// The modelled name of the object.
    public var entity: String
    /// The alias; nil: attributes are qualified by the object's name.
    public var alias: String?
    /// One of the two equal items; it does not matter which is the joined object's.
    public var leftItem: String
    /// The other one.
    public var rightItem: String
    /// The rows without a counterpart that the join keeps.
    public var joinType: JoinType

    /// Creates a join where two items are equal.
    ///
    ///     var query = Query().select("c.name, o.status").from("Customer", "c")
    ///     query.joinCriteria.append(JoinCondition("SalesOrder", "o", "o.customerId", "c.id", type: .left))
    ///     let results = try crm.executeQuery(query)
    public init(_ entity: String, _ alias: String? = nil, _ leftItem: String, _ rightItem: String, type: JoinType = .inner) {
        (self.entity, self.alias, self.leftItem, self.rightItem, joinType) = (entity, alias, leftItem, rightItem, type)
    }
}

/// The rows without a counterpart that a join keeps. The numbers are the documented ones.
public enum JoinType: Int, Sendable, Hashable, CaseIterable {
    /// None.
    case inner = 1
    /// Those of both sides, with null for the other side's attributes.
    case fullOuter = 2
    /// Those of the sources before.
    case left = 3
    /// Those of the joined object.
    case right = 4
}
