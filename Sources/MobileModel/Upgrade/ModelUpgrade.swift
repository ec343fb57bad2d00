/// The steps that open a database of one model with another: the differences for people, and the upgrade of each object for the runtime.
/// The comparison reads no database; the texts of ``changes`` name the conditions that depend on stored rows.
///
/// Objects and attributes are matched by their names, otherwise by the `was` of the newer model.
public struct ModelUpgrade: Sendable {
    /// The changes in the order of the newer model; removed objects are last.
    public private(set) var changes: [ModelChange] = []
    /// The objects of the newer model, in its order, followed by those of its operations.
    package private(set) var objects: [ObjectUpgrade] = []
    /// The objects that the newer model does not have, including those of operations.
    package private(set) var removedObjects: [ObjectModel] = []
    /// The synchronization groups whose rows must be loaded again, because the device lacks some of their values.
    package private(set) var incompleteGroups: Set<String> = []

    /// Whether the upgrade is possible at all. Rows that prevent it are found when a database is opened.
    public var isPossible: Bool { !changes.contains { $0.kind == .impossible } }

    /// Compares the model of a database with that of the application.
    public init(from old: PackageModel, to new: PackageModel) {
        comparePackages(old, new)
        comparePersonalization(old, new)
        for object in new.objects {
            guard let former = Self.match(object, among: old.objects, of: new.objects) else {
                changes.append(
                    ModelChange(.safe, object.name, object.isLocal ? "added; it is empty" : "added; its rows arrive with the next synchronization"))
                objects.append(ObjectUpgrade(added: object, in: new))
                if !object.isLocal { incompleteGroups.insert(object.synchronizationGroup) }
                continue
            }
            let comparison = ObjectComparison(former, in: old, object, in: new)
            comparison.run()
            changes += comparison.changes
            objects.append(comparison.upgrade)
            if comparison.isIncomplete { incompleteGroups.insert(object.synchronizationGroup) }
        }
        compareOperationObjects(old, new)
        for object in old.objects where !objects.contains(where: { $0.old?.name == object.name }) {
            removedObjects.append(object)
            let text =
                object.isLocal
                ? "removed; its rows, which exist nowhere else, are dropped"
                : "removed; its rows are dropped. Refused while changes of it wait for the server"
            changes.append(ModelChange(.losesData, object.name, text))
        }
    }

    /// Operations of the kind `other` are objects on the device too, with their parameters as attributes. An operation with other parameters
    /// is another object: its rows are calls, and they are deleted once they are answered.
    private mutating func compareOperationObjects(_ old: PackageModel, _ new: PackageModel) {
        var kept: Set<String> = []
        for upgrade in objects {
            for operation in upgrade.new.operations where operation.kind == .other {
                let object = upgrade.new.operationObject(operation)
                let former = upgrade.old?.operations.first { $0.name == operation.name && $0.kind == .other && $0.takesTheSame(as: operation) }
                guard let owner = upgrade.old, let former else {
                    objects.append(ObjectUpgrade(added: object, in: new))
                    continue
                }
                let comparison = ObjectComparison(owner.operationObject(former), in: old, object, in: new)
                comparison.run()
                kept.insert(owner.operationObject(former).name)
                objects.append(comparison.upgrade)
            }
        }
        removedObjects += old.operationObjects.filter { !kept.contains($0.name) }
    }

    /// Finds the former model of an object: the same name takes precedence over `was`, which may refer to an older model.
    private static func match(_ object: ObjectModel, among old: [ObjectModel], of new: [ObjectModel]) -> ObjectModel? {
        FormerName.match(object.name, was: object.was, among: old, of: new.map(\.name)) { $0.name }
    }

    private mutating func comparePackages(_ old: PackageModel, _ new: PackageModel) {
        if old.name != new.name {
            changes.append(ModelChange(.impossible, "package", "\"\(new.name)\" is another package than \"\(old.name)\""))
        } else if old.version != new.version {
            if PackageVersion(new.version) < PackageVersion(old.version) {
                changes.append(
                    ModelChange(
                        .impossible, "package", "version \(new.version) is older than the database's, \(old.version); use a newer application"))
            } else {
                changes.append(ModelChange(.migration, "package", "version \(old.version) becomes \(new.version); all rows are loaded again"))
                incompleteGroups.formUnion(new.objects.lazy.filter { !$0.isLocal }.map(\.synchronizationGroup))
            }
        }
    }

    private mutating func comparePersonalization(_ old: PackageModel, _ new: PackageModel) {
        let types = TypeChange(old: old, new: new)
        for key in new.personalizationKeys {
            let place = "personalization key \(key.name)"
            guard let former = old.personalizationKeys.first(where: { $0.name == key.name }) else {
                changes.append(ModelChange(.safe, place, "added"))
                continue
            }
            if former.storage != key.storage {
                changes.append(
                    key.storage == .session && former.storage != .session
                        ? ModelChange(.losesData, place, "becomes a key of the session; the saved value is dropped")
                        : ModelChange(.safe, place, "\(former.storage.rawValue) becomes \(key.storage.rawValue)"))
            }
            do throws(TypeChange.Impossible) {
                try types.check(from: former.type, to: key.type)
                if former.type != key.type {
                    changes.append(ModelChange(.safe, place, "\(English.withArticle(former.type)) becomes \(English.withArticle(key.type))"))
                }
            } catch { changes.append(ModelChange(.impossible, place, error.reason)) }
        }
        for key in old.personalizationKeys where !new.personalizationKeys.contains(where: { $0.name == key.name }) {
            changes.append(ModelChange(.losesData, "personalization key \(key.name)", "removed; its value is dropped"))
        }
    }
}

/// One object of the newer model.
package struct ObjectUpgrade: Sendable {
    /// The object in the older model; nil if it is new.
    package var old: ObjectModel?
    package var new: ObjectModel
    /// The attributes of the newer model, in its order.
    package var attributes: [AttributeUpgrade]
    /// The attributes that the newer model does not have.
    package var removedAttributes: [AttributeModel] = []
    /// The relationships whose reference the rows hold, in the order of the newer model, with their former names; nil if there was none.
    package var references: [(name: String, old: String?)]
    /// Relationships whose reference the rows no longer hold.
    package var removedReferences: [String] = []

    /// Creates the upgrade of a new object: all its attributes and references are new.
    init(added object: ObjectModel, in model: PackageModel) {
        new = object
        attributes = object.attributes.map { AttributeUpgrade(new: $0) }
        references = model.references(of: object).map { ($0.name, nil) }
    }
}

/// One attribute of the newer model.
package struct AttributeUpgrade: Sendable {
    /// The attribute in the older model; nil if it is new.
    package var old: AttributeModel?
    package var new: AttributeModel
    package var conversion = ValueConversion.none

    /// Whether values that are longer than now allowed would prevent the upgrade.
    package var isShorter: Bool {
        guard let old, let length = new.length else { return false }
        return old.length.map { $0 > length } ?? true
    }

    /// Whether missing values would prevent the upgrade.
    package var mustHaveValue: Bool { old.map { $0.mayBeNull && !new.mayBeNull } ?? false }
}

/// The rule that matches the names of two models.
enum FormerName {
    /// Finds the former element with this name; otherwise the one that `was` names; otherwise one whose name differs only in upper and lower
    /// case. An element that has its name in both models matches no other one.
    static func match<Element>(
        _ name: String, was: String?, among old: [Element], of new: [String], named: (Element) -> String
    ) -> Element? {
        if let same = old.first(where: { named($0) == name }) { return same }
        let free = old.filter { !new.contains(named($0)) }
        if let was, let former = free.first(where: { named($0) == was }) { return former }
        return free.first { named($0).lowercased() == name.lowercased() }
    }
}

/// A package's version in the order of time: `1.9` is before `1.10`. A version that is not made of numbers is neither before nor after others.
struct PackageVersion: Equatable {
    private let numbers: [Int]?

    init(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
        numbers = parts.contains(nil) ? nil : parts.compactMap { $0 }
    }

    static func < (left: PackageVersion, right: PackageVersion) -> Bool {
        guard let left = left.numbers, let right = right.numbers else { return false }
        return left.lexicographicallyPrecedes(right)
    }
}
