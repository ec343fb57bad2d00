/// What it takes to open a database of one model with another: the differences, for people, and what becomes of what, for the runtime.
/// Nothing here looks into a database; what depends on the rows that are there, the texts of ``changes`` say.
///
/// Objects and attributes belong together by their names, else by the `was` of the newer model.
public struct ModelUpgrade: Sendable {
    /// In the order of the newer model, what it no longer has last.
    public private(set) var changes: [ModelChange] = []
    /// The objects of the newer model, in its order, and behind them those of its operations.
    package private(set) var objects: [ObjectUpgrade] = []
    /// The objects that the newer model does not have, those of operations too.
    package private(set) var removedObjects: [ObjectModel] = []
    /// The synchronization groups whose rows must come again, because there are values that the device does not have.
    package private(set) var incompleteGroups: Set<String> = []

    /// Whether there is a way at all. What the rows themselves stand in the way of is found when a database is opened.
    public var isPossible: Bool { !changes.contains { $0.kind == .impossible } }

    /// The way from the model of a database to that of the application.
    public init(from old: PackageModel, to new: PackageModel) {
        comparePackages(old, new)
        comparePersonalization(old, new)
        for object in new.objects {
            guard let former = Self.match(object, among: old.objects, of: new.objects) else {
                changes.append(
                    ModelChange(.safe, object.name, object.isLocal ? "added; it is empty" : "added; its rows come with the next synchronization"))
                objects.append(ObjectUpgrade(added: object, in: new))
                if !object.isLocal { incompleteGroups.insert(object.synchronizationGroup) }
                continue
            }
            var comparison = ObjectComparison(former, in: old, object, in: new)
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
                ? "removed; its rows, which are nowhere else, are dropped"
                : "removed; its rows are dropped. Refused while changes of it wait for the server"
            changes.append(ModelChange(.losesData, object.name, text))
        }
    }

    /// Operations of the kind `other` are objects on the device too, with their parameters as attributes. With other parameters one is another:
    /// its rows are calls, and they are gone when they are answered.
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
                var comparison = ObjectComparison(owner.operationObject(former), in: old, object, in: new)
                comparison.run()
                kept.insert(owner.operationObject(former).name)
                objects.append(comparison.upgrade)
            }
        }
        removedObjects += old.operationObjects.filter { !kept.contains($0.name) }
    }

    /// The model of before that belongs to one of now: the same name wins over what `was` says, which may be of an older model.
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
                changes.append(ModelChange(.migration, "package", "version \(old.version) becomes \(new.version); all rows come again"))
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
                if former.type != key.type { changes.append(ModelChange(.safe, place, "a \(former.type) becomes a \(key.type)")) }
            } catch { changes.append(ModelChange(.impossible, place, error.reason)) }
        }
        for key in old.personalizationKeys where !new.personalizationKeys.contains(where: { $0.name == key.name }) {
            changes.append(ModelChange(.losesData, "personalization key \(key.name)", "removed; its value is dropped"))
        }
    }
}

/// One object of the newer model.
package struct ObjectUpgrade: Sendable {
    /// As it was; nil where it is new.
    package var old: ObjectModel?
    package var new: ObjectModel
    /// The attributes of the newer model, in its order.
    package var attributes: [AttributeUpgrade]
    /// The attributes that the newer model does not have.
    package var removedAttributes: [AttributeModel] = []
    /// The relationships whose reference the rows hold, in the order of the newer model, with their former names; nil where there was none.
    package var references: [(name: String, old: String?)]
    /// Relationships whose reference the rows do not hold any longer.
    package var removedReferences: [String] = []

    /// A new object: everything in it is new.
    init(added object: ObjectModel, in model: PackageModel) {
        new = object
        attributes = object.attributes.map { AttributeUpgrade(new: $0) }
        references = model.references(of: object).map { ($0.name, nil) }
    }
}

/// One attribute of the newer model.
package struct AttributeUpgrade: Sendable {
    /// As it was; nil where it is new.
    package var old: AttributeModel?
    package var new: AttributeModel
    package var conversion = ValueConversion.none

    /// Values that are longer than before allowed stand in the way.
    package var isShorter: Bool {
        guard let old, let length = new.length else { return false }
        return old.length.map { $0 > length } ?? true
    }

    /// Missing values stand in the way.
    package var mustHaveValue: Bool { old.map { $0.mayBeNull && !new.mayBeNull } ?? false }
}

/// The rule by which names of two models belong together.
enum FormerName {
    /// The element of before with this name; else the one that `was` names; else one whose name differs in upper and lower case alone.
    /// What has its own name in both models belongs to nobody else.
    static func match<Element>(
        _ name: String, was: String?, among old: [Element], of new: [String], named: (Element) -> String
    ) -> Element? {
        if let same = old.first(where: { named($0) == name }) { return same }
        let free = old.filter { !new.contains(named($0)) }
        if let was, let former = free.first(where: { named($0) == was }) { return former }
        return free.first { named($0).lowercased() == name.lowercased() }
    }
}

/// A package's version in the order of time: `1.9` is before `1.10`. What is not made of numbers comes neither before nor after.
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
