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
