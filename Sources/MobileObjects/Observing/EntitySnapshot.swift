import MobileStore

/// The objects that a query found at one moment, as rows. Rows may cross from one isolation to another; objects may not.
///
///     for try await customers in crm.observe(Customer.where(\.city == "Dublin")) {
///         await screen.show(customers)                  // on the main actor: for customer in customers { ... }
///     }
///
/// All rows are of one state of the database, packed in pages. Each access makes a new object, in the isolation of the caller.
public struct EntitySnapshot<Element: Entity>: Sendable {
    private let context: EntityContext
    private let pages: [RowPage]
    /// The position of each page's first row.
    private let starts: [Int]
    private let seesDeleted: Bool
    private let prefetches: [RelationshipPath]
    /// The number of objects.
    public let count: Int

    /// Checks all rows, because the subscript of a sequence cannot throw.
    /// - Throws: ``ObjectError/Code/corrupt`` where an attribute cannot have what a row holds.
    init(_ pages: [RowPage], _ context: EntityContext, seesDeleted: Bool, prefetches: [RelationshipPath]) throws {
        for page in pages { try context.check(page, as: Element.self) }
        (self.pages, self.context, self.seesDeleted, self.prefetches) = (pages, context, seesDeleted, prefetches)
        var starts: [Int] = [], count = 0
        for page in pages {
            starts.append(count)
            count += page.count
        }
        (self.starts, self.count) = (starts, count)
    }

    /// Whether there is no object.
    public var isEmpty: Bool { count == 0 }

    /// Makes a new object of the row at a position, from 0.
    public subscript(position: Int) -> Element { object(row(position)) }

    /// Makes a new object of the first row; nil where there is none.
    public var first: Element? { isEmpty ? nil : self[0] }

    func row(_ position: Int) -> Row {
        var low = 0, high = starts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= position { low = middle } else { high = middle }
        }
        return pages[low][position - starts[low]]
    }

    /// Makes the objects, with the relationships that the query prefetches; those are read now.
    /// - Throws: ``ObjectError/Code/store``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func objects() throws -> EntityList<Element> {
        let objects = Array(self)
        try Prefetch(prefetches, for: objects, context)?.read()
        return EntityList(objects)
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func objects() async throws -> EntityList<Element> {
        let objects = Array(self)
        try await Prefetch(prefetches, for: objects, context)?.read()
        return EntityList(objects)
    }

    /// The surrogate keys of the objects, in order. No object is made.
    public var surrogateKeys: [Int64] { pages.flatMap { page in page.map { $0.integer(0) } } }

    fileprivate func object(_ row: Row) -> Element {
        // The initializer checked the row, so this cannot fail.
        let object = (try? context.object(row, as: Element.self)) ?? Element(context: context)
        if seesDeleted { context.markDeleted([object]) }
        return object
    }
}

extension EntityContext {
    /// Throws where an attribute cannot have what a row holds.
    fileprivate func check<T: Entity>(_ page: RowPage, as type: T.Type) throws {
        // Only the object itself knows whether a structure or list can be read.
        let needsObject = metadata.attributes.contains { $0.storage == .json }
        for position in 0..<page.count {
            let row = page[position]
            let fits = !needsObject && metadata.attributes.allSatisfy { $0.isLarge || $0.storage.fits(row, EntitySQL.firstAttribute + $0.index) }
            if !fits { _ = try object(row, as: type) }
        }
    }
}

extension EntitySnapshot {
    /// Whether the query reads relationships along, whose objects a snapshot lacks.
    var hasRelatives: Bool { !prefetches.isEmpty }
}

extension EntitySnapshot: Equatable {
    /// Whether two snapshots show the same: objects of the same rows, with the same values and marks, in the same order. Relatives are not compared.
    public static func == (left: EntitySnapshot, right: EntitySnapshot) -> Bool {
        left.count == right.count && (0..<left.count).allSatisfy { left.row($0) == right.row($0) }
    }
}

extension EntitySnapshot: Sequence {
    /// Makes the objects in order, one at a time.
    public func makeIterator() -> AnyIterator<Element> {
        var position = 0
        return AnyIterator {
            guard position < count else { return nil }
            defer { position += 1 }
            return self[position]
        }
    }

    /// The number of objects.
    public var underestimatedCount: Int { count }
}
