/// The objects at the many end of a relationship: `customer.orders`. They are read from the database on first access, and kept with
/// the object until it is refreshed. SMP 2.3: the list property of the parent.
///
/// Iteration and ``count`` cannot throw. Where the database cannot be read they find nothing, ``error`` has the reason, handlers are notified,
/// and the next save, delete or submit of the object throws. `all()`, `fetchCount()` and `load(\.orders)` throw at once.
public struct Children<Element: Entity>: ExpressibleByArrayLiteral {
    private let source: Source

    private enum Source {
        case relationship(Entity, Int)
        case free([Element])
    }

    init(of owner: Entity, _ relationship: Int) { source = .relationship(owner, relationship) }

    /// Creates a list to be set as the children of an object.
    public init(_ objects: some Sequence<Element>) { source = .free(Array(objects)) }
    public init(arrayLiteral elements: Element...) { source = .free(elements) }

    /// Returns the children, in the order of their surrogate keys, with unsaved ones at the end.
    /// - Throws: ``ObjectError/Code/store``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func all() throws -> EntityList<Element> { try present() }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func all() async throws -> EntityList<Element> {
        if case .relationship(let owner, let index) = source { try await owner.read(index) }
        return try present()
    }

    private func present() throws -> EntityList<Element> {
        switch source {
        case .free(let objects): return EntityList(objects)
        case .relationship(let owner, let index):
            let list = try owner.loadedChildren(index, as: Element.self)
            return EntityList(list.present.compactMap { $0 as? Element })
        }
    }

    /// Adds a child and sets its parent to the owner. In a composite relationship `save` of the owner writes it, otherwise the child's own save.
    /// SMP 2.3: `add:` on the list, `setCustomer:` on the child.
    public func append(_ child: Element) {
        guard case .relationship(let owner, let index) = source else { return }
        owner.addChild(child, to: index)
    }

    /// The reason why the children could not be read; nil after a successful read.
    public var error: ObjectError? {
        guard case .relationship(let owner, let index) = source else { return nil }
        return owner.attachments?.children[index]?.error
    }

    /// The owner of this list, and the position of the relationship; nil for a list without owner.
    var relationship: (Entity, Int)? {
        guard case .relationship(let owner, let index) = source else { return nil }
        return (owner, index)
    }

    /// Returns whether this is the list of `owner`'s relationship `index` itself.
    func isList(of owner: Entity, _ index: Int) -> Bool {
        guard case .relationship(let other, let position) = source else { return false }
        return owner === other && index == position
    }
}

extension Children: RandomAccessCollection {
    /// Iterates over the children in the order of `all()`.
    public func makeIterator() -> Iterator {
        switch source {
        case .free(let objects): Iterator(objects)
        // The list keeps the error that makes it empty: see `error`.
        case .relationship(let owner, let index):
            Iterator(owner.readLazily(index) { try owner.loadedChildren(index, as: Element.self).present } ?? [])
        }
    }

    /// An iterator over the children in the owner's own list.
    public struct Iterator: IteratorProtocol {
        private var objects: IndexingIterator<[Entity]>

        fileprivate init(_ objects: [Entity]) { self.objects = objects.makeIterator() }

        /// Returns the next child; nil after the last one.
        public mutating func next() -> Element? {
            while let object = objects.next() {
                if let element = object as? Element { return element }
            }
            return nil
        }
    }

    public var startIndex: Int { 0 }
    /// The position after the last child; the number of children.
    public var endIndex: Int { count }

    /// The number of children.
    public var count: Int {
        switch source {
        case .free(let objects): objects.count
        case .relationship(let owner, let index): owner.readLazily(index) { try owner.loadedChildren(index, as: Element.self).count } ?? 0
        }
    }
    public var isEmpty: Bool { count == 0 }
    public var underestimatedCount: Int { count }

    /// The child at `position`, from 0, in the order of `all()`, without a copy of the list.
    public subscript(position: Int) -> Element {
        switch source {
        case .free(let objects): return objects[position]
        case .relationship(let owner, let index):
            let list = owner.readLazily(index) { try owner.loadedChildren(index, as: Element.self) }
            guard let child = list?.object(at: position) as? Element else {
                preconditionFailure("\(owner.metadata.name): its \(owner.metadata.relationships[index].name) has no child \(position)")
            }
            return child
        }
    }
}
