import MobileModel

/// Converts the elements of a deployment unit to a model, one kind of element after the other.
struct UnitConverter {
    let root: XMLElementNode
    let synchronization: PackageModel.Synchronization
    private(set) var remarks: [DeploymentUnit.Remark] = []
    /// Lines of queries, operations and objects in the unit, by their places in the model.
    private var lines: [ModelPath: (line: Int, place: String)] = [:]

    /// The name of the back end that all objects are bound to.
    static let backEnd = "enterprise"
    /// Elements of a package, entity or operation that describe the original server's access to a back end and its cache.
    static let serverElements: Set<String> = ["ds-meta-data", "ds-operation", "server-code", "local-var", "bind", "cache", "policy"]

    init(_ root: XMLElementNode, synchronization: PackageModel.Synchronization) {
        (self.root, self.synchronization) = (root, synchronization)
    }

    mutating func remark(_ element: XMLElementNode, _ place: String, _ text: String) {
        remarks.append(DeploymentUnit.Remark(line: element.line, place: place, text: text))
    }

    mutating func converted() throws -> (PackageModel, [DeploymentUnit.Remark]) {
        var model = PackageModel(name: root["name"] ?? "", version: root["version"] ?? "1.0", synchronization: synchronization)
        let entities = root.all("entity")
        if !entities.isEmpty {
            model.backEnds = [BackEndModel(name: Self.backEnd)]
            remark(
                root, "package \(model.name)",
                "the back end is called \"\(Self.backEnd)\", and each entity's table has the entity's name, its columns those of the attributes; "
                    + "set their real names in the bindings")
        }
        if let interval = root["check-interval"], interval != "0" {
            remark(root, "package \(model.name)", "check-interval \(interval): give the synchronization groups an interval in minutes")
        }
        model.structures = root.all("class").map { structure($0) }
        for entity in entities {
            lines[ModelPath.root["objects"][model.objects.count]] = (entity.line, place(of: entity))
            model.objects.append(object(entity, at: model.objects.count))
        }
        var serverParts = false
        for element in root.children where !["class", "entity", "database", "database-class"].contains(element.name) {
            if Self.serverElements.contains(element.name) {
                if !serverParts { remark(element, "package \(model.name)", "its cache and back-end parts are not carried over; see the bindings") }
                serverParts = true
            } else {
                remark(element, "package \(model.name)", "<\(element.name)> is not known and not carried over")
            }
        }
        for decision in model.applyLengthRules() {
            let (line, place) = origin(of: decision.path)
            remarks.append(DeploymentUnit.Remark(line: line, place: place, text: decision.cause))
        }
        try removeInvalidParts(of: &model)
        return (model, remarks.sorted { $0.line < $1.line })
    }

    func place(of entity: XMLElementNode) -> String { "entity \(entity["name"] ?? "without a name")" }

    /// Remembers the origin of an object's query or operation, for messages of the validation.
    mutating func note(_ element: XMLElementNode, _ path: ModelPath, _ place: String) { lines[path] = (element.line, place) }

    /// Removes queries and load statements that use more than object SQL offers; the rest of the model is kept.
    private mutating func removeInvalidParts(of model: inout PackageModel) throws {
        while true {
            do {
                return try model.validate()
            } catch {
                guard let (problem, remove) = error.problems.lazy.compactMap({ Self.removal($0) }).first else { throw error }
                let (line, place) = origin(of: problem.path)
                remarks.append(DeploymentUnit.Remark(line: line, place: place, text: "not carried over: \(problem.message)"))
                remove(&model)
                if case .key("queries") = problem.path.steps[2] { moveLines(behind: problem.path) }
            }
        }
    }

    /// The element from which a place of the model was made, or the element around it.
    private func origin(of path: ModelPath) -> (line: Int, place: String) {
        for length in stride(from: path.steps.count, through: 1, by: -1) {
            if let origin = lines[ModelPath(steps: Array(path.steps.prefix(length)))] { return origin }
        }
        return (root.line, "package \(root["name"] ?? "")")
    }

    private static func removal(_ problem: ModelProblem) -> (ModelProblem, (inout PackageModel) -> Void)? {
        let steps = problem.path.steps
        guard steps.count > 3, case .key("objects") = steps[0], case .index(let object) = steps[1], case .key(let part) = steps[2] else {
            return nil
        }
        switch (part, steps[3]) {
        case ("queries", .index(let query)): return (problem, { $0.objects[object].queries.remove(at: query) })
        case ("binding", .key("load")), ("synchronizationParameters", _):
            return (
                problem,
                {
                    $0.objects[object].binding?.load = nil
                    $0.objects[object].synchronizationParameters = []
                }
            )
        default: return nil
        }
    }

    /// Moves the lines of the queries after a removed one up by one.
    private mutating func moveLines(behind path: ModelPath) {
        guard case .index(let removed) = path.steps[3] else { return }
        let queries = ModelPath(steps: Array(path.steps.prefix(3)))
        var index = removed
        while let next = lines[queries[index + 1]] {
            lines[queries[index]] = next
            index += 1
        }
        lines[queries[index]] = nil
    }
}
