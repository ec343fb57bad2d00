import MobileStore

/// The state of an object in memory, without its attributes, for a rollback and for a save that fails.
///
/// **What was set later stays.** An object may be changed while its save waits, and between a save and the rollback of its transaction.
struct EntityMemory {
    private let surrogateKey: Int64
    private let replay: ReplayState
    private let presence: Entity.Presence
    private let dirty: PositionSet
    private let references: ReferenceKeys
    private let unsavedLargeValues: [Int: LargeValue?]

    init(_ object: Entity) {
        surrogateKey = object.surrogateKey
        replay = object.replay
        presence = object.presence
        dirty = object.dirty
        references = object.references
        unsavedLargeValues = object.attachments?.unsavedLargeValues ?? [:]
    }

    /// Notes whether rows have the values that the object had in memory.
    func noteLargeValues(areSaved: Bool) { for value in unsavedLargeValues.values { value?.note(isSaved: areSaved) } }

    func restore(_ object: Entity) {
        object.surrogateKey = surrogateKey
        object.replay = replay
        object.presence = presence
        object.restoreReferences(references)
        noteLargeValues(areSaved: false)
        addUnsaved(to: object)
    }

    func addUnsaved(to object: Entity) {
        object.addEarlierMarks(dirty)
        if !unsavedLargeValues.isEmpty { object.attached.unsavedLargeValues.merge(unsavedLargeValues) { new, _ in new } }
    }
}
