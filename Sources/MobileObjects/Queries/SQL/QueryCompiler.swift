import MobileModel
import MobileStore

/// A query as SQLite runs it.
struct CompiledQuery: Sendable {
    let sql: String
    let values: [Value]
    let columns: [QueryResultColumn]
    /// Whether rows that were deleted here may be among the result.
    var seesDeleted = false
    /// The tables that it reads, including those of joins and subqueries.
    var tables: Set<String> = []
    /// The same as one page of rows, where it is one.
    var page: QueryPage?
    /// Whether it reads an index of words.
    var searches = false
}

/// A query whose rows are one page: it is read faster, and is prepared once.
struct QueryPage: Sendable {
    /// Equal for queries that differ in values alone.
    let sql: String
    let values: [Value]
    let size: Int
    let parts: SelectParts

    /// The maximum number of rows that are read as one page.
    static let maximum = 1000

    var query: PageQuery { parts.pageQuery }
}

/// The only writer of SELECT for queries made at run time. Every name is looked up in the metadata. The SQL contains only the metadata's own names,
/// quoted, and names made here (`t0`, `c0`). Every value is bound. So no text of a caller becomes SQL.
final class QueryCompiler {
    /// The maximum number of symbols that nested constructs keep on the stack of SQLite's parser. It has room for a hundred; the rest is for other
    /// constructs.
    private static let maximumDepth = 80
    /// The number of values that SQLite accepts in one statement.
    static let maximumValues = 32_766

    let metadata: PackageMetadata
    private(set) var values: [Value] = []
    /// The places where names of objects are bound, by which log records are found.
    private var componentPlaces: [String: String] = [:]
    private var sourceCount = 0
    /// The tables that the statement reads so far.
    private(set) var tables: Set<String> = []
    /// Whether the statement reads an index of words.
    var searches = false
    private var depth = 0

    init(_ metadata: PackageMetadata) { self.metadata = metadata }

    /// Returns the statement for a result set.
    static func resultSet(_ query: Query, in metadata: PackageMetadata) throws -> CompiledQuery {
        guard query.prefetches.isEmpty else {
            throw ObjectError(.invalidQuery, "query: it reads relationships along, which rows do not have; find its objects with findWithQuery")
        }
        let compiler = QueryCompiler(metadata)
        let select = try compiler.select(query, outer: nil)
        return CompiledQuery(
            sql: select.sql, values: try compiler.checkedValues(), columns: select.columns, tables: compiler.tables,
            searches: compiler.searches)
    }

    /// Returns the statement for the objects of a class: the columns of ``EntitySQL/columns``.
    /// - Parameter owner: the owner of the children to find; nil: all objects.
    static func objects(_ query: Query, of entity: EntityMetadata, in metadata: PackageMetadata, ownedBy owner: Owner? = nil) throws -> CompiledQuery
    {
        let compiler = QueryCompiler(metadata)
        let (found, root) = try compiler.objectParts(query, of: entity, ownedBy: owner)
        var parts = found
        parts.order.append(OrderTerm(sql: root.key))
        var page: QueryPage?
        if query.skip == 0, (1...QueryPage.maximum).contains(query.take), query.joinCriteria.isEmpty, parts.order.count <= SelectParts.keyedTerms {
            page = QueryPage(sql: parts.sql, values: compiler.values, size: query.take, parts: parts)
        }
        parts.limit = try compiler.limit(query)
        return CompiledQuery(
            sql: (page?.sql).map { $0 + parts.limit } ?? parts.sql, values: try compiler.checkedValues(), columns: [], seesDeleted: root.seesDeleted,
            tables: compiler.tables, page: page, searches: compiler.searches)
    }

    /// Returns the same in parts, without its limit and without the key at the end of its order.
    func objectParts(_ query: Query, of entity: EntityMetadata, ownedBy owner: Owner?) throws -> (SelectParts, root: QueryScope.Source) {
        let (scope, root) = try finderScope(query, of: entity)
        var parts = SelectParts(items: entity.sql.selectedOfRoot, text: entity.sql.columnsOfRoot)
        parts.isDistinct = query.isDistinct && !query.joinCriteria.isEmpty
        parts.conditions = try conditions(query, scope) + (owner?.conditions.map { "\(root.name).\($0.column) = \(bind($0.value))" } ?? [])
        let sortable: [SelectedItem]? = parts.isDistinct ? [] : nil
        parts.order = try order(query, scope, items: [], isGrouped: false, distinct: sortable, root: root)
        parts.from = try fromClause(query, scope)
        return (parts, root)
    }

    /// Returns the statement for the surrogate keys of the objects that a query finds, in their order.
    static func keys(_ query: Query, of entity: EntityMetadata, in metadata: PackageMetadata) throws -> CompiledQuery {
        let compiler = QueryCompiler(metadata)
        let (found, root) = try compiler.objectParts(query, of: entity, ownedBy: nil)
        var parts = found
        parts.items = [root.key]
        parts.order.append(OrderTerm(sql: root.key))
        parts.limit = try compiler.limit(query)
        return CompiledQuery(
            sql: parts.sql, values: try compiler.checkedValues(), columns: [], tables: compiler.tables, searches: compiler.searches)
    }

    /// Returns the statement for the number of rows that a query returns.
    static func count(_ query: Query, of entity: EntityMetadata?, in metadata: PackageMetadata, ownedBy owner: Owner? = nil) throws -> CompiledQuery {
        let compiler = QueryCompiler(metadata)
        let inner: String
        if let entity {
            let (found, root) = try compiler.objectParts(query, of: entity, ownedBy: owner)
            var parts = found
            parts.items = [root.key]
            parts.order = []
            parts.limit = try compiler.limit(query)
            inner = parts.sql
        } else {
            inner = try compiler.select(query, outer: nil).sql
        }
        return CompiledQuery(
            sql: "SELECT count(*) FROM (\(inner))", values: try compiler.checkedValues(), columns: [], tables: compiler.tables,
            searches: compiler.searches)
    }

    /// Binds a value. Returns its placeholder in the statement.
    func bind(_ value: Value) -> String {
        values.append(value)
        return "?\(values.count)"
    }

    /// Binds the name of an object only once, so that the same attribute is the same SQL everywhere in a statement.
    func bindComponent(_ name: String) -> String {
        tables.insert(FrameworkTables.logRecords)
        if let place = componentPlaces[name] { return place }
        let place = bind(.text(name))
        componentPlaces[name] = place
        return place
    }

    func checkedValues() throws -> [Value] {
        guard values.count <= Self.maximumValues else {
            throw ObjectError(.invalidQuery, "query: it has \(values.count) values; a query takes \(Self.maximumValues) at most")
        }
        return values
    }

    /// Runs `body`, which writes a construct inside another one.
    /// - Parameter cost: the number of symbols that the parser keeps meanwhile.
    func nested<R>(_ cost: Int, _ body: () throws -> R) throws -> R {
        guard depth + cost <= Self.maximumDepth else {
            throw ObjectError(.invalidQuery, "query: conditions and subqueries are nested too deeply for the database; combine some of them")
        }
        depth += cost
        defer { depth -= cost }
        return try body()
    }

    /// Adds a source under a name of the statement.
    func addSource(_ table: QueryTable, alias: String, to scope: QueryScope) throws -> QueryScope.Source {
        let source = QueryScope.Source(alias: alias, name: "t\(sourceCount)", table: table)
        sourceCount += 1
        if case .entity(let entity) = table { tables.insert(entity.name) }
        try scope.add(source)
        return source
    }

    /// Notes that a source is read together with the rows that were deleted here.
    func readsOriginals(of entity: EntityMetadata) { tables.insert(entity.name + EntitySQL.originalSuffix) }

    /// Returns the object of a source or join.
    /// - Throws: ``ObjectError/Code/noSuchClass``, ``ObjectError/Code/abstractClass``, ``ObjectError/Code/misuse``.
    func entity(_ name: String) throws -> EntityMetadata {
        if metadata.model.structures.contains(where: { $0.name == name }) {
            throw ObjectError(.abstractClass, "query: \"\(name)\" is a structure, which has no rows of its own")
        }
        let entity = try metadata.entity(named: name)
        guard entity.model.allowsDynamicQueries else {
            throw ObjectError(.misuse, "query: the model does not allow queries made at run time for \"\(name)\"; set its \"dynamicQueries\"")
        }
        return entity
    }
}

/// The parts of one SELECT, put together in the order of the language.
struct SelectParts: Sendable {
    /// The maximum number of terms and columns of a page by key.
    static let keyedTerms = 16, keyedColumns = 2000

    var isDistinct = false
    var items: [String] { didSet { text = nil } }
    /// The items as one text, where it is known.
    private var text: String?
    var from = ""
    var conditions: [String] = []
    var groups: [String] = []
    var having: String?
    var order: [OrderTerm] = []
    var limit = ""

    init(items: [String], text: String? = nil) { (self.items, self.text) = (items, text) }

    /// The same for pages by key; the rows must have the key at the end of their order, and no key twice.
    var pageQuery: PageQuery {
        PageQuery(
            items, from: from, where: conditions.isEmpty ? nil : conditions.joined(separator: " AND "),
            orderedBy: order.map { .init($0.sql, descending: $0.isDescending) })
    }

    var sql: String {
        var sql = "SELECT \(isDistinct ? "DISTINCT " : "")\(text ?? items.joined(separator: ", ")) FROM \(from)"
        if !conditions.isEmpty { sql += " WHERE " + conditions.joined(separator: " AND ") }
        if !groups.isEmpty { sql += " GROUP BY " + groups.joined(separator: ", ") }
        if let having { sql += " HAVING " + having }
        if !order.isEmpty { sql += " ORDER BY " + order.map(\.text).joined(separator: ", ") }
        return sql + limit
    }
}
