import MobileModel
import MobileStore

/// An item of a SELECT: the requested column, and its SQL.
struct SelectedItem {
    let column: QueryResultColumn
    let sql: String
    /// The name that the caller gave, known to the order and to tests of groups.
    var asAlias: String?
}

/// A term of ORDER BY.
struct OrderTerm: Sendable {
    let sql: String
    var isDescending = false

    var text: String { isDescending ? sql + " DESC" : sql }
}

/// A SELECT inside another statement, with the columns `c0`, `c1` and so on.
struct NestedSelect {
    let sql: String
    let columns: [QueryResultColumn]
}

extension QueryCompiler {
    /// Compiles a whole query, in `outer` where it is a subquery.
    func select(_ query: Query, outer: QueryScope?) throws -> NestedSelect {
        try nested(6) {
            let scope = QueryScope(outer: outer)
            try addSources(query, to: scope)
            let tie = try query.relationship.map { [try relation($0, scope)] } ?? []
            let conditions = try tie + conditions(query, scope)
            var named: [String] = []
            var items: [SelectedItem] = []
            let selectItems = query.selectItems.isEmpty ? [SelectItem("*")] : query.selectItems
            scope.namedColumns = []
            for item in selectItems { items += try selected(item, scope) }
            named += scope.namedColumns
            var groups: [SQLExpression] = []
            for item in query.groupItems { groups.append(try grouped(item, scope, items)) }
            let hasAggregates = try selectItems.contains { try isAggregate($0, scope) }
            let isGrouped = hasAggregates || !groups.isEmpty || query.havingCriteria != nil
            var parts = SelectParts(items: items.enumerated().map { "\($0.element.sql) AS c\($0.offset)" })
            parts.isDistinct = query.isDistinct
            parts.conditions = conditions
            parts.groups = groups.map(\.sql)
            scope.namedColumns = []
            parts.having = try query.havingCriteria.map { try condition($0, scope, items: items, isHaving: true) }
            parts.order = try order(query, scope, items: items, isGrouped: isGrouped, distinct: query.isDistinct ? items : nil, root: nil)
            named += scope.namedColumns
            if isGrouped { try checkGrouped(named, groups) }
            parts.from = try fromClause(query, scope)
            parts.limit = try limit(query)
            return NestedSelect(sql: parts.sql, columns: items.map(\.column))
        }
    }

    /// Returns the items of the statement for an item of a query; several for `alias.*`.
    private func selected(_ item: SelectItem, _ scope: QueryScope) throws -> [SelectedItem] {
        if let query = item.query {
            let value = try subquery(query, scope)
            let column = QueryResultColumn(name: item.asAlias ?? "", attribute: item.asAlias, type: value.type)
            return [SelectedItem(column: column, sql: value.sql, asAlias: item.asAlias)]
        }
        if item.attribute == "*" {
            return try scope.sources.flatMap { try allAttributes($0, scope, prefix: scope.sources.count > 1 ? $0.alias + "." : "") }
        }
        if item.attribute.hasSuffix(".*"), let found = scope.source(String(item.attribute.dropLast(2))) {
            return try allAttributes(found.source, found.scope, prefix: found.source.alias + ".")
        }
        let expression = try expression(item.attribute, scope)
        let name = item.asAlias ?? item.attribute
        let attribute = item.asAlias ?? expression.attribute
        return [
            SelectedItem(
                column: QueryResultColumn(name: name, attribute: attribute, type: expression.value.type), sql: expression.value.sql,
                asAlias: item.asAlias)
        ]
    }

    private func allAttributes(_ source: QueryScope.Source, _ scope: QueryScope, prefix: String) throws -> [SelectedItem] {
        switch source.table {
        case .entity(let entity):
            return entity.attributes.map { attribute in
                let sql = "\(source.name).\(entity.sql.attributeColumns[attribute.index])"
                note(sql, scope)
                return SelectedItem(
                    column: QueryResultColumn(name: prefix + attribute.name, attribute: attribute.name, type: QueryType(attribute)), sql: sql)
            }
        case .select(let select):
            return select.columns.enumerated().map { index, column in
                let sql = "\(source.name).c\(index)"
                note(sql, scope)
                return SelectedItem(
                    column: QueryResultColumn(name: prefix + column.name, attribute: column.attribute, type: column.type), sql: sql)
            }
        }
    }

    private func isAggregate(_ item: SelectItem, _ scope: QueryScope) throws -> Bool {
        guard item.query == nil, ItemText.call(item.attribute) != nil else { return false }
        return try column(item.attribute, scope) == nil
    }

    private func grouped(_ item: String, _ scope: QueryScope, _ items: [SelectedItem]) throws -> SQLExpression {
        if let named = items.first(where: { $0.asAlias == item }) { return SQLExpression(sql: named.sql, type: named.column.type) }
        guard let found = try column(item, scope) else {
            throw ObjectError(.noSuchAttribute, "query: groups by \"\(item)\", which is not an attribute of \(scope.description)")
        }
        guard !found.value.type.isOpaque else {
            throw ObjectError(.unsupportedType, "query: groups by \"\(item)\", whose values cannot be compared")
        }
        return found.value
    }

    /// Checks that the named values are grouped by. Others have no value of their own in a group: SQLite would return that of any row.
    private func checkGrouped(_ named: [String], _ groups: [SQLExpression]) throws {
        guard named.allSatisfy({ name in groups.contains { $0.sql == name } }) else {
            throw ObjectError(
                .invalidQuery, "query: in groups only what is grouped by, and aggregates, can be selected, tested and sorted by")
        }
    }

    /// Returns the terms of ORDER BY.
    /// - Parameters:
    ///   - distinct: the items that make rows equal, where equal rows are returned once; otherwise nil.
    ///   - root: the source whose objects are found; nil where the query does not find objects.
    func order(
        _ query: Query, _ scope: QueryScope, items: [SelectedItem], isGrouped: Bool, distinct: [SelectedItem]?, root: QueryScope.Source?
    ) throws -> [OrderTerm] {
        try query.sortCriteria.compactMap { sort in
            if sort.attribute == AttributeSort.relevanceName { return relevanceTerm(sort, scope) }
            let value = try sortValue(sort.attribute, scope, items, isGrouped: isGrouped)
            guard !value.type.isOpaque else {
                throw ObjectError(.unsupportedType, "query: sorts by \"\(sort.attribute)\", a large or structured attribute, which has no order")
            }
            if let distinct {
                let isOwn = root.map { value.sql.hasPrefix($0.name + ".") } ?? false
                guard isOwn || distinct.contains(where: { $0.sql == value.sql }) else {
                    throw ObjectError(
                        .invalidQuery, "query: sorts by \"\(sort.attribute)\", which is not selected, while equal rows are returned once")
                }
            }
            return OrderTerm(sql: value.ordered, isDescending: sort.order == .descending)
        }
    }

    private func sortValue(_ text: String, _ scope: QueryScope, _ items: [SelectedItem], isGrouped: Bool) throws -> SQLExpression {
        if let named = items.first(where: { $0.asAlias == text }) { return SQLExpression(sql: named.sql, type: named.column.type) }
        guard isGrouped || ItemText.call(text) == nil else {
            guard let found = try column(text, scope) else {
                throw ObjectError(.invalidQuery, "query: sorts by \"\(text)\", but has no groups")
            }
            return found.value
        }
        return try expression(text, scope).value
    }

    /// Returns LIMIT and OFFSET, bound: all pages of a query have the same statement.
    func limit(_ query: Query) throws -> String {
        guard query.skip >= 0 else { throw ObjectError(.invalidQuery, "query: skip is \(query.skip); use 0 or more") }
        guard query.skip > 0 || query.take >= 0 else { return "" }
        let take = bind(.integer(Int64(max(query.take, -1))))
        return " LIMIT \(take)" + (query.skip > 0 ? " OFFSET \(bind(.integer(Int64(query.skip))))" : "")
    }
}
