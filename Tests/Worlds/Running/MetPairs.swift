/// How often features met: in one world, and with steps that were about them.
package struct MetPairs: Sendable {
    private var worlds: [Pair: Int] = [:]
    private var steps: [Meeting: Int] = [:]
    /// The number of worlds.
    package private(set) var count = 0

    private struct Pair: Hashable {
        let first: Feature, second: Feature
    }

    /// Nothing has met.
    package init() {}

    /// Counts what met in a world.
    package mutating func add(_ world: World, _ run: WorldRun) {
        count += 1
        let features = world.features.sorted { $0.rawValue < $1.rawValue }
        for (place, first) in features.enumerated() {
            for second in features[place...] { worlds[Pair(first: first, second: second), default: 0] += 1 }
        }
        for meeting in run.met { steps[meeting, default: 0] += 1 }
    }

    /// Counts what others counted.
    package mutating func add(_ other: MetPairs) {
        count += other.count
        worlds.merge(other.worlds, uniquingKeysWith: +)
        steps.merge(other.steps, uniquingKeysWith: +)
    }

    /// Pairs of features, and of a step and a feature, that never met.
    package var missing: [String] {
        let features = Feature.allCases.sorted { $0.rawValue < $1.rawValue }
        var missing: [String] = []
        for (place, first) in features.enumerated() {
            for second in features[place...] where worlds[Pair(first: first, second: second)] == nil {
                missing.append("\(first.rawValue) + \(second.rawValue)")
            }
        }
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
        let features = Feature.allCases.sorted { $0.rawValue < $1.rawValue }
        return features.map { feature in
            func number(_ other: Feature) -> Int {
                worlds[feature.rawValue < other.rawValue ? Pair(first: feature, second: other) : Pair(first: other, second: feature)] ?? 0
            }
            let companions = features.filter { $0 != feature }.map { ($0.rawValue, number($0)) }.sorted { ($0.1, $0.0) < ($1.1, $1.0) }
            let kinds = Self.kinds.map { ($0.rawValue, steps[Meeting(kind: $0, feature: feature)] ?? 0) }.sorted { ($0.1, $0.0) < ($1.1, $1.0) }
            func text(_ pairs: ArraySlice<(String, Int)>) -> String { pairs.map { "\($0.0) \($0.1)" }.joined(separator: ", ") }
            return "\(feature.rawValue): \(number(feature)) worlds; with \(text(companions.prefix(3))); \(text(kinds.prefix(3)))"
        }.joined(separator: "\n")
    }
}
