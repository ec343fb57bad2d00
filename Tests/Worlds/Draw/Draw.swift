internal import TestSupport

/// Draws worlds from seeds. Each seed has a *theme*, two features that its world contains in any case: seed after seed goes through all pairs, so that rare
/// pairs meet as often as frequent ones.
package struct Draw {
    private var random: SeededGenerator
    private let seed: UInt64

    /// The draw of one seed; the same seed gives the same world.
    package init(seed: UInt64) {
        self.seed = seed
        random = SeededGenerator(seed: seed &* 0x9E37_79B9 &+ 1)
    }

    /// All pairs of features, in the order in which seeds have them as their themes.
    package static let pairs: [(Feature, Feature)] = {
        var pairs: [(Feature, Feature)] = []
        for (place, first) in Feature.allCases.enumerated() { for second in Feature.allCases[..<place] { pairs.append((first, second)) } }
        var random = SeededGenerator(seed: 41)
        pairs.shuffle(using: &random)
        return pairs
    }()

    /// Draws the world with a history of this number of steps.
    package mutating func world(steps: Int) -> World {
        let theme = Self.pairs[Int(seed % UInt64(Self.pairs.count))]
        var objects = self.objects(theme)
        // Two features may exclude each other where chance brings them together: then they are drawn apart.
        for _ in 0..<100 where !World.features(of: objects).isSuperset(of: [theme.0, theme.1]) { objects = self.objects(theme) }
        let users = (0..<2).map { _ in regions() }
        let devices = (0..<Int.random(in: 1...3, using: &random)).map { _ in
            WorldDevice(user: Int.random(in: 0...1, using: &random), regions: regions(), hasOtherPackage: isOne(of: 5))
        }
        var world = World(seed: seed, objects: objects, devices: devices, users: users, steps: [])
        world.steps = (0..<steps).map { _ in step() }
        return world
    }

    private mutating func objects(_ theme: (Feature, Feature)) -> [WorldObject] {
        var objects: [WorldObject] = []
        let count = Int.random(in: 2...4, using: &random)
        for _ in 0..<count { objects.append(WorldObject(key: element(WorldObject.Key.allCases), attributes: [], references: [], partition: .all)) }
        for object in objects.indices {
            objects[object].attributes = (0..<Int.random(in: 1...3, using: &random)).map { _ in attribute(element(ValueType.allCases)) }
            for _ in 0..<element([0, 1, 1, 1, 2]) { addReference(element([false, false, true]), &objects, object) }
            objects[object].partition = element([.all, .all, .region, .region, .bound])
            objects[object].refusesConflicts = isOne(of: 4)
            objects[object].group = element([.standard, .standard, .standard, .standard, .side, .far])
            if let reference = objects[object].references.first, reference.target < object, objects[reference.target].hasRegion, isOne(of: 3) {
                objects[object].partition = .parent(0)
            }
            for trigger in WorldObject.Trigger.allCases where isOne(of: 8) { objects[object].triggers.insert(trigger) }
        }
        for feature in [theme.0, theme.1] { force(feature, &objects) }
        repair(&objects)
        return objects
    }

    private mutating func element<T>(_ choices: [T]) -> T { choices[Int.random(in: 0..<choices.count, using: &random)] }
    private mutating func isOne(of count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }
    private mutating func regions() -> Set<Region> { element([[.north], [.north], [.east], [.north, .east], [.north, .south]]) }

    private mutating func attribute(_ type: ValueType) -> WorldAttribute {
        let fate = element([WorldAttribute.Fate.same, .same, .same, .added, .removed, .renamed, .retyped])
        return WorldAttribute(
            type: type, isNullable: [.added, .removed].contains(fate) || isOne(of: 2), inVersionTwo: fate, isSearchable: isOne(of: 3),
            getsUnfitValues: isOne(of: 6))
    }

    /// Adds a reference to an earlier object, or a nullable one to any.
    private mutating func addReference(_ isForward: Bool, _ objects: inout [WorldObject], _ object: Int) {
        guard !isForward, object > 0 else {
            let target = Int.random(in: isForward ? object..<objects.count : 0..<objects.count, using: &random)
            objects[object].references.append(
                WorldReference(
                    target: target, isNullable: true, hasInverse: isOne(of: 2), onDelete: element([.noAction, .setNull]), isSingle: isOne(of: 5)))
            return
        }
        let isNullable = isOne(of: 2), isComposite = !isNullable && isOne(of: 2)
        var reference = WorldReference(target: Int.random(in: 0..<object, using: &random), isNullable: isNullable, isComposite: isComposite)
        reference.hasInverse = isComposite || isOne(of: 2)
        reference.onDelete = element(isNullable ? WorldReference.OnDelete.allCases : [.noAction, .cascade])
        objects[object].references.append(reference)
    }

    /// Gives a feature to one of the objects.
    private mutating func force(_ feature: Feature, _ objects: inout [WorldObject]) {
        let object = Int.random(in: 0..<objects.count, using: &random)
        if let key = WorldObject.Key.allCases.first(where: { $0.feature == feature }) {
            objects[object].key = key
        } else if let type = ValueType.allCases.first(where: { $0.feature == feature }) {
            objects[object].attributes.append(attribute(type))
        } else {
            forceOther(feature, &objects, object)
        }
    }

    private mutating func forceOther(_ feature: Feature, _ objects: inout [WorldObject], _ object: Int) {
        let last = objects.count - 1
        func add(_ reference: WorldReference, to object: Int) { objects[object].references.insert(reference, at: 0) }
        switch feature {
        case .allRows: objects[object].partition = .all
        case .ownRegion: objects[object].partition = .region
        case .boundRegion: objects[object].partition = .bound
        case .parentsRegion:
            objects[0].partition = .region
            add(WorldReference(target: 0, isNullable: isOne(of: 2)), to: last)
            objects[last].partition = .parent(0)
        case .nullableReference: add(WorldReference(target: 0, isNullable: true), to: object)
        case .requiredReference: add(WorldReference(target: 0, isNullable: false), to: last)
        case .selfReference: add(WorldReference(target: object, isNullable: true, onDelete: element([.noAction, .setNull])), to: object)
        case .forwardReference: add(WorldReference(target: last, isNullable: true, hasInverse: isOne(of: 2)), to: 0)
        case .composite:
            add(
                WorldReference(target: 0, isNullable: false, isComposite: true, hasInverse: true, onDelete: element([.noAction, .cascade])), to: last)
        case .list: add(WorldReference(target: 0, isNullable: true, hasInverse: true), to: last)
        case .cascade: add(WorldReference(target: 0, isNullable: isOne(of: 2), onDelete: .cascade), to: last)
        case .setNull: add(WorldReference(target: 0, isNullable: true, onDelete: .setNull), to: last)
        case .oneToOne: add(WorldReference(target: 0, isNullable: true, hasInverse: isOne(of: 2), isSingle: true), to: last)
        case .linkObject: for target in [0, last / 2] { add(WorldReference(target: target, isNullable: false), to: last) }
        case .aside: objects[object].group = .side
        case .far: objects[object].group = .far
        case .refusesConflicts: objects[object].refusesConflicts = true
        case .computes: objects[object].triggers.insert(.compute)
        case .refuses: objects[object].triggers.insert(.refuse)
        case .moves:
            if !objects[object].hasRegion { objects[object].partition = .region }
            objects[object].triggers.insert(.move)
        case .archives: objects[object].triggers.insert(.archive)
        case .keeps: objects[object].triggers.insert(.keep)
        case .nullableValue: objects[object].attributes.append(WorldAttribute(type: element(ValueType.allCases), isNullable: true))
        case .unfitValue:
            objects[object].attributes.append(WorldAttribute(type: element(ValueType.allCases), isNullable: isOne(of: 2), getsUnfitValues: true))
        case .searchable: objects[object].attributes.append(WorldAttribute(type: .string, isNullable: isOne(of: 2), isSearchable: true))
        case .retypedAttribute:
            objects[object].attributes.append(
                WorldAttribute(type: element(WorldAttribute.retypable), isNullable: isOne(of: 2), inVersionTwo: .retyped))
        case .addedAttribute, .removedAttribute, .renamedAttribute:
            let fate = [Feature.addedAttribute: WorldAttribute.Fate.added, .removedAttribute: .removed][feature] ?? .renamed
            objects[object].attributes.append(
                WorldAttribute(type: element(ValueType.allCases), isNullable: fate != .renamed || isOne(of: 2), inVersionTwo: fate))
        default: break
        }
    }

    /// Takes back what the rules of models exclude.
    private func repair(_ objects: inout [WorldObject]) {
        for object in objects.indices {
            if objects[object].references.count > 3 { objects[object].references.removeLast(objects[object].references.count - 3) }
            if case .parent(let index) = objects[object].partition {
                let target = objects[object].references[index].target
                if !objects[target].hasRegion || target == object { objects[object].partition = .all }
            }
            if !objects[object].hasRegion { objects[object].triggers.remove(.move) }
            for index in objects[object].attributes.indices {
                let attribute = objects[object].attributes[index]
                if attribute.inVersionTwo == .retyped, !WorldAttribute.retypable.contains(attribute.type) {
                    objects[object].attributes[index].inVersionTwo = .same
                }
                if attribute.type != .string { objects[object].attributes[index].isSearchable = false }
                // A new row gets its large values after it is there.
                if attribute.type == .largeBinary { objects[object].attributes[index].isNullable = true }
            }
            // Parts are in the group of what they belong to.
            for reference in objects[object].references where reference.isComposite && reference.target < object {
                objects[object].group = objects[reference.target].group
            }
            var owners = 0
            for index in objects[object].references.indices {
                let isOwner = objects[object].references[index].target < object && objects[object].references[index].isComposite
                owners += isOwner ? 1 : 0
                if !isOwner || owners > 1 { objects[object].references[index].isComposite = false }
            }
        }
    }

    private static let weights: [(Step.Kind, Int)] = [
        (.create, 10), (.edit, 10), (.touch, 3), (.moveRegion, 3), (.setReference, 8), (.delete, 4), (.saveMany, 3), (.rollBack, 1), (.refresh, 1),
        (.page, 2), (.fillDisk, 1),
        (.submitRow, 4),
        (.submitAll, 9), (.cancelRow, 2), (.cancelAll, 1), (.sendLost, 1),
        (.synchronize, 14), (.synchronizeGroup, 5), (.cancelSynchronization, 1), (.loseUpload, 1), (.loseAnswer, 3), (.cutDownload, 2),
        (.sendAgain, 1), (.subscribe, 2), (.unsubscribe, 1),
        (.upgrade, 1),
        (.reopen, 1), (.cloneDevice, 1), (.replaceDevice, 1), (.switchUser, 1), (.saveDevice, 1), (.restoreDevice, 1), (.foreignInsert, 4),
        (.foreignEdit, 4),
        (.foreignMove, 2),
        (.foreignReference, 2), (.foreignDelete, 3), (.saveBackEnd, 1), (.restoreBackEnd, 1),
        (.restartServer, 1), (.loseState, 1), (.saveState, 1), (.restoreState, 1), (.prune, 1), (.passTime, 1), (.turnBackClock, 1),
        (.changeRights, 1), (.lock, 1), (.lockBackEnd, 1), (.deploy, 1), (.removeDevice, 1),
        (.removeSubscription, 1), (.impersonate, 1), (.renameColumn, 1),
    ]
    private static let kinds: [Step.Kind] = weights.flatMap { kind, weight in Array(repeating: kind, count: weight) }

    /// Copies of devices act as well, so that any number of a device has a meaning.
    private mutating func step() -> Step {
        Step(
            kind: element(Self.kinds), device: Int.random(in: 0..<12, using: &random),
            picks: (0..<10).map { _ in Int.random(in: 0..<1000, using: &random) })
    }
}
