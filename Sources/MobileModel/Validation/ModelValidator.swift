/// Checks the meaning of a model: names, references, types and SQL. The parts are in extensions, one per concept.
struct ModelValidator {
    let model: PackageModel
    /// Whether the model only describes the databases of an earlier release, so that names of members may be Swift keywords.
    var isEarlier = false
    var problems: [ModelProblem] = []

    /// All problems of `model`, in no particular order.
    static func problems(in model: PackageModel, isEarlier: Bool = false) -> [ModelProblem] {
        var validator = ModelValidator(model: model, isEarlier: isEarlier)
        validator.checkPackage()
        validator.checkStructures()
        validator.checkPersonalizationKeys()
        validator.checkSynchronizationGroups()
        validator.checkBackEnds()
        validator.checkTypeNames()
        for (index, object) in model.objects.enumerated() {
            validator.check(object, ModelPath.root["objects"][index])
        }
        validator.checkCompositeCycles()
        return validator.problems
    }

    /// Inlined, its 160 calls are a twentieth of this module's code.
    @inline(never)
    mutating func report(_ code: ModelProblem.Code, _ path: ModelPath, _ cause: String, suggestion: String? = nil) {
        problems.append(ModelProblem(code, path, cause, suggestion: suggestion))
    }

    // MARK: Parts that several concepts share

    /// Reports every name that occurred before, in any case: SQLite does not distinguish tables or columns `Name` and `name`.
    mutating func checkDuplicates(_ names: [String], of thing: String, _ path: (Int) -> ModelPath) {
        var seen: [String: String] = [:]
        for (index, name) in names.enumerated() where !name.isEmpty {
            if let first = seen[name.lowercased()] {
                let difference = first == name ? "" : "; upper and lower case do not distinguish names"
                report(.duplicate, path(index), "there is already \(thing) \"\(first)\"\(difference)")
            } else {
                seen[name.lowercased()] = name
            }
        }
    }

    /// Checks a name that becomes a Swift identifier: the framework must not use it itself.
    mutating func checkName(_ name: String, of thing: String, _ path: ModelPath) {
        let converted = SwiftNames.converted(name)
        if name.isEmpty {
            report(.name, path, "\(thing) has an empty name")
        } else if name.hasPrefix("_") {
            report(.name, path, "\"\(name)\" begins with an underscore; such names belong to the framework")
        } else if name.unicodeScalars.first?.properties.isWhitespace == true || name.unicodeScalars.last?.properties.isWhitespace == true {
            report(.name, path, "\"\(name)\" begins or ends with white space")
        } else if converted.unicodeScalars.first.map({ ("0"..."9").contains($0) }) == true {
            report(.name, path, "\"\(name)\" begins with a digit")
        } else if !SwiftNames.isIdentifier(converted) {
            report(
                .name, path, "\"\(name)\" cannot become a Swift name",
                suggestion: "use the letters A to Z, digits, underscores, points and spaces; the back end's own name goes into the binding")
        } else if name.utf8.count > Self.longestName {
            report(.name, path, "\"\(name.prefix(40))...\" is longer than \(Self.longestName) characters")
        }
    }

    static let longestName = 100

    /// Checks the name of a member of a generated class or structure, or of an argument (GEN-14).
    mutating func checkMemberName(_ name: String, of thing: String, _ path: ModelPath, hasColumn: Bool = false) {
        checkName(name, of: thing, path)
        let converted = SwiftNames.converted(name)
        guard !isEarlier, ReservedNames.keywords.contains(converted) else { return }
        report(
            .name, path, "\"\(name)\" is a word of the language Swift",
            suggestion: "choose another name, such as \"\(converted)Value\"" + (hasColumn ? "; the column's name stays in the binding" : ""))
    }

    /// Checks a single object as a value: a new object has no such value at first, so the value must be nullable.
    mutating func checkObjectValue(_ type: AttributeType, isNullable: Bool, _ path: ModelPath) {
        guard !isNullable, case .structure(let name) = type, model.object(named: name) != nil else { return }
        report(.conflict, path, "a value that is an object, here \(English.withArticle(name)), may be missing", suggestion: "make it nullable")
    }

    /// An object used as a value consists of its attributes in the row. Values outside of the row would be lost silently.
    private mutating func checkWholeness(of object: ObjectModel, _ path: ModelPath) {
        let large = object.attributes.filter(\.isLarge).map { "the large attribute \"\($0.name)\"" }
        let parts = large + object.relationships.map { "the relationship \"\($0.name)\"" }
        guard !parts.isEmpty else { return }
        report(
            .conflict, path, "a value that is \(English.withArticle(object.name)) would lose \(parts.joined(separator: " and "))",
            suggestion: "use a structure, or an object without them")
    }

    /// Checks that a type's parts exist. `largeAllowed` and `objectsAllowed` permit large values and objects at this place.
    mutating func checkType(_ type: AttributeType, _ path: ModelPath, largeAllowed: Bool, objectsAllowed: Bool = false) {
        switch type {
        case .structure(let name):
            guard !name.isEmpty, !model.structures.contains(where: { $0.name == name }) else { return }
            if objectsAllowed, let object = model.object(named: name) { return checkWholeness(of: object, path) }
            let names = AttributeType.simple.keys.sorted() + model.structures.map(\.name) + (objectsAllowed ? model.objects.map(\.name) : [])
            report(
                .unresolved, path, "there is no type or structure \"\(name)\"",
                suggestion: Suggestion.didYouMean(name, among: names) ?? Self.hint(forForeignType: name))
        case .list(let element), .nullableList(let element):
            switch element {
            case .list, .nullableList: report(.value, path, "a list of lists is not supported", suggestion: "use a structure that has a list")
            case .bigString, .bigBinary: report(.value, path, "a list cannot hold \(English.withArticle(element))")
            default: checkType(element, path, largeAllowed: false, objectsAllowed: objectsAllowed)
            }
        case .bigString, .bigBinary:
            if !largeAllowed { report(.value, path, "\(English.withArticle(type)) is not allowed here; only attributes of objects are large") }
        default: break
        }
    }

    /// Whether a type's parts exist. A type that does not is reported by ``checkType(_:_:largeAllowed:objectsAllowed:)``.
    func isKnown(_ type: AttributeType) -> Bool {
        switch type {
        case .structure(let name): model.structures.contains { $0.name == name } || model.object(named: name) != nil
        case .list(let element), .nullableList(let element): isKnown(element)
        default: true
        }
    }

    /// Type names of SQL and Swift, with the model's types for them.
    private static func hint(forForeignType name: String) -> String? {
        let types = [
            "text": "string", "varchar": "string", "blob": "binary", "data": "binary", "bool": "boolean", "number": "decimal",
            "numeric": "decimal", "money": "decimal", "real": "double", "int64": "long", "int32": "int", "int16": "short", "int8": "byte",
            "bigint": "long", "timestamp": "dateTime", "datetime": "dateTime", "clob": "bigString",
        ]
        return types[name.lowercased()].map { "use \"\($0)\"" }
    }

    /// Checks parameters of a query, an operation or a synchronization: names, types, defaults.
    mutating func checkParameters(_ parameters: [ParameterModel], _ path: ModelPath, complexAllowed: Bool) {
        checkDuplicates(parameters.map(\.name), of: "a parameter") { path[$0]["name"] }
        for (index, parameter) in parameters.enumerated() {
            let place = path[index]
            checkMemberName(parameter.name, of: "a parameter", place["name"])
            if !parameter.name.isEmpty, parameter.name != SwiftNames.converted(parameter.name) {
                report(.name, place["name"], "\"\(parameter.name)\" cannot be written as \":name\" in SQL", suggestion: "leave out spaces and points")
            }
            checkType(parameter.type, place["type"], largeAllowed: false, objectsAllowed: complexAllowed)
            guard isKnown(parameter.type) else { continue }
            if !complexAllowed, parameter.type.isComplex {
                report(.value, place["type"], "\(English.withArticle(parameter.type)) cannot be compared in SQL", suggestion: "use a simple type")
            }
            let attribute = AttributeModel(ofParameter: parameter)
            checkLength(attribute, place)
            checkDigits(attribute, place)
            if complexAllowed {
                checkDefault(attribute, place["default"])
            } else {
                checkDefault(parameter.defaultValue, type: parameter.type, isNullable: parameter.isNullable, place["default"])
            }
        }
    }
}
