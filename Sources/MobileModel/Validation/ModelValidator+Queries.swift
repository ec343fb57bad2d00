extension ModelValidator {
    mutating func check(_ query: QueryModel, of object: ObjectModel, _ path: ModelPath) {
        checkParameters(query.parameters, path["parameters"], complexAllowed: false)
        for (index, parameter) in query.parameters.enumerated() where ReservedNames.finderParameters.contains(parameter.name) {
            report(.name, path["parameters"][index]["name"], "\"\(parameter.name)\" is a parameter of every generated finder")
        }
        guard !query.sql.isEmpty else { return }
        let sql = SQLTokens(query.sql)
        let place = path["sql"]
        if let problem = sql.problem {
            report(.sql, place, problem)
            return
        }
        if sql.tokens.contains(.symbol(";")) {
            report(.sql, place, "a query is one statement", suggestion: "leave out the ';'")
            return
        }
        checkParametersUsed(query, sql, path)
        if checkHead(query, sql.tokens, of: object, place) {
            var scope = ObjectSQLScope(sql.tokens, model: model)
            scope.check()
            problems += scope.problems.map { ModelProblem(.sql, place, $0.cause, suggestion: $0.suggestion) }
        }
    }

    private mutating func checkParametersUsed(_ query: QueryModel, _ sql: SQLTokens, _ path: ModelPath) {
        let declared = query.parameters.map(\.name)
        for name in sql.parameters where !declared.contains(name) {
            report(
                .sql, path["sql"], "the parameter \":\(name)\" is not declared",
                suggestion: Suggestion.didYouMean(name, among: declared) ?? "add it to \"parameters\"")
        }
        for (index, name) in declared.enumerated() where !name.isEmpty && !sql.parameters.contains(name) {
            report(
                .sql, path["parameters"][index]["name"], "the query does not use the parameter \"\(name)\"",
                suggestion: "write \":\(name)\" in its SQL, or remove it")
        }
    }

    /// Checks the beginning `SELECT x.* FROM Object x`: a modelled query finds objects of its own class.
    private mutating func checkHead(_ query: QueryModel, _ tokens: [SQLToken], of object: ObjectModel, _ path: ModelPath) -> Bool {
        let quoted = SwiftNames.isIdentifier(object.name) ? object.name : "\\\"\(object.name)\\\""
        let hint = "begin with SELECT x.* FROM \(quoted) x"
        var rest = tokens[...]
        guard rest.popFirst()?.isKeyword("SELECT") == true else {
            report(.sql, path, "a query begins with SELECT", suggestion: hint)
            return false
        }
        if rest.first?.isKeyword("DISTINCT") == true { rest.removeFirst() }
        guard let alias = rest.popFirst()?.name, rest.popFirst() == .symbol("."), rest.popFirst() == .symbol("*"),
            rest.popFirst()?.isKeyword("FROM") == true
        else {
            report(.sql, path, "a query selects whole objects", suggestion: hint)
            return false
        }
        guard let found = rest.popFirst()?.name, found.lowercased() == object.name.lowercased() else {
            report(.sql, path, "a query of \"\(object.name)\" selects from \"\(object.name)\"", suggestion: hint)
            return false
        }
        if rest.first?.isKeyword("AS") == true { rest.removeFirst() }
        let named = rest.first?.name.flatMap { ObjectSQLScope.keywords.contains($0.uppercased()) ? nil : $0 } ?? found
        guard named.lowercased() == alias.lowercased() else {
            report(.sql, path, "the query selects \"\(alias).*\" but names its object \"\(named)\"", suggestion: hint)
            return false
        }
        return true
    }
}

/// The names in one object query: the objects that it reads, with their aliases, and a check that every name is one of their attributes.
struct ObjectSQLScope {
    /// Words of SELECT statements that are not names.
    static let keywords: Set<String> = [
        "ALL", "AND", "AS", "ASC", "BETWEEN", "BY", "CASE", "CAST", "COLLATE", "CROSS", "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP",
        "DESC", "DISTINCT", "ELSE", "END", "ESCAPE", "EXCEPT", "EXISTS", "FALSE", "FIRST", "FROM", "FULL", "GLOB", "GROUP", "HAVING", "IN",
        "INNER", "INTERSECT", "IS", "ISNULL", "JOIN", "LAST", "LEFT", "LIKE", "LIMIT", "NATURAL", "NOT", "NOTNULL", "NULL", "NULLS",
        "OFFSET", "ON", "OR", "ORDER", "OUTER", "RIGHT", "SELECT", "THEN", "TRUE", "UNION", "USING", "VALUES", "WHEN", "WHERE",
    ]
    /// Words after COLLATE and in CAST.
    private static let sqlWords: Set<String> = [
        "BINARY", "NOCASE", "RTRIM", "INTEGER", "INT", "REAL", "TEXT", "BLOB", "NUMERIC", "VARCHAR", "DECIMAL", "BIGINT", "DOUBLE",
    ]

    private let tokens: [SQLToken]
    private let model: PackageModel
    /// Objects by alias and by name, in lower case; nil for a subquery, whose columns are not known here.
    private var sources: [String: ObjectModel?] = [:]
    /// Names given by AS.
    private var columns: Set<String> = []
    private(set) var problems: [(cause: String, suggestion: String?)] = []

    init(_ tokens: [SQLToken], model: PackageModel) {
        (self.tokens, self.model) = (tokens, model)
    }

    mutating func check() {
        for index in tokens.indices {
            if tokens[index].isKeyword("FROM") || tokens[index].isKeyword("JOIN") { addSources(at: index + 1) }
            if tokens[index] == .symbol(")") { addSubquery(at: index + 1) }
            if tokens[index].isKeyword("AS"), let name = name(at: index + 1) { columns.insert(name.lowercased()) }
        }
        var index = tokens.startIndex
        while index < tokens.endIndex { index = checkName(at: index) }
    }

    /// The name at `index`; nil for keywords, other tokens and the end.
    private func name(at index: Int) -> String? {
        guard tokens.indices.contains(index) else { return nil }
        if case .word(let word) = tokens[index], Self.keywords.contains(word.uppercased()) { return nil }
        return tokens[index].name
    }

    private func symbol(at index: Int) -> Character? {
        guard tokens.indices.contains(index), case .symbol(let symbol) = tokens[index] else { return nil }
        return symbol
    }

    /// Adds the objects after FROM or JOIN: `Object x, Other AS y`.
    private mutating func addSources(at start: Int) {
        var index = start
        while let name = name(at: index) {
            let object = model.objects.first { $0.name.lowercased() == name.lowercased() }
            if object == nil {
                problems.append(
                    ("there is no object \"\(name)\"", Suggestion.didYouMean(name, among: model.objects.map(\.name))))
            }
            sources[name.lowercased()] = .some(object)
            index += 1
            if tokens.indices.contains(index), tokens[index].isKeyword("AS") { index += 1 }
            if let alias = self.name(at: index) {
                sources[alias.lowercased()] = .some(object)
                index += 1
            }
            guard symbol(at: index) == "," else { return }
            index += 1
        }
    }

    /// Adds the alias after a closing parenthesis: `FROM (SELECT ...) x`.
    private mutating func addSubquery(at start: Int) {
        var index = start
        if tokens.indices.contains(index), tokens[index].isKeyword("AS") { index += 1 }
        if let alias = name(at: index), symbol(at: index + 1) != "(", sources[alias.lowercased()] == nil {
            sources[alias.lowercased()] = .some(nil)
        }
    }

    /// Checks the name at `index`, if there is one. Returns the index to continue at.
    private mutating func checkName(at index: Int) -> Int {
        guard let name = name(at: index) else { return index + 1 }
        if symbol(at: index + 1) == "." { return checkQualifiedName(name, at: index) }
        if symbol(at: index + 1) == "(" { return index + 1 }
        let lower = name.lowercased()
        let known = sources[lower] != nil || columns.contains(lower) || Self.sqlWords.contains(name.uppercased())
        guard !known else { return index + 1 }
        let objects = sources.values.compactMap { $0 }
        // A subquery in FROM names its columns itself.
        let hasUnknownColumns = sources.values.contains { $0 == nil }
        if !isAttribute(name, of: objects), !hasUnknownColumns {
            let names = objects.flatMap { $0.attributes.map(\.name) }
            problems.append(("no object of the query has an attribute \"\(name)\"", Suggestion.didYouMean(name, among: names)))
        }
        return index + 1
    }

    private mutating func checkQualifiedName(_ qualifier: String, at index: Int) -> Int {
        let end = index + 3
        guard let source = sources[qualifier.lowercased()] else {
            problems.append(
                ("\"\(qualifier)\" is not an object or alias of the query", Suggestion.didYouMean(qualifier, among: sources.keys.sorted())))
            return end
        }
        guard let object = source, tokens.indices.contains(index + 2), let name = tokens[index + 2].name else { return end }
        if !isAttribute(name, of: [object]) {
            problems.append(
                (
                    "the object \"\(object.name)\" has no attribute \"\(name)\"",
                    Suggestion.didYouMean(name, among: object.attributes.map(\.name))
                ))
        }
        return end
    }

    /// Whether one of `objects` has the attribute, or every table has such a column. Reports a large attribute: it cannot be compared.
    private mutating func isAttribute(_ name: String, of objects: [ObjectModel]) -> Bool {
        let lower = name.lowercased()
        if ReservedNames.stateColumns.contains(lower) || lower == "surrogatekey" { return true }
        let attributes = objects.flatMap { $0.attributes.filter { $0.name.lowercased() == lower } }
        if let large = attributes.first(where: \.isLarge) {
            problems.append(
                (
                    "\"\(large.name)\" is \(English.withArticle(large.type)) and cannot occur in a query",
                    "read it from the objects that the query finds"
                ))
        }
        return !attributes.isEmpty
    }
}
