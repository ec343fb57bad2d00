import TestSupport

/// The random sequences of a test, by seed. `RANDOM_SEQUENCES=25` makes them 25 times as many, and `RANDOM_FIRST=1790000000` begins at that seed instead of 0:
/// `make soak` does both, with the time as the first seed, so that each run draws other sequences. `RANDOM_SEED=221` runs only that one.
enum RandomSequences {
    /// - Parameter found: seeds of long runs that found a fault; they are always included.
    static func seeds(_ count: UInt64, found: [UInt64] = []) -> [UInt64] {
        if let seed: UInt64 = TestSetting.number("RANDOM_SEED") { return [seed] }
        let first: UInt64 = TestSetting.number("RANDOM_FIRST") ?? 0
        let seeds = first..<first + count * (TestSetting.number("RANDOM_SEQUENCES") ?? 1)
        return Array(seeds) + found.filter { !seeds.contains($0) }
    }
}
