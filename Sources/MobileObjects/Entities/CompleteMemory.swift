import MobileStore

/// The state of an object in memory with its attributes and relatives, for a rollback after the object took what a row has.
struct CompleteMemory {
    private let memory: EntityMemory
    private let values: [(attribute: Int, value: AttributeValue)]
    private let attachments: EntityAttachments?
    private let sharedParent: SharedParent?

    init(_ object: Entity) {
        memory = EntityMemory(object)
        values = object.metadata.attributes.filter { !$0.isLarge }.map { ($0.index, object.value(ofAttribute: $0.index)) }
        (attachments, sharedParent) = (object.attachments, object.sharedParent)
    }

    func restore(_ object: Entity) {
        let later = object.dirty, set = object.attachments
        object.isLoading = true
        defer { object.isLoading = false }
        // A value of the same attribute always fits.
        for (attribute, value) in values where !later.contains(attribute) { try? object.setValue(value, ofAttribute: attribute) }
        (object.attachments, object.sharedParent) = (attachments, sharedParent)
        for relationship in object.metadata.relationships {
            guard let reference = relationship.referenceIndex, object.isSet(reference, in: later) else { continue }
            object.attached.parents[relationship.index] = set?.parents[relationship.index]
            if object.sharedParent?.index == relationship.index { object.sharedParent = nil }
        }
        if let set, set.hasUnsavedLargeValues { object.attached.unsavedLargeValues.merge(set.unsavedLargeValues) { _, new in new } }
        memory.restore(object)
    }
}

extension Entity {
    /// Restores the object completely if the surrounding transaction is rolled back. It is called before the object takes what a row has.
    final func undoCompletelyOnRollback() {
        guard let running = TransactionScope.transaction(of: package) else { return }
        let before = CompleteMemory(self)
        running.onRollback { before.restore(self) }
    }
}
