import MobileStore

extension QueryCompiler {
    /// Returns the condition that a row has the words of a search.
    func condition(_ search: TextSearch, _ scope: QueryScope) throws -> String {
        let (source, index, columns) = try target(of: search, scope)
        guard let expression = try SearchExpression(search, columns: columns).sql else { return "1" }
        searches = true
        // The join has chosen the rows already.
        if let relevance = scope.relevance, relevance.search == search { return "1" }
        return index.condition(key: source.key, place: bind(.text(expression)))
    }

    /// Finds the search by whose relevance a query sorts: it joins the index, and replaces the condition.
    /// - Throws: ``ObjectError/Code/invalidQuery`` where it has no such search.
    func findRelevance(_ query: Query, _ scope: QueryScope) throws {
        guard query.sortCriteria.contains(where: { $0.attribute == AttributeSort.relevanceName }) else { return }
        guard !query.isDistinct, query.groupItems.isEmpty, query.havingCriteria == nil else {
            throw ObjectError(
                .invalidQuery, "query: sorts by relevance, which rows have no longer after they are grouped, or equal ones returned once")
        }
        let first = scope.sources.first
        var isWithoutWords = false
        for search in query.testCriteria?.requiredSearches ?? [] {
            let (source, index, columns) = try target(of: search, scope)
            guard source === first else { continue }
            guard let expression = try SearchExpression(search, columns: columns).sql else {
                isWithoutWords = true
                continue
            }
            searches = true
            scope.relevance = QueryScope.Relevance(
                search: search, join: index.join(key: source.key, place: bind(.text(expression)), alias: "\(source.name)s"),
                order: "\(source.name)s.rank")
            return
        }
        guard isWithoutWords else {
            throw ObjectError(
                .invalidQuery, "query: sorts by relevance, but has no search of its first source among the conditions that all hold; add matching")
        }
    }

    /// Returns the term of ORDER BY for relevance; nil where the text of the search has no words, and no object is more relevant than another.
    func relevanceTerm(_ sort: AttributeSort, _ scope: QueryScope) -> OrderTerm? {
        // BM25 gives the most relevant row the least number.
        scope.relevance.map { OrderTerm(sql: $0.order, isDescending: sort.order == .descending) }
    }

    private func target(of search: TextSearch, _ scope: QueryScope) throws -> (QueryScope.Source, SearchIndex, columns: [Int]) {
        let found = search.source.flatMap { scope.source($0)?.source } ?? (search.source == nil ? scope.sources.first : nil)
        guard let source = found, case .entity(let entity) = source.table else {
            throw ObjectError(
                .invalidQuery,
                "query: searches \(search.source.map { "\"\($0)\"" } ?? "its first source"), which is not an object; there are \(scope.description)")
        }
        guard let index = entity.search else {
            throw ObjectError(
                .invalidQuery, "query: \(entity.name) has no searchable attributes; mark some in the model with \"searchable\": true")
        }
        let columns = try search.attributes.map { name in
            let attribute = try entity.attribute(named: name)
            guard let column = index.attributes.firstIndex(of: attribute.index) else {
                throw ObjectError(.invalidQuery, "query: \(entity.name).\(name) is not searchable; mark it in the model with \"searchable\": true")
            }
            return column
        }
        return (source, index, columns)
    }
}

extension TestCriteria {
    /// The searches among the conditions that all hold.
    fileprivate var requiredSearches: [TextSearch] {
        switch self {
        case .search(let search): [search]
        case .composite(let test) where test.operator == .and: test.operands.flatMap(\.requiredSearches)
        case .attribute, .composite: []
        }
    }
}
