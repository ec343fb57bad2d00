extension ModelValidator {
    mutating func check(_ object: ObjectModel, _ path: ModelPath) {
        checkObjectName(object, path["name"])
        checkFormerName(object, path["was"])
        if object.attributes.isEmpty { report(.missing, path, "the object \"\(object.name)\" has no attributes") }
        checkAttributes(object.attributes, path["attributes"], inStructure: false)
        checkPrimaryKey(object, path)
        checkMemberNames(object, path)
        for (index, relationship) in object.relationships.enumerated() {
            check(relationship, of: object, path["relationships"][index])
        }
        checkSynchronization(object, path)
        for (index, query) in object.queries.enumerated() { check(query, of: object, path["queries"][index]) }
        checkOperations(object, path["operations"])
        checkConflicts(object, path["conflicts"])
        checkBinding(object, path)
    }

    private mutating func checkObjectName(_ object: ObjectModel, _ path: ModelPath) {
        checkName(object.name, of: "an object", path)
        let lower = object.name.lowercased()
        let others = model.objects.map { $0.name.lowercased() }
        if let index = others.firstIndex(of: lower), path != ModelPath.root["objects"][index]["name"] {
            let first = model.objects[index].name
            let difference = first == object.name ? "" : "; upper and lower case do not distinguish names"
            report(.duplicate, path, "there is already an object \"\(first)\"\(difference)")
        }
        if lower.hasSuffix("_os"), others.contains(String(lower.dropLast(3))) {
            report(
                .name, path,
                "\"\(object.name)\" is the table of original states of \"\(object.name.dropLast(3))\"", suggestion: "choose another name")
        }
        if lower.hasPrefix("sqlite_") { report(.name, path, "\"\(object.name)\" begins with \"sqlite_\"; such tables belong to SQLite") }
    }

    private mutating func checkFormerName(_ object: ObjectModel, _ path: ModelPath) {
        guard let was = object.was else { return }
        if model.objects.contains(where: { $0.name.lowercased() == was.lowercased() }) {
            report(.conflict, path, "\"\(was)\" is still there", suggestion: "\"was\" holds the name before this one")
        } else if model.objects.filter({ $0.was == was }).count > 1 {
            report(.conflict, path, "two objects were \"\(was)\"")
        }
    }

    // MARK: Attributes

    mutating func checkAttributes(_ attributes: [AttributeModel], _ path: ModelPath, inStructure: Bool) {
        checkDuplicates(attributes.map(\.name), of: "an attribute") { path[$0]["name"] }
        for (index, attribute) in attributes.enumerated() {
            let place = path[index]
            checkMemberName(attribute.name, of: "an attribute", place["name"], hasColumn: !inStructure)
            if !inStructure, ReservedNames.queryAttributes.contains(attribute.name) {
                report(.name, place["name"], "every object has an attribute \"\(attribute.name)\" of its own", suggestion: "choose another name")
            }
            checkType(attribute.type, place["type"], largeAllowed: !inStructure, objectsAllowed: !inStructure)
            checkFormerName(attribute, among: attributes, place["was"])
            // The other members have no meaning without the type.
            guard isKnown(attribute.type) else { continue }
            if !inStructure { checkObjectValue(attribute.type, isNullable: attribute.isNullable, place["nullable"]) }
            checkLength(attribute, place)
            checkDigits(attribute, place)
            if inStructure, attribute.isGenerated {
                report(.conflict, place["generated"], "the back end assigns attributes of objects, not of structures")
            }
            if attribute.isGenerated, attribute.type.isComplex || attribute.isLarge {
                report(.conflict, place["generated"], "the back end cannot assign \(English.withArticle(attribute.type))")
            }
            checkSearchable(attribute, place["searchable"], inStructure: inStructure)
            if attribute.isLarge, attribute.defaultValue != nil {
                report(.conflict, place["default"], "a large attribute has no default value")
            } else {
                checkDefault(attribute, place["default"])
            }
            checkValueRule(attribute, place, inStructure: inStructure)
        }
    }

    private mutating func checkSearchable(_ attribute: AttributeModel, _ path: ModelPath, inStructure: Bool) {
        guard attribute.isSearchable else { return }
        if inStructure {
            report(.conflict, path, "attributes of objects are searchable, not those of structures")
        } else if attribute.isLarge {
            report(
                .conflict, path,
                "\"\(attribute.name)\" is \(English.withArticle(attribute.type)); its words are not in the row and cannot be searched",
                suggestion: attribute.type == .bigString ? "keep it in the row with \"large\": false" : nil)
        } else if attribute.type != .string {
            report(.conflict, path, "\(English.withArticle(attribute.type)) has no words to search; only strings are searchable")
        }
    }

    mutating func checkLength(_ attribute: AttributeModel, _ path: ModelPath) {
        guard let length = attribute.length else { return }
        switch attribute.type {
        case .string, .binary, .bigString, .bigBinary:
            if length < 1 { report(.length, path["length"], "length \(length): a length is at least 1") }
        default: report(.conflict, path["length"], "\(English.withArticle(attribute.type)) has no length")
        }
    }

    mutating func checkDigits(_ attribute: AttributeModel, _ path: ModelPath) {
        guard attribute.type == .decimal else {
            if attribute.precision != nil { report(.conflict, path["precision"], "\(English.withArticle(attribute.type)) has no precision") }
            if attribute.scale != nil { report(.conflict, path["scale"], "\(English.withArticle(attribute.type)) has no scale") }
            return
        }
        let precision = attribute.precision ?? AttributeModel.defaultPrecision
        let scale = attribute.scale ?? AttributeModel.defaultScale
        if !(1...AttributeModel.longestDecimal).contains(precision) {
            report(.value, path["precision"], "precision \(precision): a decimal has 1 to \(AttributeModel.longestDecimal) digits")
        } else if !(0...precision).contains(scale) {
            report(.value, path["scale"], "scale \(scale): use 0 to \(precision), the decimal's precision")
        }
    }

    private mutating func checkFormerName(_ attribute: AttributeModel, among attributes: [AttributeModel], _ path: ModelPath) {
        guard let was = attribute.was else { return }
        if attributes.contains(where: { $0.name.lowercased() == was.lowercased() }) {
            report(.conflict, path, "\"\(was)\" is still there", suggestion: "\"was\" holds the name before this one")
        } else if attributes.filter({ $0.was == was }).count > 1 {
            report(.conflict, path, "two attributes were \"\(was)\"")
        }
    }

    // MARK: Keys

    private mutating func checkPrimaryKey(_ object: ObjectModel, _ path: ModelPath) {
        if object.primaryKey.isEmpty, !object.isLocal, !object.attributes.isEmpty {
            report(
                .missing, path["primaryKey"], "the object \"\(object.name)\" has no primary key",
                suggestion: "name the attributes that identify a row")
        }
        checkDuplicates(object.primaryKey, of: "a part of the key,") { path["primaryKey"][$0] }
        for (index, name) in object.primaryKey.enumerated() {
            let place = path["primaryKey"][index]
            guard let attribute = resolve(name, in: object, place) else { continue }
            if attribute.isNullable {
                report(.conflict, place, "\"\(name)\" is nullable; a key is not")
            } else if attribute.isLarge {
                report(.conflict, place, "\"\(name)\" is \(English.withArticle(attribute.type)); a key has a simple type and fits into the row")
            } else if attribute.type.isComplex, isKnown(attribute.type) {
                report(.conflict, place, "\"\(name)\" is \(English.withArticle(attribute.type)); a key has a simple type")
            }
        }
    }

    /// Finds the attribute of `object` with this name; reports a problem if there is none.
    mutating func resolve(_ name: String, in object: ObjectModel, _ path: ModelPath) -> AttributeModel? {
        if let attribute = object.attribute(named: name) { return attribute }
        if !name.isEmpty {
            report(
                .unresolved, path, "the object \"\(object.name)\" has no attribute \"\(name)\"",
                suggestion: Suggestion.didYouMean(name, among: object.attributes.map(\.name)))
        }
        return nil
    }

    // MARK: Names of members

    /// Attributes, relationships, queries and operations become members of one class.
    private mutating func checkMemberNames(_ object: ObjectModel, _ path: ModelPath) {
        var owners: [String: String] = [:]
        func add(_ modelled: String, as name: String, _ thing: String, _ path: ModelPath, _ validator: inout ModelValidator) {
            guard !name.isEmpty else { return }
            if let other = owners[name.lowercased()] {
                validator.report(.conflict, path, "the \(thing) \"\(modelled)\" and the \(other) have the same Swift name \"\(name)\"")
            } else {
                owners[name.lowercased()] = "\(thing) \"\(modelled)\""
            }
        }
        var seen: Set<String> = []
        for (index, attribute) in object.attributes.enumerated() where seen.insert(attribute.name.lowercased()).inserted {
            add(attribute.name, as: SwiftNames.property(attribute.name), "attribute", path["attributes"][index]["name"], &self)
        }
        for (index, relationship) in object.relationships.enumerated() {
            checkMemberName(relationship.name, of: "a relationship", path["relationships"][index]["name"])
            add(relationship.name, as: SwiftNames.property(relationship.name), "relationship", path["relationships"][index]["name"], &self)
        }
        for (index, query) in object.queries.enumerated() {
            let place = path["queries"][index]["name"]
            checkMemberName(query.name, of: "a query", place)
            if ReservedNames.members.contains(query.name) {
                report(.name, place, "\"\(query.name)\" is generated for every object", suggestion: "remove the query, or choose another name")
            } else {
                add(query.name, as: SwiftNames.member(query.name), "query", place, &self)
            }
        }
        for (index, operation) in object.operations.enumerated() {
            let place = path["operations"][index]["name"]
            checkMemberName(operation.name, of: "an operation", place)
            if operation.name == operation.kind.rawValue {
                if object.operations[..<index].contains(where: { $0.name == operation.name }) {
                    report(.duplicate, place, "there is already an operation \"\(operation.name)\"")
                }
            } else if ReservedNames.members.contains(operation.name) {
                report(.name, place, "\"\(operation.name)\" is a method of every object", suggestion: "choose another name")
            } else {
                add(operation.name, as: SwiftNames.member(operation.name), "operation", place, &self)
            }
        }
    }

    // MARK: Synchronization

    private mutating func checkSynchronization(_ object: ObjectModel, _ path: ModelPath) {
        let group = object.synchronizationGroup
        let groups = model.synchronizationGroups.map(\.name) + [SynchronizationGroupModel.defaultName]
        if !groups.contains(group) {
            report(
                .unresolved, path["synchronizationGroup"], "there is no synchronization group \"\(group)\"",
                suggestion: Suggestion.didYouMean(group, among: groups))
        }
        let parameters = path["synchronizationParameters"]
        checkParameters(object.synchronizationParameters, parameters, complexAllowed: false)
        for (index, parameter) in object.synchronizationParameters.enumerated() {
            let property = SwiftNames.parameter(parameter.name)
            if property != parameter.name, object.synchronizationParameters.contains(where: { $0.name.lowercased() == property.lowercased() }) {
                report(
                    .conflict, parameters[index]["name"], "\"\(parameter.name)\" becomes the property \"\(property)\", which another parameter has",
                    suggestion: "choose another name")
            }
            checkPersonalization(of: parameter, parameters[index])
            checkUserAttribute(of: parameter, object, parameters[index])
        }
        if object.synchronizationParameters.contains(where: { $0.userAttribute != nil }) {
            for (index, operation) in object.operations.enumerated() where operation.kind == .other {
                report(
                    .conflict, path["operations"][index]["kind"],
                    "\"\(operation.name)\" names no row, so that nothing shows whether it is for one of the user's",
                    suggestion: "put it into an object without parameters that have a userAttribute")
            }
        }
    }

    /// A parameter that the server binds to the user takes no value from elsewhere. The rows of an operation are tested against its values: by the
    /// load, which needs the values of all parameters, or by an attribute where the client chooses some of them.
    private mutating func checkUserAttribute(of parameter: ParameterModel, _ object: ObjectModel, _ path: ModelPath) {
        guard let name = parameter.userAttribute else {
            if parameter.attribute != nil {
                report(
                    .conflict, path["attribute"],
                    "\"\(parameter.name)\" has an attribute of the row, which only a parameter with a userAttribute may have")
            }
            return
        }
        if name.isEmpty { report(.name, path["userAttribute"], "an attribute of the user has an empty name") }
        for (key, isThere) in [("default", parameter.defaultValue != nil), ("personalizationKey", parameter.personalizationKey != nil)]
        where isThere {
            report(.conflict, path[key], "the user's attribute \"\(name)\" gives \"\(parameter.name)\" its values; it needs no \(key)")
        }
        guard let attributeName = parameter.attribute else {
            if let chosen = object.chosenParameters.first {
                report(
                    .missing, path, "the client chooses \"\(chosen.name)\", so that the load does not show whether a row is one of the user's",
                    suggestion: "write the \"attribute\" that has the value of \"\(parameter.name)\" in each row")
            }
            return
        }
        guard let attribute = object.attribute(named: attributeName) else {
            report(
                .unresolved, path["attribute"], "\"\(object.name)\" has no attribute \"\(attributeName)\"",
                suggestion: Suggestion.didYouMean(attributeName, among: object.attributes.map(\.name)))
            return
        }
        if attribute.type != parameter.type {
            report(
                .conflict, path["attribute"],
                "the attribute \"\(attributeName)\" is \(English.withArticle(attribute.type)), the parameter \"\(parameter.name)\" \(English.withArticle(parameter.type))"
            )
        }
    }

    private mutating func checkPersonalization(of parameter: ParameterModel, _ path: ModelPath) {
        guard let name = parameter.personalizationKey else { return }
        let type: AttributeType
        if ReservedNames.personalizationKeys.contains(name) {
            type = .string
        } else if let key = model.personalizationKeys.first(where: { $0.name == name }) {
            type = key.type
        } else {
            report(
                .unresolved, path["personalizationKey"], "there is no personalization key \"\(name)\"",
                suggestion: Suggestion.didYouMean(name, among: model.personalizationKeys.map(\.name)))
            return
        }
        if type != parameter.type {
            report(
                .conflict, path["personalizationKey"],
                "the key \"\(name)\" is \(English.withArticle(type)), the parameter \"\(parameter.name)\" \(English.withArticle(parameter.type))")
        }
    }
}
