/// A part that a world may have, for the draw and for the table of pairs. Steps are features too: their names are those of ``Step/Kind``.
package enum Feature: String, CaseIterable, Codable, Sendable {
    case generatedKey, longKey, stringKey, decimalKey, dateTimeKey, compositeKey
    case allRows, ownRegion, boundRegion, parentsRegion
    case nullableReference, requiredReference, selfReference, forwardReference, composite, list, cascade, setNull, oneToOne, linkObject
    case aside, far, refusesConflicts, computes, refuses, moves, archives, keeps
    case strings, characters, bytes, shorts, ints, longs, integers, booleans, decimals, wideDecimals, longDecimals, floats, doubles, dates, times,
        dateTimes, binaries, largeValues, nullableValue, unfitValue,
        searchable
    case addedAttribute, removedAttribute, renamedAttribute, retypedAttribute
}

extension World {
    /// The features of an object.
    package func features(_ object: Int) -> Set<Feature> { Self.features(of: objects[object], at: object) }

    static func features(of model: WorldObject, at object: Int) -> Set<Feature> {
        var features: Set<Feature> = [model.key.feature, model.partition.feature]
        for reference in model.references {
            features.insert(reference.isNullable ? .nullableReference : .requiredReference)
            if reference.target == object { features.insert(.selfReference) }
            if reference.target > object { features.insert(.forwardReference) }
            if reference.isComposite { features.insert(.composite) }
            if reference.hasInverse { features.insert(.list) }
            if reference.onDelete == .cascade { features.insert(.cascade) }
            if reference.onDelete == .setNull { features.insert(.setNull) }
            if reference.isSingle { features.insert(.oneToOne) }
        }
        if model.references.count(where: { !$0.isNullable }) > 1 { features.insert(.linkObject) }
        if let group = model.group.feature { features.insert(group) }
        if model.refusesConflicts { features.insert(.refusesConflicts) }
        for trigger in model.triggers {
            features.insert([.compute: .computes, .refuse: .refuses, .move: .moves, .archive: .archives, .keep: .keeps][trigger] ?? .computes)
        }
        for attribute in model.attributes {
            features.insert(attribute.type.feature)
            if attribute.isNullable { features.insert(.nullableValue) }
            if attribute.getsUnfitValues { features.insert(.unfitValue) }
            if attribute.isSearchable { features.insert(.searchable) }
            if let fate = attribute.inVersionTwo.feature {
                features.insert(fate)
            }
        }
        return features
    }

    /// The features of all objects.
    package var features: Set<Feature> { Self.features(of: objects) }

    static func features(of objects: [WorldObject]) -> Set<Feature> {
        objects.enumerated().reduce(into: []) { $0.formUnion(features(of: $1.element, at: $1.offset)) }
    }
}

extension WorldObject.Key {
    var feature: Feature {
        switch self {
        case .generated: .generatedKey
        case .long: .longKey
        case .string: .stringKey
        case .decimal: .decimalKey
        case .dateTime: .dateTimeKey
        case .composite: .compositeKey
        }
    }
}

extension WorldObject.Partition {
    var feature: Feature {
        switch self {
        case .all: .allRows
        case .region: .ownRegion
        case .bound: .boundRegion
        case .parent: .parentsRegion
        }
    }
}

extension WorldObject.Group {
    var feature: Feature? {
        switch self {
        case .standard: nil
        case .side: .aside
        case .far: .far
        }
    }
}

extension ValueType {
    var feature: Feature {
        switch self {
        case .string: .strings
        case .char: .characters
        case .byte: .bytes
        case .short: .shorts
        case .int: .ints
        case .long: .longs
        case .integer: .integers
        case .boolean: .booleans
        case .decimal: .decimals
        case .wideDecimal: .wideDecimals
        case .longDecimal: .longDecimals
        case .float: .floats
        case .double: .doubles
        case .date: .dates
        case .time: .times
        case .dateTime: .dateTimes
        case .binary: .binaries
        case .largeBinary: .largeValues
        }
    }
}

extension WorldAttribute.Fate {
    var feature: Feature? {
        switch self {
        case .same: nil
        case .added: .addedAttribute
        case .removed: .removedAttribute
        case .renamed: .renamedAttribute
        case .retyped: .retypedAttribute
        }
    }
}
