import MobileStore

/// Hooks that generated relationship properties call; `index` is the position of the relationship in the model.
extension Entity {
    /// Returns the list of a to-many relationship.
    @_spi(GeneratedCode) public final func children<T: Entity>(_ index: Int) -> Children<T> { Children(of: self, index) }

    /// Sets the list of a to-many relationship: each of `children` gets this object as its parent. Former children that
    /// are not in `children` keep their rows; delete them, or give them another parent.
    @_spi(GeneratedCode) public final func setChildren<T: Entity>(_ children: Children<T>, _ index: Int) {
        guard !children.isList(of: self, index) else { return }
        let list = ChildList()
        list.loaded = []
        attached.children[index] = list
        for child in children { addChild(child, to: index) }
    }

    /// Returns the object at the one end of a relationship; nil where there is none or the database cannot be read. In the latter case handlers
    /// are notified, and the next save, delete or submit of this object throws.
    @_spi(GeneratedCode) public final func parent<T: Entity>(_ index: Int) -> T? {
        if let attachments, attachments.asked != nil {
            attachments.asked = .some(index)
            return nil
        }
        return readLazily(index) { try parentObject(index) } ?? nil
    }

    /// Does the same, but throws the error.
    /// - Throws: ``ObjectError/Code/store``.
    @_spi(GeneratedCode) public final func parentObject<T: Entity>(_ index: Int) throws -> T? {
        let relationship = metadata.relationships[index]
        guard let reference = relationship.referenceIndex else {
            return try loadedChildren(index, as: T.self).present.first as? T
        }
        if let parent = knownParent(index) { return parent as? T }
        let target = context.target(of: relationship)
        if let key = keyToFind(relationship) {
            let found: T? = try target.first(target.metadata.sql.byPrimaryKey, key)
            return takeFound(found, index)
        }
        guard references[reference] != 0, !isByAttributes(reference) else { return nil }
        var found: T? = try target.find(currentKey(ofRelative: references[reference]))
        if found == nil, package.hasReplacedRows, let key = keyByAttributes(relationship) {
            found = try target.first(target.metadata.sql.byPrimaryKey, key)
        }
        guard let parent = found else { return nil }
        attached.parents[index] = .strong(parent)
        return parent
    }

    /// Keeps the object that was found by its key, unless the back end has yet to assign that key.
    final func takeFound<T: Entity>(_ found: T?, _ index: Int) -> T? {
        guard let found, !found.isCreated || !found.metadata.hasGeneratedKey else { return nil }
        attached.parents[index] = .strong(found)
        return found
    }

    /// Sets or clears the object at the one end of a relationship, with the attributes that the model maps to the parent's. A part that the back end
    /// has yet to assign is filled when it is known. In a one-to-one relationship both objects leave their former partners. The row of a former partner then has no
    /// reference, or is deleted if it is a part that needs an owner. Where the other end holds the reference, `save` of this object writes it.
    /// SMP 2.3: `setCustomer:`.
    @_spi(GeneratedCode) public final func setParent<T: Entity>(_ parent: T?, _ index: Int) {
        let relationship = metadata.relationships[index]
        guard relationship.referenceIndex != nil else {
            setPartner(parent, index)
            return
        }
        if relationship.isOneToOne {
            leaveFormerPartner(for: parent, index)
            if let parent, let inverse = relationship.inverseIndex {
                parent.letGo(of: inverse, except: self)
                // It is read again after this object is saved.
                if let list = parent.attachments?.children[inverse], !list.contains(self) {
                    list.loaded = nil
                    list.removeAdded()
                }
            }
        }
        let isListed = parent.map { listed(by: $0, relationship) } ?? false
        link(to: parent.map { isListed ? .weak($0) : .strong($0) }, key: parent?.surrogateKey ?? 0, index)
    }

    /// Returns whether `parent` already has this object in its list.
    private final func listed(by parent: Entity, _ relationship: RelationshipMetadata) -> Bool {
        guard let inverse = relationship.inverseIndex else { return false }
        return parent.attachments?.children[inverse]?.contains(self) ?? false
    }

    /// Passes this object's new key to the children that were added before. They then know it even if this object ends before they are saved.
    final func tellKeyToChildren() {
        for (index, list) in attachments?.children ?? [:] {
            let relationship = metadata.relationships[index]
            guard let inverse = relationship.inverseIndex else { continue }
            for child in list.added {
                guard let reference = child.metadata.relationships[inverse].referenceIndex else { continue }
                child.references[reference] = surrogateKey
            }
        }
    }

    final func link(to link: ParentLink?, key: Int64, _ index: Int) {
        guard let reference = metadata.relationships[index].referenceIndex else { return }
        if sharedParent?.index == index { sharedParent = nil }
        attached.parents[index] = link
        references[reference] = key
        letObjectDecide(link?.parent, over: metadata.relationships[index])
    }

    final func addChild(_ child: Entity, to index: Int) {
        let list = childList(index)
        list.add(child)
        guard let inverse = metadata.relationships[index].inverseIndex else { return }
        child.link(to: .weak(self), key: surrogateKey, inverse)
    }

    final func childList(_ index: Int) -> ChildList {
        if let list = attached.children[index] { return list }
        let list = ChildList()
        attached.children[index] = list
        return list
    }

    /// Returns the list, after a read of the database if needed.
    final func loadedChildren<T: Entity>(_ index: Int, as type: T.Type) throws -> ChildList {
        let list = childList(index)
        guard list.loaded == nil else { return list }
        guard presence == .stored else {
            list.loaded = []
            return list
        }
        do {
            let objects: [T] = try readChildren(index)
            if let inverse = metadata.relationships[index].inverseIndex {
                let parent = SharedParent(self, inverse)
                for object in objects { object.sharedParent = parent }
            }
            list.loaded = objects
            list.error = nil
        } catch let error as ObjectError {
            list.error = error
            throw error
        }
        return list
    }

    private final func readChildren<T: Entity>(_ index: Int) throws -> [T] {
        let target = context.target(of: metadata.relationships[index])
        guard let test = ChildTest(metadata.relationships[index], from: metadata, to: target.metadata) else { return [] }
        return try target.objects(
            "SELECT \(target.metadata.sql.columns) FROM \(target.metadata.sql.table) WHERE \(test.sql) ORDER BY \"_sk\"",
            try owner(by: test).conditions.map(\.value))
    }

    /// Returns the conditions for the children of this object in a relationship; nil where the model defines none.
    final func owner(ofRelationship index: Int) throws -> Owner? {
        let relationship = metadata.relationships[index]
        return try ChildTest(relationship, from: metadata, to: package.metadata.entities[relationship.targetIndex]).map(owner)
    }

    /// Returns the same for an observer, who follows this object's row.
    final func followedOwner(ofRelationship index: Int) throws -> FollowedOwner? {
        guard let owner = try owner(ofRelationship: index) else { return nil }
        let test = ChildTest(metadata.relationships[index], from: metadata, to: package.metadata.entities[metadata.relationships[index].targetIndex])
        return FollowedOwner(owner: owner, stored: test?.sources.isEmpty == true ? StoredState(self) : nil)
    }

    private final func owner(by test: ChildTest) throws -> Owner {
        let values = test.sources.isEmpty ? [.integer(try currentKey())] : try test.sources.map { try storedValue($0) }
        return Owner(conditions: zip(test.columns, values).map { ($0, $1) })
    }
}

/// The conditions for the children of one object: columns of the children's table with the values that tie them to it.
struct Owner: Sendable {
    let conditions: [(column: String, value: Value)]
}

/// The owner of the children that are observed, whose row may get another key.
struct FollowedOwner: Sendable {
    let owner: Owner
    /// Nil where attributes make the test.
    fileprivate let stored: StoredState?

    /// Returns the owner with another key; nil where it has the same one.
    func moved(_ connection: Connection) throws -> Owner? {
        guard let stored else { return nil }
        let key = Value.integer(try stored.read(connection).key)
        guard owner.conditions.contains(where: { $0.value != key }) else { return nil }
        return Owner(conditions: owner.conditions.map { ($0.column, key) })
    }
}

/// The test for the children of an object: by their reference to it, or, where the child has no relationship back, by the attributes
/// that the model maps.
struct ChildTest {
    /// Columns of the child's table.
    let columns: [String]
    /// Positions of the parent's attributes with the same values; empty: the one column has the parent's surrogate key.
    let sources: [Int]
    /// Position of the child's reference; nil where the attributes make the test.
    let reference: Int?

    /// Fails when the model defines neither an inverse nor a mapping.
    init?(_ relationship: RelationshipMetadata, from parent: EntityMetadata, to child: EntityMetadata) {
        if let inverse = relationship.inverseIndex, let reference = child.relationships[inverse].referenceIndex {
            (columns, sources, self.reference) = ([child.sql.referenceColumns[reference]], [], reference)
        } else if !relationship.mapping.isEmpty {
            columns = relationship.mapping.map { child.sql.attributeColumns[$0.target] }
            (sources, reference) = (relationship.mapping.map(\.source), nil)
        } else {
            return nil
        }
    }

    /// A condition on the child's table with `?1` and so on.
    var sql: String { columns.enumerated().map { "\($0.element) = ?\($0.offset + 1)" }.joined(separator: " AND ") }
}
