import MobileExecution
import MobileStore

/// All objects of a class in the order of their surrogate keys, a page at a time: for callers that iterate over more objects than should be in
/// memory.
///
///     var pages = Customer.pages(size: 100, in: crm)
///     while let customers = try pages.next() {
///         for customer in customers { show(customer) }
///     }
///
/// Each page is a separate read after the last object of the previous page; the last page costs as much as the first one. While the caller uses the
/// objects of a page, the next page is read on another thread, on a reader that is free at that moment. So changes between two pages may be missing
/// on the second one. Changes by the running transaction of this thread are never missing.
public struct EntityPages<Element: Entity>: ~Copyable {
    private let context: EntityContext
    private let size: Int
    private let readsAhead: Bool
    /// The key of the last object.
    private var key: Int64
    private var isAtEnd = false
    /// The next page, which is being read.
    private var ahead: Promise<RowPage?, StoreError>?

    init(_ context: EntityContext, behind key: Int64, size: Int, readsAhead: Bool) {
        (self.context, self.key, self.size, self.readsAhead) = (context, key, size, readsAhead)
    }

    /// Returns the next page; nil after the last object.
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

    /// Returns the page that was read ahead; nil where there is none, or where it lacks changes of this thread's transaction.
    private mutating func takeAhead() -> Promise<RowPage?, StoreError>? {
        defer { ahead = nil }
        return TransactionScope.transaction(of: context.package) == nil ? ahead : nil
    }

    /// Requests the next page before it makes the objects of this one.
    private mutating func objects(of page: RowPage) -> EntityList<Element>? {
        isAtEnd = page.isAtEnd
        guard let last = page.last else {
            isAtEnd = true
            return nil
        }
        key = last.integer(0)
        // If the database is closed by now, the request for the next page reports it.
        if readsAhead, !isAtEnd, TransactionScope.transaction(of: context.package) == nil, let store = try? context.package.openStore() {
            ahead = store.readAhead(context.metadata.sql.behindKey, [.integer(key)], size: size)
        }
        var objects: [Element] = []
        context.append(page, to: &objects)
        return EntityList(objects)
    }
}

extension ModelledEntity {
    /// Returns the pages of all objects in the order of their surrogate keys.
    ///
    ///     var pages = Customer.pages(size: 100, in: crm)
    ///     while let customers = try pages.next() {
    ///         for customer in customers { print(customer.name) }
    ///     }
    ///
    /// - Parameters:
    ///   - key: the surrogate key after which the first page begins; by default it begins with the first object.
    ///   - size: objects of a page, 1 or more; a page ends early when its rows take 4 MB.
    ///   - readsAhead: whether the next page is read while one is in use. Without it each page shows the state at the time of its request.
    ///   - package: the package database.
    public static func pages(after key: Int64 = 0, size: Int = 100, readsAhead: Bool = true, in package: Package) -> EntityPages<Self> {
        EntityPages(EntityContext(package, metadata), behind: key, size: size, readsAhead: readsAhead)
    }
}

extension EntityClass {
    /// Returns the pages of all objects in the order of their surrogate keys; the parameters are those of generated classes.
    ///
    ///     var pages = customers.pages(size: 100)
    ///     while let page = try pages.next() {
    ///         for customer in page { try print(customer.value("name")) }
    ///     }
    public func pages(after key: Int64 = 0, size: Int = 100, readsAhead: Bool = true) -> EntityPages<GenericEntity> {
        EntityPages(EntityContext(package, metadata), behind: key, size: size, readsAhead: readsAhead)
    }
}
