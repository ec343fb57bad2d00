import MobileExecution
import MobileModel
import MobileStore

/// Turns objects into a ``SavePlan`` and its results back into their state. It stays in the objects' isolation.
struct SaveSession {
    private(set) var plan = SavePlan()
    private(set) var objects: [Entity] = []
    /// An object of the save, or a parent of one, that another save is writing. This one can begin after that one's end.
    private(set) var busy: Entity?
    /// The position of each object in ``objects``.
    private var places: [ObjectIdentifier: Int] = [:]
    /// The state of each object before the save, in case the transaction fails.
    private var before: [EntityMemory] = []
    /// Objects that were replaced by others, by their rows.
    private var formers: [RowID: Entity] = [:]

    let package: PackageDatabase

    /// Begins the save of objects; nil when nothing has changed. Where an object is ``busy``, it has not begun.
    /// - Throws: as ``add(_:cascading:calling:)``.
    init?(_ objects: [Entity], cascading: Bool, calling called: CalledOperation? = nil, in package: PackageDatabase) throws {
        self.package = package
        for object in objects { try add(object, cascading: cascading, calling: called) }
        guard busy == nil else { return }
        guard !plan.isEmpty else { return nil }
        begin()
    }

    /// Adds an object, and with `cascading` also its new or changed composite children. An open stream would lose its value without a word: the object
    /// gets it when the stream is closed.
    /// - Parameter called: the operation, where it was called by its name. It is performed even without changed attributes.
    /// - Throws: ``ObjectError/Code/invalidValue``, ``ObjectError/Code/notSaved`` for a new parent that is not part of the save,
    ///   ``ObjectError/Code/noSuchOperation``; the failed read of an object's relatives; `StoreError.notClosed` as the cause, for an open stream.
    private mutating func add(_ object: Entity, cascading: Bool, calling called: CalledOperation? = nil) throws {
        // It was added as the child of another one, or twice.
        guard busy == nil, places[ObjectIdentifier(object)] == nil else { return }
        guard !object.isBeingSaved else {
            busy = object
            return
        }
        try object.throwReadFailure()
        try object.requireWrittenLargeValues("save")
        if object.presence == .new || object.isDirty || called != nil { try addRow(object, called) }
        guard cascading else { return }
        addReleases(of: object)
        for index in object.metadata.composites {
            for child in object.attachments?.children[index]?.present ?? [] where child.presence != .deleted {
                try add(child, cascading: true)
            }
        }
        try addPartners(of: object)
    }

    /// Adds the objects that were set at this end of a one-to-one relationship and hold the reference, because the former one is released with this save.
    private mutating func addPartners(of object: Entity) throws {
        for (index, list) in (object.attachments?.children ?? [:]).sorted(by: { $0.key < $1.key })
        where object.metadata.relationships[index].isOneToOne {
            guard let inverse = object.metadata.relationships[index].inverseIndex else { continue }
            for partner in list.added where partner.presence != .deleted && partner.isPartner(of: object, inverse) {
                try add(partner, cascading: false)
            }
        }
    }

    /// Adds the releases of objects that this object dropped in memory and no other object has taken.
    private mutating func addReleases(of object: Entity) {
        for (index, list) in object.attachments?.children ?? [:] where object.presence == .stored {
            guard let inverse = object.metadata.relationships[index].inverseIndex else { continue }
            for former in list.formers where former.presence == .stored && !former.hasPartner(inverse) {
                addFormer(former)
                plan.releases.append(
                    .init(
                        entity: former.metadata, key: former.surrogateKey, relationship: former.metadata.relationships[inverse],
                        owner: object.surrogateKey))
            }
        }
    }

    private mutating func addFormer(_ former: Entity) {
        formers[RowID(entity: former.metadata.index, key: former.surrogateKey)] = former
    }

    private mutating func addRow(_ object: Entity, _ called: CalledOperation?) throws {
        guard object.package === package else {
            throw ObjectError(.misuse, "save of \(object.metadata.name): it belongs to another database")
        }
        let metadata = object.metadata, isNew = object.presence == .new
        guard object.presence != .deleted else {
            throw ObjectError(.notFound, "save of \(metadata.name) \(object.surrogateKey): it was deleted")
        }
        var row = SavePlan.Row(
            entity: metadata, isNew: isNew, key: object.surrogateKey, read: object.replay, changes: [], operation: called)
        if called == nil { _ = try metadata.defaultOperation(isNew ? .create : .update) }
        for attribute in metadata.attributes {
            if attribute.isLarge {
                let unsaved = object.attachments?.unsavedLargeValues[attribute.index]
                if let unsaved {
                    row.changes.append((attribute.index, unsaved.map { .integer($0.id) } ?? .null))
                } else if isNew {
                    row.changes.append((attribute.index, .null))
                }
            } else if isNew || object.dirty.contains(attribute.index) {
                try row.changes.append((attribute.index, value(attribute, of: object, isNew: isNew)))
            }
        }
        try addReferences(of: object, to: &row)
        plan.rows.append(row)
        places[ObjectIdentifier(object)] = objects.count
        objects.append(object)
        before.append(EntityMemory(object))
    }

    /// Returns a value as stored. NULL stands for an attribute of a new object that needs a value and was not set. It is refused later, unless
    /// a parent provides the value.
    private func value(_ attribute: AttributeMetadata, of object: Entity, isNew: Bool) throws -> Value {
        if isNew && attribute.needsValueAtCreate && !object.dirty.contains(attribute.index) { return .null }
        let value = object.meantValue(attribute)
        if attribute.isGenerated && isNew && value.isNull { return .null }
        let (stored, refusal) = attribute.checked(value)
        if let refusal { throw ObjectError(.invalidValue, "\(object.metadata.name).\(attribute.name): \(refusal)") }
        return stored
    }

    private mutating func addReferences(of object: Entity, to row: inout SavePlan.Row) throws {
        let metadata = object.metadata
        for (reference, index) in metadata.references.enumerated() {
            let position = metadata.attributes.count + reference, parent = object.knownParent(index)
            if let sources = metadata.relationships[index].keySources {
                // The model may have set them.
                let isByDefault =
                    row.isNew && !object.dirty.contains(position) && parent == nil && object.references[reference] == 0
                    && sources.contains { !metadata.attributes[$0].defaultValue.isNull }
                if isByDefault || object.isByAttributes(reference) {
                    row.changes.append((position, .null))
                    row.byAttributes.append((reference, sources.map { object.value(ofAttribute: $0) }))
                    continue
                }
            }
            guard row.isNew || object.dirty.contains(position) else { continue }
            let key = parent?.surrogateKey ?? object.references[reference]
            row.changes.append((position, key == 0 ? .null : .integer(key)))
            row.setReferences.append(reference)
            if parent?.rememberedKey.isOfUnsentRow == true { row.referencesToUnsent.append(reference) }
            if let parent, let inverse = metadata.relationships[index].inverseIndex {
                for former in parent.attachments?.children[inverse]?.formers ?? [] where former.presence == .stored && former !== object {
                    if former.hasPartner(index) { row.keptPartners.insert(former.surrogateKey) } else { addFormer(former) }
                }
            }
            guard let parent, parent.presence == .new else { continue }
            guard let node = places[ObjectIdentifier(parent)] else {
                guard !parent.isBeingSaved else {
                    busy = parent
                    continue
                }
                throw ObjectError(
                    .notSaved, "save of \(metadata.name): its \(metadata.relationships[index].name) is new; save that one first")
            }
            row.newParents.append((reference, node))
        }
    }

    /// Marks the objects as being saved. Later changes count as changed again.
    func begin() {
        for object in objects {
            object.dirty.removeAll()
            object.attachments?.unsavedLargeValues = [:]
        }
    }

    /// Restores the unsaved state of the objects after the plan failed.
    func fail() {
        for (object, memory) in zip(objects, before) { memory.addUnsaved(to: object) }
    }

    /// Applies the results of the plan to the objects. Values that were set since ``begin()`` stay, and are saved next.
    func apply(_ outcome: SavePlan.Outcome) {
        let formerMemory = outcome.released.compactMap { released in formers[released.row].map { ($0, EntityMemory($0)) } }
        for (position, result) in outcome.results.enumerated() {
            let object = objects[position]
            before[position].noteLargeValues(areSaved: true)
            object.isLoading = true
            defer { object.isLoading = false }
            object.surrogateKey = result.key
            object.replay = result.replay
            object.presence = .stored
            for (index, value) in result.filled where !object.isSetAgain(attribute: index) {
                // The value came from the database, through the same storage class: it fits.
                if let value = object.metadata.attributes[index].storage.attributeValue(value) { try? object.setValue(value, ofAttribute: index) }
            }
            for (index, key) in result.references where !object.isSet(index, in: object.dirty) { object.references[index] = key }
            object.tellKeyToChildren()
            object.markAttachedParents()
        }
        for released in outcome.released { formers[released.row]?.applyReleased(released) }
        undoOnRollback(formerMemory)
    }

    /// Restores the former state of the objects if a surrounding transaction is rolled back.
    private func undoOnRollback(_ formers: [(Entity, EntityMemory)]) {
        guard let running = TransactionScope.transaction(of: package) else { return }
        let memories = formers + zip(objects, before)
        running.onRollback { for (object, memory) in memories { memory.restore(object) } }
    }
}

extension EntityMetadata {
    /// Returns whether a position (attributes, then references) is that of a large attribute.
    func isLarge(_ index: Int) -> Bool { index < attributes.count && attributes[index].isLarge }
}

extension Entity {
    /// Returns the value that is stored for an attribute. The object has the same one from then on, as if it was read.
    fileprivate final func meantValue(_ attribute: AttributeMetadata) -> AttributeValue {
        let value = value(ofAttribute: attribute.index), meant = attribute.storage.meant(value)
        guard meant != value else { return value }
        isLoading = true
        defer { isLoading = false }
        // A decimal of the attribute's own scale always fits.
        try? setValue(meant, ofAttribute: attribute.index)
        return meant
    }

    /// Sets the documented parent mark in memory, for parents that the saved object knows. A read of the database would show the same.
    final func markAttachedParents() {
        guard isPending, attachments != nil || sharedParent != nil else { return }
        for index in metadata.owners {
            guard let parent = knownParent(index), parent.presence == .stored, parent.replay.change == .none else { continue }
            parent.replay.markAsParent()
            parent.markAttachedParents()
        }
    }
}
