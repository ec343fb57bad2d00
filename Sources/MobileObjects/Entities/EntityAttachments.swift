import MobileStore

/// What an object carries beside its attributes once somebody asked for it: relatives by position of their relationship, open and
/// unsaved large values by position of their attribute.
final class EntityAttachments {
    var parents: [Int: ParentLink] = [:]
    var children: [Int: ChildList] = [:]
    var bigBinaries: [Int: BigBinary] = [:]
    var bigStrings: [Int: BigString] = [:]
    /// Large values that were written and not saved, by attribute.
    var unsavedLargeValues: [Int: LargeValue] = [:]

    /// Why relatives could not be read, by their relationship, until a save or submit has thrown it.
    var readFailures: [Int: ObjectError] = [:]
    /// While a property is asked which relationship it stands for: the answer.
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

/// A child's link to its parent in memory. A parent that has the child in a list is held weakly, because it holds the child; one that
/// was set on the child alone is held strongly, because nobody else may hold it.
struct ParentLink {
    private var held: Entity?
    private weak var seen: Entity?

    static func strong(_ parent: Entity) -> ParentLink { ParentLink(held: parent, seen: parent) }
    static func weak(_ parent: Entity) -> ParentLink { ParentLink(held: nil, seen: parent) }

    var parent: Entity? { held ?? seen }
}

/// The parent of all children that were read together, held by each of them: one for a list, not one for each child.
final class SharedParent {
    weak var parent: Entity?
    /// The children's relationship to it.
    let index: Int

    init(_ parent: Entity, _ index: Int) { (self.parent, self.index) = (parent, index) }
}

extension Entity {
    /// The parent that is in memory; nil where there is none, or nobody has asked for it.
    final func knownParent(_ index: Int) -> Entity? {
        if let link = attachments?.parents[index] { return link.parent }
        guard let sharedParent, sharedParent.index == index else { return nil }
        return sharedParent.parent
    }
}

/// The children of one object in one relationship, as far as somebody asked: those read from the database, and those added in memory.
final class ChildList {
    /// Nil until the database was asked.
    var loaded: [Entity]?
    /// Added in memory and not in ``loaded``.
    var added: [Entity] = []
    /// Of a one-to-one relationship: objects with rows that were here until others were set. A save of the owner lets go of their rows.
    var formers: [Entity] = []
    /// Why the database could not be read.
    var error: ObjectError?

    /// What is in memory, without asking the database.
    var present: [Entity] {
        let loaded = loaded ?? []
        return added.isEmpty ? loaded : loaded + added.filter { added in !loaded.contains { $0.isSameRow(as: added) } }
    }

    /// How many there are in memory.
    var count: Int { added.isEmpty ? loaded?.count ?? 0 : present.count }

    /// The object at a position of ``present``, without a copy of the list where that can be.
    func object(at position: Int) -> Entity {
        if let loaded, position < loaded.count { return loaded[position] }
        return present[position]
    }

    func addFormer(_ object: Entity) {
        guard object.presence == .stored, !formers.contains(where: { $0 === object }) else { return }
        formers.append(object)
    }
}

extension Entity {
    /// The same object, or another one of the same row.
    final func isSameRow(as other: Entity) -> Bool {
        self === other || (surrogateKey != 0 && surrogateKey == other.surrogateKey && metadata === other.metadata)
    }
}
