/// Runs many worlds on several threads.
package struct WorldSeries: Sendable {
    /// A world that failed, and its failure.
    package struct Found: Sendable {
        package let seed: UInt64
        package let world: World
        package let failure: WorldFailure
    }

    /// The worlds that failed, in the order of seeds.
    package private(set) var found: [Found] = []
    /// The pairs that met.
    package private(set) var met: MetPairs

    /// Draws and runs the worlds of these seeds.
    /// - Parameters:
    ///   - steps: the steps of each world.
    ///   - avoided: known faults that they keep away from.
    ///   - stores: where they have back end and state.
    ///   - threads: the number of worlds at a time.
    ///   - stopsEarly: whether no world begins after one has failed.
    ///   - report: called for each failure, on any thread.
    package init(
        _ seeds: Range<UInt64>, steps: Int = 60, avoiding avoided: Set<KnownFault>, in stores: Stores = .sqlite, threads: Int,
        stopsEarly: Bool = false,
        report: @escaping @Sendable (Found) -> Void = { _ in }
    ) {
        met = MetPairs()
        let parts = SeedThreads.run(seeds, threads: threads, stopsEarly: stopsEarly, from: (found: [Found](), met: met)) { seed, part in
            var draw = Draw(seed: seed)
            let world = draw.world(steps: steps, in: stores).avoiding(avoided), run = WorldRun(world, avoiding: avoided, in: stores)
            part.met.add(world, run)
            guard let failure = run.failure else { return false }
            let found = Found(seed: seed, world: world, failure: failure)
            part.found.append(found)
            report(found)
            return true
        }
        for part in parts {
            found += part.found
            met.add(part.met)
        }
        found.sort { $0.seed < $1.seed }
    }
}
