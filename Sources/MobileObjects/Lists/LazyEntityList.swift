import MobileStore
import Synchronization

/// The objects that a query finds, read a page at a time when they are needed: a list of 30,000 objects holds some pages, not 30,000 objects.
///
///     let customers = try Customer.where(\.city == "Dublin").sorted(by: \.name).list(in: crm)
///     let last = try customers.object(at: customers.count() - 1)
///
/// It shows the database as it is. After a commit that touches tables of the list, the next access counts and reads again, so that positions and
/// number always fit together. A list on a screen is drawn again when its observation reports a change (`PackageDatabase.observe(_:)`). The pages
/// that were used last stay, and with them their objects: reading a position twice returns the same object, until its page is dropped or the database
/// changes. Hold on to an object while it is edited.
///
/// Pages are found by key where the query allows it, at any position for the price of the first one. A position that is not next to a page that was
/// read is counted off once, in an index where there is one. Where a join repeats objects, and in queries of the model, rows have no key of their
/// own: all rows before a page are counted off each time.
///
/// A list stays in one isolation, as its objects do. SMP 2.3: `SUPObjectList` of a query with skip and take.
public final class LazyEntityList<Element: Entity> {
    /// The number of objects of a page.
    public let pageSize: Int
    /// The number of pages whose objects are kept.
    public let keptPages: Int

    private let context: EntityContext
    private let rows: ListRows
    private var pages: [Int: [Element]] = [:]
    /// The kept pages, the one used last at the end.
    private var recent: [Int] = []
    private var known: Int?
    private var changes: ListChanges?
    /// The number of commits that are taken into account.
    private var seenChanges = 0

    init(_ plan: ListPlan, _ context: EntityContext, pageSize: Int, keptPages: Int = 8) throws {
        guard keptPages > 0 else { throw ObjectError(.misuse, "list: keeps \(keptPages) pages; use 1 or more") }
        (self.context, self.pageSize, self.keptPages) = (context, pageSize, keptPages)
        rows = try ListRows(plan, size: pageSize, context.package.sortAdvice)
    }

    // MARK: Looking

    /// Returns the number of objects, which the database counts once until it changes.
    /// - Throws: ``ObjectError/Code/store``, as all of these.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func count() throws -> Int {
        let isCurrent = try validate()
        if let known { return known }
        try context.package.prepareSearch(rows.plan.searches)
        let count = try context.package.read { try rows.count(in: $0) }
        if isCurrent { known = count }
        return count
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func count() async throws -> Int {
        try validateOutsideOfTransactions()
        if let known { return known }
        let rows = rows, seen = seenChanges
        let count = try await context.package.read { try rows.count(in: $0) }
        if seen == seenChanges { known = count }
        return count
    }

    /// Returns the object at a position, from 0.
    /// - Throws: ``ObjectError/Code/notFound`` where there is none.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func object(at position: Int) throws -> Element {
        try element(position, of: position < 0 ? [] : page(position / pageSize))
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func object(at position: Int) async throws -> Element {
        let objects = position < 0 ? [] : try await page(position / pageSize)
        return try element(position, of: objects)
    }

    /// The object at a position, from 0. SMP 2.3: `item:`.
    /// - Throws: ``ObjectError/Code/notFound`` where there is none.
    public subscript(position: Int) -> Element {
        get throws { try object(at: position) }
    }

    /// Returns the objects at some positions, fewer where the list ends before. It reads the pages with these positions, and none after the list's end:
    /// `objects(0..<Int.max)` reads the list once.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func objects(_ positions: Range<Int>) throws -> EntityList<Element> {
        var objects: [Element] = []
        for index in pageIndexes(positions) where try !append(page(index), index, to: &objects, positions) { break }
        return EntityList(objects)
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func objects(_ positions: Range<Int>) async throws -> EntityList<Element> {
        var objects: [Element] = []
        for index in pageIndexes(positions) {
            let page = try await page(index)
            guard append(page, index, to: &objects, positions) else { break }
        }
        return EntityList(objects)
    }

    /// Forgets the pages that were read, as after a change of the database.
    public func reload() {
        pages = [:]
        recent = []
        known = nil
        rows.forgetPlaces()
    }

    // MARK: Pages

    private func element(_ position: Int, of page: [Element]) throws -> Element {
        let offset = position % pageSize
        guard position >= 0, offset < page.count else {
            throw ObjectError(.notFound, "list of \(context.metadata.name): there is no object at position \(position)")
        }
        return page[offset]
    }

    private func pageIndexes(_ positions: Range<Int>) -> Range<Int> {
        let first = Swift.max(0, positions.lowerBound)
        guard positions.upperBound > first else { return 0..<0 }
        return first / pageSize..<(positions.upperBound - 1) / pageSize + 1
    }

    /// - Returns: whether a page may follow: a short one is the last of the list.
    private func append(_ page: [Element], _ index: Int, to objects: inout [Element], _ positions: Range<Int>) -> Bool {
        for (offset, object) in page.enumerated() where positions.contains(index * pageSize + offset) { objects.append(object) }
        return page.count == pageSize
    }

    private func page(_ index: Int) throws -> [Element] {
        let isCurrent = try validate()
        if let page = kept(index) { return page }
        try context.package.prepareSearch(rows.plan.searches)
        let pages = try firstPage(index, isCurrent) ?? context.package.read { try rows.rows(from: index * pageSize, in: $0, isCurrent: isCurrent) }
        let objects: [Element] = try context.objects(pages, rows.plan)
        try Prefetch(rows.plan.prefetches, for: objects, context)?.read()
        if isCurrent { keep(objects, index) }
        return objects
    }

    private nonisolated(nonsending) func page(_ index: Int) async throws -> [Element] {
        try validateOutsideOfTransactions()
        if let page = kept(index) { return page }
        let rows = rows, position = index * pageSize, seen = seenChanges
        let pages = try await context.package.read { try rows.rows(from: position, in: $0) }
        let objects: [Element] = try context.objects(pages, rows.plan)
        try await Prefetch(rows.plan.prefetches, for: objects, context)?.read()
        // Another task may have read the page while this one waited.
        if seen == seenChanges {
            if let page = kept(index) { return page }
            keep(objects, index)
        }
        return objects
    }

    /// Returns the first page of all objects, which is one statement that is known already; nil for others.
    private func firstPage(_ index: Int, _ isCurrent: Bool) throws -> [RowPage]? {
        guard index == 0, isCurrent, let select = rows.plan.first else { return nil }
        let page = try context.package.page(select, [], size: pageSize)
        guard page.isAtEnd || page.count == pageSize else { return nil }
        rows.noteFirst(page)
        return [page]
    }

    private func kept(_ index: Int) -> [Element]? {
        guard let page = pages[index] else { return nil }
        if recent.last != index {
            recent.removeAll { $0 == index }
            recent.append(index)
        }
        return page
    }

    private func keep(_ page: [Element], _ index: Int) {
        pages[index] = page
        recent.append(index)
        if recent.count > keptPages { pages[recent.removeFirst()] = nil }
    }

    // MARK: Changes

    /// Forgets outdated pages. Pages that a transaction of this thread reads are its own, and are not kept.
    /// - Returns: whether pages that are read now may be kept.
    private func validate() throws -> Bool {
        guard TransactionScope.transaction(of: context.package) == nil else {
            reload()
            return false
        }
        try validateOutsideOfTransactions()
        return true
    }

    private func validateOutsideOfTransactions() throws {
        let store = try context.package.openStore()
        if let changes, changes.store === store {
            let count = changes.count
            if count == seenChanges { return }
            seenChanges = count
        } else {
            do { changes = try ListChanges(store, of: rows.plan.tables) } catch { throw ObjectError(error) }
            seenChanges = 0
        }
        reload()
    }
}

extension LazyEntityList: Sequence {
    /// Iterates over all objects; see ``EntityCursor`` for the case that the database cannot be read.
    public func makeIterator() -> EntityCursor<Element> { EntityCursor(rows, context) }

    /// 0: counting would be expensive.
    public var underestimatedCount: Int { 0 }
}

extension EntityContext {
    /// Makes the objects of some pages of a list.
    /// - Throws: as ``object(_:as:)``.
    func objects<T: Entity>(_ pages: [RowPage], _ plan: ListPlan) throws -> [T] {
        var objects: [T] = []
        for page in pages { try append(page, to: &objects) }
        if plan.seesDeleted { markDeleted(objects) }
        return objects
    }
}

/// Counts the commits that may have changed a list. The list reads the count; there are no callbacks.
final class ListChanges: Sendable {
    /// The database that is watched.
    let store: Database
    private let counter: Counter
    private let observation: Observation

    /// The observer's counter, separate from the list, so that the list may go away during the notification of a commit.
    private final class Counter: Sendable {
        let commits = Atomic(0)
    }

    init(_ store: Database, of tables: Set<String>) throws(StoreError) {
        let counter = Counter()
        (self.store, self.counter) = (store, counter)
        observation = try store.observe(tables) { _ in counter.commits.add(1, ordering: .acquiringAndReleasing) }
    }

    /// The number of commits so far.
    var count: Int { counter.commits.load(ordering: .acquiring) }
}
