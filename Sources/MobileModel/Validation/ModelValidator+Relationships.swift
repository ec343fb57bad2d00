extension ModelValidator {
    mutating func check(_ relationship: RelationshipModel, of object: ObjectModel, _ path: ModelPath) {
        guard !relationship.target.isEmpty else { return }
        guard let target = model.object(named: relationship.target) else {
            report(
                .unresolved, path["target"], "there is no object \"\(relationship.target)\"",
                suggestion: Suggestion.didYouMean(relationship.target, among: model.objects.map(\.name)))
            return
        }
        if object.isLocal != target.isLocal {
            let (local, other) = object.isLocal ? (object, target) : (target, object)
            report(
                .conflict, path["target"],
                "\"\(local.name)\" is local and \"\(other.name)\" is not; a relationship does not cross this border")
        }
        checkInverse(of: relationship, object, target, path)
        checkComposite(relationship, path)
        checkMapping(of: relationship, object, target, path)
    }

    // MARK: Inverse

    private mutating func checkInverse(of relationship: RelationshipModel, _ object: ObjectModel, _ target: ObjectModel, _ path: ModelPath) {
        guard let name = relationship.inverse else { return }
        guard let inverse = target.relationship(named: name) else {
            report(
                .unresolved, path["inverse"], "the object \"\(target.name)\" has no relationship \"\(name)\"",
                suggestion: Suggestion.didYouMean(name, among: target.relationships.map(\.name)))
            return
        }
        if object.name == target.name, name == relationship.name {
            report(.conflict, path["inverse"], "\"\(name)\" is its own inverse", suggestion: "the other direction is a relationship of its own")
        } else if inverse.target != object.name {
            // An end that leads to no object is reported at that end.
            guard model.object(named: inverse.target) != nil else { return }
            report(.conflict, path["inverse"], "\"\(target.name).\(name)\" leads to \"\(inverse.target)\", not to \"\(object.name)\"")
        } else if inverse.inverse != relationship.name {
            guard inverse.inverse.map({ object.relationship(named: $0) != nil }) ?? true else { return }
            let said = inverse.inverse.map { "names \"\($0)\" as its inverse" } ?? "names no inverse"
            report(
                .conflict, path["inverse"], "\"\(target.name).\(name)\" \(said)",
                suggestion: "write \"inverse\": \"\(relationship.name)\" there")
        } else if isFirst(relationship, of: object, before: inverse, of: target) {
            checkEndsAgree(relationship, inverse, object, target, path)
        }
    }

    /// Whether the relationship is before its inverse in the model: an error of both ends is reported once.
    private func isFirst(
        _ relationship: RelationshipModel, of object: ObjectModel, before inverse: RelationshipModel, of target: ObjectModel
    ) -> Bool {
        func place(_ relationship: RelationshipModel, _ object: ObjectModel) -> (Int, Int) {
            (
                model.objects.firstIndex { $0.name == object.name } ?? 0,
                object.relationships.firstIndex { $0.name == relationship.name } ?? 0
            )
        }
        return place(relationship, object) < place(inverse, target)
    }

    private mutating func checkEndsAgree(
        _ relationship: RelationshipModel, _ inverse: RelationshipModel, _ object: ObjectModel, _ target: ObjectModel, _ path: ModelPath
    ) {
        let expected = relationship.cardinality.reversed
        if inverse.cardinality != expected {
            report(
                .conflict, path["cardinality"],
                "the inverse of a \(relationship.cardinality) relationship is \(expected); \"\(target.name).\(inverse.name)\" is \(inverse.cardinality)"
            )
        } else if relationship.isComposite, inverse.isComposite, expected == .oneToOne {
            report(
                .conflict, path["composite"], "\"\(object.name)\" and \"\(target.name)\" own each other",
                suggestion: "only the parent's side is composite")
        } else {
            checkMappingsAgree(relationship, inverse, target, path)
        }
    }

    private mutating func checkMappingsAgree(
        _ relationship: RelationshipModel, _ inverse: RelationshipModel, _ target: ObjectModel, _ path: ModelPath
    ) {
        guard !relationship.mapping.isEmpty, !inverse.mapping.isEmpty else { return }
        if Set(relationship.mapping) != Set(inverse.mapping.map { .init(source: $0.target, target: $0.source) }) {
            report(
                .conflict, path["mapping"], "the mapping and that of \"\(target.name).\(inverse.name)\" differ",
                suggestion: "write it at one end only")
        }
    }

    // MARK: Composite

    private mutating func checkComposite(_ relationship: RelationshipModel, _ path: ModelPath) {
        guard relationship.isComposite else { return }
        if relationship.cardinality == .manyToOne {
            report(.conflict, path["composite"], "a child does not own its parent", suggestion: "write \"composite\" at the parent's side")
        } else if relationship.inverse == nil {
            report(
                .conflict, path["composite"], "a composite relationship needs an inverse: the child's reference to its parent",
                suggestion: "add one to \"\(relationship.target)\" and name it under \"inverse\"")
        }
    }

    /// Saving a tree of objects ends only if no object is its own descendant.
    mutating func checkCompositeCycles() {
        var children: [String: [String]] = [:]
        for object in model.objects {
            children[object.name] = object.relationships.filter { $0.isComposite && $0.cardinality != .manyToOne }.map(\.target)
        }
        var reported: Set<String> = []
        for (objectIndex, object) in model.objects.enumerated() where !reported.contains(object.name) {
            guard let cycle = Self.cycle(from: object.name, in: children) else { continue }
            reported.formUnion(cycle)
            let first = object.relationships.firstIndex { $0.isComposite && $0.target == cycle[1] } ?? 0
            report(
                .conflict, ModelPath.root["objects"][objectIndex]["relationships"][first]["composite"],
                "\"\(object.name)\" would be a part of itself: \(cycle.joined(separator: " > "))")
        }
    }

    // MARK: Mapping

    private mutating func checkMapping(of relationship: RelationshipModel, _ object: ObjectModel, _ target: ObjectModel, _ path: ModelPath) {
        let place = path["mapping"]
        guard !relationship.mapping.isEmpty else {
            // `checkInverse` reports a missing inverse.
            let inverse = model.inverse(of: relationship)
            if inverse?.mapping.isEmpty ?? (relationship.inverse == nil) {
                report(
                    .missing, place, "the relationship \"\(relationship.name)\" has no mapping",
                    suggestion: "write which attributes are equal: {\"attribute here\": \"attribute of \(target.name)\"}")
            }
            return
        }
        checkDuplicates(relationship.mapping.map(\.source), of: "a mapping of") { place[relationship.mapping[$0].source] }
        checkDuplicates(relationship.mapping.map(\.target), of: "a mapping to") { place[relationship.mapping[$0].source] }
        var resolved = true
        for mapping in relationship.mapping {
            let place = place[mapping.source]
            let source = resolve(mapping.source, in: object, place)
            let end = resolve(mapping.target, in: target, place)
            guard let source, let end else {
                resolved = false
                continue
            }
            if source.isLarge || end.isLarge || source.type.isComplex || end.type.isComplex {
                report(
                    .conflict, place, "\(English.withArticle(source.isLarge || source.type.isComplex ? source.type : end.type)) cannot be compared")
            } else if !source.type.isComparable(to: end.type) {
                report(
                    .conflict, place,
                    "\"\(source.name)\" is \(English.withArticle(source.type)), \"\(target.name).\(end.name)\" \(English.withArticle(end.type))",
                    suggestion: "use one type for both")
            }
            if source.isGenerated && end.hasValueRule || end.isGenerated && source.hasValueRule {
                let (key, reference) = source.isGenerated ? (source, end) : (end, source)
                report(
                    .conflict, place,
                    "\"\(reference.name)\" refers to \"\(key.name)\", which the back end assigns later, and allows some values only",
                    suggestion: "remove the rule")
            }
        }
        if resolved { checkMappingCoversKey(of: relationship, object, target, place) }
    }

    /// A reference finds its parent by the parent's whole primary key. In a one-to-one relationship either end may be the parent.
    private mutating func checkMappingCoversKey(
        of relationship: RelationshipModel, _ object: ObjectModel, _ target: ObjectModel, _ path: ModelPath
    ) {
        let here = (parent: object, mapped: relationship.mapping.map(\.source))
        let there = (parent: target, mapped: relationship.mapping.map(\.target))
        let ends =
            switch relationship.cardinality {
            case .manyToOne: [there]
            case .oneToMany: [here]
            case .oneToOne where relationship.isComposite: [here]
            case .oneToOne: relationship.inverse == nil ? [there] : [there, here]
            }
        guard !ends.contains(where: { $0.parent.primaryKey.isEmpty || Set($0.mapped) == Set($0.parent.primaryKey) }) else { return }
        let keys = ends.map { "\($0.parent.primaryKey.joined(separator: ", ")) of \"\($0.parent.name)\"" }
        report(.conflict, path, "the mapping does not lead to a primary key: \(keys.joined(separator: " or "))")
    }
}

extension RelationshipModel.Cardinality {
    /// The cardinality seen from the other end.
    public var reversed: Self {
        switch self {
        case .oneToOne: .oneToOne
        case .oneToMany: .manyToOne
        case .manyToOne: .oneToMany
        }
    }
}

extension AttributeType {
    /// Whether values of both types can be equal: the same type, whole numbers of any width, or strings and characters.
    func isComparable(to other: AttributeType) -> Bool {
        if self == other || (integerRange != nil && other.integerRange != nil) { return true }
        let texts: Set<AttributeType> = [.string, .char]
        return texts.contains(self) && texts.contains(other)
    }
}
