internal import Synchronization

/// A clock that only moves when somebody moves it: time in simulations and tests.
public final class VirtualClock: Sendable {
    private let time: Mutex<Duration>

    /// - Parameter start: what the clock shows first; default zero.
    public init(start: Duration = .zero) { time = Mutex(start) }

    /// What the clock shows.
    public var now: Duration { time.withLock { $0 } }

    /// Moves the clock forward.
    public func advance(by duration: Duration) {
        precondition(duration >= .zero, "time does not go back")
        time.withLock { $0 += duration }
    }
}

/// A generator of numbers that look random and are the same for the same seed (SplitMix64).
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// A generator; the same seed gives the same numbers.
    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
