import MobileExecution
import MobileStore

/// All objects of a class in the order of their surrogate keys, a page at a time: for whoever goes through more of them than memory
/// should hold.
///
///     var pages = Customer.pages(size: 100, in: crm)
///     while let customers = try pages.next() {
///         for customer in customers { show(customer) }
///     }
///
/// Each page is a read of its own, behind the last object of the page before; the last page costs what the first one does. While the
/// objects of a page are looked at, the next page is read on another thread, on a reader that nobody else needs at that moment: what is
/// changed between two pages may be missing on the second one. What the running transaction of this thread has changed is never missing.
public struct EntityPages<Element: Entity>: ~Copyable {
    private let context: EntityContext
    private let size: Int
    private let readsAhead: Bool
    /// That of the last object.
    private var key: Int64
    private var isAtEnd = false
    /// The next page on its way.
    private var ahead: Promise<RowPage?, StoreError>?

    init(_ context: EntityContext, behind key: Int64, size: Int, readsAhead: Bool) {
        (self.context, self.key, self.size, self.readsAhead) = (context, key, size, readsAhead)
    }

    /// The next page; nil behind the last object.
    /// - Throws: ``ObjectError/Code/store``; calling again tries the same page once more.
    public mutating func next() throws -> EntityList<Element>? {
        guard !isAtEnd else { return nil }
        let ahead = takeAhead()
        do throws(StoreError) {
            if let page = try ahead?.wait() { return objects(of: page) }
        } catch { throw ObjectError(error) }
        return objects(of: try context.package.page(context.metadata.sql.behindKey, [.integer(key)], size: size))
    }

    public nonisolated(nonsending) mutating func next() async throws -> EntityList<Element>? {
        guard !isAtEnd else { return nil }
        if let ahead = takeAhead() {
            do throws(StoreError) {
                if let page = try await ahead.value { return objects(of: page) }
            } catch { throw ObjectError(error) }
        }
        let (key, size, select) = (key, size, context.metadata.sql.behindKey)
        return objects(of: try await context.package.read { try $0.page(select, [.integer(key)], size: size) })
    }

    /// The page that was read ahead; nil where there is none, or where it lacks what this thread's transaction has changed.
    private mutating func takeAhead() -> Promise<RowPage?, StoreError>? {
        defer { ahead = nil }
        return TransactionScope.transaction(of: context.package) == nil ? ahead : nil
    }

    /// Sends for the next page before it makes the objects of this one.
    private mutating func objects(of page: RowPage) -> EntityList<Element>? {
        isAtEnd = page.isAtEnd
        guard let last = page.last else {
            isAtEnd = true
            return nil
        }
        key = last.integer(0)
        // A database that is closed by now says so when it is asked for the next page.
        if readsAhead, !isAtEnd, TransactionScope.transaction(of: context.package) == nil, let store = try? context.package.openStore() {
            ahead = store.readAhead(context.metadata.sql.behindKey, [.integer(key)], size: size)
        }
        var objects: [Element] = []
        context.append(page, to: &objects)
        return EntityList(objects)
    }
}

extension ModelledEntity {
    /// All objects in the order of their surrogate keys, a page at a time.
    ///
    ///     var pages = Customer.pages(size: 100, in: crm)
    ///     while let customers = try pages.next() {
    ///         for customer in customers { print(customer.name) }
    ///     }
    ///
    /// - Parameters:
    ///   - key: the surrogate key behind which the first page begins; by default it begins with the first object.
    ///   - size: objects of a page, 1 or more; a page ends early when its rows take 4 MB.
    ///   - readsAhead: whether the next page is read while one is looked at. Without it each page shows what is committed when it is asked for.
    ///   - package: the package database.
    public static func pages(after key: Int64 = 0, size: Int = 100, readsAhead: Bool = true, in package: Package) -> EntityPages<Self> {
        EntityPages(EntityContext(package, metadata), behind: key, size: size, readsAhead: readsAhead)
    }
}

extension EntityClass {
    /// All objects in the order of their surrogate keys, a page at a time; the parameters are those of generated classes.
    ///
    ///     var pages = customers.pages(size: 100)
    ///     while let page = try pages.next() {
    ///         for customer in page { try print(customer.value("name")) }
    ///     }
    public func pages(after key: Int64 = 0, size: Int = 100, readsAhead: Bool = true) -> EntityPages<GenericEntity> {
        EntityPages(EntityContext(package, metadata), behind: key, size: size, readsAhead: readsAhead)
    }
}
