internal import MobileModel
internal import MobileStore

/// An object with its table in a back end that speaks SQL, and the statements that read it.
struct SQLObject: Sendable {
    let plan: ObjectPlan
    /// The table that the binding names, as it is in the back end.
    let table: BackEndTable
    /// The columns of the load; those of ``table`` without a load.
    let loadColumns: [BackEndTable.Column]
    let expressions: any SQLExpressions
    /// The tables besides ``table`` that the load reads, for an object whose changes are found in the trigger log; nil for all others.
    var loggedTables: [BackEndTable]?
    /// The version column, for an object whose changes are found by it; nil for all others.
    var versionColumn: VersionColumn?
    /// The forms of times and booleans in the table, by attribute; those of the other ones are prescribed by their types, or are the form of devices.
    var forms: [String: any ValueForm] = [:]

    var model: ObjectModel { plan.model }

    init(_ plan: ObjectPlan, table: BackEndTable, loadColumns: [BackEndTable.Column]? = nil, _ expressions: any SQLExpressions) {
        (self.plan, self.table, self.loadColumns, self.expressions) = (plan, table, loadColumns ?? table.columns, expressions)
    }

    // MARK: Columns

    /// Returns the attribute's column in the binding's table; nil if only the load has it.
    func tableColumn(_ attribute: String) -> BackEndTable.Column? { table.column(named: plan.binding.column(of: attribute)) }

    /// The columns of the modelled primary key in the table.
    var keyColumns: [String] { plan.keyAttributes.map { tableColumn($0.name)?.name ?? plan.binding.column(of: $0.name) } }

    /// The attribute's column in the table as SQL.
    /// - Parameter prefix: a name with a point, or nothing.
    func column(_ attribute: String, prefix: String = "") -> SQLColumn {
        SQLColumn(named: plan.binding.column(of: attribute), among: table.columns, prefix)
    }

    /// The attribute's column in the load as SQL.
    func sourceColumn(_ attribute: String) -> SQLColumn {
        let column = SQLColumn(named: plan.binding.column(of: attribute), among: loadColumns, "source.")
        // SQLite does not report the types of a load's columns. Most of them are those of the table.
        guard load != nil, column.affinity == .blob, let own = tableColumn(attribute) else { return column }
        return SQLColumn(sql: column.sql, affinity: own.affinity)
    }

    // MARK: Statements

    /// The load with its parameters numbered; nil if the whole table is loaded.
    var load: ParameterizedSQL? { plan.binding.load.map { ParameterizedSQL($0) } }

    /// The table or subquery that rows are selected from, under the name `source`.
    var source: String { load.map { "(\(Self.withoutEnd($0.text))) AS source" } ?? "\(table.sql) AS source" }

    /// Returns the values of a partition in the order in which the load names them.
    func loadParameters(_ values: [String: Value]) -> [Value] { load?.names.map { values[$0] ?? .null } ?? [] }

    /// Returns the end of a load that selects these rows only, and the values to bind.
    /// - Parameter first: the number of the first parameter.
    func restriction(to keys: [RowKey]?, first: Int) -> (sql: String, values: [Value]) {
        guard let keys else { return ("", []) }
        let condition = condition(anyOf: keys, first: first) { sourceColumn($0) }
        return (" WHERE " + condition.sql, condition.values)
    }

    /// Returns a further condition on ``largeValueTables`` that selects these rows only, and the values to bind.
    func contentRestriction(to keys: [RowKey]?, first: Int) -> (sql: String, values: [Value]) {
        guard let keys else { return ("", []) }
        let condition = condition(anyOf: keys, first: first) { column($0, prefix: "content.") }
        return (" AND (\(condition.sql))", condition.values)
    }

    private func condition(anyOf keys: [RowKey], first: Int, _ column: (String) -> SQLColumn) -> (sql: String, values: [Value]) {
        var values: [Value] = []
        let terms = keys.map { key in
            let condition = condition(key, first: first + values.count, column)
            values += condition.values
            return "(\(condition.sql))"
        }
        return (terms.isEmpty ? "1 = 0" : terms.joined(separator: " OR "), values)
    }

    /// The tables of the rows with large values: `source`, and `content` with the values.
    var largeValueTables: String { load == nil ? "\(table.sql) AS content" : joinedTables }

    /// The rows of the load as `source`, with their rows of the table as `content`.
    private var joinedTables: String {
        let join = model.primaryKey.map { "\(column($0, prefix: "content.").sql) = \(sourceColumn($0).sql)" }.joined(separator: " AND ")
        return "\(source) JOIN \(table.sql) AS content ON \(join)"
    }

    // MARK: Versions

    /// Finds a version column in the load or else in the table; nil if neither has it.
    func versionColumn(named name: String) -> VersionColumn? {
        let isInLoad = loadColumns.contains { $0.name.caseInsensitivelyEquals(name) }
        guard isInLoad || table.column(named: name) != nil else { return nil }
        let column = SQLColumn(named: name, among: isInLoad ? loadColumns : table.columns, isInLoad ? "source." : "content.")
        return VersionColumn(column: column, isInLoad: isInLoad)
    }

    /// The rows of the load as `source`, with the version column.
    func versionTables(_ column: VersionColumn) -> String { column.isInLoad ? source : joinedTables }

    /// The key of a row with large values.
    var largeValueKey: String { keyExpression { load == nil ? column($0, prefix: "content.") : sourceColumn($0) } }

    /// The condition on rows that have a large value.
    var hasLargeValue: String {
        let terms = plan.largeAttributes.map { column($0.name, prefix: "content.").sql + " IS NOT NULL" }
        // In parts: SQLite refuses an expression that is 1,000 terms deep.
        return stride(from: 0, to: terms.count, by: 100).map { "(\(terms[$0..<min($0 + 100, terms.count)].joined(separator: " OR ")))" }
            .joined(separator: " OR ")
    }

    // MARK: Keys

    /// Returns the key of a row as one value. `column` returns the column for an attribute's name.
    func keyExpression(column: (String) -> SQLColumn) -> String {
        key(plan.keyAttributes.map { ($0, column($0.name)) })
    }

    /// Returns the key of a referenced row, as SQL; NULL if a part of it is NULL.
    func keyExpression(of reference: ReferencePlan) -> String {
        let parts = reference.pairs.map { ($0.key, sourceColumn($0.source.name)) }
        guard parts.count > 1 else { return key(parts) }
        let missing = parts.map { $0.1.sql + " IS NULL" }.joined(separator: " OR ")
        return "CASE WHEN \(missing) THEN NULL ELSE \(key(parts)) END"
    }

    private func key(_ parts: [(attribute: AttributeModel, column: SQLColumn)]) -> String { expressions.key(parts) }

    /// Returns a condition on the row with a key, as SQL with parameters from `?first`, and the values to bind.
    func condition(_ key: RowKey, first: Int = 1) -> (sql: String, values: [Value]) { condition(key, first: first) { column($0) } }

    private func condition(_ key: RowKey, first: Int, _ column: (String) -> SQLColumn) -> (sql: String, values: [Value]) {
        var terms: [String] = [], values: [Value] = []
        for (index, attribute) in plan.keyAttributes.enumerated() where key.parts.indices.contains(index) {
            let term = expressions.condition(on: attribute, column(attribute.name), key.parts[index], place: first + index)
            terms.append(term.sql)
            values.append(term.value)
        }
        return (terms.joined(separator: " AND "), values)
    }

    /// Returns the value of a part of a key in the form of its column.
    func value(of attribute: AttributeModel, in key: RowKey) -> Value? {
        plan.keyAttributes.firstIndex { $0.name == attribute.name }.map {
            let value = WireConversion.value(cached: key.parts[$0], of: attribute, affinity: .blob)
            return forms[attribute.name]?.value(value, attribute.type) ?? value
        }
    }

    /// Returns a text that can be enclosed in parentheses.
    private static func withoutEnd(_ sql: String) -> String {
        var text = sql[...]
        while let last = text.last, last.isWhitespace || last == ";" { text = text.dropLast() }
        return text + "\n"  // ends a comment in the last line
    }
}

/// A column in a statement.
struct SQLColumn {
    /// The name, quoted and qualified.
    let sql: String
    let affinity: BackEndTable.Affinity

    init(sql: String, affinity: BackEndTable.Affinity) { (self.sql, self.affinity) = (sql, affinity) }

    /// Finds the column with a name, as SQLite compares names. Without one, the name is taken as it is.
    init(named name: String, among columns: [BackEndTable.Column], _ prefix: String) {
        let found = columns.first { $0.name == name } ?? columns.first { $0.name.caseInsensitivelyEquals(name) }
        sql = prefix + SQLText.quoted(found?.name ?? name)
        affinity = found?.affinity ?? .blob
    }
}

/// The SQL of values that depends on the engine.
///
/// Back ends store the same value in many forms (a price as REAL, as text or as an integer; a date with or without time). The expressions convert all
/// of them to the one form of the cache and of the devices: integers and booleans as integers, decimals of up to 18 digits as scaled integers and
/// longer ones as text, doubles as doubles, dates and times as ISO 8601 text, binary values as bytes. Equal values are then equal in every byte, so a
/// comparison of rows detects all changes and only changes. Dates and times lose the digits that their attributes do not have, other values nothing.
protocol SQLExpressions: Sendable {
    /// Returns a column's value in the form of the cache.
    func value(of attribute: AttributeModel, _ column: SQLColumn) -> String

    /// Returns a key in the form of the cache; several parts as one text, a JSON array in which doubles and binary values are texts. Exact: two different keys
    /// never have one form. A key that its attributes cannot hold so becomes NULL, or a value that is not a key.
    func key(_ parts: [(attribute: AttributeModel, column: SQLColumn)]) -> String

    /// Phrase for the values of a column, if its attribute can hold none of them, as the schema alone shows; nil otherwise.
    func misfit(of attribute: AttributeModel, _ column: SQLColumn) -> String?

    /// Returns an expression that shows whether a column has kept a value that was written to it; nil if it has for sure.
    func kept(of attribute: AttributeModel, _ column: SQLColumn) -> String?

    /// Whether the result of ``kept(of:_:)`` stands for the value that was written.
    func isKept(_ found: Value, _ attribute: AttributeModel, _ json: JSONValue) -> Bool

    /// Returns an expression that shows whether an attribute can hold a value that the back end has made, other than NULL; nil if it can for sure.
    func made(of attribute: AttributeModel, _ column: SQLColumn) -> String?

    /// The value in the result of ``made(of:_:)``, if the attribute cannot hold it; nil if it can.
    func unfit(_ found: Value, _ attribute: AttributeModel, in object: ObjectModel) -> Value?

    /// Whether a column can have one value of a key in several forms, such as a time in a column of texts. A back end compares references with the form.
    func hasSeveralForms(_ attribute: AttributeModel, _ column: SQLColumn) -> Bool

    /// Returns the condition that a column has the value of a key's part, such that the back end can use its index, and the value to bind.
    func condition(on attribute: AttributeModel, _ column: SQLColumn, _ part: Value, place: Int) -> (sql: String, value: Value)
}
