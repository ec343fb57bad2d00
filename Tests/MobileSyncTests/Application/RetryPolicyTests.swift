import MobileTransport
import TestSupport
import Testing

@testable import MobileSync

@Suite struct RetryPolicyTests {
    let policy = RetryPolicy(initialDelay: .seconds(1), maximumDelay: .seconds(5), jitter: 0.5, longestOrder: .seconds(100))
    /// The smallest random number.
    let least = RandomNumberSource { 0 }
    /// The largest random number. It has a separate declaration, because the compiler merges the closures of two constants in one declaration.
    let most = RandomNumberSource { .max }

    func range(_ failures: Int, _ retryAfter: Duration? = nil) -> [Duration] {
        [most, least].map { source in
            var source = source
            return policy.delay(failures: failures, retryAfter: retryAfter, using: &source)
        }.sorted()
    }

    @Test func `delays double up to the maximum, and chance takes up to half of them`() {
        #expect((0..<5).map { range($0)[1] } == [.seconds(1), .seconds(2), .seconds(4), .seconds(5), .seconds(5)])
        #expect((0..<3).map { range($0)[0] } == [.milliseconds(500), .seconds(1), .seconds(2)])
        #expect(range(1_000_000)[1] == .seconds(5) && range(-1)[1] == .seconds(1))
    }

    @Test func `an order is never undercut, up to the longest one that is obeyed`() {
        #expect(range(0, .seconds(10)) == [.seconds(10), .seconds(15)])
        #expect(range(2, .seconds(1)) == [.seconds(1), .seconds(3)])
        #expect(range(0, .seconds(1_000_000)) == [.seconds(100), .seconds(150)])
    }

    @Test func `a thousand devices that lost one server come back spread over half the delay`() {
        var generator = SeededGenerator(seed: 1)
        let delays = (0..<1000).map { _ in policy.delay(failures: 3, using: &generator) }
        let perTenth = Dictionary(grouping: delays) { Int(($0 - .milliseconds(2500)) / .milliseconds(250)) }.mapValues(\.count)
        #expect(delays.allSatisfy { $0 >= .milliseconds(2500) && $0 <= .seconds(5) })
        #expect((0..<10).allSatisfy { perTenth[$0, default: 0] > 60 })
    }

    @Test func `without a part for chance there is none`() {
        var generator = SeededGenerator(seed: 1)
        let exact = RetryPolicy(initialDelay: .seconds(3), jitter: 0)
        #expect(exact.delay(failures: 0, using: &generator) == .seconds(3))
        #expect(exact.delay(failures: 0, retryAfter: .seconds(7), using: &generator) == .seconds(7))
    }
}
