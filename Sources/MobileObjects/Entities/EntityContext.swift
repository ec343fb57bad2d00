import MobileStore

/// The package database and the class of objects. The objects of one list share it, so that each of
/// them holds one reference.
public final class EntityContext: Sendable {
    /// The database of the objects.
    public let package: PackageDatabase
    /// The metadata of the objects.
    public let metadata: EntityMetadata

    /// Creates a context; for generated classes.
    public init(_ package: PackageDatabase, _ metadata: EntityMetadata) {
        (self.package, self.metadata) = (package, metadata)
    }

    /// Returns the context of the objects at the other end of a relationship.
    func target(of relationship: RelationshipMetadata) -> EntityContext {
        EntityContext(package, package.metadata.entities[relationship.targetIndex])
    }
}

/// Finders that make objects from rows.
extension EntityContext {
    /// Returns the object of a surrogate key, also of one that the row had before it was renumbered; nil when there is none.
    func find<T: Entity>(_ key: Int64) throws -> T? {
        if let object: T = try first(metadata.sql.byKey, [.integer(key)]) { return object }
        guard package.hasRenumberedRows, let current = try package.read({ try $0.renumberedKey(key) }) else { return nil }
        return try first(metadata.sql.byKey, [.integer(current)])
    }

    /// Returns the object of a surrogate key, which must exist.
    func load<T: Entity>(_ key: Int64) throws -> T {
        guard let object: T = try find(key) else { throw notFound(key) }
        return object
    }

    private func notFound(_ key: Int64) -> ObjectError { ObjectError(.notFound, "load of \(metadata.name) \(key): there is no such row") }

    /// Returns the object of the first row; nil when there is none.
    func first<T: Entity>(_ select: PageSelect, _ values: [Value]) throws -> T? {
        let page = try package.page(select, values, size: 1)
        return page.isEmpty ? nil : try object(page[0])
    }

    /// Returns the next `size` objects after a surrogate key; a negative `size` means all.
    func objects<T: Entity>(behind key: Int64, _ size: Int) throws -> [T] {
        var objects: [T] = []
        if (1...PageRun.rows).contains(size) {
            let page = try package.page(metadata.sql.behindKey, [.integer(key)], size: size)
            try append(page, to: &objects)
            // A page that ended early, because its values are large, is dropped: its rows and the others must be of one state.
            if page.isAtEnd || page.count == size { return objects }
            objects = []
        }
        let run = PageRun(metadata.sql, behind: key, take: size)
        try package.read { connection in
            try run.read(connection) { try append($0, to: &objects) }
        }
        return objects
    }

    /// Returns the objects in the order of their surrogate keys, except the first `skip`, at most `take`; a negative `take` means all.
    func objects<T: Entity>(skip: Int, take: Int) throws -> [T] {
        var objects: [T] = []
        let sql = metadata.sql
        try package.read { connection in
            try PageRun(sql, skip: skip, take: take, connection)?.read(connection) { try append($0, to: &objects) }
        }
        return objects
    }

    /// Returns the objects of a SELECT of ``EntitySQL/columns``.
    func objects<T: Entity>(_ sql: String, _ values: [Value]) throws -> [T] {
        try package.read { connection in
            var pages = try connection.pages(sql, values)
            var objects: [T] = []
            while let page = try pages.next() { try append(page, to: &objects) }
            return objects
        }
    }

    /// Makes an object of each row.
    /// - Throws: as ``object(_:as:)``.
    func append<T: Entity>(_ page: RowPage, to objects: inout [T]) throws {
        objects.reserveCapacity(objects.count + page.count)
        // By position, because an iterator's rows would each retain the page once more.
        for position in 0..<page.count { objects.append(try object(page[position])) }
    }

    /// Makes the object of a row that was selected with ``EntitySQL/columns``.
    /// - Throws: ``ObjectError/Code/corrupt`` where an attribute cannot have what the row holds.
    func object<T: Entity>(_ row: borrowing Row, as type: T.Type = T.self) throws -> T {
        do { return try type.init(row: row, at: EntitySQL.firstAttribute, context: self) } catch let unreadable as UnreadableColumn {
            throw error(unreadable, row)
        }
    }

    private func error(_ unreadable: UnreadableColumn, _ row: borrowing Row) -> ObjectError {
        let index = unreadable.column - EntitySQL.firstAttribute, key = row.integer(0)
        guard metadata.attributes.indices.contains(index) else {
            return ObjectError(.corrupt, "\(metadata.name) \(key): column \(unreadable.column) of its row has another type", cause: unreadable.cause)
        }
        let attribute = metadata.attributes[index], reason = attribute.storage.misfit(row.value(unreadable.column), type: "\(attribute.type)")
        return ObjectError(
            .corrupt,
            "\(metadata.name) \(key): the row's \(attribute.name) cannot be read: \(reason); correct it where the row comes from, and synchronize",
            cause: unreadable.cause)
    }
}

/// The forms that block no cooperative thread. Rows are read on another thread; objects are made here, because they stay in their isolation.
extension EntityContext {
    nonisolated(nonsending) func load<T: Entity>(_ key: Int64) async throws -> T {
        guard let object: T = try await find(key) else { throw notFound(key) }
        return object
    }

    nonisolated(nonsending) func find<T: Entity>(_ key: Int64) async throws -> T? {
        if let object: T = try await first(metadata.sql.byKey, [.integer(key)]) { return object }
        guard package.hasRenumberedRows, let current = try await package.read({ try $0.renumberedKey(key) }) else { return nil }
        return try await first(metadata.sql.byKey, [.integer(current)])
    }

    nonisolated(nonsending) func first<T: Entity>(_ select: PageSelect, _ values: [Value]) async throws -> T? {
        let page = try await package.read { try $0.page(select, values, size: 1) }
        return page.isEmpty ? nil : try object(page[0])
    }

    nonisolated(nonsending) func objects<T: Entity>(behind key: Int64, _ size: Int) async throws -> [T] {
        let run = PageRun(metadata.sql, behind: key, take: size)
        return try objects(await package.read { try run.pages($0) })
    }

    nonisolated(nonsending) func objects<T: Entity>(skip: Int, take: Int) async throws -> [T] {
        let sql = metadata.sql
        return try objects(await package.read { try PageRun(sql, skip: skip, take: take, $0)?.pages($0) ?? [] })
    }

    nonisolated(nonsending) func objects<T: Entity>(_ sql: String, _ values: [Value]) async throws -> [T] {
        try objects(
            await package.read { connection in
                var source = try connection.pages(sql, values, size: PageRun.rows)
                var pages: [RowPage] = []
                while let page = try source.next() { pages.append(page) }
                return pages
            })
    }

    private func objects<T: Entity>(_ pages: [RowPage]) throws -> [T] {
        var objects: [T] = []
        for page in pages { try append(page, to: &objects) }
        return objects
    }
}

/// The rows of an object's table after a surrogate key, page by page.
private struct PageRun: Sendable {
    /// The number of rows in a page.
    static let rows = 1000

    private let sql: EntitySQL
    /// The key after which the run begins; nil: it begins with the first row.
    private let key: Int64?
    private let take: Int

    /// Creates a run of at most `take` rows; a negative `take` means all.
    init(_ sql: EntitySQL, behind key: Int64?, take: Int) {
        (self.sql, self.key, self.take) = (sql, key, take < 0 ? .max : take)
    }

    /// Creates a run without the first `skip` rows; nil where the table has fewer rows.
    init?(_ sql: EntitySQL, skip: Int, take: Int, _ connection: Connection) throws {
        guard skip > 0 else {
            self.init(sql, behind: nil, take: take)
            return
        }
        let last = try connection.first(
            "SELECT \"_sk\" FROM \(sql.table) ORDER BY \"_sk\" LIMIT 1 OFFSET ?1", [.integer(Int64(skip - 1))])
        guard let key = last?.first?.integer else { return nil }
        self.init(sql, behind: key, take: take)
    }

    /// Reads the pages. It runs in a transaction, so that all pages are of one state.
    func read(_ connection: Connection, _ body: (RowPage) throws -> Void) throws {
        var key = key, left = take
        while left > 0 {
            let size = min(left, Self.rows)
            let page = try key.map { try connection.page(sql.behindKey, [.integer($0)], size: size) } ?? connection.page(sql.all, size: size)
            try body(page)
            guard !page.isAtEnd, let last = page.last else { return }
            left -= page.count
            key = last.integer(0)
        }
    }

    func pages(_ connection: Connection) throws -> [RowPage] {
        var pages: [RowPage] = []
        try read(connection) { pages.append($0) }
        return pages
    }
}
