internal import MobileExecution
internal import MobileModel
internal import MobileProtocol
internal import MobileStore
internal import PostgreSQLClient

/// A back end that speaks SQL. Loading and replaying are the same for both engines.
final class SQLBackEnd: BackEnd {
    /// The name in the model.
    let name: String
    let engine: any SQLEngine
    let isIdempotent: Bool
    /// The maximum size of a large value that is taken as a whole, in bytes.
    private let wholeValueLimit: Int
    let rules: ChangeRules
    /// The objects by name; set by the check.
    private let objects = SystemLock<[String: SQLObject]>([:])

    init(name: String, engine: any SQLEngine, isIdempotent: Bool, wholeValueLimit: Int, rules: ChangeRules = ChangeRules()) {
        (self.name, self.engine, self.isIdempotent, self.wholeValueLimit, self.rules) = (name, engine, isIdempotent, wholeValueLimit, rules)
    }

    func check(_ objects: [ObjectModel], of package: PackageModel) throws {
        let found = try engine.read { connection in
            let check = SQLBackEndCheck(backEnd: name, place: engine.place, package: package, connection: connection)
            return try objects.map { try check.object($0) }
        }
        self.objects.withLock { $0 = Dictionary(uniqueKeysWithValues: found.map { ($0.plan.name, $0) }) }
    }

    func prepareRecords() throws {
        let prepare = { [engine] in try engine.write(label: "preparing the back end") { try SQLOperationRecords.prepare($0) } }
        do {
            do { try prepare() } catch let error as PostgreSQLBackEndError where error.isCollision {
                // Another server has created the same tables at the same time: they are there now.
                try prepare()
            }
        } catch {
            throw ServerError(
                .missingBackEnd, "back end \"\(name)\": the table of processed operations cannot be made: \(error)", cause: error)
        }
    }

    func ping() throws { try engine.readContents { try $0.ping() } }

    func read<R>(_ body: (any BackEndSnapshot) throws -> R) throws -> R {
        try engine.read { try body(SQLSnapshot(backEnd: self, connection: $0)) }
    }

    func replay<R>(for client: String, _ body: (any BackEndTransaction) throws -> R) throws -> R {
        try engine.write(label: "replay for \(client)") { connection in
            let records = isIdempotent ? nil : SQLOperationRecords(connection)
            let transaction = SQLTransaction(
                backEnd: self, runner: SQLOperationRunner(connection: connection, wholeValueLimit: wholeValueLimit), operationRecords: records)
            let result = try body(transaction)
            try records?.finish(client)
            return result
        }
    }

    func value(
        of attribute: AttributeModel, in key: RowKey, of object: ObjectModel, _ receive: (_ piece: [UInt8]) throws -> Void
    ) throws -> BackEndValue {
        let object = try self.object(object)
        return try engine.readContents { try $0.value(of: attribute, in: key, of: object, receive) }
    }

    func classify(_ error: any Error, of object: ObjectModel?) -> BackEndFailure {
        let sentence = RejectionSentence(object: object.flatMap { try? self.object($0) })
        if let failure = engine.classify(error, sentence) { return failure }
        return .refused("the server could not do this; its log says why", code: ResultCode.failure, detail: "\(error)")
    }

    /// A role without the right to delete entries leaves them to their owner.
    func removeChanges(before time: Int64) throws -> Int {
        guard objects.withLock({ $0.values.contains { $0.loggedTables != nil } }) else { return 0 }
        do {
            return try engine.write(label: "old changes") { try $0.triggerLog.prune(before: time / 1000) }
        } catch let error as PostgreSQLBackEndError where error.error.code == .permission { return 0 }
    }

    /// With a trigger log a look costs little, and so does what it finds.
    var positionInterval: Duration {
        let isLogged = objects.withLock { $0.values.contains { $0.loggedTables != nil } }
        return isLogged ? min(engine.positionInterval, .milliseconds(20)) : engine.positionInterval
    }

    func close() throws { try engine.close() }

    func object(named name: String) -> SQLObject? { objects.withLock { $0[name] } }

    func object(_ model: ObjectModel) throws -> SQLObject {
        guard let object = object(named: model.name) else {
            throw ServerError(.notFound, "back end \"\(name)\" has no object \"\(model.name)\"")
        }
        return object
    }
}

/// A read of a back end that speaks SQL.
private struct SQLSnapshot: SQLReading {
    let backEnd: SQLBackEnd
    let connection: any BackEndConnection

    var isSnapshot: Bool { true }

    func records() throws -> (any OperationRecords)? {
        try connection.hasTable(SQLOperationRecords.table) ? SQLOperationRecords(connection) : nil
    }
}

/// The reads of a snapshot and of a transaction.
private protocol SQLReading: BackEndSnapshot {
    var backEnd: SQLBackEnd { get }
    var connection: any BackEndConnection { get }
}

extension SQLReading {
    func position() throws -> BackEndPosition? { try connection.position() }

    func load(
        _ object: ObjectModel, parameters: [String: Value], keys: [RowKey]?, _ visit: (BackEndRow) throws -> Void
    ) throws {
        let object = try backEnd.object(object)
        try inPortions(keys) { try connection.forEachRow(of: object, parameters, $0, visit) }
    }

    func forEachLargeValue(
        of object: ObjectModel, parameters: [String: Value], keys: [RowKey]?, _ visit: (LargeValueDigest) throws -> Void
    ) throws -> Bool {
        let object = try backEnd.object(object)
        try inPortions(keys) { try connection.forEachLargeValue(of: object, parameters, $0, visit) }
        return true
    }

    /// A statement has a limited number of parameters, in SQLite 32766.
    private func inPortions(_ keys: [RowKey]?, _ body: ([RowKey]?) throws -> Void) throws {
        guard let keys else { return try body(nil) }
        for start in stride(from: 0, to: keys.count, by: 500) { try body(Array(keys[start..<min(start + 500, keys.count)])) }
    }

    func changes(of object: ObjectModel, parameters: [String: Value], since mark: String?) throws -> BackEndChanges {
        let object = try backEnd.object(object), rules = backEnd.rules
        if let otherTables = object.loggedTables {
            return try TriggerLogReader(object: object, otherTables: otherTables, log: connection.triggerLog).changes(since: mark)
        }
        guard let column = object.versionColumn else {
            return try DigestReader(object, parameters, rules, connection).changes(since: mark)
        }
        return try VersionReader(object, column, parameters, rules, connection).changes(since: mark)
    }
}

extension SQLSnapshot: PackedBackEndSnapshot {
    func marksLoads(of object: ObjectModel) throws -> Bool {
        let object = try backEnd.object(object)
        return connection.addsUpLoads && object.loggedTables == nil && object.versionColumn == nil && DigestReader.comparesSums(object)
    }

    func pack(
        _ object: ObjectModel, parameters: [String: Value], into rows: inout PackedRows, unfit: (UnfitRow) throws -> Void,
        _ added: (inout PackedRows) throws -> Void
    ) throws -> String? {
        let sqlObject = try backEnd.object(object)
        guard try marksLoads(of: object) else {
            _ = try connection.packRows(of: sqlObject, parameters, sums: nil, into: &rows, unfit: unfit, added)
            return nil
        }
        return try DigestReader(sqlObject, parameters, backEnd.rules, connection).pack(into: &rows, parameters, by: connection, unfit: unfit, added)
    }
}

/// A transaction of a back end that speaks SQL.
private struct SQLTransaction: SQLReading, BackEndTransaction {
    let backEnd: SQLBackEnd
    let runner: SQLOperationRunner
    let operationRecords: SQLOperationRecords?

    var connection: any BackEndConnection { runner.connection }

    func apply(_ operation: BackEndOperation) throws -> RowKey? {
        let object = try backEnd.object(operation.object)
        do { return try runner.run(operation, on: object) { backEnd.object(named: $0) } } catch {
            // The sentence about a broken reference has the values of the operation, which only this place knows.
            let failure = backEnd.engine.classify(error, RejectionSentence(object: object, operation: operation))
            guard let failure, failure.code == ResultCode.constraint else { throw error }
            throw failure
        }
    }

    func contains(_ key: RowKey, of object: ObjectModel, having values: JSONObject) throws -> Bool {
        let object = try backEnd.object(object)
        var condition = object.condition(key)
        for member in values {
            guard let attribute = object.model.attribute(named: member.key), let column = object.tableColumn(member.key) else { return false }
            condition.values.append(try WireConversion.value(member.value, of: attribute, affinity: column.affinity))
            condition.sql += " AND \(SQLText.quoted(column.name)) IS NOT DISTINCT FROM ?\(condition.values.count)"
        }
        return try !runner.keys(condition, object).isEmpty
    }

    func lock(_ key: RowKey, of object: ObjectModel) throws {
        guard let clause = connection.rowLock else { return }
        let object = try backEnd.object(object), condition = object.condition(key)
        _ = try connection.rows("SELECT 1 FROM \(object.table.sql) WHERE \(condition.sql) \(clause)", condition.values)
    }

    func records() throws -> (any OperationRecords)? { operationRecords }
}

/// Checks a model against a back end. Every table, column and statement that the model names must exist; otherwise the error names the missing one.
private struct SQLBackEndCheck {
    let backEnd: String
    let place: String
    let package: PackageModel
    let connection: any BackEndConnection

    func object(_ model: ObjectModel) throws -> SQLObject {
        guard let binding = model.binding else { throw ServerError(.package, "the object \"\(model.name)\" has no binding to a back end") }
        guard let table = try connection.table(named: binding.table) else {
            throw ServerError(
                .missingTable, "object \"\(model.name)\": the back end \"\(backEnd)\" (\(place)) has no table \"\(binding.table)\"")
        }
        let plan = ObjectPlan(model, binding: binding, in: package)
        var object = SQLObject(plan, table: table, connection.expressions)
        let load = try object.load.map { load in
            for name in load.names where !model.synchronizationParameters.contains(where: { $0.name == name }) {
                throw ServerError(.statement, "load of \"\(model.name)\": \":\(name)\" is not a synchronization parameter of the object")
            }
            return try prepare("SELECT * FROM \(object.source)", "load of \"\(model.name)\"")
        }
        object = SQLObject(plan, table: table, loadColumns: load, connection.expressions)
        object.loggedTables = try loggedTables(of: object)
        object.versionColumn = try versionColumn(of: object)
        try checkColumns(of: object)
        try checkStatements(of: object)
        object.forms = try object.readForms(connection)
        return object
    }

    /// Returns the tables besides the object's own whose changes the trigger log must have; nil for an object without one.
    private func loggedTables(of object: SQLObject) throws -> [BackEndTable]? {
        guard case .triggerLog(let names) = object.plan.binding.changeDetection else { return nil }
        let tables = try names.map { name in
            guard let table = try connection.table(named: name) else {
                throw ServerError(
                    .missingTable,
                    "object \"\(object.model.name)\", change detection: the back end \"\(backEnd)\" (\(place)) has no table \"\(name)\"")
            }
            return table
        }
        for table in [object.table] + tables {
            let capture = try connection.triggerLog.capture(of: table), needed = table.name == object.table.name ? object.keyColumns : []
            guard let capture, needed.allSatisfy(capture.columns.contains) else {
                throw ServerError(
                    .missingTable,
                    "object \"\(object.model.name)\", change detection: the back end \"\(backEnd)\" (\(place)) has no trigger log of the table \"\(table.name)\"; install it with \"mobile capture install\""
                )
            }
        }
        return tables
    }

    /// Returns the version column of an object that has one.
    private func versionColumn(of object: SQLObject) throws -> VersionColumn? {
        guard case .versionColumn(let name) = object.plan.binding.changeDetection else { return nil }
        let place = "object \"\(object.model.name)\", version column \"\(name)\""
        guard let column = object.versionColumn(named: name) else {
            throw ServerError(.missingColumn, "\(place): neither the load nor the table \"\(object.table.name)\" has this column")
        }
        guard connection.buckets.isOrdered(column) else {
            throw ServerError(.missingColumn, "\(place): versions are numbers, dates or time stamps")
        }
        _ = try prepare("SELECT max(\(column.column.sql)) FROM \(object.versionTables(column))", place)
        return column
    }

    private func checkColumns(of object: SQLObject) throws {
        let plan = object.plan, table = "table \"\(object.table.name)\""
        // The content of large values is read and written in the table, regardless of the load.
        let needed =
            plan.rowAttributes.map { ($0, object.loadColumns, object.load == nil ? table : "load") }
            + plan.largeAttributes.map { ($0, object.table.columns, table) }
        for (attribute, columns, place) in needed {
            let column = plan.binding.column(of: attribute.name)
            guard columns.contains(where: { $0.name.caseInsensitivelyEquals(column) }) else {
                throw ServerError(
                    .missingColumn, "object \"\(plan.name)\", attribute \"\(attribute.name)\": the \(place) has no column \"\(column)\"")
            }
            if let found = object.expressions.misfit(of: attribute, SQLColumn(named: column, among: columns, "")) {
                throw ServerError(
                    .package,
                    "object \"\(plan.name)\", attribute \"\(attribute.name)\": the column \"\(column)\" of the \(place) has \(found), none of which is \(attribute.formWords)"
                )
            }
        }
    }

    private func checkStatements(of object: SQLObject) throws {
        let model = object.model
        let key = object.keyExpression { object.sourceColumn($0) }
        _ = try prepare("SELECT \(key) FROM \(object.source)", "load of \"\(model.name)\"")
        if !object.plan.largeAttributes.isEmpty {
            _ = try prepare(
                "SELECT \(object.largeValueKey) FROM \(object.largeValueTables) WHERE \(object.hasLargeValue)", "large values of \"\(model.name)\"")
        }
        for parameter in model.synchronizationParameters where parameter.userAttribute != nil {
            guard let attribute = parameter.attribute, object.tableColumn(attribute) == nil else { continue }
            throw ServerError(
                .missingColumn,
                "object \"\(model.name)\", synchronization parameter \"\(parameter.name)\": the table \"\(object.table.name)\" has no column \"\(object.plan.binding.column(of: attribute))\", in which each row has the parameter's value"
            )
        }
        for operation in model.operations {
            for (index, sql) in operation.statements.enumerated() {
                _ = try prepare(ParameterizedSQL(sql).text, "operation \"\(operation.name)\" of \"\(model.name)\", statement \(index + 1)")
            }
        }
    }

    private func prepare(_ sql: String, _ name: String) throws -> [BackEndTable.Column] {
        do { return try connection.columns(of: sql) } catch {
            let message = (error as? StoreError)?.message ?? (error as? PostgreSQLBackEndError)?.error.message
            throw ServerError(.statement, "\(name): \(message ?? "\(error)")", cause: error)
        }
    }
}
