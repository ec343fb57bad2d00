import MobileStore

/// How the rows of a list are read: a part of them at a time, from any position on.
struct ListPlan: Sendable {
    /// Where the pages of a list come from.
    enum Rows: Sendable {
        /// Any page costs what the first one does: it is found behind the row before it.
        case byKey(PageQuery)
        /// A statement whose last two values are the number of rows to take and that of rows to leave out: what is left out is gone through.
        case byPosition(sql: String)
    }

    let rows: Rows
    /// The statement that counts the rows, before ``skip`` and ``take``.
    let countSQL: String
    /// Of both, but for what ``Rows/byPosition(sql:)`` adds.
    let values: [Value]
    /// Rows that are left out at the beginning.
    var skip = 0
    /// Rows at most; negative: all.
    var take = -1
    /// What the rows come from: a commit that changes one of these may change the list.
    let tables: Set<String>
    /// Rows that were deleted here may be among them.
    var seesDeleted = false
    /// The first page in words already; nil where it is not.
    var first: PageSelect?
    /// Relatives to read along with the objects.
    var prefetches: [RelationshipPath] = []

    /// All objects of a class.
    init(_ entity: EntityMetadata) {
        let sql = entity.sql
        rows = .byKey(PageQuery(sql.selected, from: sql.table, orderedBy: [.init(#""_sk""#)]))
        countSQL = "SELECT count(*) FROM \(sql.table)"
        values = []
        tables = [entity.name]
        first = sql.all
    }

    /// The objects of a modelled query.
    init(_ query: ObjectSQL, _ parameters: [AttributeValue], sortedBy order: [AttributeSort]) throws {
        rows = .byPosition(sql: try query.pagedSQL(sortedBy: order))
        countSQL = query.countSQL
        values = try query.values(parameters)
        tables = query.tables
    }

    /// The objects that a query made at run time finds.
    ///
    /// Objects are told apart by their keys, so what is ordered can be gone through by key, also where joins choose the objects. Where
    /// joins repeat them, rows have no key, and pages are counted off.
    init(_ query: Query, of entity: EntityMetadata, in metadata: PackageMetadata, ownedBy owner: Owner? = nil) throws {
        guard query.skip >= 0 else { throw ObjectError(.invalidQuery, "query: skip is \(query.skip); use 0 or more") }
        let compiler = QueryCompiler(metadata)
        let (found, root) = try compiler.objectParts(query, of: entity, ownedBy: owner)
        var parts = found
        parts.order.append(OrderTerm(sql: root.key))
        (skip, take, seesDeleted, prefetches) = (
            query.skip, query.take, root.seesDeleted, try RelationshipPath.paths(query, of: entity, in: metadata)
        )
        var counted = parts
        (counted.items, counted.order) = ([root.key], [])
        countSQL = "SELECT count(*) FROM (\(counted.sql))"
        let hasKeys = query.joinCriteria.isEmpty || parts.isDistinct
        if hasKeys, parts.order.count <= SelectParts.keyedTerms, parts.items.count + parts.order.count <= SelectParts.keyedColumns {
            if parts.isDistinct {
                counted.isDistinct = false
                parts.conditions = ["\(root.key) IN (\(counted.sql))"]
                parts.from = "\(compiler.tableSQL(root)) AS \(root.name)"
            }
            rows = .byKey(parts.pageQuery)
            values = try compiler.checkedValues()
        } else {
            values = try compiler.checkedValues()
            rows = .byPosition(sql: parts.sql + " LIMIT ?\(values.count + 1) OFFSET ?\(values.count + 2)")
        }
        tables = compiler.tables
    }

    /// The rows of the list where the statement counts `found`.
    func count(of found: Int) -> Int {
        let left = max(0, found - skip)
        return take < 0 ? left : min(left, take)
    }
}
