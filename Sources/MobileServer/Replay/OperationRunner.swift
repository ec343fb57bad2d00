internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// Runs operations on a back end inside the transaction of their batch, with the statements of the model or with statements made from the binding.
struct OperationRunner {
    let package: DeployedPackage
    let access: UserAccess
    /// The back end, in the batch's transaction.
    let connection: Connection
    /// The known keys of rows.
    var rows: RowDirectory
    /// The maximum size of a large value that is read as a whole, in bytes.
    let wholeValueLimit: Int
    /// The tests of the objects met so far, by name.
    private var authorizations: [String: RowAuthorization?] = [:]

    init(package: DeployedPackage, access: UserAccess, connection: Connection, rows: RowDirectory, wholeValueLimit: Int) {
        (self.package, self.access, self.connection, self.rows) = (package, access, connection, rows)
        self.wholeValueLimit = wholeValueLimit
    }

    /// Runs one operation.
    /// - Returns: the row's key as one value, if the operation created or changed it.
    /// - Throws: ``Rejection``, and the errors of the back end.
    mutating func run(_ operation: UploadReader.Operation) throws -> Value? {
        let frame = operation.frame
        guard let object = package.object(named: frame.object), let modelled = object.operation(frame) else {
            throw Rejection(ResultCode.notFound, "the object \"\(frame.object)\" has no such operation")
        }
        var row = RowValues(object: object, key: try key(of: frame, object))
        if frame.change != .create, row.key == nil, let rejection = try rows.rejection(ofCreating: frame.key, object) { throw rejection }
        try row.take(frame)
        guard let authorization = try authorization(of: object) else { return try change(modelled, operation, &row) }
        if frame.change != .create {
            let key = try row.requiredKey()
            guard try authorization.isOfUser(key, in: connection) else {
                // As for a row that does not exist, so that the answer does not show whether another user has it.
                guard frame.change == .delete else { throw row.missing }
                return nil
            }
            if !modelled.statements.isEmpty { try checkKey(key, modelled, frame, row) }
        }
        let created = try change(modelled, operation, &row)
        guard frame.change != .delete else { return created }
        guard let key = try rows.key(of: RowIdentity(frame), object) ?? row.key, try authorization.isOfUser(key, in: connection) else {
            throw Rejection(ResultCode.forbidden, "the row of \"\(object.name)\" would not be one of the user's rows")
        }
        return created
    }

    // MARK: Authorization

    private mutating func authorization(of object: ObjectPlan) throws -> RowAuthorization? {
        if let known = authorizations[object.name] { return known }
        do {
            let authorization = try RowAuthorization(object, access: access)
            authorizations[object.name] = .some(authorization)
            return authorization
        } catch let failure as RequestFailure {
            throw Rejection(ResultCode.forbidden, failure.message)
        }
    }

    /// Refuses key attributes and parameters that name another row than the one that was tested: statements of the model choose their row by them.
    private func checkKey(_ key: RowKey, _ modelled: OperationModel, _ frame: OperationFrame, _ row: RowValues) throws {
        for attribute in row.object.keyAttributes {
            let affinity = row.object.tableColumn(attribute.name)?.affinity ?? .blob
            let own = key.value(of: attribute, in: row.object, affinity: affinity)
            let filled = modelled.parameters.filter { $0.attribute == attribute.name }.compactMap {
                frame.parameters[$0.name] ?? frame.attributes[$0.name]
            }
            let given =
                try [row.values[attribute.name]].compactMap { $0 } + filled.map { try WireConversion.value($0, of: attribute, affinity: affinity) }
            guard given.allSatisfy({ $0 == own }) else {
                throw Rejection(ResultCode.forbidden, "the operation names another row of \"\(row.object.name)\" than the one that it is for")
            }
        }
    }

    private mutating func change(_ modelled: OperationModel, _ operation: UploadReader.Operation, _ row: inout RowValues) throws -> Value? {
        let frame = operation.frame
        try takeLargeValues(of: operation, modelled, into: &row)
        try fillReferences(of: frame, into: &row)
        if frame.change == .create { return try create(modelled, frame, row) }
        if !modelled.statements.isEmpty {
            try runStatements(modelled, frame, row)
            return nil
        }
        switch frame.change {
        case .update: return try update(frame, row)
        case .delete: try delete(row)
        case .create, .other: throw Rejection(ResultCode.notFound, "the operation \"\(modelled.name)\" has no statements")
        }
        return nil
    }

    /// Returns the key of the row that is changed. The server's record comes first: the device may not yet know the key that the back end gave to a
    /// row of this device.
    private func key(of frame: OperationFrame, _ object: ObjectPlan) throws -> RowKey? {
        guard frame.change != .create else { return nil }
        return try rows.key(of: RowIdentity(frame), object) ?? RowKey(wire: frame.primaryKey, of: object)
    }

    // MARK: Large values

    /// The size above which a large value is written into its row piece by piece, in bytes.
    private static let pieceLimit: Int64 = 1 << 20

    /// Takes the large values. Long ones stay in the upload, if their column can be filled after the statement.
    private func takeLargeValues(of operation: UploadReader.Operation, _ modelled: OperationModel, into row: inout RowValues) throws {
        for (name, content) in operation.largeValues {
            guard let content else {
                row.values[name] = .null
                continue
            }
            let isText = row.object.model.attribute(named: name)?.type == .bigString
            let isMade = modelled.statements.isEmpty && !isText && content.length > Self.pieceLimit
            if isMade, try row.object.takesPieces(of: name, in: connection) {
                row.pieces[name] = content
                row.values[name] = .integer(content.length)
                continue
            }
            guard content.length <= wholeValueLimit else {
                throw Rejection(
                    ResultCode.tooLarge,
                    "\"\(row.object.name)\", \"\(name)\": \(content.length) bytes; the back end takes this value as a whole only, up to \(wholeValueLimit) bytes"
                )
            }
            row.values[name] = isText ? .text(String(decoding: try content.bytes(), as: UTF8.self)) : .blob(try content.bytes())
        }
    }

    /// Fills the values for which a statement has reserved space.
    private func fillPieces(of row: RowValues, in rowID: Int64) throws {
        for (name, content) in row.pieces.sorted(by: { $0.key < $1.key }) {
            guard let column = row.object.tableColumn(name) else { continue }
            let writer = try connection.valueWriter(table: row.object.table.name, column: column.name, row: rowID)
            try content.forEachPiece { try writer.append($0) }
        }
    }

    // MARK: References

    /// Fills the attributes that refer to a parent with the parent's key, which the back end may have just created (PND-16). An update sets them only
    /// if the reference was changed, or leads to a row of this upload.
    private func fillReferences(of frame: OperationFrame, into row: inout RowValues) throws {
        for reference in row.object.references {
            guard let surrogateKey = frame.refs[reference.name]?.integer, let target = package.object(named: reference.target) else { continue }
            let parent = RowIdentity(target.name, surrogateKey)
            let isMeant = frame.change == .create || rows.isNew(parent) || reference.pairs.contains { frame.attributes[$0.source.name] != nil }
            guard isMeant else { continue }
            guard let key = try rows.key(of: parent, target) else {
                if let rejection = try rows.rejection(ofCreating: surrogateKey, target) { throw rejection }
                // The device knows the parent's key itself, for example after the server has lost its cache.
                if reference.pairs.allSatisfy({ row.values[$0.source.name] ?? .null != .null }) { continue }
                throw Rejection(
                    ResultCode.failedDependency, "the server does not know the row of \"\(target.name)\" that \"\(reference.name)\" refers to")
            }
            for (index, pair) in reference.pairs.enumerated() {
                let affinity = row.object.tableColumn(pair.source.name)?.affinity ?? .blob
                row.values[pair.source.name] = WireConversion.value(cached: key.parts[index], of: pair.key, affinity: affinity)
            }
        }
    }

    // MARK: Identity of rows

    /// Creates a row under a surrogate key that the client may assign and no other row has, with a primary key that no other row has either. Both are
    /// checked here: a back end need not keep the primary key unique, and statements of a model may overwrite a row.
    private mutating func create(_ modelled: OperationModel, _ frame: OperationFrame, _ row: RowValues) throws -> Value? {
        let object = row.object, identity = RowIdentity(frame)
        guard try rows.mayGive(frame.key) else {
            throw Rejection(ResultCode.forbidden, "the surrogate key \(frame.key) was neither granted to this client nor claimed by it")
        }
        let owner = try rows.key(of: identity, object)
        let isOwned = try owner.map { try exists($0, object) } ?? false
        let isTaken = try givenKey(row).map { try keys(where: $0, object).isEmpty == false } ?? false
        let key = modelled.statements.isEmpty ? try insert(row) : try createdKey(row, runStatements(modelled, frame, row))
        guard let key, key != .null, let parts = RowKey(key, of: object) else {
            throw Rejection(ResultCode.failure, "the back end did not say which key the new row of \"\(object.name)\" has")
        }
        if parts != owner {
            if isOwned { throw Rejection(ResultCode.forbidden, "the surrogate key \(frame.key) is that of another row of \"\(object.name)\"") }
            if isTaken { throw Rejection(ResultCode.forbidden, "there is a row of \"\(object.name)\" with this primary key") }
        }
        rows.set(parts, of: identity)
        return key
    }

    private func exists(_ key: RowKey, _ object: ObjectPlan) throws -> Bool {
        try !keys(where: key.condition(on: object, first: 1), object).isEmpty
    }

    /// Returns the keys of at most two rows.
    private func keys(where condition: (sql: String, values: [Value]), _ object: ObjectPlan) throws -> [Value] {
        let key = object.keyExpression { SQLText.quoted(object.binding.column(of: $0)) }
        return try connection.rows(
            "SELECT \(key) FROM \(SQLText.quoted(object.table.name)) WHERE \(condition.sql) LIMIT 2", condition.values
        ).map { $0[0] }
    }

    /// Returns the condition on the primary key that the device has given to a new row; nil if the back end gives it.
    private func givenKey(_ row: RowValues) -> (sql: String, values: [Value])? {
        let attributes = row.object.keyAttributes, given = attributes.compactMap { $0.isGenerated ? nil : row.values[$0.name] }
        guard given.count == attributes.count else { return nil }
        let terms = attributes.enumerated().map { "\(SQLText.quoted(row.object.binding.column(of: $0.element.name))) = ?\($0.offset + 1)" }
        return (terms.joined(separator: " AND "), given)
    }

    /// Returns the key of a row that statements of the model have created: the device's key, otherwise the key of the row that was inserted first.
    private func createdKey(_ row: RowValues, _ inserted: Int64?) throws -> Value? {
        if let given = givenKey(row) { return try keys(where: given, row.object).first }
        guard let inserted else { return nil }
        return try keys(where: ("rowid = ?1", [.integer(inserted)]), row.object).first
    }

    // MARK: Statements made from the binding

    private func insert(_ row: RowValues) throws -> Value? {
        let object = row.object
        let written = row.writable { !$0.isGenerated }
        let columns = written.map { SQLText.quoted($0.column) }.joined(separator: ", ")
        let places = written.enumerated().map { row.place($0.offset + 1, of: $0.element.attribute) }.joined(separator: ", ")
        let values = written.isEmpty ? "DEFAULT VALUES" : "(\(columns)) VALUES (\(places))"
        let sql = "INSERT INTO \(SQLText.quoted(object.table.name)) \(values) RETURNING \(row.returned)"
        guard let inserted = try connection.first(sql, written.map(\.value)) else { return nil }
        if let rowID = row.rowID(in: inserted) { try fillPieces(of: row, in: rowID) }
        return inserted[0]
    }

    /// - Returns: the row's new key, if it has one and the server knows the row under its surrogate key.
    private mutating func update(_ frame: OperationFrame, _ row: RowValues) throws -> Value? {
        let object = row.object
        let key = try row.requiredKey()
        let condition = key.condition(on: object, first: 1)
        let written = row.writable { attribute in
            !attribute.isGenerated && key.value(of: attribute, in: object, affinity: .blob) != row.values[attribute.name]
        }
        let table = SQLText.quoted(object.table.name)
        guard !written.isEmpty else {
            guard try connection.first("SELECT 1 FROM \(table) WHERE \(condition.sql)", condition.values) != nil else { throw row.missing }
            return nil
        }
        let first = condition.values.count + 1
        let assignments = written.enumerated().map { place, value in
            "\(SQLText.quoted(value.column)) = \(row.place(first + place, of: value.attribute))"
        }.joined(separator: ", ")
        let sql = "UPDATE \(table) SET \(assignments) WHERE \(condition.sql) RETURNING \(row.returned)"
        let updated = try connection.rows(sql, condition.values + written.map(\.value))
        guard let new = updated.first?[0] else { throw row.missing }
        for rowID in updated.compactMap(row.rowID(in:)) { try fillPieces(of: row, in: rowID) }
        guard written.contains(where: { object.model.primaryKey.contains($0.attribute) }) else { return nil }
        guard let parts = RowKey(new, of: object) else {
            throw Rejection(ResultCode.failure, "the back end did not say which key the row of \"\(object.name)\" has now")
        }
        guard try keys(where: parts.condition(on: object, first: 1), object).count < 2 else {
            throw Rejection(ResultCode.forbidden, "there is another row of \"\(object.name)\" with this primary key")
        }
        let isKnown = try rows.key(of: RowIdentity(frame), object) != nil
        rows.set(parts, of: RowIdentity(frame))
        return isKnown ? new : nil
    }

    /// Deletes a row. A row that is already gone counts as deleted.
    private func delete(_ row: RowValues) throws {
        let condition = try row.requiredKey().condition(on: row.object, first: 1)
        _ = try connection.execute("DELETE FROM \(SQLText.quoted(row.object.table.name)) WHERE \(condition.sql)", condition.values)
    }

    // MARK: Statements of the model

    /// - Returns: the rowid of the row that was inserted first.
    @discardableResult
    private func runStatements(_ modelled: OperationModel, _ frame: OperationFrame, _ row: RowValues) throws -> Int64? {
        let current = try currentRow(row, for: modelled)
        var changed = 0
        var insertedKey: Int64?
        for sql in modelled.statements {
            let statement = ParameterizedSQL(sql)
            let values = try statement.names.map { try value(named: $0, modelled, frame, row, current) }
            let before = connection.lastInsertedKey
            changed += try connection.execute(statement.text, values)
            if insertedKey == nil, connection.lastInsertedKey != before || frame.change == .create { insertedKey = connection.lastInsertedKey }
        }
        if frame.change == .update, changed == 0 { throw row.missing }
        return insertedKey
    }

    /// Returns the row in the back end before the operation, by attribute. Large attributes are included only if a statement or a parameter uses
    /// them.
    private func currentRow(_ row: RowValues, for modelled: OperationModel) throws -> [String: Value] {
        guard modelled.kind != .create, let key = row.key else { return [:] }
        let asked = modelled.statements.flatMap { ParameterizedSQL($0).names }.map { $0.hasPrefix("old.") ? String($0.dropFirst(4)) : $0 }
        let needed = Set(asked + modelled.parameters.compactMap(\.attribute))
        let attributes = row.object.model.attributes.filter {
            row.object.tableColumn($0.name) != nil && (!$0.isLarge || needed.contains($0.name))
        }
        let columns = attributes.map { SQLText.quoted(row.object.binding.column(of: $0.name)) }.joined(separator: ", ")
        let condition = key.condition(on: row.object, first: 1)
        let table = SQLText.quoted(row.object.table.name)
        guard let values = try connection.first("SELECT \(columns) FROM \(table) WHERE \(condition.sql)", condition.values) else {
            if modelled.kind == .update { throw row.missing }
            return [:]
        }
        return Dictionary(uniqueKeysWithValues: zip(attributes.map(\.name), values))
    }

    /// Returns the value of a parameter of a statement. `:name` is a parameter of the operation, otherwise the device's value of the attribute,
    /// otherwise the row's current value. `:old.name` is always the current value.
    private func value(
        named name: String, _ modelled: OperationModel, _ frame: OperationFrame, _ row: RowValues, _ current: [String: Value]
    ) throws -> Value {
        if name.hasPrefix("old.") { return current[String(name.dropFirst(4))] ?? .null }
        if let parameter = modelled.parameters.first(where: { $0.name == name }) {
            if let value = filledValue(of: parameter, row, current) { return value }
            guard let json = frame.parameters[name] ?? frame.attributes[name] ?? parameter.modelDefault else { return .null }
            return try WireConversion.value(json, of: row.object.attribute(of: parameter), affinity: .numeric)
        }
        return row.values[name] ?? current[name] ?? .null
    }

    /// Returns the value of a parameter that an attribute fills, if the server has a newer value than the device: a parent's key that the back end
    /// has just created, or a value that the back end assigned to this row.
    private func filledValue(of parameter: ParameterModel, _ row: RowValues, _ current: [String: Value]) -> Value? {
        guard let name = parameter.attribute else { return nil }
        let isAssigned = row.object.model.attribute(named: name)?.isGenerated ?? false
        return row.values[name] ?? (isAssigned ? current[name] : nil)
    }
}

/// The values that one operation writes, in the form of its back end.
private struct RowValues {
    let object: ObjectPlan
    /// The row's key before the operation; nil for a new row.
    let key: RowKey?
    /// The values by attribute; for those in ``pieces``, the length in bytes.
    var values: [String: Value] = [:]
    /// Large values that are written after the statement, which reserves their space.
    var pieces: [String: UploadedValue] = [:]

    init(object: ObjectPlan, key: RowKey?) {
        self.object = object
        self.key = key
    }

    var missing: Rejection {
        Rejection(ResultCode.notFound, "the row of \"\(object.name)\" is not in the back end any more")
    }

    func requiredKey() throws(Rejection) -> RowKey {
        guard let key else { throw Rejection(ResultCode.notFound, "the row of \"\(object.name)\" is not known to the server") }
        return key
    }

    /// Returns the placeholder of a value in a statement.
    func place(_ number: Int, of attribute: String) -> String { pieces[attribute] == nil ? "?\(number)" : "zeroblob(?\(number))" }

    /// The columns that a statement returns of a written row: the key, and the rowid if there are ``pieces``.
    var returned: String {
        object.keyExpression { SQLText.quoted(object.binding.column(of: $0)) } + (pieces.isEmpty ? "" : ", rowid")
    }

    /// Returns the rowid from the ``returned`` columns; nil if it is not needed.
    func rowID(in returned: [Value]) -> Int64? { returned.count > 1 ? returned[1].integer : nil }

    mutating func take(_ frame: OperationFrame) throws {
        for member in frame.attributes {
            guard let attribute = object.model.attribute(named: member.key) else { continue }
            let affinity = object.tableColumn(member.key)?.affinity ?? .blob
            do {
                values[member.key] = try WireConversion.value(member.value, of: attribute, affinity: affinity)
            } catch {
                throw Rejection(ResultCode.badRequest, "\"\(object.name)\", \"\(member.key)\": \(error.message)")
            }
        }
    }

    /// Returns the values that have a column of their own in the table, in the order of the model. Columns that a load computes are not written.
    func writable(_ isWritten: (AttributeModel) -> Bool) -> [(attribute: String, column: String, value: Value)] {
        object.model.attributes.compactMap { attribute in
            guard let value = values[attribute.name], isWritten(attribute), let column = object.tableColumn(attribute.name), !column.isGenerated
            else { return nil }
            return (attribute.name, column.name, value)
        }
    }
}
