import MobileStore

/// Iterates over the objects of a list from the first to the last one, with at most one page in memory.
///
///     for customer in try Customer.all.sorted(by: \.name).cursor(in: crm) { print(customer.name) }
///
/// Each page is a separate read, which begins after the last object of the previous page. Rows that are inserted or deleted meanwhile move nothing,
/// no object comes twice, and an object that is deleted before its page is read does not come. Where rows have no key (see ``LazyEntityList``), they
/// are counted off instead.
///
/// A `for` loop cannot throw: where the database cannot be read it ends, and ``error`` has the reason. `nextObject()` and `nextPage()` throw.
public final class EntityCursor<Element: Entity>: Sequence, IteratorProtocol {
    private let context: EntityContext
    private let rows: ListRows
    private var position = 0
    private var isAtEnd = false
    private var page: [Element] = []
    private var offset = 0
    /// The error that ended a loop before the last object; nil where there was none.
    public private(set) var error: ObjectError?

    init(_ plan: ListPlan, _ context: EntityContext, pageSize: Int) throws {
        self.context = context
        rows = try ListRows(plan, size: pageSize)
    }

    /// Creates a cursor over rows that another reader reads by position: with its own rows.
    init(_ rows: ListRows, _ context: EntityContext) {
        self.context = context
        self.rows = ListRows(beside: rows)
    }

    /// Returns the next object; nil after the last one.
    /// - Throws: ``ObjectError/Code/store``; calling again tries once more.
    public func nextObject() throws -> Element? {
        if offset == page.count, try !turn(nextRows()) { return nil }
        return take()
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func nextObject() async throws -> Element? {
        if offset == page.count {
            let objects = try await nextRows()
            guard turn(objects) else { return nil }
        }
        return take()
    }

    /// Returns the objects up to the end of the page, or those of the next one; nil after the last one.
    /// - Throws: as `nextObject()`.
    public func nextPage() throws -> EntityList<Element>? {
        if offset == page.count, try !turn(nextRows()) { return nil }
        return takePage()
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func nextPage() async throws -> EntityList<Element>? {
        if offset == page.count {
            let objects = try await nextRows()
            guard turn(objects) else { return nil }
        }
        return takePage()
    }

    /// Returns the next object; nil after the last one, and where the database cannot be read: see ``error``.
    public func next() -> Element? {
        do {
            error = nil
            return try nextObject()
        } catch {
            self.error = error as? ObjectError ?? ObjectError(.store, "cursor: the next objects cannot be read", cause: error)
            return nil
        }
    }

    private func take() -> Element {
        defer { offset += 1 }
        return page[offset]
    }

    private func takePage() -> EntityList<Element> {
        defer { offset = page.count }
        return EntityList(offset == 0 ? page : Array(page[offset...]))
    }

    private func turn(_ objects: [Element]) -> Bool {
        (page, offset) = (objects, 0)
        return !objects.isEmpty
    }

    private func nextRows() throws -> [Element] {
        guard !isAtEnd else { return [] }
        let objects = arrived(try context.package.read { try rows.rows(from: position, in: $0) })
        try Prefetch(rows.plan.prefetches, for: objects, context)?.read()
        return objects
    }

    private nonisolated(nonsending) func nextRows() async throws -> [Element] {
        guard !isAtEnd else { return [] }
        let rows = rows, position = position
        let objects = arrived(try await context.package.read { try rows.rows(from: position, in: $0) })
        try await Prefetch(rows.plan.prefetches, for: objects, context)?.read()
        return objects
    }

    private func arrived(_ found: (pages: [RowPage], count: Int)) -> [Element] {
        position += found.count
        isAtEnd = found.count == 0
        return context.objects(found.pages, found.count, rows.plan)
    }
}
