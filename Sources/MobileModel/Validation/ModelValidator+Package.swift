extension ModelValidator {
    mutating func checkPackage() {
        let root = ModelPath.root
        if !model.name.isEmpty || !problems.contains(where: { $0.path == root["name"] }) {
            checkName(model.name, of: "a package", root["name"])
        }
        if model.version.isEmpty || !model.version.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || ".-_".contains($0)) }) {
            report(.value, root["version"], "\"\(model.version)\" is not valid", suggestion: "use letters, digits, points and dashes, such as 1.0")
        }
        if !model.namePrefix.isEmpty, !SwiftNames.isIdentifier(model.namePrefix) {
            report(.name, root["namePrefix"], "\"\(model.namePrefix)\" cannot begin a Swift name")
        }
        if !(1024...65_536).contains(model.pageSize) || model.pageSize.nonzeroBitCount != 1 {
            report(.value, root["pageSize"], "page size \(model.pageSize): use a power of two from 1024 to 65536")
        }
        for (index, role) in model.roles.enumerated() where role.isEmpty { report(.name, root["roles"][index], "a role has an empty name") }
        checkDuplicates(model.roles, of: "a role") { root["roles"][$0] }
    }

    mutating func checkStructures() {
        let path = ModelPath.root["structures"]
        checkDuplicates(model.structures.map(\.name), of: "a structure") { path[$0]["name"] }
        for (index, structure) in model.structures.enumerated() {
            checkName(structure.name, of: "a structure", path[index]["name"])
            if AttributeType.simple[structure.name] != nil {
                report(.name, path[index]["name"], "\"\(structure.name)\" is the name of a simple type")
            }
            if structure.attributes.isEmpty { report(.missing, path[index], "the structure \"\(structure.name)\" has no attributes") }
            checkAttributes(structure.attributes, path[index]["attributes"], inStructure: true)
        }
        checkStructureCycles()
    }

    /// A structure that contains itself has no finite size; through a list it may contain itself.
    private mutating func checkStructureCycles() {
        var parts: [String: [String]] = [:]
        for structure in model.structures {
            parts[structure.name] = structure.attributes.compactMap { if case .structure(let name) = $0.type { name } else { nil } }
        }
        for (index, structure) in model.structures.enumerated() {
            if let cycle = Self.cycle(from: structure.name, in: parts) {
                report(
                    .conflict, ModelPath.root["structures"][index], "the structure contains itself: \(cycle.joined(separator: " > "))",
                    suggestion: "use a list of it")
            }
        }
    }

    /// The way from `start` back to it; nil if there is none.
    static func cycle(from start: String, in edges: [String: [String]]) -> [String]? {
        var visited: Set<String> = []
        func way(from node: String) -> [String]? {
            for next in edges[node] ?? [] {
                if next == start { return [node, next] }
                if visited.insert(next).inserted, let rest = way(from: next) { return [node] + rest }
            }
            return nil
        }
        return way(from: start)
    }

    mutating func checkPersonalizationKeys() {
        let path = ModelPath.root["personalizationKeys"]
        checkDuplicates(model.personalizationKeys.map(\.name), of: "a personalization key") { path[$0]["name"] }
        for (index, key) in model.personalizationKeys.enumerated() {
            let place = path[index]
            checkMemberName(key.name, of: "a personalization key", place["name"])
            if ReservedNames.personalizationKeys.contains(key.name) {
                report(.name, place["name"], "every package has the session key \"\(key.name)\"", suggestion: "remove it; it can be used without")
            }
            if ["save", "saved"].contains(SwiftNames.converted(key.name)) {
                report(.name, place["name"], "\"\(key.name)\" is a method of the generated class")
            }
            checkType(key.type, place["type"], largeAllowed: false)
            guard isKnown(key.type) else { continue }
            checkDefault(key.defaultValue, type: key.type, isNullable: key.isNullable, place["default"])
        }
    }

    mutating func checkSynchronizationGroups() {
        let path = ModelPath.root["synchronizationGroups"]
        checkDuplicates(model.synchronizationGroups.map(\.name), of: "a synchronization group") { path[$0]["name"] }
        for (index, group) in model.synchronizationGroups.enumerated() {
            if group.name.isEmpty || group.name.contains(",") || group.name.contains(where: \.isWhitespace) {
                report(.name, path[index]["name"], "\"\(group.name)\" is not a name of a group", suggestion: "leave out commas and white space")
            }
            if ["system", "unsubscribe", "initialSync"].contains(group.name) {
                report(.name, path[index]["name"], "the group \"\(group.name)\" belongs to the framework")
            }
            if group.interval < 0 {
                report(.value, path[index]["interval"], "\(group.interval) minutes: use 0 for none, or a positive number")
            }
        }
    }

    mutating func checkBackEnds() {
        let path = ModelPath.root["backEnds"]
        checkDuplicates(model.backEnds.map(\.name), of: "a back end") { path[$0]["name"] }
        for (index, backEnd) in model.backEnds.enumerated() {
            if backEnd.name.isEmpty { report(.name, path[index]["name"], "a back end has an empty name") }
            if backEnd.path?.isEmpty == true {
                report(.value, path[index]["path"], "the path is empty", suggestion: "omit it if the deployment sets it")
            }
        }
    }

    /// Generated classes must have different names and must not hide a type that generated code uses.
    mutating func checkTypeNames() {
        let root = ModelPath.root
        var owners: [String: String] = [:]
        func add(_ name: String, _ owner: String, _ path: ModelPath, isNested: Bool = false, _ validator: inout ModelValidator) {
            if let other = owners[name.lowercased()] {
                validator.report(.conflict, path, "the generated class \"\(name)\" of \(owner) already exists: \(other)")
            } else if ReservedNames.types.contains(name) || ReservedNames.keywords.contains(name)
                || isNested && ReservedNames.nestedTypes.contains(name)
            {
                validator.report(
                    .name, path, "a class \"\(name)\" would hide the type of that name",
                    suggestion: "choose another name, or a namePrefix; the table's name stays in the binding")
            } else {
                owners[name.lowercased()] = owner
            }
        }
        let prefix = model.namePrefix
        if !model.name.isEmpty { add(SwiftNames.type(model.name, prefix: prefix), "the package", root["name"], &self) }
        if !model.personalizationKeys.isEmpty, !model.name.isEmpty {
            let name = SwiftNames.type(model.name, prefix: prefix) + "PersonalizationParameters"
            add(name, "the personalization keys", root["personalizationKeys"], &self)
        }
        for (index, object) in model.objects.enumerated() where !object.name.isEmpty {
            let name = SwiftNames.type(object.name, prefix: prefix)
            let path = root["objects"][index]
            guard !model.objects[..<index].contains(where: { $0.name.lowercased() == object.name.lowercased() }) else { continue }
            add(name, "the object \"\(object.name)\"", path["name"], isNested: true, &self)
            if !object.chosenParameters.isEmpty {
                add(name + "Subscription", "the synchronization parameters of \"\(object.name)\"", path["synchronizationParameters"], &self)
            }
            for (operationIndex, operation) in object.operations.enumerated() where operation.kind == .other {
                add(
                    name + SwiftNames.capitalized(SwiftNames.converted(operation.name)) + "Operation",
                    "the operation \"\(operation.name)\" of \"\(object.name)\"", path["operations"][operationIndex]["name"], &self)
            }
        }
        for (index, structure) in model.structures.enumerated() where !structure.name.isEmpty {
            guard !model.structures[..<index].contains(where: { $0.name.lowercased() == structure.name.lowercased() }) else { continue }
            add(SwiftNames.type(structure.name, prefix: prefix), "the structure \"\(structure.name)\"", root["structures"][index]["name"], &self)
        }
    }
}
