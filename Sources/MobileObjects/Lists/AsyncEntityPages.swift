/// The pages of a query's objects in order, for `async` code. No cooperative thread ever waits for the database, and the objects are made in the
/// caller's isolation.
///
///     for try await customers in Customer.all.sorted(by: \.name).pages(in: crm) { show(customers) }
///     for try await customer in Customer.all.sorted(by: \.name).pages(in: crm).objects { show(customer) }
///
/// As with ``EntityCursor``, each page is a separate read after the last object of the previous page.
public struct AsyncEntityPages<Object: Entity>: AsyncSequence {
    private let cursor: () throws -> EntityCursor<Object>

    init(_ cursor: @escaping () throws -> EntityCursor<Object>) { self.cursor = cursor }

    /// The objects of all pages, one after the other.
    public var objects: AsyncEntities<Object> { AsyncEntities(cursor) }

    /// Begins again.
    public func makeAsyncIterator() -> Iterator { Iterator(make: cursor) }

    /// Reads the pages.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let make: () throws -> EntityCursor<Object>
        private var cursor: EntityCursor<Object>?

        fileprivate init(make: @escaping () throws -> EntityCursor<Object>) { self.make = make }

        /// Returns the next page; nil after the last object.
        /// - Throws: as `PackageDatabase.executeQuery(_:)`; `CancellationError` when the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> EntityList<Object>? {
            let cursor = try self.cursor ?? make()
            self.cursor = cursor
            return try await cursor.nextPage()
        }
    }
}

/// The objects of all pages of a query, one after the other: see ``AsyncEntityPages``.
public struct AsyncEntities<Object: Entity>: AsyncSequence {
    private let cursor: () throws -> EntityCursor<Object>

    fileprivate init(_ cursor: @escaping () throws -> EntityCursor<Object>) { self.cursor = cursor }

    /// Begins again.
    public func makeAsyncIterator() -> Iterator { Iterator(make: cursor) }

    /// Reads the pages.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let make: () throws -> EntityCursor<Object>
        private var cursor: EntityCursor<Object>?

        fileprivate init(make: @escaping () throws -> EntityCursor<Object>) { self.make = make }

        /// Returns the next object; nil after the last one.
        /// - Throws: as the pages do.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Object? {
            let cursor = try self.cursor ?? make()
            self.cursor = cursor
            return try await cursor.nextObject()
        }
    }
}
