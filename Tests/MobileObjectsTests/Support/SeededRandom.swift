import Foundation

/// How many random sequences a test runs. `RANDOM_SEQUENCES=100` makes it a hundred times as many, as `make soak` does; `RANDOM_SEED=221` runs
/// that one alone.
enum RandomSequences {
    static func seeds(_ count: UInt64) -> Range<UInt64> {
        if let seed = number("RANDOM_SEED") { return seed..<seed + 1 }
        return 0..<count * (number("RANDOM_SEQUENCES") ?? 1)
    }

    private static func number(_ name: String) -> UInt64? { ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) } }
}

/// Random numbers that come again for the same seed (SplitMix64).
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
