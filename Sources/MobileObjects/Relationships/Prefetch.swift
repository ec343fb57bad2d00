import MobileStore

/// Reads the relatives of many objects with one statement per relationship, and hands each object its own.
struct Prefetch {
    /// One relationship, and those to go on with from there.
    private struct Branch {
        let relationship: Int
        var rest: [RelationshipPath] = []
    }

    private let context: EntityContext
    private let objects: [Entity]
    private let branches: [Branch]

    /// Nil where there is nothing to read.
    init?(_ paths: [RelationshipPath], for objects: [Entity], _ context: EntityContext) {
        guard !objects.isEmpty else { return nil }
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
            let step = PrefetchStep(branch.relationship, of: objects, context)
            let select = step.select
            let pages = try select.map { select in try context.package.read { try select.pages($0) } }
            try Prefetch(branch.rest, for: step.apply(pages ?? []), step.target)?.read()
        }
    }

    nonisolated(nonsending) func read() async throws {
        for branch in branches {
            let step = PrefetchStep(branch.relationship, of: objects, context)
            var pages: [RowPage] = []
            if let select = step.select { pages = try await context.package.read { try select.pages($0) } }
            try await Prefetch(branch.rest, for: step.apply(pages), step.target)?.read()
        }
    }
}

/// One relationship of many objects.
private struct PrefetchStep {
    /// The statement, which gives the rows of the relatives.
    struct Select: Sendable {
        let sql: String
        let keys: String

        func pages(_ connection: Connection) throws -> [RowPage] {
            var source = try connection.pages(sql, [.text(keys)], size: 1000)
            var pages: [RowPage] = []
            while let page = try source.next() { pages.append(page) }
            return pages
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
    /// Nil where nothing has to be read.
    private(set) var select: Select?
    private let index: Int
    private let objects: [Entity]
    private let type: Entity.Type
    private var kind = Kind.none
    /// The objects whose relatives are read.
    private var lacking: [Entity] = []

    init(_ index: Int, of objects: [Entity], _ context: EntityContext) {
        let metadata = context.metadata, relationship = metadata.relationships[index]
        target = context.target(of: relationship)
        (self.index, self.objects) = (index, objects)
        let classes = Swift.type(of: context.package).entityClasses
        type = objects[0] is GenericEntity || classes.isEmpty ? GenericEntity.self : classes[relationship.targetIndex]
        let sql = target.metadata.sql, chosen = "IN (SELECT value FROM json_each(?1))"
        if let reference = relationship.referenceIndex {
            kind = .parents(reference: reference)
            lacking = objects.filter { $0.attachments?.parents[index]?.parent == nil && $0.references[reference] != 0 }
            let keys = Set(lacking.map { $0.references[reference] })
            if !keys.isEmpty {
                select = Select(sql: "SELECT \(sql.columns) FROM \(sql.table) WHERE \"_sk\" \(chosen)", keys: Self.json(keys.sorted()))
            }
        } else if let test = ChildTest(relationship, from: metadata, to: target.metadata) {
            // What is mapped is compared in the database: an object with other values in memory asks for itself.
            lacking = objects.filter {
                $0.presence == .stored && $0.attachments?.children[index]?.loaded == nil && (test.reference != nil || !$0.isDirty)
            }
            let keys = Self.json(lacking.map(\.surrogateKey))
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

    private static func json(_ keys: [Int64]) -> String { "[\(keys.map { String($0) }.joined(separator: ","))]" }

    /// Gives each object its relatives. Returns all of them, also those that were known before.
    func apply(_ pages: [RowPage]) -> [Entity] {
        switch kind {
        case .parents(let reference): applyParents(pages, reference)
        case .children(let column): applyChildren(pages, keyColumn: column)
        case .none: []
        }
    }

    private func applyParents(_ pages: [RowPage], _ reference: Int) -> [Entity] {
        var parents: [Int64: Entity] = [:]
        for page in pages {
            for position in 0..<page.count {
                let parent = type.init(row: page[position], at: EntitySQL.firstAttribute, context: target)
                parents[parent.surrogateKey] = parent
            }
        }
        for object in lacking {
            if let parent = parents[object.references[reference]] { object.attached.parents[index] = .strong(parent) }
        }
        return distinct(objects.compactMap { $0.attachments?.parents[index]?.parent })
    }

    private func applyChildren(_ pages: [RowPage], keyColumn: Int) -> [Entity] {
        var children: [Int64: [Entity]] = [:]
        for page in pages {
            for position in 0..<page.count {
                let row = page[position]
                children[row.integer(keyColumn), default: []].append(type.init(row: row, at: EntitySQL.firstAttribute, context: target))
            }
        }
        for object in lacking { object.setLoaded(children[object.surrogateKey] ?? [], index) }
        return objects.flatMap { $0.attachments?.children[index]?.present ?? [] }
    }

    private func distinct(_ objects: [Entity]) -> [Entity] {
        var seen: Set<ObjectIdentifier> = []
        return objects.filter { seen.insert(ObjectIdentifier($0)).inserted }
    }
}

extension Entity {
    /// Takes over what the database has in a to-many relationship.
    fileprivate final func setLoaded(_ children: [Entity], _ index: Int) {
        let list = childList(index)
        let isOrdered = zip(children, children.dropFirst()).allSatisfy { $0.surrogateKey < $1.surrogateKey }
        list.loaded = isOrdered ? children : children.sorted { $0.surrogateKey < $1.surrogateKey }
        list.error = nil
        guard let inverse = metadata.relationships[index].inverseIndex else { return }
        for child in children { child.attached.parents[inverse] = .weak(self) }
    }
}

extension EntityList {
    /// Reads the objects of a relationship for all objects of the list at once, where they are not known yet. Several names go on from one
    /// relationship to the next: `try customers.prefetch("orders", "lines")`.
    /// - Throws: ``ObjectError/Code/noSuchRelationship``, ``ObjectError/Code/store``.
    public func prefetch(_ relationships: String...) throws {
        guard let context = first?.context else { return }
        let path = try RelationshipPath(relationships, of: context.metadata, in: context.package.metadata)
        try Prefetch([path], for: Array(self), context)?.read()
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) func prefetch(_ relationships: String...) async throws {
        guard let context = first?.context else { return }
        let path = try RelationshipPath(relationships, of: context.metadata, in: context.package.metadata)
        try await Prefetch([path], for: Array(self), context)?.read()
    }
}
