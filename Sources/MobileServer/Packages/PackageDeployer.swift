internal import MobileModel
internal import MobileStore

/// A package that is ready to serve: its objects planned, its back ends open and checked.
struct DeployedPackage: Sendable {
    /// Name and version: `CRM:1.0`.
    let identifier: String
    let model: PackageModel
    /// The synchronized objects in the order of the model.
    let objects: [ObjectPlan]
    let backEnds: [String: BackEnd]

    func object(named name: String) -> ObjectPlan? { objects.first { $0.name == name } }

    func backEnd(of object: ObjectPlan) -> BackEnd { backEnds[object.binding.backEnd]! }  // the deployment has checked that it exists

    /// The groups of the model; objects that name none are in `default`.
    var groups: [String] {
        var names = model.synchronizationGroups.map(\.name)
        for object in objects where !names.contains(object.model.synchronizationGroup) { names.append(object.model.synchronizationGroup) }
        return names
    }
}

/// Opens the back ends of a package and checks its model against them. Every table, column and statement that the model names must exist; otherwise
/// the error names the missing one. A package is never deployed in part.
struct PackageDeployer {
    let deployment: PackageDeployment
    private let timeout: Duration
    private var model: PackageModel { deployment.model }

    /// - Parameter timeout: the time to wait for a connection to a back end.
    init(_ deployment: PackageDeployment, timeout: Duration) { (self.deployment, self.timeout) = (deployment, timeout) }

    func deploy() throws -> DeployedPackage {
        let package = try verified()
        for backEnd in package.backEnds.values where !backEnd.isIdempotent {
            let isWritten = package.objects.contains { $0.binding.backEnd == backEnd.name && !$0.model.operations.isEmpty }
            if isWritten { try ProcessedOperations.prepare(backEnd) }
        }
        return package
    }

    /// Returns the package with its back ends open and checked. Writes nothing to them.
    func verified() throws -> DeployedPackage {
        var backEnds: [String: BackEnd] = [:]
        for backEnd in model.backEnds { backEnds[backEnd.name] = try open(backEnd) }
        var plans: [ObjectPlan] = []
        for object in model.objects where !object.isLocal {
            guard let binding = object.binding, let backEnd = backEnds[binding.backEnd] else {
                throw ServerError(.package, "package \"\(deployment.identifier)\": the object \"\(object.name)\" has no binding to a back end")
            }
            plans.append(try backEnd.database.read { try plan(object, binding, backEnd, $0) })
        }
        return DeployedPackage(identifier: deployment.identifier, model: model, objects: plans, backEnds: backEnds)
    }

    private func open(_ backEnd: BackEndModel) throws(ServerError) -> BackEnd {
        guard let path = deployment.backEnds[backEnd.name] ?? backEnd.path.map(resolved) else {
            throw ServerError(
                .missingBackEnd,
                "package \"\(deployment.identifier)\": nothing says where the back end \"\(backEnd.name)\" is; name its file at deployment")
        }
        return try BackEnd(name: backEnd.name, path: path, isIdempotent: backEnd.isIdempotent, timeout: timeout)
    }

    private func resolved(_ path: String) -> String {
        path.hasPrefix("/") || deployment.directory.isEmpty ? path : deployment.directory + "/" + path
    }

    private func plan(_ object: ObjectModel, _ binding: BackEndBinding, _ backEnd: BackEnd, _ connection: Connection) throws -> ObjectPlan {
        guard let table = try BackEndTable(named: binding.table, in: connection) else {
            throw ServerError(
                .missingTable, "object \"\(object.name)\": the back end \"\(backEnd.name)\" (\(backEnd.path)) has no table \"\(binding.table)\"")
        }
        let plan = ObjectPlan(object, binding: binding, table: table, in: model)
        try checkColumns(plan, connection)
        try checkStatements(plan, backEnd, connection)
        return plan
    }

    private func checkColumns(_ plan: ObjectPlan, _ connection: Connection) throws {
        var columns = plan.table.columns.map(\.name)
        var place = "table \"\(plan.table.name)\""
        if let load = plan.load {
            columns = try prepare("SELECT * FROM \(plan.source)", "load of \"\(plan.name)\"", connection).columnNames
            place = "load"
            for name in load.names where !plan.model.synchronizationParameters.contains(where: { $0.name == name }) {
                throw ServerError(.statement, "load of \"\(plan.name)\": \":\(name)\" is not a synchronization parameter of the object")
            }
        }
        // The content of large values is read and written in the table, regardless of the load.
        let needed =
            plan.rowAttributes.map { ($0, columns, place) }
            + plan.largeAttributes.map { ($0, plan.table.columns.map(\.name), "table \"\(plan.table.name)\"") }
        for (attribute, columns, place) in needed {
            let column = plan.binding.column(of: attribute.name)
            guard columns.contains(where: { $0.caseInsensitivelyEquals(column) }) else {
                throw ServerError(
                    .missingColumn, "object \"\(plan.name)\", attribute \"\(attribute.name)\": the \(place) has no column \"\(column)\"")
            }
        }
    }

    private func checkStatements(_ plan: ObjectPlan, _ backEnd: BackEnd, _ connection: Connection) throws {
        _ = try prepare(plan.loadStatement, "load of \"\(plan.name)\"", connection)
        if let statement = plan.largeValuesStatement {
            _ = try prepare(statement, "large values of \"\(plan.name)\"", connection)
        }
        for parameter in plan.model.synchronizationParameters where parameter.userAttribute != nil {
            guard let attribute = parameter.attribute, plan.tableColumn(attribute) == nil else { continue }
            throw ServerError(
                .missingColumn,
                "object \"\(plan.name)\", synchronization parameter \"\(parameter.name)\": the table \"\(plan.table.name)\" has no column \"\(plan.binding.column(of: attribute))\", in which each row has the parameter's value"
            )
        }
        for operation in plan.model.operations {
            for (index, sql) in operation.statements.enumerated() {
                _ = try prepare(ParameterizedSQL(sql).text, "operation \"\(operation.name)\" of \"\(plan.name)\", statement \(index + 1)", connection)
            }
        }
    }

    /// Prepares a statement, to check that the back end understands it. Preparing changes nothing.
    private func prepare(_ sql: String, _ name: String, _ connection: Connection) throws(ServerError) -> Statement {
        do {
            return try connection.statement(sql)
        } catch {
            throw ServerError(.statement, "\(name): \(error.message)", cause: error)
        }
    }
}
