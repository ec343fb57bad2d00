import MobileStore
import Synchronization

/// The objects that a query finds, read a page at a time when they are looked at: a list of 30,000 objects holds some pages, not 30,000
/// objects.
///
///     let customers = try Customer.where(\.city == "Dublin").sorted(by: \.name).list(in: crm)
///     let last = try customers.object(at: customers.count() - 1)
///
/// It shows the database as it is. A commit that touches what the list comes from makes it count and read again at the next look, so
/// that positions and number always fit together; a list on a screen is drawn anew when its observation says so
/// (`PackageDatabase.observe(_:)`). The pages that were used last stay, and with them their objects: looking twice gives the same object,
/// until its page went or the database changed. Hold on to an object while it is edited.
///
/// Pages are found by key where the query allows it, at any position for the price of the first one; other positions than those beside a page
/// that was read are counted off once, in an index where there is one. Where a join gives objects several times, and in queries of the
/// model, rows have no key of their own: what is before a page is counted off each time.
///
/// A list stays in one isolation, as its objects do. SMP 2.3: `SUPObjectList` of a query with skip and take.
public final class LazyEntityList<Element: Entity> {
    /// Objects of a page.
    public let pageSize: Int
    /// Pages whose objects are kept.
    public let keptPages: Int

    private let context: EntityContext
    private let rows: ListRows
    private var pages: [Int: [Element]] = [:]
    /// The kept pages, the one used last at the end.
    private var recent: [Int] = []
    private var known: Int?
    private var changes: ListChanges?
    /// The commits that are taken into account.
    private var seenChanges = 0

    init(_ plan: ListPlan, _ context: EntityContext, pageSize: Int, keptPages: Int = 8) throws {
        guard keptPages > 0 else { throw ObjectError(.misuse, "list: keeps \(keptPages) pages; use 1 or more") }
        (self.context, self.pageSize, self.keptPages) = (context, pageSize, keptPages)
        rows = try ListRows(plan, size: pageSize)
    }

    // MARK: Looking

    /// The number of objects, counted by the database once until it changes.
    /// - Throws: ``ObjectError/Code/store``, as all of these.
    public func count() throws -> Int {
        let isCurrent = try validate()
        if let known { return known }
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

    /// The object at a position, from 0.
    /// - Throws: ``ObjectError/Code/notFound`` where there is none.
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

    /// The objects at some positions, fewer where the list ends before.
    public func objects(_ positions: Range<Int>) throws -> EntityList<Element> {
        var objects: [Element] = []
        for index in pageIndexes(positions) { try append(page(index), index, to: &objects, positions) }
        return EntityList(objects)
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func objects(_ positions: Range<Int>) async throws -> EntityList<Element> {
        var objects: [Element] = []
        for index in pageIndexes(positions) {
            let page = try await page(index)
            append(page, index, to: &objects, positions)
        }
        return EntityList(objects)
    }

    /// All objects from the first one on, each once, also where rows come or go meanwhile: see ``EntityCursor``.
    public func cursor() throws -> EntityCursor<Element> { try EntityCursor(rows.plan, context, pageSize: pageSize) }

    /// Forgets what was read, as a change of the database does.
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

    private func pageIndexes(_ positions: Range<Int>) -> ClosedRange<Int> {
        let first = Swift.max(0, positions.lowerBound), last = Swift.max(first, positions.upperBound - 1)
        return first / pageSize...last / pageSize
    }

    private func append(_ page: [Element], _ index: Int, to objects: inout [Element], _ positions: Range<Int>) {
        for (offset, object) in page.enumerated() where positions.contains(index * pageSize + offset) { objects.append(object) }
    }

    private func page(_ index: Int) throws -> [Element] {
        let isCurrent = try validate()
        if let page = kept(index) { return page }
        let (pages, count) =
            try firstPage(index, isCurrent) ?? context.package.read { try rows.rows(from: index * pageSize, in: $0, isCurrent: isCurrent) }
        let objects: [Element] = context.objects(pages, count, rows.plan)
        try Prefetch(rows.plan.prefetches, for: objects, context)?.read()
        if isCurrent { keep(objects, index) }
        return objects
    }

    private nonisolated(nonsending) func page(_ index: Int) async throws -> [Element] {
        try validateOutsideOfTransactions()
        if let page = kept(index) { return page }
        let rows = rows, position = index * pageSize, seen = seenChanges
        let (pages, count) = try await context.package.read { try rows.rows(from: position, in: $0) }
        let objects: [Element] = context.objects(pages, count, rows.plan)
        try await Prefetch(rows.plan.prefetches, for: objects, context)?.read()
        // Somebody may have looked while this one waited.
        if seen == seenChanges {
            if let page = kept(index) { return page }
            keep(objects, index)
        }
        return objects
    }

    /// The first page of all objects, which is one statement that is known already; nil for others.
    private func firstPage(_ index: Int, _ isCurrent: Bool) throws -> ([RowPage], Int)? {
        guard index == 0, isCurrent, let select = rows.plan.first else { return nil }
        let page = try context.package.page(select, [], size: pageSize)
        guard page.isAtEnd || page.count == pageSize else { return nil }
        rows.noteFirst(page)
        return ([page], page.count)
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

    /// Forgets what is out of date. What a transaction of this thread sees is its own: nothing of it is kept.
    /// - Returns: whether what is read now may be kept.
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
    /// Goes through all objects; see ``EntityCursor`` for what happens where the database cannot be read.
    public func makeIterator() -> EntityCursor<Element> { EntityCursor(rows, context) }

    /// 0: counting has a price.
    public var underestimatedCount: Int { 0 }
}

extension EntityContext {
    /// The objects of the first `count` rows of some pages.
    func objects<T: Entity>(_ pages: [RowPage], _ count: Int, _ plan: ListPlan) -> [T] {
        var objects: [T] = []
        objects.reserveCapacity(count)
        for page in pages {
            for position in 0..<min(page.count, count - objects.count) {
                objects.append(T(row: page[position], at: EntitySQL.firstAttribute, context: self))
            }
        }
        if plan.seesDeleted { markDeleted(objects) }
        return objects
    }
}

/// Counts the commits that may have changed a list. The list asks; nobody is called.
final class ListChanges: Sendable {
    /// The database that is watched.
    let store: Database
    private let counter: Counter
    private let observation: Observation

    /// What the observer counts in, apart from the list, so that the list may go while a commit is told.
    private final class Counter: Sendable {
        let commits = Atomic(0)
    }

    init(_ store: Database, of tables: Set<String>) throws(StoreError) {
        let counter = Counter()
        (self.store, self.counter) = (store, counter)
        observation = try store.observe(tables) { _ in counter.commits.add(1, ordering: .acquiringAndReleasing) }
    }

    /// Commits so far.
    var count: Int { counter.commits.load(ordering: .acquiring) }
}
