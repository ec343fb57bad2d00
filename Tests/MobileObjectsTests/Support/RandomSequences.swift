import TestSupport

/// How many random sequences a test runs. `RANDOM_SEQUENCES=100` makes it a hundred times as many, as `make soak` does; `RANDOM_SEED=221` runs
/// that one alone.
enum RandomSequences {
    static func seeds(_ count: UInt64) -> Range<UInt64> {
        if let seed: UInt64 = TestSetting.number("RANDOM_SEED") { return seed..<seed + 1 }
        return 0..<count * (TestSetting.number("RANDOM_SEQUENCES") ?? 1)
    }
}
