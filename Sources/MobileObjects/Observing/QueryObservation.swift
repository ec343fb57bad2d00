import MobileExecution
import MobileStore

/// The results of a query, now and after each commit that touches its tables: `for try await customers in crm.observe(query)`.
///
/// The first result comes at once. A commit of this process that changes rows of the query's tables, including those of joins and subqueries, makes
/// the next one. Commits while the caller does not wait, or while the query runs, make one result together. Results come in the order of the commits,
/// and the last state always comes. A result may be equal to the previous one: a changed row of a table does not always change the result.
///
/// Each loop observes for itself, as long as it runs. It ends when the task is cancelled or the package database is closed, and throws the errors of
/// the query. Observers of other tables cost a commit nothing.
public struct QueryObservation<Element: Sendable>: AsyncSequence, Sendable {
    /// The way to read, and the tables that it reads.
    struct Plan: Sendable {
        let tables: Set<String>
        let read: @Sendable (Connection) throws -> Element
    }

    private let package: PackageDatabase
    private let plan: @Sendable () throws -> Plan

    init(_ package: PackageDatabase, _ plan: @escaping @Sendable () throws -> Plan) { (self.package, self.plan) = (package, plan) }

    /// Begins to observe with the request of the first result.
    public func makeAsyncIterator() -> Iterator { Iterator(package: package, makePlan: plan) }

    /// Waits for commits, and reads.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        fileprivate let package: PackageDatabase
        fileprivate let makePlan: @Sendable () throws -> Plan
        private var watched: (watch: CommitWatch, plan: Plan)?

        fileprivate init(package: PackageDatabase, makePlan: @escaping @Sendable () throws -> Plan) {
            (self.package, self.makePlan) = (package, makePlan)
        }

        /// Returns the next result; nil when the task is cancelled or the database was closed.
        /// - Throws: ``ObjectError``: as `PackageDatabase.executeQuery(_:)`.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Element? {
            if let watched {
                guard await watched.watch.changed() else { return nil }
            } else {
                guard !Task.isCancelled else { return nil }
                let plan = try makePlan(), package = package
                let watch = try await BlockingWork.run { try package.watch(plan.tables) }
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
        let metadata = metadata, context = EntityContext(self, entity)
        return QueryObservation(self) {
            let compiled = try QueryCompiler.objects(query, of: entity, in: metadata)
            let paths = try RelationshipPath.paths(query, of: entity, in: metadata)
            let tables = paths.reduce(into: compiled.tables) { $0.formUnion($1.tables(from: entity, in: metadata)) }
            return .init(tables: tables) { connection in
                try EntitySnapshot(compiled.pages(connection), context, seesDeleted: compiled.seesDeleted, prefetches: paths)
            }
        }
    }

    fileprivate final func watch(_ tables: Set<String>) throws -> CommitWatch {
        let store = try openStore()
        let watch = try ObjectError.gate { try CommitWatch(store, of: tables) }
        commitWatches.add(watch)
        return watch
    }

    final var commitWatches: CommitWatches { attachment { CommitWatches() } }
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
