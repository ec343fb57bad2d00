import MobileStore

/// The way to read the rows of a list: a part of them at a time, from any position on.
struct ListPlan: Sendable {
    /// The source of the pages of a list.
    enum Rows: Sendable {
        /// Any page costs as much as the first one: it is found by the key of the row before it.
        case byKey(PageQuery)
        /// A statement whose last two values are the number of rows to take and the number to leave out. The latter are read as well.
        case byPosition(sql: String)
    }

    /// The order of attributes that a list was given.
    struct Sort: Sendable {
        let object: String
        let attributes: [String]
        /// The statement for all rows of the list.
        let sql: String
    }

    let rows: Rows
    /// The order; nil where it is that of the keys or of relevance.
    var sort: Sort?
    /// The statement that counts the rows, before ``skip`` and ``take``.
    let countSQL: String
    /// The values of both statements, without those that ``Rows/byPosition(sql:)`` adds.
    let values: [Value]
    /// The number of rows that are left out at the beginning.
    var skip = 0
    /// The maximum number of rows; negative: all.
    var take = -1
    /// The tables of the rows: a commit that changes one of these may change the list.
    let tables: Set<String>
    /// Whether rows that were deleted here may be among them.
    var seesDeleted = false
    /// Whether it reads an index of words.
    var searches = false
    /// The prepared first page; nil where there is none.
    var first: PageSelect?
    /// Relatives to read along with the objects.
    var prefetches: [RelationshipPath] = []

    /// Plans a list of all objects of a class.
    init(_ entity: EntityMetadata) {
        let sql = entity.sql
        rows = .byKey(PageQuery(sql.selected, from: sql.table, orderedBy: [.init(#""_sk""#)]))
        countSQL = "SELECT count(*) FROM \(sql.table)"
        values = []
        tables = [entity.name]
        first = sql.all
    }

    /// Plans a list of the objects of a modelled query.
    init(_ query: ObjectSQL, _ parameters: [AttributeValue], sortedBy order: [AttributeSort]) throws {
        rows = .byPosition(sql: try query.pagedSQL(sortedBy: order))
        countSQL = query.countSQL
        values = try query.values(parameters)
        tables = query.tables
    }

    /// Plans a list of the objects that a query made at run time finds.
    ///
    /// Keys distinguish the objects, so ordered rows can be read by key, also where joins choose the objects. Where joins repeat objects, rows have
    /// no key, and pages are counted off.
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
        (tables, searches) = (compiler.tables, compiler.searches)
        if !query.sortCriteria.isEmpty, !query.sortCriteria.contains(.relevance) {
            sort = Sort(object: entity.name, attributes: query.sortCriteria.map(\.attribute), sql: parts.sql)
        }
    }

    /// Returns the number of rows of the list where the statement counts `found`.
    func count(of found: Int) -> Int {
        let left = max(0, found - skip)
        return take < 0 ? left : min(left, take)
    }
}
