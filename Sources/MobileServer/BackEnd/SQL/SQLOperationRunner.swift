internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// Runs operations on a back end that speaks SQL, inside the transaction of their batch, with the statements of the model or with statements made from
/// the binding.
struct SQLOperationRunner {
    /// The back end, in the batch's transaction.
    let connection: any BackEndConnection
    /// The maximum size of a large value that is read as a whole, in bytes.
    let wholeValueLimit: Int

    /// Runs one operation.
    /// - Parameter target: returns the object of a name; nil if it has no table in this back end.
    /// - Returns: the row's key, if the operation created or changed it.
    /// - Throws: ``Rejection``, and the errors of the engine.
    func run(_ operation: BackEndOperation, on object: SQLObject, target: @escaping (String) -> SQLObject?) throws -> RowKey? {
        var row = SQLRowValues(object: object, key: operation.key)
        try row.take(operation)
        row.values.merge(try ReferenceForms(connection: connection, target: target).stored(operation, object, row.values)) { $1 }
        try takeLargeValues(of: operation, into: &row)
        let modelled = operation.operation
        guard modelled.kind != .create else {
            let key = try modelled.statements.isEmpty ? insert(row) : createdKey(row, runStatements(operation, row))
            return key.flatMap { $0 == .null ? nil : RowKey($0, of: object.plan) }
        }
        if !modelled.statements.isEmpty {
            try runStatements(operation, row)
            return nil
        }
        switch modelled.kind {
        case .update: return try update(row)
        case .delete: try delete(row)
        case .create, .other: throw Rejection(ResultCode.notFound, "the operation \"\(modelled.name)\" has no statements")
        }
        return nil
    }

    /// Returns the keys of at most two rows.
    func keys(_ condition: (sql: String, values: [Value]), _ object: SQLObject) throws -> [Value] {
        let key = object.keyExpression { object.column($0) }
        return try connection.rows("SELECT \(key) FROM \(object.table.sql) WHERE \(condition.sql) LIMIT 2", condition.values).map { $0[0] }
    }

    // MARK: Large values

    /// The size above which a large value is written into its row piece by piece, in bytes.
    private static let pieceLimit: Int64 = 1 << 20

    /// Takes the large values. Long ones stay in the upload, if their column can be filled after the statement.
    private func takeLargeValues(of operation: BackEndOperation, into row: inout SQLRowValues) throws {
        for (name, content) in operation.largeValues {
            guard let content else {
                row.values[name] = .null
                continue
            }
            let isText = row.object.model.attribute(named: name)?.type == .bigString
            let isMade = operation.operation.statements.isEmpty && !isText && content.length > Self.pieceLimit
            if isMade, let pieces = connection.pieces, try pieces.takes(name, of: row.object) {
                row.pieces[name] = content
                row.values[name] = .integer(content.length)
                continue
            }
            guard content.length <= wholeValueLimit else {
                throw Rejection(
                    ResultCode.tooLarge,
                    "\"\(row.object.plan.name)\", \"\(name)\": \(content.length) bytes; the back end takes this value as a whole only, up to \(wholeValueLimit) bytes"
                )
            }
            row.values[name] = isText ? .text(String(decoding: try content.bytes(), as: UTF8.self)) : .blob(try content.bytes())
        }
    }

    /// Fills the values for which a statement has reserved space.
    private func fillPieces(of row: SQLRowValues, in rowID: Int64) throws {
        for (name, content) in row.pieces.sorted(by: { $0.key < $1.key }) {
            try connection.pieces?.write(content, to: name, of: row.object, row: rowID)
        }
    }

    // MARK: Statements made from the binding

    private func insert(_ row: SQLRowValues) throws -> Value? {
        // A value that the device does not have is left to the back end's default, unless the model has one, so that its user has chosen NULL.
        let written = row.writable { attribute in
            guard !attribute.isGenerated else { return false }
            let isLeftOut =
                row.values[attribute.name] == .null && attribute.defaultValue == nil && row.object.tableColumn(attribute.name)?.hasDefault == true
            return !isLeftOut
        }
        let columns = written.map { SQLText.quoted($0.column) }.joined(separator: ", ")
        let places = written.enumerated().map { row.place($0.offset + 1, of: $0.element.attribute) }.joined(separator: ", ")
        let values = written.isEmpty ? "DEFAULT VALUES" : "(\(columns)) VALUES (\(places))"
        try KeptValues.checkNarrowTypes(written.map { ($0.attribute, $0.value) }, row.wire, in: row.object, connection)
        let kept = KeptValues(of: row.wire, written: written.map(\.attribute), in: row.object, isNew: true)
        let sql = "INSERT INTO \(row.object.table.sql) \(values) RETURNING \(row.returned)\(kept.columns)"
        guard let inserted = try connection.first(sql, written.map(\.value)) else { throw row.leftUndone }
        try kept.check(inserted)
        if let rowID = row.rowID(in: inserted) { try fillPieces(of: row, in: rowID) }
        return inserted[0]
    }

    /// - Returns: the row's new key, if its key was changed.
    private func update(_ row: SQLRowValues) throws -> RowKey? {
        let object = row.object
        let key = try row.requiredKey()
        let condition = object.condition(key)
        let made = try valuesMadeByBackEnd(row, condition)
        let written = row.writable(all: true) { attribute in
            let value = row.values[attribute.name]
            guard !attribute.isGenerated || value != .null else { return false }
            return made[attribute.name] ?? object.value(of: attribute, in: key) != value
        }
        guard !written.isEmpty else {
            guard try connection.exists("SELECT 1 FROM \(object.table.sql) WHERE \(condition.sql)", condition.values) else { throw row.missing }
            return nil
        }
        let first = condition.values.count + 1
        let assignments = written.enumerated().map { place, value in
            "\(SQLText.quoted(value.column)) = \(row.place(first + place, of: value.attribute))"
        }.joined(separator: ", ")
        try KeptValues.checkNarrowTypes(written.map { ($0.attribute, $0.value) }, row.wire, in: object, connection)
        let kept = KeptValues(of: row.wire, written: written.map(\.attribute), in: object)
        let sql = "UPDATE \(object.table.sql) SET \(assignments) WHERE \(condition.sql) RETURNING \(row.returned)\(kept.columns)"
        let updated = try connection.rows(sql, condition.values + written.map(\.value))
        guard let new = updated.first?[0] else {
            let isThere = try connection.exists("SELECT 1 FROM \(object.table.sql) WHERE \(condition.sql)", condition.values)
            throw isThere ? row.leftUndone : row.missing
        }
        for row in updated { try kept.check(row) }
        for rowID in updated.compactMap(row.rowID(in:)) { try fillPieces(of: row, in: rowID) }
        guard written.contains(where: { object.model.primaryKey.contains($0.attribute) }) else { return nil }
        guard let changed = RowKey(new, of: object.plan) else {
            throw Rejection(ResultCode.failure, "the back end did not say which key the row of \"\(object.plan.name)\" has now")
        }
        guard try keys(object.condition(changed), object).count < 2 else {
            throw Rejection(ResultCode.forbidden, "there is another row of \"\(object.plan.name)\" with this primary key")
        }
        return changed
    }

    /// Returns the present values of attributes that the back end makes, in the form of its columns, as far as the operation has them: only other ones are a
    /// change, about which the back end decides.
    private func valuesMadeByBackEnd(_ row: SQLRowValues, _ condition: (sql: String, values: [Value])) throws -> [String: Value] {
        let object = row.object
        let made = object.model.attributes.filter { attribute in
            let isMade = attribute.isGenerated || object.tableColumn(attribute.name)?.isGenerated ?? false
            return isMade && row.values[attribute.name] != nil && object.tableColumn(attribute.name) != nil
        }
        guard !made.isEmpty else { return [:] }
        let values = made.map { object.expressions.value(of: $0, object.column($0.name)) }.joined(separator: ", ")
        guard let found = try connection.first("SELECT \(values) FROM \(object.table.sql) WHERE \(condition.sql)", condition.values) else {
            return [:]
        }
        return Dictionary(
            uniqueKeysWithValues: zip(made, found).map { attribute, value in
                (attribute.name, WireConversion.value(cached: value, of: attribute, affinity: object.column(attribute.name).affinity))
            })
    }

    /// Deletes a row. A row that is already gone counts as deleted.
    private func delete(_ row: SQLRowValues) throws {
        let condition = row.object.condition(try row.requiredKey())
        try connection.execute("DELETE FROM \(row.object.table.sql) WHERE \(condition.sql)", condition.values)
    }

    // MARK: Statements of the model

    /// - Returns: the row that was inserted first, if the engine knows it.
    @discardableResult
    private func runStatements(_ operation: BackEndOperation, _ row: SQLRowValues) throws -> InsertedRow? {
        let modelled = operation.operation
        let current = try currentRow(row, for: modelled)
        var changed = 0
        var inserted: InsertedRow?
        for sql in modelled.statements {
            let statement = ParameterizedSQL(sql)
            let values = try statement.names.map { try value(named: $0, operation, row, current) }
            let result = try connection.run(statement.text, values, of: row.object)
            changed += result.changed
            inserted = inserted ?? result.inserted
        }
        if modelled.kind == .update, changed == 0 { throw row.missing }
        return inserted
    }

    /// Returns the key of a row that statements of the model have created: the device's key, otherwise the key of the row that was inserted first.
    private func createdKey(_ row: SQLRowValues, _ inserted: InsertedRow?) throws -> Value? {
        if let given = row.givenKey { return try keys(row.object.condition(given), row.object).first }
        guard let inserted else { return nil }
        return try keys((inserted.condition, inserted.values), row.object).first
    }

    /// Returns the row in the back end before the operation, by attribute. Large attributes are included only if a statement or a parameter uses
    /// them.
    private func currentRow(_ row: SQLRowValues, for modelled: OperationModel) throws -> [String: Value] {
        guard modelled.kind != .create, let key = row.key else { return [:] }
        let asked = modelled.statements.flatMap { ParameterizedSQL($0).names }.map { $0.hasPrefix("old.") ? String($0.dropFirst(4)) : $0 }
        let needed = Set(asked + modelled.parameters.compactMap(\.attribute))
        let attributes = row.object.model.attributes.filter {
            row.object.tableColumn($0.name) != nil && (!$0.isLarge || needed.contains($0.name))
        }
        let columns = attributes.map { row.object.column($0.name).sql }.joined(separator: ", ")
        let condition = row.object.condition(key)
        guard let values = try connection.first("SELECT \(columns) FROM \(row.object.table.sql) WHERE \(condition.sql)", condition.values) else {
            if modelled.kind == .update { throw row.missing }
            return [:]
        }
        return Dictionary(uniqueKeysWithValues: zip(attributes.map(\.name), values))
    }

    /// Returns the value of a parameter of a statement. `:name` is a parameter of the operation, otherwise the device's value of the attribute,
    /// otherwise the row's current value. `:old.name` is always the current value.
    private func value(
        named name: String, _ operation: BackEndOperation, _ row: SQLRowValues, _ current: [String: Value]
    ) throws -> Value {
        if name.hasPrefix("old.") { return current[String(name.dropFirst(4))] ?? .null }
        if let parameter = operation.operation.parameters.first(where: { $0.name == name }) {
            if let value = filledValue(of: parameter, row, current) { return value }
            guard let json = operation.parameters[name] ?? operation.values[name] ?? parameter.modelDefault else { return .null }
            return try WireConversion.value(json, of: row.object.plan.attribute(of: parameter), affinity: .numeric)
        }
        return row.values[name] ?? current[name] ?? .null
    }

    /// Returns the value of a parameter that an attribute fills, if the server has a newer value than the device: a parent's key that the back end
    /// has just created, or a value that the back end assigned to this row.
    private func filledValue(of parameter: ParameterModel, _ row: SQLRowValues, _ current: [String: Value]) -> Value? {
        guard let name = parameter.attribute else { return nil }
        let isAssigned = row.object.model.attribute(named: name)?.isGenerated ?? false
        return row.values[name] ?? (isAssigned ? current[name] : nil)
    }
}

/// The values that one operation writes, in the form of its back end.
private struct SQLRowValues {
    let object: SQLObject
    /// The row's key before the operation; nil for a new row.
    let key: RowKey?
    /// The key that the device has given to a new row; nil if the back end gives it.
    private(set) var givenKey: RowKey?
    /// The values by attribute; for those in ``pieces``, the length in bytes.
    var values: [String: Value] = [:]
    /// The values of row attributes as the device has sent them.
    private(set) var wire: [String: JSONValue] = [:]
    /// Large values that are written after the statement, which reserves their space.
    var pieces: [String: UploadedValue] = [:]

    init(object: SQLObject, key: RowKey?) { (self.object, self.key) = (object, key) }

    var missing: Rejection {
        Rejection(ResultCode.notFound, "the row of \"\(object.plan.name)\" is not in the back end any more")
    }

    /// A statement that has changed no row, although nothing has refused it.
    var leftUndone: Rejection {
        Rejection(ResultCode.constraint, "a trigger or a rule of the back end has left this change of \"\(object.plan.name)\" undone")
    }

    func requiredKey() throws(Rejection) -> RowKey {
        guard let key else { throw Rejection(ResultCode.notFound, "the row of \"\(object.plan.name)\" is not known to the server") }
        return key
    }

    /// Returns the placeholder of a value in a statement.
    func place(_ number: Int, of attribute: String) -> String { pieces[attribute] == nil ? "?\(number)" : "zeroblob(?\(number))" }

    /// The columns that a statement returns of a written row, before those of ``KeptValues``: the key, and the rowid if there are ``pieces``.
    var returned: String { object.keyExpression { object.column($0) } + (pieces.isEmpty ? ", NULL" : ", rowid") }

    /// Returns the rowid from the ``returned`` columns; nil if it is not needed.
    func rowID(in returned: [Value]) -> Int64? { returned[1].integer }

    mutating func take(_ operation: BackEndOperation) throws {
        givenKey = object.plan.givenKey(operation.values)
        for member in operation.values {
            guard let attribute = object.model.attribute(named: member.key) else { continue }
            let affinity = object.tableColumn(member.key)?.affinity ?? .blob
            if let parent = operation.parentKeys[member.key] {
                values[member.key] = WireConversion.value(cached: parent.part, of: parent.key, affinity: affinity)
                continue
            }
            do {
                values[member.key] = try WireConversion.value(member.value, of: attribute, affinity: affinity)
                wire[member.key] = member.value
            } catch {
                throw Rejection(ResultCode.badRequest, "\"\(object.plan.name)\", \"\(member.key)\": \(error.message)")
            }
        }
        for (name, form) in object.forms {
            guard let value = values[name], let attribute = object.model.attribute(named: name) else { continue }
            values[name] = form.value(value, attribute.type)
        }
    }

    /// Returns the values that have a column of their own in the table, in the order of the model. Columns that a load computes are not written.
    /// - Parameter all: whether columns that the back end computes are written; it refuses that.
    func writable(all: Bool = false, _ isWritten: (AttributeModel) -> Bool) -> [(attribute: String, column: String, value: Value)] {
        object.model.attributes.compactMap { attribute in
            guard let value = values[attribute.name], isWritten(attribute), let column = object.tableColumn(attribute.name),
                all || !column.isGenerated
            else { return nil }
            return (attribute.name, column.name, value)
        }
    }
}
