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
