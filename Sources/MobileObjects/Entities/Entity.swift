public import MobileStore

/// A business object: one row of the local database, in memory. Generated classes derive from it, one per object of the model;
/// ``GenericEntity`` gives access by metadata. SMP 2.3: `SUPEntity`, `SUPAbstractROM`.
///
/// Objects are not `Sendable`: each stays in the isolation in which it was made. There is no identity map. Two finds of the same key
/// return two objects, and the second one to be saved gets ``ObjectError/Code/stale``.
open class Entity {
    /// The database and the class of the object.
    public final let context: EntityContext
    /// The local primary key; 0 until the object is created, positive afterwards. Objects of the model whose keys the server knows get
    /// them from ``PackageDatabase/keyGenerator``. Before `create`, the application may set it to such a key.
    /// SMP 2.3: `surrogateKey`, `_surrogateKey`.
    public final internal(set) var surrogateKey: Int64 {
        get { key }
        set { key = newValue }
    }
    /// The progress of the row's pending change when the object was last read or written.
    // An object stays in one isolation. The properties with this mark are only read and written as a whole, or changed by functions that read
    // only the value. So no two accesses overlap, and the run-time check for that would cost each object of a list ten calls.
    @exclusivity(unchecked) final var replay = ReplayState()
    // Not the public property itself, because the code of other modules would check each access to it nevertheless.
    @exclusivity(unchecked) private final var key: Int64 = 0
    @exclusivity(unchecked) final var presence = Presence.new
    @exclusivity(unchecked) @usableFromInline final var isLoading = false
    /// Whether a save on an async path has begun and not ended.
    @exclusivity(unchecked) final var isBeingSaved = false
    /// The unsaved changes in memory: attributes, references, and then the references that attributes decide.
    final var dirty = PositionSet()
    @exclusivity(unchecked) final var references = ReferenceKeys()
    /// Loaded relatives and unsaved large values; nil for most objects of a list.
    final var attachments: EntityAttachments?
    /// The parent in whose list the object was read, until the object gets another parent.
    final var sharedParent: SharedParent?

    /// The place of an object's row.
    enum Presence: UInt8, Sendable {
        case new, stored
        /// Loaded from the database and then deleted.
        case deleted
    }

    /// Creates a new object, not in the database: ``isNew`` is true until `create` or `save`. Generated classes offer `init(in:)`.
    public required init(context: EntityContext) {
        self.context = context
    }

    /// Creates the object of a row. Before the call, derived classes set their stored properties from the row: attribute `i` is in column
    /// `column + i`, large attributes are skipped. Properties that are set at that time mark no change, and cost no check.
    ///
    /// The row is borrowed, because each object of a list would otherwise retain and release its page.
    /// - Throws: an error that the runtime completes, where an attribute cannot have what the row holds.
    public required init(row: borrowing Row, at column: Int, context: EntityContext) throws {
        // Read before the object keeps the context, which saves another retain of the context.
        let referenceCount = context.metadata.referenceCount, firstReference = column + context.metadata.attributeCount
        self.context = context
        key = row.integer(0)
        replay = ReplayState(row)
        presence = .stored
        if referenceCount > 0 { references = ReferenceKeys(row, at: firstReference, count: referenceCount) }
    }

    // MARK: Hooks that generated classes override

    /// Returns the value of an attribute by its position; ``AttributeValue/null`` for large ones.
    open func value(ofAttribute index: Int) -> AttributeValue { .null }

    /// Sets an attribute by its position.
    /// - Throws: ``ObjectError/Code/invalidValue`` when the value does not fit the attribute.
    open func setValue(_ value: AttributeValue, ofAttribute index: Int) throws {}

    /// Takes the attributes of an object of the same class that was read from a row.
    /// - Throws: as ``setValue(_:ofAttribute:)``.
    func takeValues(of stored: Entity) throws {
        for attribute in metadata.attributes where !attribute.isLarge {
            try setValue(stored.value(ofAttribute: attribute.index), ofAttribute: attribute.index)
        }
    }

    // MARK: Hooks that generated classes call

    /// Marks an attribute as changed, so that `save` writes it. Each stored property calls it when it is set.
    @_spi(GeneratedCode) @inlinable public final func attributeChanged(_ index: Int) {
        if !isLoading { markChanged(index) }
    }

    @usableFromInline final func markChanged(_ index: Int) {
        dirty.insert(index)
        if metadata.keyAttributesOfReferences.contains(index) { attributesDecide(over: index) }
    }

    /// Converts a value for an attribute's stored property; used by generated `setValue(_:ofAttribute:)`.
    /// - Throws: ``ObjectError/Code/invalidValue`` when it is of another kind, out of range, or null where that is not allowed.
    @_spi(GeneratedCode) public final func convert<T: AttributeConvertible>(_ value: AttributeValue, ofAttribute index: Int) throws -> T {
        guard let converted = T(attributeValue: value) else { throw badValue(value, index) }
        return converted
    }

    /// Returns the error for a value that does not fit an attribute.
    @_spi(GeneratedCode) public final func badValue(_ value: AttributeValue, _ index: Int) -> ObjectError {
        let attribute = metadata.attributes[index]
        return ObjectError(.invalidValue, "\(metadata.name).\(attribute.name): \(attribute.storage.misfit(value, type: "\(attribute.type)"))")
    }
}

extension Entity {
    /// The metadata of the object's class. SMP 2.3: `getMetaData`.
    public final var metadata: EntityMetadata { context.metadata }

    /// The package database of the object.
    public final var package: PackageDatabase { context.package }

    /// Takes the values and the state of an object that was read from a row. No attribute is marked as changed.
    final func take(_ stored: Entity) throws {
        isLoading = true
        defer { isLoading = false }
        try takeValues(of: stored)
        (surrogateKey, replay, references, presence) = (stored.surrogateKey, stored.replay, stored.references, .stored)
    }
}
