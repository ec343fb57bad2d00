internal import Foundation
internal import MobileExecution
internal import TestSupport

/// Work for many seeds on several threads.
package enum SeedThreads {
    /// The time after which a seed is taken for one that never ends. The slowest worlds, with processes on a busy machine, take a tenth of it.
    private static let limit = Duration.seconds(600)

    /// Runs `body` for each seed. Each thread has a result of its own, which it changes. A seed that does not end ends the program, which names it.
    /// - Parameters:
    ///   - threads: the number of seeds at a time.
    ///   - stopsEarly: whether no seed begins after one has failed.
    ///   - body: returns whether the seed failed.
    /// - Returns: the results of all threads.
    package static func run<Part: Sendable>(
        _ seeds: Range<UInt64>, threads: Int, stopsEarly: Bool, from empty: Part, _ body: @escaping @Sendable (UInt64, inout Part) -> Bool
    ) -> [Part] {
        let next = SystemLock(seeds.lowerBound), hasFailed = SystemLock(false), began = SystemLock<[UInt64: ContinuousClock.Instant]?>([:])
        Thread.detachNewThread { watch(began) }
        let waits = (0..<threads).map { _ in
            concurrently {
                var part = empty
                while true {
                    let seed = next.withLock { next in
                        defer { next += 1 }
                        return next
                    }
                    guard seed < seeds.upperBound, !stopsEarly || !hasFailed.withLock({ $0 }) else { return part }
                    began.withLock { $0?[seed] = .now }
                    if body(seed, &part) { hasFailed.withLock { $0 = true } }
                    began.withLock { _ = $0?.removeValue(forKey: seed) }
                }
            }
        }
        let parts = waits.map { $0() }
        began.withLock { $0 = nil }
        return parts
    }

    /// Ends the program when a seed takes too long, until there are no more seeds.
    private static func watch(_ began: SystemLock<[UInt64: ContinuousClock.Instant]?>) {
        while let running = began.withLock({ $0 }) {
            if let stuck = running.first(where: { $0.value + limit < .now })?.key {
                print("seed \(stuck) does not end: it has run for \(limit.components.seconds) seconds. Run it alone, and look at its threads.")
                exit(70)
            }
            Thread.sleep(forTimeInterval: 1)
        }
    }
}
