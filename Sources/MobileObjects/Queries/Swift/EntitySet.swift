/// The objects of one class in one database, or those of them that a query finds: `crm.customers`. It is an ``EntityQuery`` that knows its database.
/// It is a value, and reads nothing until objects are requested. Every method without `throws` returns a changed copy.
///
///     for customer in try await crm.customers.where(\.city == "Cork").ordered(by: \.name) { print(customer.name) }
///     for try await customer in crm.customers.where(\.city == "Cork").ordered(by: \.name) { print(customer.name) }
///     for customer in try await crm.customers.where(\.city == "Cork").find() { print(customer.name) }
///
/// The first loop reads all objects at once, in their present state; the second one reads them a page at a time. `find()` works for every query, and also
/// has a blocking form.
public struct EntitySet<Root: QueryableEntity>: Sendable, Hashable {
    /// The database of the objects.
    public let package: Root.Package
    /// The query, which is independent of a database.
    public let query: EntityQuery<Root>

    /// Makes the set of all objects of the class. Generated database classes have such a set for each class: `crm.customers`.
    ///
    ///     let customers = EntitySet<Customer>(in: crm)
    ///     print(try customers.count())
    public init(in package: Root.Package) { self.init(Root.all, in: package) }

    /// Makes the set of objects that a query finds.
    ///
    ///     let inCork = Customer.where(\.city == "Cork")
    ///     print(try EntitySet(inCork, in: crm).count())
    public init(_ query: EntityQuery<Root>, in package: Root.Package) { (self.query, self.package) = (query, package) }

    /// Compares query and database.
    public static func == (left: Self, right: Self) -> Bool { left.query == right.query && left.package === right.package }

    /// Hashes the query.
    public func hash(into hasher: inout Hasher) { hasher.combine(query) }

    private func with(_ query: EntityQuery<Root>) -> EntitySet { EntitySet(query, in: package) }
}

/// Choice and order.
extension EntitySet {
    /// Keeps only objects that pass this test.
    ///
    ///     let rich = crm.customers.where(\.creditLimit > 1000)
    ///     for customer in try rich.where(\.city == "Cork").find() { print(customer.name) }
    public func `where`(_ predicate: EntityPredicate<Root>) -> EntitySet { with(query.where(predicate)) }

    /// Keeps only objects that pass this test.
    ///
    ///     let query = crm.customers.where { $0.name.contains("inn") || $0.contact == nil }
    ///     for customer in try query.find() { print(customer.name) }
    public func `where`(_ predicate: (Root.Columns) -> EntityPredicate<Root>) -> EntitySet { with(query.where(predicate)) }

    /// Orders by an attribute, after those that were given before. Objects of equal rank come in the order of their surrogate keys.
    ///
    ///     let query = crm.customers.ordered(by: \.city).ordered(by: \.creditLimit, .descending)
    ///     for customer in try query.find() { print("\(customer.city): \(customer.name)") }
    public func ordered<Value>(by column: KeyPath<Root.Columns, Column<Root, Value>>, _ order: SortOrder = .ascending) -> EntitySet {
        sorted(by: column, order)
    }

    /// Finds the objects in the order of an attribute, for a loop: the same as `sorted(by:).find()`.
    ///
    ///     for customer in try await crm.customers.where(\.city == "Cork").ordered(by: \.name) {
    ///         print(customer.name)
    ///     }
    ///
    /// In `async` functions, and in closures that contain `await`, Swift takes this form where `ordered(by:)` ends a query and nothing asks for a set.
    /// Without `try await` the query does not compile there: to keep it, end it with `sorted(by:)`, or declare its type, as in
    /// `let inCork: EntitySet<Customer> = ...`. The methods of sets, such as `limit(20)`, `first()` and `count()`, continue the query.
    ///
    /// - Throws: as `find()`.
    @_disfavoredOverload
    public nonisolated(nonsending) func ordered<Value>(
        by column: KeyPath<Root.Columns, Column<Root, Value>>, _ order: SortOrder = .ascending
    ) async throws -> some Sequence<Root> {
        // Disfavoured: otherwise calls to methods that both types have, such as `contains`, would be ambiguous. A sequence and not a list, so that no
        // whole table is read for its `first` or `count`.
        try await sorted(by: column, order).find()
    }

    /// Keeps only objects that have the words of a text in their searchable attributes, the last word being the beginning of one: see ``TextSearch``.
    ///
    ///     let found = crm.customers.matching("harbour fo")
    ///     for customer in try found.find() { print(customer.name) }
    public func matching(_ text: String) -> EntitySet { with(query.matching(text)) }

    /// Orders the objects first in which the words of the search are frequent, compared with other objects (BM25): see ``AttributeSort/relevance``.
    ///
    ///     let best = crm.customers.matching("harbour").orderedByRelevance().limit(10)
    ///     for customer in try best.find() { print(customer.name) }
    public func orderedByRelevance() -> EntitySet { sortedByRelevance() }

    /// Finds the objects in the order of relevance, for a loop: the same as `sortedByRelevance().find()`. Swift takes it in the places of the asynchronous
    /// `ordered(by:)`.
    ///
    ///     for customer in try await crm.customers.matching("harbour").orderedByRelevance() {
    ///         print(customer.name)
    ///     }
    ///
    /// - Throws: as `find()`.
    @_disfavoredOverload
    public nonisolated(nonsending) func orderedByRelevance() async throws -> some Sequence<Root> { try await sortedByRelevance().find() }

    /// Orders the set by an attribute, as the form of `ordered(by:)` that returns a set. It is a set in asynchronous code as well, and reads nothing.
    ///
    ///     let query = crm.customers.sorted(by: \.city).sorted(by: \.creditLimit, .descending)
    ///     for customer in try query.find() { print("\(customer.city): \(customer.name)") }
    public func sorted<Value>(by column: KeyPath<Root.Columns, Column<Root, Value>>, _ order: SortOrder = .ascending) -> EntitySet {
        with(query.sorted(by: column, order))
    }

    /// Orders the set by relevance, as the form of `orderedByRelevance()` that returns a set.
    ///
    ///     let best = crm.customers.matching("harbour").sortedByRelevance().take(10)
    ///     for customer in try best.find() { print(customer.name) }
    public func sortedByRelevance() -> EntitySet { with(query.sortedByRelevance()) }

    /// Leaves out the first `count` objects.
    ///
    ///     let second = crm.customers.ordered(by: \.name).offset(2).limit(2)  // the second two customers
    ///     for customer in try second.find() { print(customer.name) }
    public func offset(_ count: Int) -> EntitySet { with(query.offset(count)) }

    /// Finds at most `count` objects; a negative number means all.
    ///
    ///     let largest = crm.customers.ordered(by: \.creditLimit, .descending).limit(2)
    ///     for customer in try largest.find() { print(customer.name) }
    public func limit(_ count: Int) -> EntitySet { with(query.limit(count)) }

    /// Does the same as ``offset(_:)``, in the words of ``EntityQuery``.
    ///
    ///     let second = crm.customers.sorted(by: \.name).skip(2).take(2)  // the second two customers
    ///     for customer in try second.find() { print(customer.name) }
    public func skip(_ count: Int) -> EntitySet { offset(count) }

    /// Does the same as ``limit(_:)``, in the words of ``EntityQuery``.
    ///
    ///     let largest = crm.customers.sorted(by: \.creditLimit, .descending).take(2)
    ///     for customer in try largest.find() { print(customer.name) }
    public func take(_ count: Int) -> EntitySet { limit(count) }

    /// Keeps only objects in one of these states.
    ///
    ///     let changed = crm.customers.filter([.created, .updated])
    ///     for customer in try changed.find() { print("\(customer.name) is to be submitted") }
    public func filter(_ states: EntityFilter) -> EntitySet { with(query.filter(states)) }

    /// Reads the objects of a relationship along with those that are found, with one more statement for all of them.
    ///
    ///     for customer in try crm.customers.prefetching(\.orders).find() {
    ///         print("\(customer.name): \(customer.orders.count) orders")
    ///     }
    public func prefetching<Target>(_ relationship: KeyPath<Root.Relationships, Relationship<Root, Target>>) -> EntitySet {
        with(query.prefetching(relationship))
    }

    /// Does the same, and continues to the objects of another relationship, with one more statement.
    ///
    ///     for customer in try crm.customers.prefetching(\.orders, \.lines).find() {
    ///         for order in customer.orders { print("\(customer.name): \(order.lines.count) lines") }
    ///     }
    public func prefetching<Target: QueryableEntity, Next>(
        _ relationship: KeyPath<Root.Relationships, Relationship<Root, Target>>,
        _ next: KeyPath<Target.Relationships, Relationship<Target, Next>>
    ) -> EntitySet { with(query.prefetching(relationship, next)) }
}

/// Objects and their number.
extension EntitySet {
    /// Finds the objects.
    ///
    ///     let customers = try crm.customers.where(\.city == "Cork").ordered(by: \.name).find()
    ///     print("\(customers.count) customers in Cork")
    ///
    /// - Throws: as `EntityQuery.find(in:)`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func find() throws -> EntityList<Root> { try query.find(in: package) }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func find() async throws -> EntityList<Root> { try await query.find(in: package) }

    /// Finds the first object; nil where there is none.
    ///
    ///     if let newest = try crm.salesOrders.ordered(by: \.orderDate, .descending).first() {
    ///         print("\(newest.orderDate): \(newest.total)")
    ///     }
    ///
    /// - Throws: as `find()`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func first() throws -> Root? { try query.first(in: package) }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func first() async throws -> Root? { try await query.first(in: package) }

    /// Returns the number of objects, counted by the database.
    ///
    ///     let inCork = try crm.customers.where(\.city == "Cork").count()
    ///     print("\(inCork) customers in Cork")
    ///
    /// - Throws: as `find()`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func count() throws -> Int { try query.count(in: package) }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func count() async throws -> Int { try await query.count(in: package) }

    /// Returns whether there is no such object. The database looks for one, and does not count them.
    ///
    ///     let inSligo = crm.customers.where(\.city == "Sligo")
    ///     if try inSligo.isEmpty() { print("nobody in Sligo") }
    ///
    /// - Throws: as `find()`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func isEmpty() throws -> Bool { try query.isEmpty(in: package) }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func isEmpty() async throws -> Bool { try await query.isEmpty(in: package) }
}
