/// How often two features met in one world.
package struct PairTable<Feature: RawRepresentable<String> & Hashable & Sendable>: Sendable {
    private var counts: [Pair: Int] = [:]
    /// The number of worlds.
    package private(set) var worlds = 0

    private struct Pair: Hashable, Sendable {
        let first: Feature, second: Feature

        init(_ one: Feature, _ other: Feature) { (first, second) = one.rawValue < other.rawValue ? (one, other) : (other, one) }
    }

    /// Nothing has met.
    package init() {}

    /// Counts the features of a world.
    package mutating func add(_ features: Set<Feature>) {
        worlds += 1
        let features = features.sorted { $0.rawValue < $1.rawValue }
        for (place, first) in features.enumerated() { for second in features[place...] { counts[Pair(first, second), default: 0] += 1 } }
    }

    /// Counts what others counted.
    package mutating func add(_ other: PairTable) {
        worlds += other.worlds
        counts.merge(other.counts, uniquingKeysWith: +)
    }

    /// The number of worlds that had both; of one feature with itself the number of worlds that had it.
    package func number(_ one: Feature, _ other: Feature) -> Int { counts[Pair(one, other)] ?? 0 }

    /// Pairs of these features that never met.
    package func missing(_ features: [Feature]) -> [String] {
        let features = features.sorted { $0.rawValue < $1.rawValue }
        return features.enumerated().flatMap { place, first in
            features[place...].filter { number(first, $0) == 0 }.map { first == $0 ? first.rawValue : "\(first.rawValue) + \($0.rawValue)" }
        }
    }

    /// The features with which one met least often.
    package func rarest(with feature: Feature, _ features: [Feature], count: Int = 3) -> String {
        Self.text(features.filter { $0 != feature }.map { ($0.rawValue, number(feature, $0)) }, count)
    }

    /// The smallest numbers, with their names.
    package static func text(_ numbers: [(String, Int)], _ count: Int = 3) -> String {
        numbers.sorted { ($0.1, $0.0) < ($1.1, $1.0) }.prefix(count).map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    }
}
