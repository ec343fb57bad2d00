extension ModelValidator {
    // MARK: Operations

    mutating func checkOperations(_ object: ObjectModel, _ path: ModelPath) {
        if object.isLocal, !object.operations.isEmpty {
            report(.conflict, path, "the object \"\(object.name)\" is local; its changes are never replayed", suggestion: "remove the operations")
        }
        for (index, operation) in object.operations.enumerated() { check(operation, of: object, path[index]) }
    }

    /// Only updates and deletes compare the row of the back end with the one that the device saw, and only where the back end keeps a record of
    /// operations: otherwise an operation that arrives twice would be in conflict with itself.
    mutating func checkConflicts(_ object: ObjectModel, _ path: ModelPath) {
        guard object.conflicts == .refuse else { return }
        if !object.operations.contains(where: { $0.kind == .update || $0.kind == .delete }) {
            report(
                .conflict, path, "the object \"\(object.name)\" has neither an update nor a delete operation, so that no conflict can arise",
                suggestion: "remove \"conflicts\"")
        }
        if let backEnd = model.backEnds.first(where: { $0.name == object.binding?.backEnd }), backEnd.isIdempotent {
            report(
                .conflict, path,
                "the back end \"\(backEnd.name)\" keeps no record of operations, so that a repeated operation would be in conflict with itself",
                suggestion: "remove \"conflicts\", or \"idempotent\" of the back end")
        }
    }

    private mutating func check(_ operation: OperationModel, of object: ObjectModel, _ path: ModelPath) {
        let parameters = path["parameters"]
        checkParameters(operation.parameters, parameters, complexAllowed: true)
        for (index, parameter) in operation.parameters.enumerated() {
            let place = parameters[index]
            if operation.kind != .other, object.attribute(named: parameter.name) != nil, parameter.attribute != parameter.name {
                report(
                    .conflict, place["name"], "\"\(parameter.name)\" is an attribute; it is filled from the object",
                    suggestion: "remove the parameter, or rename it")
            }
            if operation.statements.isEmpty, operation.kind != .other {
                report(
                    .conflict, place["name"], "nothing uses the parameter \"\(parameter.name)\"",
                    suggestion: "write the operation's statements, or remove it")
            }
            if operation.kind == .other { checkObjectValue(parameter.type, isNullable: parameter.isNullable, place["nullable"]) }
            checkSwiftName(of: parameter, operation, place["name"])
            checkAttribute(of: parameter, operation, object, place)
        }
        if operation.kind == .other, operation.statements.isEmpty {
            report(
                .missing, path["statements"], "the operation \"\(operation.name)\" has no statements",
                suggestion: "only create, update and delete are made from the binding")
        }
        for (index, statement) in operation.statements.enumerated() {
            checkBackEndSQL(statement, path["statements"][index])
        }
        checkParameterUse(of: operation, in: object, path)
    }

    /// Parameters of an operation with an object of its own become attributes of that object; the others become arguments of a method.
    private mutating func checkSwiftName(of parameter: ParameterModel, _ operation: OperationModel, _ path: ModelPath) {
        if operation.kind == .other, ReservedNames.queryAttributes.contains(parameter.name) {
            report(.name, path, "every object has an attribute \"\(parameter.name)\" of its own", suggestion: "choose another name")
        } else if operation.kind != .other, ReservedNames.operationArguments.contains(parameter.name) {
            report(.name, path, "\"\(parameter.name)\" cannot be an argument of a method", suggestion: "choose another name")
        }
    }

    /// A parameter that an attribute fills must accept every value of the attribute.
    private mutating func checkAttribute(of parameter: ParameterModel, _ operation: OperationModel, _ object: ObjectModel, _ path: ModelPath) {
        guard let name = parameter.attribute else { return }
        guard operation.kind != .other else {
            report(
                .conflict, path["attribute"], "the operation \"\(operation.name)\" belongs to no row, so no attribute fills its parameters",
                suggestion: "remove \"attribute\"; callers give the value")
            return
        }
        guard let attribute = resolve(name, in: object, path["attribute"]) else { return }
        if attribute.isLarge {
            report(
                .conflict, path["attribute"],
                "\"\(name)\" is \(English.withArticle(attribute.type)); only attributes that fit into the row fill a parameter")
        } else if attribute.type != parameter.type {
            report(
                .conflict, path["attribute"],
                "\"\(name)\" is \(English.withArticle(attribute.type)), the parameter \"\(parameter.name)\" \(English.withArticle(parameter.type))")
        } else if attribute.isNullable, !parameter.isNullable {
            report(.conflict, path["attribute"], "\"\(name)\" is nullable, the parameter \"\(parameter.name)\" is not")
        }
        let own: [(key: String, isThere: Bool)] = [
            ("length", parameter.length != nil), ("precision", parameter.precision != nil), ("scale", parameter.scale != nil),
            ("default", parameter.defaultValue != nil),
        ]
        for (key, isThere) in own where isThere {
            report(.conflict, path[key], "\"\(parameter.name)\" is filled from \"\(name)\"; it needs no \(key)")
        }
    }

    /// Statements may use the object's attributes, their old values and the operation's parameters.
    private mutating func checkParameterUse(of operation: OperationModel, in object: ObjectModel, _ path: ModelPath) {
        let own = operation.parameters.map(\.name)
        let attributes = operation.kind == .other ? [] : object.attributes.map(\.name)
        var used: Set<String> = []
        for (index, statement) in operation.statements.enumerated() {
            for name in SQLTokens(statement).parameters {
                used.insert(name)
                let place = path["statements"][index]
                if name.hasPrefix("old.") {
                    let attribute = String(name.dropFirst("old.".count))
                    if operation.kind == .create || operation.kind == .other {
                        report(.sql, place, "\":\(name)\": there is no old value in an operation of the kind \"\(operation.kind)\"")
                    } else {
                        _ = resolve(attribute, in: object, place)
                    }
                } else if !own.contains(name), !attributes.contains(name) {
                    let what = operation.kind == .other ? "a parameter of the operation" : "an attribute or parameter"
                    report(
                        .sql, place, "\":\(name)\" is not \(what)", suggestion: Suggestion.didYouMean(name, among: own + attributes))
                }
            }
        }
        guard !operation.statements.isEmpty else { return }
        for (index, name) in own.enumerated() where !name.isEmpty && !used.contains(name) {
            report(
                .sql, path["parameters"][index]["name"], "no statement uses the parameter \"\(name)\"",
                suggestion: "write \":\(name)\" in one, or remove it")
        }
    }

    // MARK: Binding

    mutating func checkBinding(_ object: ObjectModel, _ path: ModelPath) {
        let place = path["binding"]
        guard let binding = object.binding else {
            if !object.isLocal {
                report(
                    .missing, place, "the object \"\(object.name)\" has no binding",
                    suggestion: "say which back end and table it comes from, or make it local")
            }
            return
        }
        if object.isLocal {
            report(.conflict, place, "the object \"\(object.name)\" is local and has a binding", suggestion: "remove one of the two")
        }
        let names = model.backEnds.map(\.name)
        if !binding.backEnd.isEmpty, !names.contains(binding.backEnd) {
            report(
                .unresolved, place["backEnd"], "there is no back end \"\(binding.backEnd)\"",
                suggestion: Suggestion.didYouMean(binding.backEnd, among: names) ?? "add it to \"backEnds\"")
        }
        checkSQLName(binding.table, "a table", place["table"])
        checkColumns(of: binding, object, place)
        switch binding.changeDetection {
        case .digest: break
        case .versionColumn(let column): checkSQLName(column, "a column", place["changeDetection"]["versionColumn"])
        case .triggerLog(let tables): checkLoggedTables(tables, of: binding, place["changeDetection"]["triggerLog"])
        }
        checkLoad(of: binding, object, path)
    }

    private mutating func checkLoggedTables(_ tables: [String], of binding: BackEndBinding, _ path: ModelPath) {
        if binding.load == nil, !tables.isEmpty {
            report(.conflict, path, "without a \"load\" statement no other table is read", suggestion: "write \"triggerLog\" alone")
        }
        for (index, name) in tables.enumerated() {
            checkSQLName(name, "a table", path[index])
            if name == binding.table { report(.duplicate, path[index], "the table \"\(name)\" is logged anyway") }
            if tables.firstIndex(of: name) != index { report(.duplicate, path[index], "the table \"\(name)\" is there twice") }
        }
    }

    private mutating func checkColumns(of binding: BackEndBinding, _ object: ObjectModel, _ path: ModelPath) {
        for (attribute, column) in binding.columns.sorted(by: { $0.key < $1.key }) {
            let place = path["columns"][attribute]
            guard resolve(attribute, in: object, place) != nil else { continue }
            checkSQLName(column, "a column", place)
        }
        var owners: [String: String] = [:]
        for attribute in object.attributes {
            let column = binding.column(of: attribute.name)
            if let owner = owners.updateValue(attribute.name, forKey: column.lowercased()), owner.lowercased() != attribute.name.lowercased() {
                let place = binding.columns[attribute.name] == nil ? owner : attribute.name
                report(.duplicate, path["columns"][place], "\"\(owner)\" and \"\(attribute.name)\" have the same column \"\(column)\"")
            }
        }
    }

    /// Tables and columns of a back end may have any name that SQL allows.
    private mutating func checkSQLName(_ name: String, _ thing: String, _ path: ModelPath) {
        if name.isEmpty {
            report(.name, path, "\(thing) has an empty name")
        } else if name.unicodeScalars.contains("\0") {
            report(.name, path, "\(thing)'s name holds a NUL character")
        }
    }

    private mutating func checkLoad(of binding: BackEndBinding, _ object: ObjectModel, _ path: ModelPath) {
        let declared = object.synchronizationParameters.map(\.name)
        let place = path["binding"]["load"]
        guard let load = binding.load else {
            if let name = declared.first {
                report(
                    .missing, path["binding"], "nothing uses the synchronization parameter \"\(name)\"",
                    suggestion: "write a \"load\" statement with \":\(name)\"")
            }
            return
        }
        let sql = SQLTokens(load)
        checkBackEndSQL(load, place)
        if let first = sql.tokens.first, !first.isKeyword("SELECT"), !first.isKeyword("WITH") {
            report(.sql, place, "a load statement begins with SELECT or WITH")
        }
        for name in sql.parameters where !declared.contains(name) {
            report(
                .sql, place, "\":\(name)\" is not a synchronization parameter of \"\(object.name)\"",
                suggestion: Suggestion.didYouMean(name, among: declared) ?? "add it to \"synchronizationParameters\"")
        }
        for (index, name) in declared.enumerated() where !name.isEmpty && !sql.parameters.contains(name) {
            report(
                .sql, path["synchronizationParameters"][index]["name"], "the load statement does not use the parameter \"\(name)\"",
                suggestion: "write \":\(name)\" in it, or remove the parameter")
        }
    }

    /// Checks that a text is a single statement by SQLite's lexical rules. Only the back end knows its tables and columns.
    private mutating func checkBackEndSQL(_ text: String, _ path: ModelPath) {
        let sql = SQLTokens(text)
        if let problem = sql.problem {
            report(.sql, path, problem)
        } else if sql.tokens.isEmpty {
            report(.sql, path, "the statement is empty")
        } else if sql.tokens.contains(.symbol(";")) {
            report(.sql, path, "there is a ';' in the statement", suggestion: "write one statement each")
        }
    }
}
