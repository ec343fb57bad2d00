extension PackageModel {
    /// The part of the model that some of its objects need: these objects, the objects that their relationships and queries lead to, and so
    /// on, with the structures, groups and back ends that they use. Objects stay in the order of the model.
    /// - Parameters:
    ///   - names: modelled names of objects.
    ///   - groups: names of synchronization groups whose objects are chosen as well.
    /// - Throws: ``ModelError`` if there is no object or group with one of these names.
    public func selecting(objects names: [String], groups: [String] = []) throws(ModelError) -> PackageModel {
        var needed = Set(names)
        var problems = unknown(names, among: objects.map(\.name), "object", "objects")
        let groupNames = Set(objects.filter { !$0.isLocal }.map(\.synchronizationGroup)).union(synchronizationGroups.map(\.name))
        problems += unknown(groups, among: groupNames.sorted(), "synchronization group", "synchronizationGroups")
        guard problems.isEmpty else { throw ModelError(problems) }
        for object in objects where !object.isLocal && groups.contains(object.synchronizationGroup) { needed.insert(object.name) }
        var open = Array(needed)
        while let object = open.popLast().flatMap(object(named:)) {
            for next in namesUsed(by: object) where needed.insert(next).inserted { open.append(next) }
        }
        var model = self
        model.objects = objects.filter { needed.contains($0.name) }
        model.synchronizationGroups = synchronizationGroups.filter { group in
            groups.contains(group.name) || model.objects.contains { !$0.isLocal && $0.synchronizationGroup == group.name }
        }
        model.backEnds = backEnds.filter { backEnd in model.objects.contains { $0.binding?.backEnd == backEnd.name } }
        model.structures = structures(usedBy: model.objects)
        return model
    }

    private func unknown(_ names: [String], among known: [String], _ thing: String, _ key: String) -> [ModelProblem] {
        names.filter { !known.contains($0) }.map {
            ModelProblem(
                .unresolved, ModelPath.root[key], "there is no \(thing) \"\($0)\"", suggestion: Suggestion.didYouMean($0, among: known))
        }
    }

    /// Objects that the relationships and queries of `object` name.
    private func namesUsed(by object: ObjectModel) -> [String] {
        let words = object.queries.flatMap { SQLTokens($0.sql).tokens.compactMap { $0.name?.lowercased() } }
        let queried = objects.filter { words.contains($0.name.lowercased()) }.map(\.name)
        return object.relationships.map(\.target) + queried
    }

    private func structures(usedBy objects: [ObjectModel]) -> [StructureModel] {
        var needed: Set<String> = []
        func add(_ type: AttributeType) {
            switch type {
            case .list(let element): add(element)
            case .structure(let name) where needed.insert(name).inserted:
                for attribute in structures.first(where: { $0.name == name })?.attributes ?? [] { add(attribute.type) }
            default: break
            }
        }
        for object in objects {
            for attribute in object.attributes { add(attribute.type) }
            for parameter in object.operations.flatMap(\.parameters) + object.synchronizationParameters { add(parameter.type) }
        }
        return structures.filter { needed.contains($0.name) }
    }
}
