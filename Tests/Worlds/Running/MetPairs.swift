/// How often features met: in one world, and with steps that were about them.
package struct MetPairs: Sendable {
    private var worlds = PairTable<Feature>()
    private var steps: [Meeting: Int] = [:]
    /// The number of worlds.
    package var count: Int { worlds.worlds }

    /// Nothing has met.
    package init() {}

    /// Counts what met in a world.
    package mutating func add(_ world: World, _ run: WorldRun) {
        worlds.add(world.features)
        for meeting in run.met { steps[meeting, default: 0] += 1 }
    }

    /// Counts what others counted.
    package mutating func add(_ other: MetPairs) {
        worlds.add(other.worlds)
        steps.merge(other.steps, uniquingKeysWith: +)
    }

    /// Pairs of features, and of a step and a feature, that never met.
    package var missing: [String] {
        var missing = worlds.missing(Feature.allCases)
        let features = Feature.allCases.sorted { $0.rawValue < $1.rawValue }
        for kind in Self.kinds {
            for feature in features where steps[Meeting(kind: kind, feature: feature)] == nil {
                missing.append("\(kind.rawValue) of \(feature.rawValue)")
            }
        }
        return missing
    }

    /// The kinds of steps that are about one object.
    private static let kinds = Step.Kind.allCases.filter {
        [
            .create, .edit, .moveRegion, .setReference, .delete, .submitRow, .cancelRow, .foreignInsert, .foreignEdit, .foreignMove,
            .foreignReference, .foreignDelete,
        ]
        .contains($0)
    }

    /// A line for each feature: the worlds that had it, its rarest companions, and the rarest steps.
    package var table: String {
        Feature.allCases.sorted { $0.rawValue < $1.rawValue }.map { feature in
            let kinds = Self.kinds.map { ($0.rawValue, steps[Meeting(kind: $0, feature: feature)] ?? 0) }
            let companions = worlds.rarest(with: feature, Feature.allCases)
            return "\(feature.rawValue): \(worlds.number(feature, feature)) worlds; with \(companions); \(PairTable<Feature>.text(kinds))"
        }.joined(separator: "\n")
    }
}
