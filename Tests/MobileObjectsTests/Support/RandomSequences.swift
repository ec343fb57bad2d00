import TestSupport

/// The number of random sequences of a test. `RANDOM_SEQUENCES=100` makes it a hundred times as large, as `make soak` does; `RANDOM_SEED=221` runs
/// only that one.
enum RandomSequences {
    /// - Parameter found: seeds of long runs that found a fault; they are always included.
    static func seeds(_ count: UInt64, found: [UInt64] = []) -> [UInt64] {
        if let seed: UInt64 = TestSetting.number("RANDOM_SEED") { return [seed] }
        let last = count * (TestSetting.number("RANDOM_SEQUENCES") ?? 1)
        return Array(0..<last) + found.filter { $0 >= last }
    }
}
