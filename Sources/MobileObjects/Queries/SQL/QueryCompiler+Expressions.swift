import MobileModel
import MobileStore

/// A value of a query, and the name of its attribute; nil where it is not an attribute.
struct NamedExpression {
    let value: SQLExpression
    let attribute: String?
}

extension QueryCompiler {
    /// Returns an attribute or an aggregate.
    /// - Throws: ``ObjectError/Code/noSuchAttribute``, ``ObjectError/Code/invalidQuery``, ``ObjectError/Code/unsupportedType``.
    func expression(_ text: String, _ scope: QueryScope) throws -> NamedExpression {
        if let found = try column(text, scope) { return found }
        if let call = ItemText.call(text) {
            return NamedExpression(value: try aggregate(call.function, isDistinct: call.isDistinct, call.argument, scope), attribute: nil)
        }
        throw ObjectError(.noSuchAttribute, "query: there is no attribute \"\(text)\" in \(scope.description)")
    }

    /// Returns an attribute.
    /// - Throws: ``ObjectError/Code/noSuchAttribute``, ``ObjectError/Code/invalidQuery``.
    func attribute(_ text: String, _ scope: QueryScope) throws -> SQLExpression {
        guard let found = try column(text, scope) else {
            throw ObjectError(.noSuchAttribute, "query: there is no attribute \"\(text)\" in \(scope.description)")
        }
        return found.value
    }

    /// Returns `alias.attribute`, of this query or an outer one, or an attribute that one source of this query has; nil where the text is neither.
    func column(_ text: String, _ scope: QueryScope) throws -> NamedExpression? {
        if let alias = scope.alias(before: text) { return try column(alias, String(text.dropFirst(alias.count + 1)), scope) }
        var found: [NamedExpression] = []
        for source in scope.sources {
            if let column = try lookUp(text, source, scope) { found.append(column) }
        }
        guard found.count < 2 else {
            throw ObjectError(.invalidQuery, "query: \"\(text)\" is an attribute of several sources, \(scope.description); put an alias before it")
        }
        return found.first
    }

    /// Returns an attribute of the source with this alias.
    func column(_ alias: String, _ attribute: String, _ scope: QueryScope) throws -> NamedExpression {
        guard let (source, owner) = scope.source(alias) else {
            throw ObjectError(.noSuchAttribute, "query: \"\(alias).\(attribute)\" names no source; there are \(scope.description)")
        }
        guard let found = try lookUp(attribute, source, owner) else {
            throw ObjectError(.noSuchAttribute, "query: \(source.table.description(alias: alias)) has no attribute \"\(attribute)\"")
        }
        return found
    }

    private func lookUp(_ name: String, _ source: QueryScope.Source, _ scope: QueryScope) throws -> NamedExpression? {
        switch source.table {
        case .entity(let entity):
            if let attribute = entity.attribute(ifNamed: name) {
                let sql = "\(source.name).\(entity.sql.attributeColumns[attribute.index])"
                note(sql, scope)
                return NamedExpression(value: SQLExpression(sql: sql, type: QueryType(attribute)), attribute: name)
            }
            guard let attribute = SyntheticAttribute(rawValue: name) else { return nil }
            if attribute == .isDeleted { source.seesDeleted = true }
            let sql = attribute.sql(of: entity, source: source.name) { bindComponent($0) }
            note(sql, scope)
            return NamedExpression(value: SQLExpression(sql: sql, type: attribute.type), attribute: name)
        case .select(let select):
            let positions = select.columns.indices.filter { select.columns[$0].isNamed(name) }
            guard positions.count < 2 else {
                throw ObjectError(.invalidQuery, "query: \"\(name)\" names several items of the subquery; name each with \"as\"")
            }
            return positions.first.map { position in
                let sql = "\(source.name).c\(position)"
                note(sql, scope)
                return NamedExpression(value: SQLExpression(sql: sql, type: select.columns[position].type), attribute: name)
            }
        }
    }

    /// Remembers an attribute that is named outside of aggregates.
    func note(_ sql: String, _ scope: QueryScope) {
        if !scope.isInAggregate { scope.namedColumns.append(sql) }
    }

    /// Returns a query of one item as a value.
    func subquery(_ query: Query, _ scope: QueryScope) throws -> SQLExpression {
        let select = try nested(3) { try self.select(query, outer: scope) }
        guard select.columns.count == 1 else {
            throw ObjectError(.invalidQuery, "query: a subquery is used as a value, but selects \(select.columns.count) items; select one")
        }
        return SQLExpression(sql: "(\(select.sql))", type: select.columns[0].type)
    }

    // MARK: Aggregates

    private func aggregate(_ name: String, isDistinct: Bool, _ argument: String, _ scope: QueryScope) throws -> SQLExpression {
        guard let function = AggregateFunction(rawValue: name.uppercased()) else {
            throw ObjectError(.noSuchOperation, "query: there is no aggregate \"\(name)\"; there are COUNT, MAX, MIN, SUM, AVG")
        }
        guard !scope.isInAggregate else { throw ObjectError(.invalidQuery, "query: \(name) is inside another aggregate or in a condition on rows") }
        let isEveryRow = argument == "*" || (!argument.isEmpty && argument.allSatisfy { $0.isASCII && $0.isNumber })
        if function == .count, isEveryRow, !isDistinct { return SQLExpression(sql: "count(*)", type: QueryType(.integer)) }
        scope.isInAggregate = true
        defer { scope.isInAggregate = false }
        let value = try attribute(argument, scope)
        guard let result = function.result(of: value.type) else {
            throw ObjectError(.unsupportedType, "query: \(function.rawValue)(\(argument)): there is none of a \(value.type.type)")
        }
        return SQLExpression(sql: function.sql(value, isDistinct: isDistinct), type: result)
    }
}

/// The functions over the rows of a group, with the documented table of types.
enum AggregateFunction: String {
    case count = "COUNT", max = "MAX", min = "MIN", sum = "SUM", average = "AVG"

    /// Returns the type of the result; nil where there is none for values of this type.
    func result(of type: QueryType) -> QueryType? {
        switch (self, type.storage) {
        case (.count, _): QueryType(.integer)
        case (.max, .boolean), (.min, .boolean), (.max, .json), (.min, .json), (.max, .large), (.min, .large): nil
        case (.max, _), (.min, _): type
        case (.sum, .textDecimal), (.average, .textDecimal): QueryType(.decimal, .exactDecimal)
        case (.sum, .integer): QueryType(.long)
        case (.sum, .real), (.average, .integer), (.average, .real), (.average, .scaledDecimal): QueryType(.double)
        case (.sum, .scaledDecimal(_, let scale)): QueryType(.decimal, .scaledDecimal(precision: 18, scale: scale))
        default: nil
        }
    }

    func sql(_ value: SQLExpression, isDistinct: Bool) -> String {
        let distinct = isDistinct ? "DISTINCT " : "", argument = distinct + value.sql
        switch self {
        case .count: return "count(\(argument))"
        case .max: return "max(\(distinct + value.ordered))"
        case .min: return "min(\(distinct + value.ordered))"
        case .sum where value.type.isTextDecimal: return "\(ExactDecimal.sum)(\(argument))"
        case .average where value.type.isTextDecimal: return "\(ExactDecimal.average)(\(argument))"
        case .sum: return "sum(\(argument))"
        case .average:
            guard case .scaledDecimal(_, let scale) = value.type.storage, scale > 0 else { return "avg(\(argument))" }
            return "(avg(\(argument)) / 1e\(scale))"
        }
    }
}
