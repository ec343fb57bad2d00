/// The objects of a set, a page at a time.
extension EntitySet {
    /// Returns the objects as a list that reads its pages when they are needed, for any position of a list on a screen.
    ///
    ///     let customers = try crm.customers.ordered(by: \.name).list(pageSize: 50)
    ///     let last = try customers.object(at: customers.count() - 1)
    ///
    /// - Throws: as `EntityQuery.list(pageSize:keptPages:in:)`.
    public func list(pageSize: Int = 100, keptPages: Int = 8) throws -> LazyEntityList<Root> {
        try query.list(pageSize: pageSize, keptPages: keptPages, in: package)
    }

    /// Returns the pages of the objects, for `async` code.
    ///
    ///     for try await customers in crm.customers.ordered(by: \.name).pages(size: 50) {
    ///         for customer in customers { print(customer.name) }
    ///     }
    public func pages(size: Int = 100) -> AsyncEntityPages<Root> { query.pages(size: size, in: package) }
}

extension EntitySet: AsyncSequence {
    /// Reads the objects a page at a time, each page after the last object of the previous one.
    ///
    ///     let inCork = crm.customers.where(\.city == "Cork").sorted(by: \.name)
    ///     for try await customer in inCork { print(customer.name) }
    public func makeAsyncIterator() -> AsyncEntities<Root>.Iterator { pages().objects.makeAsyncIterator() }
}
