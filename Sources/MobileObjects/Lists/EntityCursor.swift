import MobileExecution
import MobileStore

/// Iterates over the objects of a list from the first to the last one, with at most one page in memory.
///
///     for customer in try Customer.all.sorted(by: \.name).cursor(in: crm) { print(customer.name) }
///
/// Each page is a separate read, which begins after the last object of the previous page. Rows that are inserted or deleted meanwhile move nothing,
/// no object comes twice, and an object that is deleted before its page is read does not come. Where rows have no key (see ``LazyEntityList``), they
/// are counted off instead.
///
/// A cursor that reads ahead (`readsAhead`) reads the rows of the next pages on another thread while the caller uses the objects of one: 8 pages at
/// once, fewer where they take 1 MB, on a reader that is free at that moment. Up to 16 pages are in memory then, and changes that were committed
/// meanwhile may be missing on them. Changes by the running transaction of this thread are never missing.
///
/// A `for` loop cannot throw: where the database cannot be read it ends, and ``error`` has the reason. `nextObject()` and `nextPage()` throw.
public final class EntityCursor<Element: Entity>: Sequence, IteratorProtocol {
    private let context: EntityContext
    private let rows: ListRows
    private let readsAhead: Bool
    /// The place after the last page.
    private var place = ListRows.Place()
    /// The rows after the place that were read ahead.
    private var ahead = Ahead()
    private var isAtEnd = false
    private var page: [Element] = []
    private var offset = 0
    /// The error that ended a loop before the last object; nil where there was none.
    public private(set) var error: ObjectError?

    /// Rows in several parts, one for each page.
    private struct Ahead {
        var parts: [ListRows.Part] = []
        /// The parts after those, which another thread reads.
        var next: Promise<[ListRows.Part]?, any Error>?
    }

    init(_ plan: ListPlan, _ context: EntityContext, pageSize: Int, readsAhead: Bool) throws {
        (self.context, self.readsAhead) = (context, readsAhead)
        rows = try ListRows(plan, size: pageSize, context.package.sortAdvice)
    }

    /// Creates a cursor over rows that another reader reads by position: with its own rows.
    init(_ rows: ListRows, _ context: EntityContext) {
        (self.context, readsAhead) = (context, false)
        self.rows = ListRows(beside: rows)
    }

    /// Returns the next object; nil after the last one.
    /// - Throws: ``ObjectError/Code/store``; calling again tries once more.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
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
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
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
        defer { (page, offset) = ([], 0) }  // a page in memory, not two
        return EntityList(offset == 0 ? page : Array(page[offset...]))
    }

    private func turn(_ objects: [Element]) -> Bool {
        (page, offset) = (objects, 0)
        return !objects.isEmpty
    }

    private func nextRows() throws -> [Element] {
        guard !isAtEnd else { return [] }
        var ahead = takeAhead()
        if ahead.parts.isEmpty, let next = ahead.next.take() {
            do { ahead.parts = try next.wait() ?? [] } catch { throw failure(error) }
        }
        try context.package.prepareSearch(rows.plan.searches)
        if ahead.parts.isEmpty { ahead.parts = [try context.package.read { try rows.rows(after: place, in: $0) }] }
        let objects = try objects(of: &ahead)
        try Prefetch(rows.plan.prefetches, for: objects, context)?.read()
        advance(ahead)
        return objects
    }

    private nonisolated(nonsending) func nextRows() async throws -> [Element] {
        guard !isAtEnd else { return [] }
        var ahead = takeAhead()
        if ahead.parts.isEmpty, let next = ahead.next.take() {
            do { ahead.parts = try await next.value ?? [] } catch { throw failure(error) }
        }
        if ahead.parts.isEmpty {
            let rows = rows, place = place
            ahead.parts = [try await context.package.read { try rows.rows(after: place, in: $0) }]
        }
        let objects = try objects(of: &ahead)
        try await Prefetch(rows.plan.prefetches, for: objects, context)?.read()
        advance(ahead)
        return objects
    }

    /// Takes the rows that were read ahead, none where they lack changes of this thread's transaction. ``advance(_:)`` puts them back: after an error
    /// the rows after ``place`` are read again, so none is lost, and none comes twice.
    private func takeAhead() -> Ahead {
        defer { ahead = Ahead() }
        return TransactionScope.transaction(of: context.package) == nil ? ahead : Ahead()
    }

    /// Requests more rows before it makes the objects of the first part.
    private func objects(of ahead: inout Ahead) throws -> [Element] {
        let rows = rows
        // If the database is closed by now, the read of the next page reports it.
        if readsAhead, ahead.next == nil, let last = ahead.parts.last, !last.isEmpty, TransactionScope.transaction(of: context.package) == nil,
            let store = try? context.package.openStore()
        {
            ahead.next = store.readAhead { try rows.parts(after: last.end, in: $0) }
        }
        return try context.objects(ahead.parts[0].pages, rows.plan)
    }

    /// Moves the place to the end of the first part.
    private func advance(_ ahead: consuming Ahead) {
        let part = ahead.parts.removeFirst()
        (place, isAtEnd) = (part.end, part.isEmpty)
        self.ahead = ahead
    }

    private func failure(_ error: any Error) -> any Error { (error as? StoreError).map(context.package.failure) ?? error }
}
