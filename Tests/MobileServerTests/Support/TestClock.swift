import Synchronization

/// A clock that a test moves.
final class TestClock: Sendable {
    private let time: Mutex<Int64>

    /// - Parameter milliseconds: since 1970.
    init(_ milliseconds: Int64 = 1_800_000_000_000) { time = Mutex(milliseconds) }

    var now: Int64 { time.withLock { $0 } }
    func advance(days: Int64 = 0, milliseconds: Int64 = 0) { time.withLock { $0 += days * 86_400_000 + milliseconds } }
}
