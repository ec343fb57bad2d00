internal import MobileExecution
internal import TestSupport

/// Work for many seeds on several threads.
package enum SeedThreads {
    /// Runs `body` for each seed. Each thread has a result of its own, which it changes.
    /// - Parameters:
    ///   - threads: the number of seeds at a time.
    ///   - stopsEarly: whether no seed begins after one has failed.
    ///   - body: returns whether the seed failed.
    /// - Returns: the results of all threads.
    package static func run<Part: Sendable>(
        _ seeds: Range<UInt64>, threads: Int, stopsEarly: Bool, from empty: Part, _ body: @escaping @Sendable (UInt64, inout Part) -> Bool
    ) -> [Part] {
        let next = SystemLock(seeds.lowerBound), hasFailed = SystemLock(false)
        let waits = (0..<threads).map { _ in
            concurrently {
                var part = empty
                while true {
                    let seed = next.withLock { next in
                        defer { next += 1 }
                        return next
                    }
                    guard seed < seeds.upperBound, !stopsEarly || !hasFailed.withLock({ $0 }) else { return part }
                    if body(seed, &part) { hasFailed.withLock { $0 = true } }
                }
            }
        }
        return waits.map { $0() }
    }
}
