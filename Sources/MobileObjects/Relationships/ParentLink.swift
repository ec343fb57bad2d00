/// A child's link to its parent in memory. A parent that has the child in a list is held weakly, because it holds the child; one that
/// was set on the child alone is held strongly, because nobody else may hold it.
struct ParentLink {
    private var held: Entity?
    private weak var seen: Entity?

    static func strong(_ parent: Entity) -> ParentLink { ParentLink(held: parent, seen: parent) }
    static func weak(_ parent: Entity) -> ParentLink { ParentLink(held: nil, seen: parent) }

    var parent: Entity? { held ?? seen }
}
