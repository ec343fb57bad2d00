/// A generated class whose model allows queries made at run time. Queries that the compiler checks begin here.
///
///     let customers = try Customer.where(\.city == "Dublin" && \.creditLimit > 100).sorted(by: \.name).take(20).find(in: crm)
///     let others = try Customer.where { $0.name.contains("port") || $0.contact == nil }.count(in: crm)
public protocol QueryableEntity: ModelledEntity {
    /// The attributes that queries can compare.
    associatedtype Columns: Sendable
    /// The attributes, for key paths and closures.
    static var columns: Columns { get }
    /// The relationships that queries can read along.
    associatedtype Relationships: Sendable
    /// The relationships, for key paths.
    static var relationships: Relationships { get }
}

extension QueryableEntity {
    /// Returns a query for the objects that pass a test.
    ///
    ///     let query = Customer.where(\.city == "Cork" && \.creditLimit > 1000)
    ///     for customer in try query.find(in: crm) { print(customer.name) }
    public static func `where`(_ predicate: EntityPredicate<Self>) -> EntityQuery<Self> { EntityQuery(predicate) }

    /// Does the same with the attributes as an argument: for tests that are methods of an attribute, such as `contains`.
    public static func `where`(_ predicate: (Columns) -> EntityPredicate<Self>) -> EntityQuery<Self> { EntityQuery(predicate(columns)) }

    /// All objects, to be sorted or paged through.
    public static var all: EntityQuery<Self> { EntityQuery(nil) }
}

/// A query for the objects of one class, checked by the compiler. It is a value: every method returns a changed copy. ``query`` is the same for
/// `findWithQuery`, with the same SQL.
public struct EntityQuery<Root: QueryableEntity>: Sendable, Hashable {
    /// The query as one made by names.
    public private(set) var query = Query()

    init(_ predicate: EntityPredicate<Root>?) { query.testCriteria = predicate?.test }

    /// Keeps only objects that also pass this test.
    ///
    ///     let active = Customer.where(\.active == true)
    ///     let customers = try active.where(\.city == "Dublin").find(in: crm)
    public func `where`(_ predicate: EntityPredicate<Root>) -> EntityQuery { changed { $0 = $0.where(predicate.test) } }

    /// Keeps only objects that also pass this test.
    ///
    ///     let active = Customer.where(\.active == true)
    ///     let customers = try active.where { $0.name.contains("inn") || $0.contact == nil }.find(in: crm)
    public func `where`(_ predicate: (Root.Columns) -> EntityPredicate<Root>) -> EntityQuery { self.where(predicate(Root.columns)) }

    /// Keeps only objects that have the words of a text in their searchable attributes, the last word being the beginning of one: see ``TextSearch``.
    ///
    ///     let query = Customer.where(\.city == "Dublin").matching("harbour fo").sortedByRelevance()
    ///     for customer in try query.find(in: crm) { print(customer.name) }
    public func matching(_ text: String) -> EntityQuery { self.where(.matching(text)) }

    /// Sorts the objects first in which the words of the search are frequent, compared with other objects (BM25): see ``AttributeSort/relevance``.
    ///
    ///     let best = Customer.all.matching("harbour").sortedByRelevance().limit(10)
    ///     for customer in try best.find(in: crm) { print(customer.name) }
    public func sortedByRelevance() -> EntityQuery { changed { $0.sortCriteria.append(.relevance) } }

    /// Keeps only objects in one of these states.
    ///
    ///     let changed = Customer.where(\.active == true).filter([.created, .updated])
    ///     for customer in try changed.find(in: crm) { print("\(customer.name) is to be submitted") }
    public func filter(_ states: EntityFilter) -> EntityQuery { changed { $0.entityFilter = states } }

    /// Sorts by an attribute, after those that were given before. Objects of equal rank come in the order of their surrogate keys.
    ///
    ///     let query = Customer.all.sorted(by: \.city).sorted(by: \.creditLimit, .descending)
    ///     for customer in try query.find(in: crm) { print("\(customer.city): \(customer.name)") }
    public func sorted<Value>(by column: KeyPath<Root.Columns, Column<Root, Value>>, _ order: SortOrder = .ascending) -> EntityQuery {
        changed { $0.sortCriteria.append(AttributeSort(Root.columns[keyPath: column].name, order)) }
    }

    /// Does the same as ``sorted(by:_:)``, in the words of SQL.
    ///
    ///     let query = Customer.all.ordered(by: \.city).ordered(by: \.creditLimit, .descending)
    ///     for customer in try query.find(in: crm) { print("\(customer.city): \(customer.name)") }
    public func ordered<Value>(by column: KeyPath<Root.Columns, Column<Root, Value>>, _ order: SortOrder = .ascending) -> EntityQuery {
        sorted(by: column, order)
    }

    /// Does the same as ``sortedByRelevance()``, in the words of SQL.
    ///
    ///     let best = Customer.all.matching("harbour").orderedByRelevance().limit(10)
    ///     for customer in try best.find(in: crm) { print(customer.name) }
    public func orderedByRelevance() -> EntityQuery { sortedByRelevance() }

    /// Leaves out the first `count` objects.
    ///
    ///     let second = Customer.all.sorted(by: \.name).skip(2).take(2)  // the second two customers
    ///     for customer in try second.find(in: crm) { print(customer.name) }
    public func skip(_ count: Int) -> EntityQuery { changed { $0.skip = count } }

    /// Finds at most `count` objects; a negative number means all.
    ///
    ///     let largest = Customer.all.sorted(by: \.creditLimit, .descending).take(2)
    ///     for customer in try largest.find(in: crm) { print("\(customer.name): \(customer.creditLimit)") }
    public func take(_ count: Int) -> EntityQuery { changed { $0.take = count } }

    /// Does the same as ``skip(_:)``, in the words of SQL.
    ///
    ///     let second = Customer.all.sorted(by: \.name).offset(2).limit(2)  // the second two customers
    ///     for customer in try second.find(in: crm) { print(customer.name) }
    public func offset(_ count: Int) -> EntityQuery { skip(count) }

    /// Does the same as ``take(_:)``, in the words of SQL.
    ///
    ///     let largest = Customer.all.sorted(by: \.creditLimit, .descending).limit(2)
    ///     for customer in try largest.find(in: crm) { print("\(customer.name): \(customer.creditLimit)") }
    public func limit(_ count: Int) -> EntityQuery { take(count) }

    /// Reads the objects of a relationship along with those that are found, with one more statement for all of them: a list of parents that is shown
    /// with its children costs two statements, regardless of its length.
    ///
    ///     for customer in try Customer.all.sorted(by: \.name).prefetching(\.orders).find(in: crm) {
    ///         print("\(customer.name): \(customer.orders.count) orders")
    ///     }
    public func prefetching<Target>(_ relationship: KeyPath<Root.Relationships, Relationship<Root, Target>>) -> EntityQuery {
        changed { $0.prefetches.append([Root.relationships[keyPath: relationship].name]) }
    }

    /// Does the same, and continues to the objects of another relationship, with one more statement.
    ///
    ///     for customer in try Customer.where(\.city == "Dublin").prefetching(\.orders, \.lines).find(in: crm) {
    ///         for order in customer.orders { print("\(customer.name): \(order.lines.count) lines") }
    ///     }
    public func prefetching<Target: QueryableEntity, Next>(
        _ relationship: KeyPath<Root.Relationships, Relationship<Root, Target>>,
        _ next: KeyPath<Target.Relationships, Relationship<Target, Next>>
    ) -> EntityQuery {
        changed { $0.prefetches.append([Root.relationships[keyPath: relationship].name, Target.relationships[keyPath: next].name]) }
    }

    /// Finds the objects.
    ///
    ///     let customers = try Customer.where(\.city == "Cork").sorted(by: \.name).find(in: crm)
    ///     for customer in customers { print(customer.name) }
    ///
    /// - Throws: ``ObjectError``: ``ObjectError/Code/misuse`` where the model does not allow such queries of the class,
    ///   ``ObjectError/Code/invalidQuery`` for a negative `skip`, ``ObjectError/Code/unsupportedType`` for an attribute without order,
    ///   ``ObjectError/Code/store``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func find(in package: Root.Package) throws -> EntityList<Root> { try Root.findWithQuery(query, in: package) }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func find(in package: Root.Package) async throws -> EntityList<Root> {
        try await Root.findWithQuery(query, in: package)
    }

    /// Finds the first object; nil where there is none.
    ///
    ///     if let newest = try SalesOrder.all.sorted(by: \.orderDate, .descending).first(in: crm) {
    ///         print("\(newest.orderDate): \(newest.total)")
    ///     }
    ///
    /// - Throws: as `find(in:)`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func first(in package: Root.Package) throws -> Root? { try Root.findWithQuery(limitedToOne, in: package).first }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func first(in package: Root.Package) async throws -> Root? {
        try await Root.findWithQuery(limitedToOne, in: package).first
    }

    /// Returns the number of objects, counted by the database.
    ///
    ///     let inCork = try Customer.where(\.city == "Cork").count(in: crm)
    ///     print("\(inCork) customers in Cork")
    ///
    /// - Throws: as `find(in:)`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func count(in package: Root.Package) throws -> Int { try Root.countWithQuery(query, in: package) }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func count(in package: Root.Package) async throws -> Int {
        try await Root.countWithQuery(query, in: package)
    }

    /// Returns whether there is no such object. The database looks for one, and does not count them.
    ///
    ///     let inSligo = Customer.where(\.city == "Sligo")
    ///     if try inSligo.isEmpty(in: crm) { print("nobody in Sligo") }
    ///
    /// - Throws: as `find(in:)`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func isEmpty(in package: Root.Package) throws -> Bool { try Root.countWithQuery(limitedToOne, in: package) == 0 }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func isEmpty(in package: Root.Package) async throws -> Bool {
        try await Root.countWithQuery(limitedToOne, in: package) == 0
    }

    private var limitedToOne: Query { query.take == 0 ? query : query.take(1) }

    private func changed(_ change: (inout Query) -> Void) -> EntityQuery {
        var copy = self
        change(&copy.query)
        return copy
    }
}

extension QueryableEntity {
    /// Returns the objects that a query made at run time finds; its source, if it has one, is this class. SMP 2.3: `findWithQuery:`.
    ///
    ///     let query = Query().where(.equal("city", "Cork")).sorted(by: .ascending("name"))
    ///     for customer in try Customer.findWithQuery(query, in: crm) { print(customer.name) }
    ///
    /// - Throws: as `PackageDatabase.executeQuery(_:)`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public static func findWithQuery(_ query: Query, in package: Package) throws -> EntityList<Self> {
        EntityList(try EntityContext(package, metadata).objects(query))
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) static func findWithQuery(_ query: Query, in package: Package) async throws -> EntityList<Self> {
        EntityList(try await EntityContext(package, metadata).objects(query))
    }

    /// Returns the number of objects that `findWithQuery(_:in:)` returns, counted by the database; skip and take apply. SMP 2.3: `countWithQuery:`.
    ///
    ///     let query = Query().where(.equal("city", "Cork"))
    ///     try print("\(Customer.countWithQuery(query, in: crm)) customers in Cork")
    ///
    /// - Throws: as `PackageDatabase.executeQuery(_:)`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public static func countWithQuery(_ query: Query, in package: Package) throws -> Int {
        try EntityContext(package, metadata).count(query)
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) static func countWithQuery(_ query: Query, in package: Package) async throws -> Int {
        try await EntityContext(package, metadata).count(query)
    }
}
