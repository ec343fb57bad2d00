import MobileStore

/// Reads the relatives of many objects with one statement per relationship, and gives each object its own.
struct Prefetch {
    /// One relationship, and the paths that continue from it.
    private struct Branch {
        let relationship: Int
        var rest: [RelationshipPath] = []
    }

    private let context: EntityContext
    private let objects: [Entity]
    private let branches: [Branch]

    /// Returns nil where there is nothing to read.
    init?(_ paths: [RelationshipPath], for objects: [some Entity], _ context: EntityContext) {
        // First, because an array of a derived class is copied when it becomes one of its base class.
        guard !paths.isEmpty, !objects.isEmpty else { return nil }
        var branches: [Branch] = []
        for path in paths {
            guard let first = path.steps.first else { continue }
            let index = branches.firstIndex { $0.relationship == first } ?? branches.count
            if index == branches.count { branches.append(Branch(relationship: first)) }
            if path.steps.count > 1 { branches[index].rest.append(RelationshipPath(steps: Array(path.steps.dropFirst()))) }
        }
        guard !branches.isEmpty else { return nil }
        (self.context, self.objects, self.branches) = (context, objects, branches)
    }

    func read() throws {
        for branch in branches {
            var step = PrefetchStep(branch.relationship, of: objects, context, goesOn: !branch.rest.isEmpty)
            // A page becomes objects before the next one is read into the same memory.
            if let select = step.select { try context.package.read { try select.pages($0) { try step.take($0) } } }
            try Prefetch(branch.rest, for: step.apply(), step.target)?.read()
        }
    }

    nonisolated(nonsending) func read() async throws {
        for branch in branches {
            var step = PrefetchStep(branch.relationship, of: objects, context, goesOn: !branch.rest.isEmpty)
            if let select = step.select {
                let pages = try await context.package.read { connection in
                    var pages: [RowPage] = []
                    try select.pages(connection) { pages.append($0) }
                    return pages
                }
                for page in pages { try step.take(page) }
            }
            try await Prefetch(branch.rest, for: step.apply(), step.target)?.read()
        }
    }
}

/// One relationship of many objects.
private struct PrefetchStep {
    /// The statement for the rows of the relatives.
    struct Select: Sendable {
        let sql: String
        let keys: String

        func pages(_ connection: Connection, _ body: (RowPage) throws -> Void) throws {
            var source = try connection.pages(sql, [.text(keys)], size: 200)
            while let page = try source.next() { try body(page) }
        }
    }

    private enum Kind {
        /// The objects hold the key of the one relative.
        case parents(reference: Int)
        /// The relatives hold the key of the object, in this column of their rows.
        case children(keyColumn: Int)
        case none
    }

    let target: EntityContext
    /// The statement; nil where nothing has to be read.
    private(set) var select: Select?
    private let index: Int
    private let objects: [Entity]
    private let type: Entity.Type
    /// Whether the relatives' own relatives are read next.
    private let goesOn: Bool
    private var kind = Kind.none
    /// The objects whose relatives are read.
    private var lacking: [Entity] = []
    /// The relatives, by the key of the object that they belong to, or by their own key.
    private var found: [Int64: [Entity]] = [:]
    /// The relatives of the current object: rows of one object follow each other.
    private var run: (key: Int64, relatives: [Entity]) = (0, [])

    init(_ index: Int, of objects: [Entity], _ context: EntityContext, goesOn: Bool) {
        self.goesOn = goesOn
        let metadata = context.metadata, relationship = metadata.relationships[index]
        target = context.target(of: relationship)
        (self.index, self.objects) = (index, objects)
        let classes = Swift.type(of: context.package).entityClasses
        type = objects[0] is GenericEntity || classes.isEmpty ? GenericEntity.self : classes[relationship.targetIndex]
        let sql = target.metadata.sql, chosen = "IN (SELECT value FROM json_each(?1))"
        if let reference = relationship.referenceIndex {
            kind = .parents(reference: reference)
            lacking = objects.filter { $0.knownParent(index) == nil && $0.references[reference] != 0 && !$0.isByAttributes(reference) }
            let keys = Set(lacking.map { $0.references[reference] })
            if !keys.isEmpty {
                select = Select(sql: "SELECT \(sql.columns) FROM \(sql.table) WHERE \"_sk\" \(chosen)", keys: EntitySQL.list(keys.sorted()))
            }
        } else if let test = ChildTest(relationship, from: metadata, to: target.metadata) {
            // Mapped values are compared in the database. An object with other values in memory reads its own relatives.
            lacking = objects.filter {
                $0.presence == .stored && $0.attachments?.children[index]?.loaded == nil && (test.reference != nil || !$0.isDirty)
            }
            let keys = EntitySQL.list(lacking.map(\.surrogateKey))
            if let reference = test.reference {
                kind = .children(keyColumn: EntitySQL.firstAttribute + target.metadata.attributeCount + reference)
                if !lacking.isEmpty { select = Select(sql: "SELECT \(sql.columns) FROM \(sql.table) WHERE \(test.columns[0]) \(chosen)", keys: keys) }
            } else {
                kind = .children(keyColumn: sql.selected.count)
                let equal = zip(test.columns, test.sources).map { "c.\($0) = p.\(metadata.sql.attributeColumns[$1])" }.joined(separator: " AND ")
                let columns = (sql.selected.map { "c.\($0)" } + ["p.\"_sk\""]).joined(separator: ", ")
                if !lacking.isEmpty {
                    select = Select(
                        sql: "SELECT \(columns) FROM \(metadata.sql.table) AS p JOIN \(sql.table) AS c ON \(equal) WHERE p.\"_sk\" \(chosen)",
                        keys: keys)
                }
            }
        }
    }

    /// Makes the objects of a page.
    mutating func take(_ page: RowPage) throws {
        let column =
            switch kind {
            case .parents, .none: 0
            case .children(let keyColumn): keyColumn
            }
        for position in 0..<page.count {
            let row = page[position], key = row.integer(column)
            if key != run.key { endRun() }
            run.key = key
            run.relatives.append(try target.object(row, as: type))
        }
    }

    private mutating func endRun() {
        guard !run.relatives.isEmpty else { return }
        if let known = found.index(forKey: run.key) {
            found.values[known] += run.relatives
        } else {
            found[run.key] = run.relatives
        }
        run.relatives = []
    }

    /// Gives each object its relatives. Returns all of them, also those that were known before.
    mutating func apply() -> [Entity] {
        endRun()
        switch kind {
        case .parents(let reference):
            for object in lacking {
                // The object may have got another relative during the read.
                guard !object.mayBeRenumbered, object.knownParent(index) == nil, !object.isByAttributes(reference),
                    let parent = found[object.references[reference]]?.first
                else { continue }
                object.attached.parents[index] = .strong(parent)
            }
            return distinct(objects.compactMap { $0.knownParent(index) })
        case .children:
            // An object whose row may have another key by now reads its children itself.
            for object in lacking where !object.mayBeRenumbered {
                guard let children = found[object.surrogateKey] ?? (object.package.hasReplacedRows ? nil : []) else { continue }
                object.setLoaded(children, index)
            }
            return goesOn ? objects.flatMap { $0.attachments?.children[index]?.present ?? [] } : []
        case .none: return []
        }
    }

    private func distinct(_ objects: [Entity]) -> [Entity] {
        var seen: Set<ObjectIdentifier> = []
        return objects.filter { seen.insert(ObjectIdentifier($0)).inserted }
    }
}

extension Entity {
    /// Sets the children in the database in a to-many relationship.
    fileprivate final func setLoaded(_ children: [Entity], _ index: Int) {
        let list = childList(index)
        let isOrdered = zip(children, children.dropFirst()).allSatisfy { $0.surrogateKey < $1.surrogateKey }
        list.loaded = isOrdered ? children : children.sorted { $0.surrogateKey < $1.surrogateKey }
        list.error = nil
        guard let inverse = metadata.relationships[index].inverseIndex else { return }
        let parent = SharedParent(self, inverse)
        for child in children { child.sharedParent = parent }
    }
}

extension EntityList {
    /// Reads the objects of a relationship for all objects of the list at once, where they are not known yet. Several names form a path from one
    /// relationship to the next: `try customers.prefetch("orders", "lines")`.
    ///
    ///     let all = try Customer.findAll(in: crm)
    ///     try all.prefetch("orders", "lines")
    ///     for customer in all { print("\(customer.name): \(customer.orders.count) orders") }
    ///
    /// - Throws: ``ObjectError/Code/noSuchRelationship``, ``ObjectError/Code/store``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func prefetch(_ relationships: String...) throws {
        guard let context = first?.context else { return }
        let path = try RelationshipPath(relationships, of: context.metadata, in: context.package.metadata)
        try Prefetch([path], for: Array(self), context)?.read()
    }

    /// Does the same without blocking a cooperative thread.
    public nonisolated(nonsending) func prefetch(_ relationships: String...) async throws {
        guard let context = first?.context else { return }
        let path = try RelationshipPath(relationships, of: context.metadata, in: context.package.metadata)
        try await Prefetch([path], for: Array(self), context)?.read()
    }
}
