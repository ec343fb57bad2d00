/// How often features met: in one world, and with steps.
package struct MetPairs: Sendable {
    private var worlds = PairTable<Feature>()
    private var meetings: [Meeting: Int] = [:]
    /// The steps of each kind that were drawn, and those that did something.
    private var drawn: [Step.Kind: Int] = [:], done: [Step.Kind: Int] = [:]
    /// The features that worlds may have.
    private let features: [Feature]
    /// The number of worlds.
    package var count: Int { worlds.worlds }

    /// Nothing has met.
    package init() { features = Feature.allCases.sorted { $0.rawValue < $1.rawValue } }

    /// Counts what met in a world.
    package mutating func add(_ world: World, _ run: WorldRun) {
        worlds.add(world.features)
        for meeting in run.met { meetings[meeting, default: 0] += 1 }
        for step in world.steps { drawn[step.kind, default: 0] += 1 }
        done.merge(run.done, uniquingKeysWith: +)
    }

    /// Counts what others counted.
    package mutating func add(_ other: MetPairs) {
        worlds.add(other.worlds)
        meetings.merge(other.meetings, uniquingKeysWith: +)
        drawn.merge(other.drawn, uniquingKeysWith: +)
        done.merge(other.done, uniquingKeysWith: +)
    }

    /// Pairs of features, and of a step and a feature, that never met.
    package var missing: [String] {
        // A kind of step that is rare as a whole comes first: a line for each of its features would hide the others.
        let rare = kinds.filter { kind in features.allSatisfy { meetings[Meeting(kind: kind, feature: $0)] == nil } }
        var missing = rare.map { "\($0.rawValue) of anything" } + worlds.missing(features)
        for kind in kinds where !rare.contains(kind) {
            for feature in features where meetings[Meeting(kind: kind, feature: feature)] == nil {
                missing.append("\(kind.rawValue) of \(feature.rawValue)")
            }
        }
        return missing
    }

    private var kinds: [Step.Kind] { Step.Kind.allCases.filter { drawn[$0] != nil } }

    /// A line for each feature: the worlds that had it, its rarest companions, and the rarest steps. The last line has the steps that did something.
    package var table: String {
        var lines = features.map { feature in
            let kinds = kinds.map { ($0.rawValue, meetings[Meeting(kind: $0, feature: feature)] ?? 0) }
            let companions = worlds.rarest(with: feature, features)
            return "\(feature.rawValue): \(worlds.number(feature, feature)) worlds; with \(companions); \(PairTable<Feature>.text(kinds))"
        }
        let steps = kinds.map { "\($0.rawValue) \(done[$0] ?? 0) of \(drawn[$0] ?? 0)" }
        lines.append("steps that did something: " + steps.joined(separator: ", "))
        return lines.joined(separator: "\n")
    }
}
