/// The sources whose attributes can be named in one query, and the query around it.
final class QueryScope {
    let outer: QueryScope?
    private(set) var sources: [Source] = []
    /// The attributes of this query that were named outside of aggregates, as SQL, since this list was last emptied.
    var namedColumns: [String] = []
    /// Whether the argument of an aggregate is being written.
    var isInAggregate = false
    /// The search by whose relevance the rows are sorted.
    var relevance: Relevance?

    /// A search that is a join instead of a condition, so that its rows have a relevance.
    struct Relevance {
        let search: TextSearch
        /// The join, which follows the first source.
        let join: String
        /// The value to sort by.
        let order: String
    }

    /// One table of a FROM clause.
    final class Source {
        /// The alias that the caller wrote.
        let alias: String
        /// The name in the statement: no text of a caller becomes SQL.
        let name: String
        let table: QueryTable
        /// JOIN and ON, where it is joined to the previous sources.
        var join: (words: String, condition: String)?
        /// Whether rows that were deleted here, and whose delete waits, are seen as well.
        var seesDeleted = false

        /// The surrogate key of its rows, where it is an object.
        var key: String { name + ".\"_sk\"" }

        init(alias: String, name: String, table: QueryTable) { (self.alias, self.name, self.table) = (alias, name, table) }
    }

    init(outer: QueryScope?) { self.outer = outer }

    /// - Throws: ``ObjectError/Code/invalidQuery`` for an alias that already exists.
    func add(_ source: Source) throws {
        guard !sources.contains(where: { $0.alias == source.alias }) else {
            throw ObjectError(.invalidQuery, "query: two sources have the alias \"\(source.alias)\"; give each its own")
        }
        sources.append(source)
    }

    /// Returns the source with this alias, and the scope that it is in: the nearest one.
    func source(_ alias: String) -> (source: Source, scope: QueryScope)? {
        var scope: QueryScope? = self
        while let current = scope {
            if let source = current.sources.first(where: { $0.alias == alias }) { return (source, current) }
            scope = current.outer
        }
        return nil
    }

    /// Returns the alias that `alias.attribute` begins with, the longest of several, because a name may contain a point; nil where there is none.
    func alias(before text: String) -> String? {
        var found: String?, scope: QueryScope? = self
        while let current = scope {
            for source in current.sources where source.alias.count > (found?.count ?? -1) && text.hasPrefix(source.alias + ".") {
                found = source.alias
            }
            scope = current.outer
        }
        return found
    }

    /// Names of the sources, for messages.
    var description: String { sources.map { $0.table.description(alias: $0.alias) }.joined(separator: ", ") }
}
