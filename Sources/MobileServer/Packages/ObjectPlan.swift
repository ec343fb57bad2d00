internal import MobileModel
internal import MobileStore

/// The server's plan for one object of a package, computed once: the columns of its rows, their sources, and their names in the cache.
///
/// A class, because many structures contain it: each of them would have code of its own that copies and destroys every member.
final class ObjectPlan: Sendable {
    let model: ObjectModel
    let binding: BackEndBinding
    /// Attributes that are stored in the row.
    let rowAttributes: [AttributeModel]
    /// Attributes whose content is stored outside the row.
    let largeAttributes: [AttributeModel]
    /// Attributes of the modelled primary key, in its order.
    let keyAttributes: [AttributeModel]
    /// The relationships whose reference the rows hold.
    let references: [ReferencePlan]
    /// Whether the back end gives the primary key, or a part of it.
    let hasGeneratedKey: Bool
    /// The attributes of keys and of references.
    private let exactAttributes: Set<String>

    var name: String { model.name }

    init(_ object: ObjectModel, binding: BackEndBinding, in package: PackageModel) {
        model = object
        self.binding = binding
        rowAttributes = object.attributes.filter { !$0.isLarge }
        largeAttributes = object.attributes.filter(\.isLarge)
        keyAttributes = object.primaryKey.compactMap { object.attribute(named: $0) }
        references = package.references(of: object).compactMap { ReferencePlan($0, of: object, in: package) }
        hasGeneratedKey = package.hasGeneratedKey(object)
        exactAttributes = Set(object.primaryKey + references.flatMap { $0.pairs.map(\.source.name) })
    }

    /// Whether a value of the attribute is part of a key, so that it travels exactly or not at all: two keys must never become one.
    func isExact(_ attribute: AttributeModel) -> Bool { exactAttributes.contains(attribute.name) }

    /// The columns of a row without key and bookkeeping, with their names on the devices. Not quoted.
    var rowColumns: [String] { rowAttributes.map(\.name) + references.map(\.column) }

    private static func text(_ attribute: AttributeModel) -> String {
        "\(attribute.name) \(attribute.type) \(attribute.precision ?? 0),\(attribute.scale ?? 0)"
    }

    /// The properties that the cached rows depend on. If a model changes them, the package's cache starts again from nothing.
    var shape: String {
        let attributes = model.attributes.map(Self.text)
        let keys = references.map { "\($0.column) \($0.target)" }
        return (attributes + keys + ["key " + model.primaryKey.joined(separator: ",")]).joined(separator: "; ")
    }
}

/// A relationship whose rows hold the reference, with the pairs of attributes in the order of the target's primary key.
struct ReferencePlan: Sendable {
    let name: String
    /// The name of the referenced object.
    let target: String
    /// For each part of the target's key: the attribute of this object that holds it, and the key's attribute in the target.
    let pairs: [(source: AttributeModel, key: AttributeModel)]

    /// The column with the surrogate key of the referenced row.
    var column: String { "_ref_" + name }

    /// Fails for a relationship that does not map the whole primary key of its target; the model's validation reports those.
    init?(_ relationship: RelationshipModel, of object: ObjectModel, in package: PackageModel) {
        guard let target = package.object(named: relationship.target) else { return nil }
        name = relationship.name
        self.target = target.name
        var mapping = relationship.mapping
        if mapping.isEmpty, let inverse = relationship.inverse.flatMap({ target.relationship(named: $0) }) {
            mapping = inverse.mapping.map { .init(source: $0.target, target: $0.source) }
        }
        pairs = target.primaryKey.compactMap { key in
            guard let source = mapping.first(where: { $0.target == key })?.source, let here = object.attribute(named: source),
                let there = target.attribute(named: key)
            else { return nil }
            return (here, there)
        }
        guard pairs.count == target.primaryKey.count, !pairs.isEmpty else { return nil }
    }

    /// The storage class of the referenced row's key as one value.
    var keyType: JSONColumnType { pairs.count == 1 ? pairs[0].key.cachedType : .text }
}
