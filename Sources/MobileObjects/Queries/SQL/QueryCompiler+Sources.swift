extension QueryCompiler {
    /// Looks up the source and the joins of a query.
    func addSources(_ query: Query, to scope: QueryScope) throws {
        switch query.source {
        case nil: throw ObjectError(.invalidQuery, "query: it has no source; name an object with from")
        case .entity(let name, let alias): _ = try addSource(.entity(entity(name)), alias: alias ?? name, to: scope)
        case .query(let inner, let alias): _ = try addSource(.select(nested(2) { try select(inner, outer: scope.outer) }), alias: alias, to: scope)
        case .combination(let combination, let left, let right):
            _ = try addSource(.select(combined(combination, left, right, outer: scope.outer)), alias: "", to: scope)
        }
        try addJoins(query, to: scope)
    }

    /// Returns the scope of a query for the objects of a class, and the source that they come from.
    func finderScope(_ query: Query, of entity: EntityMetadata) throws -> (QueryScope, QueryScope.Source) {
        guard query.selectItems.isEmpty, query.groupItems.isEmpty, query.havingCriteria == nil else {
            throw ObjectError(.invalidQuery, "query: it finds whole objects of \(entity.name); run one that selects or groups with executeQuery")
        }
        var alias = entity.name
        switch query.source {
        case nil: break
        case .entity(entity.name, let name): alias = name ?? alias
        default: throw ObjectError(.invalidQuery, "query: it does not select from \(entity.name), whose objects are to be found")
        }
        if let other = query.joinCriteria.first(where: { $0.joinType == .right || $0.joinType == .fullOuter }) {
            throw ObjectError(.invalidQuery, "query: the join of \"\(other.entity)\" gives rows without an object of \(entity.name)")
        }
        let scope = QueryScope(outer: nil)
        let root = try addSource(.entity(self.entity(entity.name)), alias: alias, to: scope)
        try addJoins(query, to: scope)
        return (scope, root)
    }

    private func addJoins(_ query: Query, to scope: QueryScope) throws {
        for join in query.joinCriteria {
            let source = try addSource(.entity(entity(join.entity)), alias: join.alias ?? join.entity, to: scope)
            let left = try attribute(join.leftItem, scope), right = try attribute(join.rightItem, scope)
            guard let (one, other) = SQLExpression.comparable(left, right) else {
                throw ObjectError(
                    .invalidValue,
                    "query: joins \"\(join.leftItem)\", a \(left.type.type), with \"\(join.rightItem)\", a \(right.type.type), which are never equal")
            }
            let words =
                switch join.joinType {
                case .inner: "JOIN"
                case .left: "LEFT JOIN"
                case .right: "RIGHT JOIN"
                case .fullOuter: "FULL JOIN"
                }
            source.join = (words, "\(one) = \(other)")
        }
    }

    /// Returns the text after FROM. It is written last, when the requested rows are known.
    func fromClause(_ query: Query, _ scope: QueryScope) throws -> String {
        var clause = ""
        for source in scope.sources {
            if let join = source.join {
                clause += " \(join.words) \(tableSQL(source)) AS \(source.name) ON \(join.condition)"
            } else {
                clause += "\(tableSQL(source)) AS \(source.name)\(scope.relevance?.join ?? "")"
            }
        }
        return clause
    }

    func tableSQL(_ source: QueryScope.Source) -> String {
        switch source.table {
        case .select(let select): return "(\(select.sql))"
        case .entity(let entity):
            guard source.seesDeleted, !entity.isLocal else { return entity.sql.table }
            let columns = entity.sql.columns
            readsOriginals(of: entity)
            return """
                (SELECT \(columns) FROM \(entity.sql.table) UNION ALL \
                SELECT \(columns) FROM \(entity.sql.originalTable) WHERE "_pc" = \(PendingChange.delete.rawValue))
                """
        }
    }

    /// Combines two queries into one, with the columns of the first.
    private func combined(_ combination: QueryCombination, _ left: Query, _ right: Query, outer: QueryScope?) throws -> NestedSelect {
        let (one, other) = try nested(9) { (try select(left, outer: outer), try select(right, outer: outer)) }
        guard one.columns.count == other.columns.count else {
            throw ObjectError(
                .invalidQuery, "query: combines one of \(one.columns.count) items with one of \(other.columns.count); select as many in both")
        }
        let columns = try zip(one.columns, other.columns).map { left, right in
            guard let type = SQLExpression.unified(left.type, right.type) else {
                throw ObjectError(
                    .invalidValue, "query: combines \"\(left.name)\", a \(left.type.type), with \"\(right.name)\", a \(right.type.type)")
            }
            return QueryResultColumn(name: left.name, attribute: left.attribute, type: type)
        }
        let words =
            switch combination {
            case .union: "UNION"
            case .unionAll: "UNION ALL"
            case .except: "EXCEPT"
            case .intersect: "INTERSECT"
            }
        return NestedSelect(sql: "SELECT * FROM (\(one.sql)) \(words) SELECT * FROM (\(other.sql))", columns: columns)
    }

    // MARK: Conditions on rows

    /// Returns the terms of WHERE.
    func conditions(_ query: Query, _ scope: QueryScope) throws -> [String] {
        var conditions: [String] = []
        try findRelevance(query, scope)
        if let test = query.testCriteria { conditions.append(try condition(test, scope, items: [], isHaving: false)) }
        return conditions + (try stateConditions(query.entityFilter, scope))
    }

    /// Returns the condition that ties the rows of a subquery to the outer query's object by a relationship: by surrogate keys, as the relationship's
    /// list is read, because attributes of new objects do not identify them yet.
    func relation(_ name: String, _ scope: QueryScope) throws -> String {
        guard let inner = scope.sources.first, case .entity(let target) = inner.table, let outer = scope.outer?.sources.first,
            case .entity(let entity) = outer.table
        else {
            throw ObjectError(.invalidQuery, "query: it tests objects of the relationship \"\(name)\", but does not select from objects that have it")
        }
        let relationship = try entity.relationship(named: name)
        if let reference = relationship.referenceIndex { return "\(inner.key) = \(outer.name).\(entity.sql.referenceColumns[reference])" }
        guard let test = ChildTest(relationship, from: entity, to: target) else {
            throw ObjectError(.misuse, "query: the model ties no objects to \(entity.name).\(name): it has neither an inverse nor a mapping")
        }
        let values = test.sources.isEmpty ? [outer.key] : test.sources.map { "\(outer.name).\(entity.sql.attributeColumns[$0])" }
        return zip(test.columns, values).map { "\(inner.name).\($0) = \($1)" }.joined(separator: " AND ")
    }

    private func stateConditions(_ filter: EntityFilter, _ scope: QueryScope) throws -> [String] {
        guard !filter.isEmpty, filter != .all else { return [] }
        guard let source = scope.sources.first, case .entity = source.table else {
            throw ObjectError(.invalidQuery, "query: filters by the state of objects, but does not select from objects")
        }
        if filter.contains(.deleted) { source.seesDeleted = true }
        let state = "\(source.name).\"_pc\""
        let changes: [(EntityFilter, EntityFilter, String)] = [
            (.pending, .notPending, "\(state) <> 0"), (.created, .notCreated, "\(state) = \(PendingChange.create.rawValue)"),
            (.updated, .notUpdated, "\(state) = \(PendingChange.update.rawValue)"),
            (.deleted, .notDeleted, "\(state) = \(PendingChange.delete.rawValue)"),
        ]
        let wanted = changes.filter { filter.contains($0.0) }.map(\.2)
        let unwanted = changes.filter { filter.contains($0.1) }.map { "NOT (\($0.2))" }
        return (wanted.isEmpty ? [] : ["(\(wanted.joined(separator: " OR ")))"]) + unwanted
    }
}
