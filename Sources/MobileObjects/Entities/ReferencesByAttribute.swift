import MobileStore

/// A reference and the attributes that are its key: two views of one fact.
///
/// **What was set last decides, at once and on the device.** Setting an attribute leads the reference to the row with that key; setting the object sets
/// the attributes. A key without a row on the device is kept as value: the server finds the row.
extension Entity {
    /// The place in ``dirty`` of a reference that its attributes decide.
    private final func decisionPlace(_ reference: Int) -> Int { metadata.attributeCount + metadata.referenceCount + reference }

    /// Whether the object of a reference was set, by these marks.
    final func isSet(_ reference: Int, in marks: PositionSet) -> Bool { marks.contains(metadata.attributeCount + reference) }

    /// Whether an attribute was set since a save began, or an object whose key it is part of. The next save then gives it its value.
    final func isSetAgain(attribute: Int) -> Bool {
        guard !dirty.isEmpty else { return false }
        return dirty.contains(attribute)
            || metadata.relationships.contains { relationship in
                guard let reference = relationship.referenceIndex, isSet(reference, in: dirty) else { return false }
                return relationship.mapping.contains { $0.source == attribute }
            }
    }

    /// Adds the marks of changes that are unsaved again to those of later ones: what was set last decides.
    final func addEarlierMarks(_ earlier: PositionSet) {
        let later = dirty
        dirty.formUnion(earlier)
        guard !later.isEmpty, !earlier.isEmpty else { return }
        for reference in 0..<metadata.referenceCount {
            if isSet(reference, in: later) {
                dirty.remove(decisionPlace(reference))
            } else if later.contains(decisionPlace(reference)) {
                dirty.remove(metadata.attributeCount + reference)
            }
        }
    }

    /// Restores the keys of references whose objects were not set since.
    final func restoreReferences(_ earlier: ReferenceKeys) {
        let later = references
        references = earlier
        guard !dirty.isEmpty else { return }
        for reference in 0..<metadata.referenceCount where isSet(reference, in: dirty) { references[reference] = later[reference] }
    }

    /// Whether the attributes of a reference were set later than its object, and are not saved.
    final func isByAttributes(_ reference: Int) -> Bool { dirty.contains(decisionPlace(reference)) }

    /// Lets an attribute that was set decide over the references whose key it is, or is part of.
    final func attributesDecide(over attribute: Int) {
        for relationship in metadata.relationships where relationship.keySources?.contains(attribute) == true {
            letAttributesDecide(relationship)
        }
    }

    private final func letAttributesDecide(_ relationship: RelationshipMetadata) {
        guard let reference = relationship.referenceIndex else { return }
        dirty.remove(metadata.attributeCount + reference)
        dirty.insert(decisionPlace(reference))
        attachments?.parents.removeValue(forKey: relationship.index)
        if sharedParent?.index == relationship.index { sharedParent = nil }
    }

    /// Lets an object that was set decide over a reference, and sets the attributes that are its key. They are NULL where the back end has yet to assign
    /// the key, as far as they may be: the save fills them when it is known.
    final func letObjectDecide(_ parent: Entity?, over relationship: RelationshipMetadata) {
        guard let reference = relationship.referenceIndex else { return }
        dirty.insert(metadata.attributeCount + reference)
        dirty.remove(decisionPlace(reference))
        for pair in relationship.mapping {
            let attribute = metadata.attributes[pair.source], key = parent?.knownValue(pair.target) ?? .null
            guard !key.isNull || (attribute.isNullable && !metadata.primaryKey.contains(pair.source)) else { continue }
            guard value(ofAttribute: pair.source) != key, fill(pair.source, key) else { continue }
            // Other references with the attribute follow, unless their objects were set as well.
            for other in metadata.relationships where other.index != relationship.index && other.keySources?.contains(pair.source) == true {
                guard let reference = other.referenceIndex, !dirty.contains(metadata.attributeCount + reference) else { continue }
                letAttributesDecide(other)
            }
        }
    }

    private final func fill(_ attribute: Int, _ value: AttributeValue) -> Bool {
        isLoading = true
        defer { isLoading = false }
        // The save reports a key that does not fit the attribute.
        guard (try? setValue(value, ofAttribute: attribute)) != nil else { return false }
        dirty.insert(attribute)
        return true
    }

    /// The value of an attribute; nil if the back end has yet to assign it.
    private final func knownValue(_ attribute: Int) -> AttributeValue? {
        metadata.attributes[attribute].isGenerated && (presence == .new || isCreated) ? nil : value(ofAttribute: attribute)
    }

    /// Takes over the references of another object whose attributes were copied: a key that the back end has yet to assign does not name its row, and
    /// attributes that are only a part of a key name none. A partner in a one-to-one relationship stays with the other object, unless its key was copied.
    final func copyReferences(of other: Entity) {
        for relationship in metadata.relationships {
            guard let reference = relationship.referenceIndex else { continue }
            let parent = other.knownParent(relationship.index), key = other.references[reference]
            if relationship.keySources != nil {
                // Without an object, the attributes that were copied have decided.
                guard key != 0 || parent != nil, !other.isByAttributes(reference) else { continue }
            } else if relationship.isOneToOne {
                continue
            }
            if sharedParent?.index == relationship.index { sharedParent = nil }
            references[reference] = key
            attached.parents[relationship.index] = parent.map { .strong($0) }
            dirty.insert(metadata.attributeCount + reference)
            dirty.remove(decisionPlace(reference))
        }
    }

    /// The key of the row that the attributes of a reference name, in stored form; nil where a part is NULL, or does not fit.
    final func keyByAttributes(_ relationship: RelationshipMetadata) -> [Value]? {
        guard let sources = relationship.keySources else { return nil }
        let target = package.metadata.entities[relationship.targetIndex]
        var key: [Value] = []
        for (source, part) in zip(sources, target.primaryKey) {
            let storage = target.attributes[part].storage
            guard let value = storage.stored(storage.meant(value(ofAttribute: source))), !value.isNull else { return nil }
            key.append(value)
        }
        return key
    }

    /// The key by which the other object of a relationship is found: where attributes decide, and where the reference of a pending row is by value.
    final func keyToFind(_ relationship: RelationshipMetadata) -> [Value]? {
        guard let reference = relationship.referenceIndex, !dirty.contains(metadata.attributeCount + reference),
            isByAttributes(reference) || (replay.change.isOwn && references[reference] == 0)
        else { return nil }
        return keyByAttributes(relationship)
    }
}
