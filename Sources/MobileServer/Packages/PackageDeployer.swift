internal import MobileModel
internal import MobileStore

/// A package that is ready to serve: its objects planned, its back ends open and checked.
///
/// A class, because many structures contain it, as ``ObjectPlan``.
final class DeployedPackage: Sendable {
    /// Name and version: `CRM:1.0`.
    let identifier: String
    let model: PackageModel
    /// The synchronized objects in the order of the model.
    let objects: [ObjectPlan]
    let backEnds: [String: ServedBackEnd]

    init(identifier: String, model: PackageModel, objects: [ObjectPlan], backEnds: [String: ServedBackEnd]) {
        (self.identifier, self.model, self.objects, self.backEnds) = (identifier, model, objects, backEnds)
    }

    func object(named name: String) -> ObjectPlan? { objects.first { $0.name == name } }

    func backEnd(of object: ObjectPlan) -> ServedBackEnd { backEnds[object.binding.backEnd]! }  // the deployment has checked that it exists

    /// The back ends that operations of the package change, and that keep a record of them.
    var writtenBackEnds: [ServedBackEnd] {
        backEnds.values.filter { backEnd in
            !backEnd.isIdempotent && objects.contains { $0.binding.backEnd == backEnd.name && !$0.model.operations.isEmpty }
        }.sorted { $0.name < $1.name }
    }

    /// The groups of the model; objects that name none are in `default`.
    var groups: [String] {
        var names = model.synchronizationGroups.map(\.name)
        for object in objects where !names.contains(object.model.synchronizationGroup) { names.append(object.model.synchronizationGroup) }
        return names
    }
}

/// A back end of a package, under its name in the model.
struct ServedBackEnd: Sendable {
    let name: String
    let system: any BackEnd

    var isIdempotent: Bool { system.isIdempotent }

    init(name: String, system: any BackEnd) { (self.name, self.system) = (name, system) }

    /// Opens a back end of the server's own kinds.
    /// - Parameters:
    ///   - name: the name, also for messages.
    ///   - place: the path of an SQLite file, or the address of a PostgreSQL database.
    ///   - timeout: the time to wait for a connection, and for locks.
    ///   - wholeValueLimit: the maximum size of a large value that is taken as a whole, in bytes.
    ///   - rules: the rules by which changes are found.
    init(name: String, at place: String, isIdempotent: Bool, timeout: Duration, wholeValueLimit: Int, rules: ChangeRules = ChangeRules()) throws {
        let engine = try Self.engine(name: name, at: place, timeout: timeout)
        self.init(
            name: name,
            system: SQLBackEnd(name: name, engine: engine, isIdempotent: isIdempotent, wholeValueLimit: wholeValueLimit, rules: rules))
    }

    /// Opens the database of a back end that speaks SQL.
    static func engine(name: String, at place: String, timeout: Duration) throws -> any SQLEngine {
        PostgreSQLPlace.isAddress(place)
            ? try PostgreSQLEngine(name: name, address: place, timeout: timeout) : try SQLiteEngine(name: name, path: place, timeout: timeout)
    }
}

/// Opens the back ends of a package and checks its model against them. Every table, column and statement that the model names must exist; otherwise
/// the error names the missing one. A package is never deployed in part.
struct PackageDeployer {
    let deployment: PackageDeployment
    private let timeout: Duration
    private let wholeValueLimit: Int
    private let rules: ChangeRules
    private var model: PackageModel { deployment.model }

    /// - Parameters:
    ///   - timeout: the time to wait for a connection to a back end, and for its locks.
    ///   - wholeValueLimit: the maximum size of a large value that is taken as a whole, in bytes.
    ///   - rules: the rules by which changes are found.
    init(_ deployment: PackageDeployment, timeout: Duration, wholeValueLimit: Int, rules: ChangeRules = ChangeRules()) {
        (self.deployment, self.timeout, self.wholeValueLimit, self.rules) = (deployment, timeout, wholeValueLimit, rules)
    }

    func deploy() throws -> DeployedPackage {
        let package = try verified()
        for backEnd in package.writtenBackEnds { try backEnd.system.prepareRecords() }
        return package
    }

    /// Returns the package with its back ends open and checked. Writes nothing to them.
    func verified() throws -> DeployedPackage {
        var backEnds: [String: ServedBackEnd] = [:]
        for backEnd in model.backEnds { backEnds[backEnd.name] = try open(backEnd) }
        var plans: [ObjectPlan] = []
        for object in model.objects where !object.isLocal {
            guard let binding = object.binding, backEnds[binding.backEnd] != nil else {
                throw ServerError(.package, "package \"\(deployment.identifier)\": the object \"\(object.name)\" has no binding to a back end")
            }
            plans.append(ObjectPlan(object, binding: binding, in: model))
        }
        for plan in plans where plan.model.conflicts == .refuse && backEnds[plan.binding.backEnd]?.isIdempotent == true {
            throw ServerError(
                .package,
                "package \"\(deployment.identifier)\": the object \"\(plan.name)\" refuses conflicts, but its back end keeps no record of operations, so that a repeated one would be in conflict with itself"
            )
        }
        for backEnd in backEnds.values {
            try backEnd.system.check(plans.filter { $0.binding.backEnd == backEnd.name }.map(\.model), of: model)
        }
        return DeployedPackage(identifier: deployment.identifier, model: model, objects: plans, backEnds: backEnds)
    }

    private func open(_ backEnd: BackEndModel) throws -> ServedBackEnd {
        if let provided = deployment.providedBackEnds[backEnd.name] { return ServedBackEnd(name: backEnd.name, system: provided) }
        return try ServedBackEnd(
            name: backEnd.name, at: place(of: backEnd), isIdempotent: backEnd.isIdempotent, timeout: timeout, wholeValueLimit: wholeValueLimit,
            rules: rules)
    }

    /// Opens the database of a back end that speaks SQL.
    func engine(of backEnd: BackEndModel) throws -> any SQLEngine {
        try ServedBackEnd.engine(name: backEnd.name, at: place(of: backEnd), timeout: timeout)
    }

    private func place(of backEnd: BackEndModel) throws -> String {
        guard let place = deployment.backEnds[backEnd.name] ?? backEnd.path.map(resolved) else {
            throw ServerError(
                .missingBackEnd,
                "package \"\(deployment.identifier)\": nothing says where the back end \"\(backEnd.name)\" is; name its file at deployment")
        }
        return place
    }

    private func resolved(_ path: String) -> String {
        path.hasPrefix("/") || PostgreSQLPlace.isAddress(path) || deployment.directory.isEmpty ? path : deployment.directory + "/" + path
    }
}
