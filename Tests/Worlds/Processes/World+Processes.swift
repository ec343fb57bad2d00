internal import TestSupport

/// Worlds with processes are those of the same seeds, with steps about processes in place of some others, and with long texts.
extension Draw {
    /// Draws the world with a history of this number of steps.
    package mutating func world(steps: Int, in stores: Stores) -> World {
        let world = world(steps: steps)
        return stores == .processes ? world.withProcesses() : world
    }
}

extension World {
    private static let processSteps: [(Step.Kind, Int)] = [
        (.killProcess, 4), (.stopProcess, 2), (.drainProcess, 2), (.cutConnections, 2), (.restartPostgreSQL, 1), (.removeDevice, 1),
        (.removeSubscription, 1), (.writeText, 4),
    ]
    private static let kinds: [Step.Kind] = processSteps.flatMap { kind, weight in Array(repeating: kind, count: weight) }

    fileprivate func withProcesses() -> World {
        var world = self, random = SeededGenerator(seed: seed &* 0x5851_F42D &+ 11)
        world.processes = Int.random(in: 1...3, using: &random)
        world.objects[Int.random(in: 0..<objects.count, using: &random)].hasText = true
        for step in world.steps.indices where Int.random(in: 0..<4, using: &random) == 0 {
            world.steps[step].kind = Self.kinds[Int.random(in: 0..<Self.kinds.count, using: &random)]
        }
        return world
    }
}
