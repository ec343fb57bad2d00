import TestSupport

/// The number of random sequences of a test. `RANDOM_SEQUENCES=100` makes it a hundred times as large, as `make soak` does; `RANDOM_SEED=221` runs
/// only that one.
enum RandomSequences {
    static func seeds(_ count: UInt64) -> Range<UInt64> {
        if let seed: UInt64 = TestSetting.number("RANDOM_SEED") { return seed..<seed + 1 }
        return 0..<count * (TestSetting.number("RANDOM_SEQUENCES") ?? 1)
    }
}
