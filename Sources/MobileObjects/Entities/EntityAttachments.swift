import MobileStore

/// The rarely used parts of an object, made at first use: relatives by position of their relationship, open and
/// unsaved large values by position of their attribute.
final class EntityAttachments {
    var parents: [Int: ParentLink] = [:]
    var children: [Int: ChildList] = [:]
    var bigBinaries: [Int: BigBinary] = [:]
    var bigStrings: [Int: BigString] = [:]
    /// Large values that were written or removed (nil) and not saved, by attribute.
    var unsavedLargeValues: [Int: LargeValue?] = [:]

    /// The errors of reads of relatives, by their relationship, until a save or submit has thrown them.
    var readFailures: [Int: ObjectError] = [:]
    /// The relationship that a property names while it is queried without reading; nil when no query runs.
    var asked: Int??

    var hasUnsavedLargeValues: Bool { !unsavedLargeValues.isEmpty }
}

extension Entity {
    /// The attachments, made at first use.
    final var attached: EntityAttachments {
        if let attachments { return attachments }
        let made = EntityAttachments()
        attachments = made
        return made
    }
}

/// A child's link to its parent in memory. A parent that has the child in a list is held weakly, because it holds the child. A parent that
/// was set only on the child is held strongly, because it may have no other owner.
struct ParentLink {
    private var held: Entity?
    private weak var seen: Entity?

    static func strong(_ parent: Entity) -> ParentLink { ParentLink(held: parent, seen: parent) }
    static func weak(_ parent: Entity) -> ParentLink { ParentLink(held: nil, seen: parent) }

    var parent: Entity? { held ?? seen }
}

/// The parent of all children that were read together, shared by them: one for a list, not one for each child.
final class SharedParent {
    weak var parent: Entity?
    /// The position of the children's relationship to the parent.
    let index: Int

    init(_ parent: Entity, _ index: Int) { (self.parent, self.index) = (parent, index) }
}

extension Entity {
    /// Returns the parent that is in memory; nil without a parent, or before it was read.
    final func knownParent(_ index: Int) -> Entity? {
        if let link = attachments?.parents[index] { return link.parent }
        guard let sharedParent, sharedParent.index == index else { return nil }
        return sharedParent.parent
    }
}

/// The children of one object in one relationship: those read from the database, and those added in memory.
///
/// **Adding a child costs the same for any number of children.** So the list knows its objects by their identity, and compares rows only where
/// an added child may have one among those that were read. If you break it: a program that adds 16,000 orders to a customer waits for seconds.
final class ChildList {
    /// The children in the database; nil until they were read.
    var loaded: [Entity]? {
        didSet {
            loadedObjects = nil
            if !added.isEmpty { mayRepeatRows = true }
        }
    }
    /// The children that were added in memory, in this order.
    private(set) var added: [Entity] = []
    /// Former objects of a one-to-one relationship that have rows and were replaced. A save of the owner releases their rows.
    var formers: [Entity] = []
    /// The error of the last read of the database.
    var error: ObjectError?

    /// The identities of ``loaded``, made at first use, and those of ``added``.
    private var loadedObjects: Set<ObjectIdentifier>?
    private var addedObjects: Set<ObjectIdentifier> = []
    /// Whether an added child may have the row of one that was read. A new child, added after the read, has none of those rows.
    private var mayRepeatRows = false

    /// The children in memory, without a read of the database.
    var present: [Entity] {
        let loaded = loaded ?? []
        return added.isEmpty ? loaded : loaded + addedBeside(loaded)
    }

    /// The number of children in memory.
    var count: Int { (loaded?.count ?? 0) + (mayRepeatRows ? addedBeside(loaded ?? []).count : added.count) }

    /// Returns the object at a position of ``present``, without a copy of the list where possible.
    func object(at position: Int) -> Entity {
        let first = loaded?.count ?? 0
        if let loaded, position < first { return loaded[position] }
        return mayRepeatRows ? present[position] : added[position - first]
    }

    /// Whether the object itself is in the list.
    func contains(_ object: Entity) -> Bool {
        let id = ObjectIdentifier(object)
        if addedObjects.contains(id) { return true }
        guard let loaded, !loaded.isEmpty else { return false }
        if loadedObjects == nil { loadedObjects = Set(loaded.lazy.map(ObjectIdentifier.init)) }
        return loadedObjects?.contains(id) == true
    }

    /// Adds a child in memory; no effect where the object itself is in the list.
    func add(_ child: Entity) {
        guard !contains(child) else { return }
        if child.presence != .new { mayRepeatRows = true }
        added.append(child)
        addedObjects.insert(ObjectIdentifier(child))
    }

    /// Removes an object from those that were added.
    func removeAdded(_ child: Entity) {
        guard addedObjects.remove(ObjectIdentifier(child)) != nil else { return }
        added.removeAll { $0 === child }
    }

    /// Forgets the children that were added.
    func removeAdded() { (added, addedObjects, mayRepeatRows) = ([], [], false) }

    func addFormer(_ object: Entity) {
        guard object.presence == .stored, !formers.contains(where: { $0 === object }) else { return }
        formers.append(object)
    }

    /// Returns the added children whose rows are not among those of `loaded`.
    private func addedBeside(_ loaded: [Entity]) -> [Entity] {
        guard mayRepeatRows, !loaded.isEmpty else { return added }
        let objects = Set(loaded.lazy.map(ObjectIdentifier.init)), keys = Set(loaded.lazy.map(\.surrogateKey))
        // The objects of one list are of one class, so a key stands for a row.
        return added.filter { !objects.contains(ObjectIdentifier($0)) && ($0.surrogateKey == 0 || !keys.contains($0.surrogateKey)) }
    }
}

extension Entity {
    /// Whether the other object is this one, or has the same row.
    final func isSameRow(as other: Entity) -> Bool {
        self === other || (surrogateKey != 0 && surrogateKey == other.surrogateKey && metadata === other.metadata)
    }
}
