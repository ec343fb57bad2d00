import MobileExecution
import MobileStore

/// The results of a query, now and after each commit that touches its tables: `for try await customers in crm.observe(query)`.
///
/// The first result comes at once. A commit of this process that changes rows of the query's tables, including those of joins and subqueries, makes
/// the next one. Commits while the caller does not wait, or while the query runs, make one result together. Results come in the order of the commits,
/// and the last state always comes. A result may be equal to the previous one: a changed row of a table does not always change the result. Observe with
/// ``removeDuplicates()`` or ``withChanges()`` where each result costs something, as on a screen.
///
/// Each loop observes for itself, as long as it runs. It ends when the task is cancelled or the package database is closed, and throws the errors of
/// the query. Observers of other tables cost a commit nothing.
public struct QueryObservation<Element: Sendable>: AsyncSequence, Sendable {
    /// The way to read, and the tables that it reads.
    struct Plan: Sendable {
        let tables: Set<String>
        /// Whether it reads relatives along, which the result itself lacks.
        var readsRelatives = false
        /// Whether a commit that touches the tables may change the result.
        var concerns: @Sendable (CommittedChanges) -> Bool = { _ in true }
        let read: @Sendable (Connection) throws -> Element
    }

    private let package: PackageDatabase
    private let plan: @Sendable () throws -> Plan
    /// Whether a result shows the same as the previous one, and is left out.
    private var isSame: (@Sendable (Element, Element) -> Bool)?
    /// Whether ``isSame`` decides also where the query reads relatives along.
    private var comparesRelatives = true

    init(_ package: PackageDatabase, _ plan: @escaping @Sendable () throws -> Plan) { (self.package, self.plan) = (package, plan) }

    /// Leaves out results that show the same as the previous one. Those of a query that reads relatives along, as with `prefetching`, all come: relatives are
    /// not compared.
    ///
    ///     for try await one in crm.observe(Customer.where(\.city == "Cork")).removeDuplicates() {
    ///         print("\(one.count) customers in Cork")
    ///         if one.isEmpty { break }  // ends the observation
    ///     }
    public func removeDuplicates() -> QueryObservation where Element: Equatable {
        var copy = self
        (copy.isSame, copy.comparesRelatives) = ({ $0 == $1 }, false)
        return copy
    }

    /// Leaves out results for which `isSame` returns true with the previous one.
    public func removeDuplicates(by isSame: @escaping @Sendable (Element, Element) -> Bool) -> QueryObservation {
        var copy = self
        (copy.isSame, copy.comparesRelatives) = (isSame, true)
        return copy
    }

    /// Begins to observe with the request of the first result.
    public func makeAsyncIterator() -> Iterator {
        Iterator(package: package, makePlan: plan, isSame: isSame, comparesRelatives: comparesRelatives)
    }

    /// Waits for commits, and reads.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        fileprivate let package: PackageDatabase
        fileprivate let makePlan: @Sendable () throws -> Plan
        private let isSame: (@Sendable (Element, Element) -> Bool)?
        private let comparesRelatives: Bool
        private var watched: (watch: CommitWatch, plan: Plan)?
        private var last: Element?

        fileprivate init(
            package: PackageDatabase, makePlan: @escaping @Sendable () throws -> Plan, isSame: (@Sendable (Element, Element) -> Bool)?,
            comparesRelatives: Bool
        ) {
            (self.package, self.makePlan, self.isSame, self.comparesRelatives) = (package, makePlan, isSame, comparesRelatives)
        }

        /// Returns the next result; nil when the task is cancelled or the database was closed.
        /// - Throws: ``ObjectError``: as `PackageDatabase.executeQuery(_:)`.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Element? {
            guard let isSame else { return try await read(isolation: actor) }
            while let result = try await read(isolation: actor) {
                let mayLeaveOut = comparesRelatives || watched?.plan.readsRelatives == false
                if mayLeaveOut, let last, isSame(last, result) { continue }
                last = result
                return result
            }
            return nil
        }

        private mutating func read(isolation actor: isolated (any Actor)?) async throws -> Element? {
            if let watched {
                guard await watched.watch.changed() else { return nil }
            } else {
                guard !Task.isCancelled else { return nil }
                let plan = try makePlan(), package = package
                let watch = try await BlockingWork.run { try package.watch(plan) }
                watched = (watch, plan)
            }
            guard let (watch, plan) = watched else { return nil }
            do {
                return try await watch.store.read(plan.read)
            } catch is CancellationError {
                return nil
            } catch let error as StoreError {
                if error.code == .closed { return nil }
                throw package.failure(error)
            }
        }
    }
}

extension PackageDatabase {
    /// Observes the objects that a query finds, now and after each commit that touches its tables; as rows that may cross isolations. Give it a
    /// `take` where only the first ones are shown: all objects that it finds are read each time.
    public final func observe<Root: QueryableEntity>(_ query: EntityQuery<Root>) -> QueryObservation<EntitySnapshot<Root>> {
        observeObjects(query.query, Root.metadata)
    }

    /// Observes the rows of a query over any number of objects, now and after each commit that touches its tables.
    public final func observe(_ query: Query) -> QueryObservation<QueryResultSet> {
        let metadata = metadata
        return QueryObservation(self) {
            let compiled = try QueryCompiler.resultSet(query, in: metadata)
            return .init(tables: compiled.tables) { try QueryResultSet(compiled.pages($0), compiled.columns) }
        }
    }

    final func observeObjects<T: Entity>(_ query: Query, _ entity: EntityMetadata) -> QueryObservation<EntitySnapshot<T>> {
        observeObjects(query, EntityContext(self, entity))
    }

    fileprivate final func observeObjects<T: Entity>(
        _ query: Query, _ context: EntityContext, ownedBy owner: FollowedOwner? = nil
    ) -> QueryObservation<EntitySnapshot<T>> {
        let metadata = metadata, entity = context.metadata
        return QueryObservation(self) {
            let compiled = try QueryCompiler.objects(query, of: entity, in: metadata, ownedBy: owner?.owner)
            let paths = try RelationshipPath.paths(query, of: entity, in: metadata)
            let tables = paths.reduce(into: compiled.tables) { $0.formUnion($1.tables(from: entity, in: metadata)) }
            return .init(tables: tables, readsRelatives: !paths.isEmpty) { connection in
                let moved = try owner?.moved(connection).map { try QueryCompiler.objects(query, of: entity, in: metadata, ownedBy: $0) }
                return try EntitySnapshot((moved ?? compiled).pages(connection), context, seesDeleted: compiled.seesDeleted, prefetches: paths)
            }
        }
    }

    fileprivate final func watch<Element>(_ plan: QueryObservation<Element>.Plan) throws -> CommitWatch {
        let store = try openStore()
        let watch = try ObjectError.gate { try CommitWatch(store, of: plan.tables, where: plan.concerns) }
        commitWatches.add(watch)
        return watch
    }

    final var commitWatches: CommitWatches { attachment { CommitWatches() } }
}

extension ModelledEntity {
    /// Observes this object's row, now and after each commit that changes it: a snapshot with one object, or none where the row is gone. It does not change the
    /// object itself. A row that gets another key, as all do when a server has lost its state, is followed. Commits that change other rows of the table alone
    /// give no result, and are not even read unless they change more than 4,096 rows, or rows of this database have got other keys.
    ///
    ///     for try await snapshot in try customer.observe() {
    ///         print(snapshot.first?.city ?? "deleted")
    ///         break  // ends the observation
    ///     }
    ///
    /// - Throws: ``ObjectError/Code/notSaved`` for a new object.
    public func observe() throws -> QueryObservation<EntitySnapshot<Self>> { try package.observe(self) }
}

extension GenericEntity {
    /// Observes this object's row, as `observe()` of a generated class.
    ///
    ///     for try await snapshot in try customer.observe() {
    ///         try print(snapshot.first?.value("city") ?? "deleted")
    ///         break  // ends the observation
    ///     }
    ///
    /// - Throws: ``ObjectError/Code/notSaved`` for a new object.
    public final func observe() throws -> QueryObservation<EntitySnapshot<GenericEntity>> { try package.observe(self) }
}

extension PackageDatabase {
    fileprivate final func observe<T: Entity>(_ object: T) throws -> QueryObservation<EntitySnapshot<T>> {
        let context = object.context, metadata = object.metadata, stored = StoredState(object), place = ObservedPlace(object.surrogateKey)
        guard object.presence != .new else { throw ObjectError(.notSaved, "observing \(metadata.name): it is new; save it first") }
        let observation: QueryObservation<EntitySnapshot<T>> = QueryObservation(self) { [self] in
            let isOfRow: @Sendable (CommittedChanges) -> Bool = { [weak self] changes in
                // Where rows have got other keys, this one may be among them.
                guard self?.hasRenumberedRows == false, !changes.mayChangeAnyTable, let keys = changes.tables[metadata.name] ?? nil,
                    let key = place.key
                else { return true }
                return keys.contains(key)
            }
            return .init(tables: [metadata.name], concerns: isOfRow) { connection in
                let found = try stored.read(connection)
                place.key = found.page.isEmpty ? nil : found.key
                return try EntitySnapshot([found.page], context, seesDeleted: false, prefetches: [])
            }
        }
        return observation.removeDuplicates()
    }
}

/// The key of an observed row; nil while there is no such row.
private final class ObservedPlace: Sendable {
    private let current: SystemLock<Int64?>

    init(_ key: Int64) { current = SystemLock(key) }

    var key: Int64? {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}

extension Children {
    /// Observes the saved children that a query finds, now and after each commit that touches its tables; as
    /// ``PackageDatabase/observe(_:)-(EntityQuery<Root>)``.
    ///
    ///     for try await orders in try customer.orders.observe(Query().sorted(by: .descending("orderDate"))) {
    ///         print("\(orders.count) orders")
    ///         if orders.isEmpty { break }  // ends the observation
    ///     }
    ///
    /// - Throws: ``ObjectError/Code/notSaved`` for the children of a new object, ``ObjectError/Code/misuse`` for a list that belongs to no object.
    public func observe(_ query: Query = Query()) throws -> QueryObservation<EntitySnapshot<Element>> {
        let (context, found) = try relation()
        guard found != nil, let (object, index) = relationship, let owner = try object.followedOwner(ofRelationship: index) else {
            throw ObjectError(.notSaved, "observing children of class \(context.metadata.name): their owner is new; save it first")
        }
        return context.package.observeObjects(query, context, ownedBy: owner)
    }
}

extension EntitySet {
    /// Observes the objects of the set, now and after each commit that touches its tables; as
    /// ``PackageDatabase/observe(_:)-(EntityQuery<Root>)``.
    ///
    ///     for try await snapshot in crm.customers.where(\.city == "Cork").observe() {
    ///         print("\(snapshot.count) customers in Cork")
    ///         break  // ends the observation
    ///     }
    public func observe() -> QueryObservation<EntitySnapshot<Root>> { package.observe(query) }
}

extension EntityClass {
    /// Observes the objects that a query finds, now and after each commit that touches its tables; as
    /// ``PackageDatabase/observe(_:)-(EntityQuery<Root>)``.
    ///
    ///     let inCork = Query().where(.equal("city", "Cork"))
    ///     for try await snapshot in customers.observe(inCork) {
    ///         print("\(snapshot.count) customers in Cork")
    ///         if snapshot.isEmpty { break }  // ends the observation
    ///     }
    public func observe(_ query: Query = Query()) -> QueryObservation<EntitySnapshot<GenericEntity>> { package.observeObjects(query, metadata) }
}
