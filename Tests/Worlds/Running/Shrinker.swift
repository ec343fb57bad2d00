/// Makes a history that fails shorter, and its model smaller, as long as it fails in the same way.
package struct Shrinker {
    private let avoided: Set<KnownFault>
    private let stores: Stores
    /// The number of runs that are left.
    private var budget: Int
    private var kind = WorldFailure.Kind.localFailure

    /// - Parameter runs: the number of worlds that are run at most.
    package init(avoiding avoided: Set<KnownFault> = [], in stores: Stores = .sqlite, runs: Int = 600) {
        (self.avoided, self.stores, budget) = (avoided, stores, runs)
    }

    /// Returns the smallest world that was found; `world` itself fails with `failure`.
    package mutating func shrink(_ world: World, _ failure: WorldFailure) -> World {
        kind = failure.kind
        var world = world
        if failure.step >= 0, failure.step < world.steps.count {
            var shorter = world
            shorter.steps.removeLast(world.steps.count - failure.step - 1)
            take(shorter, &world)
        }
        var size = 0
        repeat {
            size = Self.size(of: world)
            removeSteps(&world)
            simplifyModel(&world)
            simplifyPicks(&world)
        } while Self.size(of: world) < size && budget > 0
        return world
    }

    /// Replaces `world` if the candidate fails in the same way.
    @discardableResult
    private mutating func take(_ candidate: World, _ world: inout World) -> Bool {
        guard budget > 0, candidate != world else { return false }
        budget -= 1
        guard WorldRun(candidate, avoiding: avoided, in: stores).failure?.kind == kind else { return false }
        world = candidate
        return true
    }

    private static func size(of world: World) -> Int {
        world.steps.count * 10 + world.steps.reduce(0) { $0 + $1.picks.count { $0 != 0 } } + world.devices.count * 10
            + world.objects.indices.reduce(0) { sum, index in
                let object = world.objects[index]
                return sum + 10 + object.attributes.count + object.references.count * 3 + object.triggers.count + (object.partition == .all ? 0 : 1)
                    + (object.key == .long ? 0 : 1) + (object.group == .standard ? 0 : 1) + (object.refusesConflicts ? 1 : 0)
                    + object.attributes.count { $0.inVersionTwo != .same }
            }
    }

    private mutating func removeSteps(_ world: inout World) {
        var length = max(1, world.steps.count / 2)
        while true {
            var start = 0
            while start < world.steps.count, budget > 0 {
                var shorter = world
                shorter.steps.removeSubrange(start..<min(start + length, world.steps.count))
                if !take(shorter, &world) { start += length }
            }
            guard length > 1 else { return }
            length /= 2
        }
    }

    private mutating func simplifyModel(_ world: inout World) {
        for index in world.devices.indices.reversed() where world.devices.count > 1 {
            var smaller = world
            smaller.devices.remove(at: index)
            take(smaller, &world)
        }
        for index in world.devices.indices {
            var simpler = world
            simpler.devices[index].hasOtherPackage = false
            take(simpler, &world)
        }
        for object in world.objects.indices.reversed() where world.objects.count > 1 {
            if let smaller = world.without(object) { take(smaller, &world) }
        }
        for object in world.objects.indices {
            for index in world.objects[object].references.indices.reversed() where world.objects[object].partition != .parent(index) {
                var smaller = world
                smaller.objects[object].references.remove(at: index)
                if case .parent(let other) = smaller.objects[object].partition, other > index {
                    smaller.objects[object].partition = .parent(other - 1)
                }
                take(smaller, &world)
            }
            for index in world.objects[object].attributes.indices.reversed() where world.objects[object].attributes.count > 1 {
                var smaller = world
                smaller.objects[object].attributes.remove(at: index)
                take(smaller, &world)
            }
            simplify(object, &world)
        }
    }

    private mutating func simplify(_ object: Int, _ world: inout World) {
        func changed(_ change: (inout WorldObject) -> Void) -> World {
            var changed = world
            change(&changed.objects[object])
            return changed
        }
        take(changed { $0.triggers = [] }, &world)
        for trigger in world.objects[object].triggers.sorted() { take(changed { $0.triggers.remove(trigger) }, &world) }
        take(
            changed {
                $0.partition = .all; $0.triggers.remove(.move)
            }, &world)
        take(changed { $0.group = .standard }, &world)
        take(changed { $0.refusesConflicts = false }, &world)
        take(changed { $0.hasText = false }, &world)
        take(changed { $0.key = .long }, &world)
        for index in world.objects[object].attributes.indices {
            take(changed { $0.attributes[index] = WorldAttribute(type: .int, isNullable: false) }, &world)
            take(changed { $0.attributes[index].inVersionTwo = .same }, &world)
            take(changed { $0.attributes[index].isSearchable = false }, &world)
        }
        for index in world.objects[object].references.indices {
            take(changed { $0.references[index].isComposite = false }, &world)
            if !world.objects[object].references[index].isComposite { take(changed { $0.references[index].hasInverse = false }, &world) }
            take(changed { $0.references[index].onDelete = .noAction }, &world)
            take(changed { $0.references[index].isSingle = false }, &world)
        }
    }

    private mutating func simplifyPicks(_ world: inout World) {
        for step in world.steps.indices {
            var simpler = world
            simpler.steps[step].picks = []
            if take(simpler, &world) { continue }
            for pick in world.steps[step].picks.indices where world.steps[step].picks[pick] != 0 {
                for value in [0, 1, 2, 3] where value < world.steps[step].picks[pick] {
                    var simpler = world
                    simpler.steps[step].picks[pick] = value
                    if take(simpler, &world) { break }
                }
            }
        }
    }
}

extension World {
    /// The world without an object; nil if it is needed.
    func without(_ object: Int) -> World? {
        var world = self
        for other in objects.indices where other != object {
            let references = objects[other].references
            if case .parent(let index) = objects[other].partition, references[index].target == object { return nil }
            guard references.allSatisfy({ $0.target != object }) else { return nil }
            for index in references.indices where references[index].target > object { world.objects[other].references[index].target -= 1 }
        }
        world.objects.remove(at: object)
        return world
    }
}
