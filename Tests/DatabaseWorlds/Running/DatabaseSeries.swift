package import Worlds

/// Runs many databases on several threads.
package struct DatabaseSeries: Sendable {
    /// A database that failed, and its failure.
    package struct Found: Sendable {
        package let seed: UInt64
        package let world: DatabaseWorld
        package let failure: DatabaseFailure
    }

    /// The databases that failed, in the order of seeds.
    package private(set) var found: [Found] = []
    /// The pairs of features that met.
    package private(set) var met = PairTable<DatabaseFeature>()
    /// The number of changes that devices made.
    package private(set) var changes = 0
    /// The features that databases of the series may have.
    private let features: [DatabaseFeature]

    /// Draws and runs the databases of these seeds.
    /// - Parameters:
    ///   - avoided: known faults that they keep away from.
    ///   - threads: the number of databases at a time.
    ///   - stopsEarly: whether no database begins after one has failed.
    ///   - classes: the classes of each n-th model are compiled; 0 for none.
    ///   - report: called for each failure, on any thread.
    package init(
        _ seeds: Range<UInt64>, _ engine: DatabaseEngine, avoiding avoided: Set<DatabaseFault>, threads: Int, stopsEarly: Bool = false,
        classesOfEach classes: UInt64 = 50, report: @escaping @Sendable (Found) -> Void = { _ in }
    ) {
        let left = avoided.reduce(into: Set<DatabaseFeature>()) { $0.formUnion($1.features(engine)) }
        features = DatabaseFeature.all(engine).filter { !left.contains($0) }.sorted()
        let empty = (found: [Found](), met: PairTable<DatabaseFeature>(), changes: 0)
        let parts = SeedThreads.run(seeds, threads: threads, stopsEarly: stopsEarly, from: empty) { seed, part in
            var draw = DatabaseDraw(seed: seed, engine: engine, avoiding: avoided)
            let world = draw.world(), run = DatabaseRun(world, avoiding: avoided, compiles: classes > 0 && seed % classes == 0)
            part.met.add(world.features)
            part.changes += run.changes
            guard let failure = run.failure else { return false }
            let found = Found(seed: seed, world: world, failure: failure)
            part.found.append(found)
            report(found)
            return true
        }
        for part in parts {
            found += part.found
            met.add(part.met)
            changes += part.changes
        }
        found.sort { $0.seed < $1.seed }
    }

    /// Pairs of features that never met.
    package var missing: [String] { met.missing(features) }

    /// A line for each feature: the databases that had it, and its rarest companions.
    package var table: String {
        features.map { "\($0.rawValue): \(met.number($0, $0)) databases; with \(met.rarest(with: $0, features))" }.joined(separator: "\n")
    }
}
