import Foundation
import Testing

@testable import MobileServer

/// The limit on concurrent logins.
@Suite struct LoginGateTests {
    @Test("so many logins go at a time; another one waits, and is refused when its turn does not come")
    func slots() throws {
        let gate = LoginGate(slots: 2, patience: .milliseconds(20))
        let entered = DispatchSemaphore(value: 0), leave = DispatchSemaphore(value: 0), left = DispatchSemaphore(value: 0)
        for _ in 0..<2 {
            Thread.detachNewThread {
                try? gate.run {
                    entered.signal()
                    leave.wait()
                }
                left.signal()
            }
        }
        entered.wait()
        entered.wait()
        let error = #expect(throws: RequestFailure.self) { try gate.run { Issue.record("a third one at a time") } }
        #expect(error?.code == 503)
        for _ in 0..<2 { leave.signal() }
        for _ in 0..<2 { left.wait() }
        #expect(try gate.run { 7 } == 7, "there is room again")
    }

    @Test("what is counted of failures is bounded, and the newest stay")
    func bounded() {
        let throttle = LoginThrottle()
        for number in 0..<LoginThrottle.capacity {
            throttle.failed(user: "user\(number)", address: "10.\(number >> 16).\(number >> 8 & 255).\(number & 255)", now: Int64(number))
        }
        for _ in 0..<6 { throttle.failed(user: "ada", address: "10.9.9.9", now: 30_000) }
        #expect(throttle.count <= LoginThrottle.capacity)
        #expect(throttle.delay(user: "ada", address: "10.9.9.9", now: 30_000) == 2000)
        #expect(throttle.delay(user: "ada", address: "10.9.9.9", now: 0) == 2000, "a clock that was set back adds nothing")
        throttle.failed(user: "eve", address: "10.9.9.9", now: 30_000 + LoginThrottle.memory)
        #expect(throttle.delay(user: "ada", address: "10.9.9.9", now: 30_000 + LoginThrottle.memory) == 0)
    }

    @Test("an address of IPv4 is the same one when it comes as one of IPv6")
    func mappedAddresses() {
        let throttle = LoginThrottle()
        for _ in 0..<6 { throttle.failed(user: "ada", address: "::ffff:10.0.0.1", now: 0) }
        #expect(throttle.delay(user: "ada", address: "::ffff:10.0.0.1", now: 0) == 2000)
        #expect(throttle.delay(user: "ada", address: "::ffff:10.0.0.2", now: 0) == 0)
        #expect(throttle.delay(user: "ada", address: "10.0.0.1", now: 0) == 2000)
    }
}
