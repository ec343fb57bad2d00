import Dispatch
import Foundation
import MobileExecution
import TestSupport
import Testing

@testable import MobileServer

/// The lanes of workers.
@Suite struct WorkLaneTests {
    /// A job that runs until the test ends it.
    private final class Job: Sendable {
        let begun = DispatchSemaphore(value: 0), end = DispatchSemaphore(value: 0)

        func run() {
            begun.signal()
            end.wait()
        }
    }

    @Test("a lane runs its jobs in their order, and a full lane delays no other one")
    func order() {
        let lanes = WorkLanes([.messages: .init(running: 1), .synchronizations: .init(running: 1)])
        let job = Job(), done = SystemLock<[Int]>([]), ended = DispatchSemaphore(value: 0)
        lanes.start(.messages) { job.run() }
        job.begun.wait()
        for number in 0..<100 {
            lanes.start(.messages) {
                done.withLock { $0.append(number) }
                if number == 99 { ended.signal() }
            }
        }
        let other = DispatchSemaphore(value: 0)
        lanes.start(.synchronizations) { other.signal() }
        other.wait()
        #expect(done.withLock { $0 }.isEmpty && lanes.waitingCount(in: .messages) == 100)
        job.end.signal()
        ended.wait()
        #expect(done.withLock { $0 } == Array(0..<100))
        lanes.stop()
    }

    @Test("jobs beyond the limits of number and time are refused; the end drops those that wait, and waits for those that run")
    func limits() {
        let lanes = WorkLanes([.messages: .init(running: 1, waiting: 2, patience: .milliseconds(1))])
        let job = Job(), events = SystemLock<[String]>([])
        func note(_ text: String) -> @Sendable () -> Void { { events.withLock { $0.append(text) } } }
        lanes.start(.messages) { job.run() }
        job.begun.wait()
        for number in 1...3 { lanes.start(.messages, note("ran \(number)"), orRefuse: note("refused \(number)")) }
        #expect(events.withLock { $0 } == ["refused 3"])
        #expect(
            eventually {
                lanes.refuseLate()
                return events.withLock { $0 }.count == 3
            })
        #expect(events.withLock { $0 } == ["refused 3", "refused 1", "refused 2"])
        lanes.start(.messages, note("ran 4"), orRefuse: note("refused 4"))
        let stopped = concurrently { lanes.stop() }
        #expect(eventually { lanes.waitingCount(in: .messages) == 0 })
        lanes.start(.messages, note("ran 5"), orRefuse: note("refused 5"))
        job.end.signal()
        stopped()
        #expect(events.withLock { $0 }.suffix(2) == ["refused 2", "refused 5"])
    }
}
