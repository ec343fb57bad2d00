internal import MobileModel
internal import MobileStore

/// The server's plan for one object of a package, computed once: the columns of its rows, their sources, and their names in the cache.
struct ObjectPlan: Sendable {
    let model: ObjectModel
    let binding: BackEndBinding
    /// The table that the binding names, as it is in the back end.
    let table: BackEndTable
    /// Attributes that are stored in the row.
    let rowAttributes: [AttributeModel]
    /// Attributes whose content is stored outside the row.
    let largeAttributes: [AttributeModel]
    /// Attributes of the modelled primary key, in its order.
    let keyAttributes: [AttributeModel]
    /// The relationships whose reference the rows hold.
    let references: [ReferencePlan]

    var name: String { model.name }

    init(_ object: ObjectModel, binding: BackEndBinding, table: BackEndTable, in package: PackageModel) {
        model = object
        self.binding = binding
        self.table = table
        rowAttributes = object.attributes.filter { !$0.isLarge }
        largeAttributes = object.attributes.filter(\.isLarge)
        keyAttributes = object.primaryKey.compactMap { object.attribute(named: $0) }
        references = package.references(of: object).compactMap { ReferencePlan($0, of: object, in: package) }
    }

    /// The columns of a row without key and bookkeeping, with their names on the devices. Not quoted.
    var rowColumns: [String] { rowAttributes.map(\.name) + references.map(\.column) }

    /// The properties that the cached rows depend on. If a model changes them, the package's cache starts again from nothing.
    var shape: String {
        let attributes = model.attributes.map { "\($0.name) \($0.type) \($0.precision ?? 0),\($0.scale ?? 0)" }
        let keys = references.map { "\($0.column) \($0.target)" }
        return (attributes + keys + ["key " + model.primaryKey.joined(separator: ",")]).joined(separator: "; ")
    }

    // MARK: SQL for the back end

    /// The load with its parameters numbered; nil if the whole table is loaded.
    var load: ParameterizedSQL? { binding.load.map { ParameterizedSQL($0) } }

    /// The table or subquery that rows are selected from, under the name `source`.
    var source: String {
        load.map { "(\(Self.withoutEnd($0.text))) AS source" } ?? "\(SQLText.quoted(table.name)) AS source"
    }

    /// The statement that loads rows in normalized form: key, keys of parents, attributes.
    var loadStatement: String {
        let attributes = rowAttributes.map { ColumnExpression.value(of: $0, column: sourceColumn($0.name)) }
        let parents = references.map { $0.key { sourceColumn($0) } }
        return "SELECT " + ([keyExpression { sourceColumn($0) }] + parents + attributes).joined(separator: ", ") + " FROM \(source)"
    }

    /// The statement that returns, for each row with a large value, its key and its rowid, and for each large attribute the value's type and bytes.
    /// The bytes are NULL if the value can be read piece by piece.
    var largeValuesStatement: String? {
        guard !largeAttributes.isEmpty else { return nil }
        func content(_ attribute: String) -> String { "content." + SQLText.quoted(binding.column(of: attribute)) }
        let values = largeAttributes.map { attribute in
            let column = content(attribute.name)
            let bytes = "CAST(\(ColumnExpression.value(of: attribute, column: column)) AS BLOB)"
            return "typeof(\(column)), " + (table.hasPieces ? "iif(typeof(\(column)) IN ('blob', 'text'), NULL, \(bytes))" : bytes)
        }
        let present = largeAttributes.map { content($0.name) + " IS NOT NULL" }.joined(separator: " OR ")
        let join = model.primaryKey.map { "\(content($0)) = \(sourceColumn($0))" }.joined(separator: " AND ")
        let tables = load == nil ? "\(SQLText.quoted(table.name)) AS content" : "\(source) JOIN \(SQLText.quoted(table.name)) AS content ON \(join)"
        let key = keyExpression { load == nil ? content($0) : sourceColumn($0) }
        let row = table.hasPieces ? "content.rowid" : "NULL"
        return "SELECT " + ([key, row] + values).joined(separator: ", ") + " FROM \(tables) WHERE \(present)"
    }

    /// Returns the key of a row as one value. `column` returns the SQL for an attribute's name.
    func keyExpression(column: (String) -> String) -> String {
        ColumnExpression.key(
            keyAttributes.map { ColumnExpression.keyPart(of: $0, column: column($0.name), isComposite: keyAttributes.count > 1) })
    }

    func sourceColumn(_ attribute: String) -> String { "source." + SQLText.quoted(binding.column(of: attribute)) }

    /// Returns the attribute's column in the binding's table; nil if only the load has it.
    func tableColumn(_ attribute: String) -> BackEndTable.Column? { table.column(named: binding.column(of: attribute)) }

    /// Whether a back end takes values of a large attribute piece by piece.
    func takesPieces(of attribute: String, in connection: Connection) throws -> Bool {
        guard let column = tableColumn(attribute), !column.isGenerated else { return false }
        return try table.takesPieces(in: column, connection)
    }

    /// Returns a text that can be enclosed in parentheses.
    private static func withoutEnd(_ sql: String) -> String {
        var text = sql[...]
        while let last = text.last, last.isWhitespace || last == ";" { text = text.dropLast() }
        return text + "\n"  // ends a comment in the last line
    }
}

/// A relationship whose rows hold the reference, with the pairs of attributes in the order of the target's primary key.
struct ReferencePlan: Sendable {
    let name: String
    /// The name of the referenced object.
    let target: String
    /// For each part of the target's key: the attribute of this object that holds it, and the key's attribute in the target.
    let pairs: [(source: AttributeModel, key: AttributeModel)]

    /// The column with the surrogate key of the referenced row.
    var column: String { "_ref_" + name }

    /// Fails for a relationship that does not map the whole primary key of its target; the model's validation reports those.
    init?(_ relationship: RelationshipModel, of object: ObjectModel, in package: PackageModel) {
        guard let target = package.object(named: relationship.target) else { return nil }
        name = relationship.name
        self.target = target.name
        var mapping = relationship.mapping
        if mapping.isEmpty, let inverse = relationship.inverse.flatMap({ target.relationship(named: $0) }) {
            mapping = inverse.mapping.map { .init(source: $0.target, target: $0.source) }
        }
        pairs = target.primaryKey.compactMap { key in
            guard let source = mapping.first(where: { $0.target == key })?.source, let here = object.attribute(named: source),
                let there = target.attribute(named: key)
            else { return nil }
            return (here, there)
        }
        guard pairs.count == target.primaryKey.count, !pairs.isEmpty else { return nil }
    }

    /// Returns the key of the referenced row, as SQL; NULL if a part of it is NULL.
    func key(column: (String) -> String) -> String {
        let key = ColumnExpression.key(
            pairs.map { ColumnExpression.keyPart(of: $0.key, column: column($0.source.name), isComposite: pairs.count > 1) })
        guard pairs.count > 1 else { return key }
        let missing = pairs.map { column($0.source.name) + " IS NULL" }.joined(separator: " OR ")
        return "CASE WHEN \(missing) THEN NULL ELSE \(key) END"
    }
}
