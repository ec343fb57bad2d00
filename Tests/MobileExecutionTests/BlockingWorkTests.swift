import Dispatch
import Foundation
import MobileExecution
import Synchronization
import TestSupport
import Testing

/// Work that blocks has its own threads: any amount of it leaves the threads of other work free.
@Suite struct BlockingWorkTests {
    /// Holds jobs until it is opened, and reports their arrival.
    final class Gate: Sendable {
        private let arrived = DispatchSemaphore(value: 0)
        private let opened = DispatchSemaphore(value: 0)

        /// The work of a job.
        func pass() {
            arrived.signal()
            opened.wait()
            opened.signal()
        }

        /// Waits for this number of jobs; false if they do not arrive. A pool that grows by one thread per second is too slow.
        func wait(for count: Int) -> Bool { BlockingWorkTests.wait(for: count, arrived) }

        func open() { opened.signal() }
    }

    private static func wait(for count: Int, _ signals: DispatchSemaphore) -> Bool {
        let deadline = DispatchTime.now() + 20
        return (0..<count).allSatisfy { _ in signals.wait(timeout: deadline) == .success }
    }

    /// The number of running jobs, its maximum, and the number of finished jobs.
    final class Count: Sendable {
        private let running = Atomic(0), most = Atomic(0), ended = Atomic(0)

        func begin() {
            let now = running.add(1, ordering: .sequentiallyConsistent).newValue
            _ = most.max(now, ordering: .sequentiallyConsistent)
        }

        func end() {
            running.subtract(1, ordering: .sequentiallyConsistent)
            ended.add(1, ordering: .sequentiallyConsistent)
        }

        var maximum: Int { most.load(ordering: .sequentiallyConsistent) }
        var done: Int { ended.load(ordering: .sequentiallyConsistent) }
    }

    @Test("blocked jobs keep no thread of Dispatch's global queues and none of Swift's from others")
    func starvesNobody() async throws {
        let gate = Gate(), count = 64, threads = OwnThreads()
        let jobs = (0..<count).map { _ in Task(executorPreference: threads) { try await BlockingWork.run { gate.pass() } } }
        let areBlocked = await OwnThreads.run { gate.wait(for: count) }
        #expect(areBlocked, "\(count) jobs do not run at the same time")
        let onDispatch = DispatchSemaphore(value: 0)
        for _ in 0..<count { DispatchQueue.global().async { onDispatch.signal() } }
        let dispatchRuns = await OwnThreads.run { Self.wait(for: count, onDispatch) }
        #expect(dispatchRuns, "Dispatch's global queue has no thread left")
        let sum = await withTaskGroup(of: Int.self) { group in
            for number in 0..<1000 { group.addTask { number } }
            return await group.reduce(0, +)
        }
        #expect(sum == 499_500)
        gate.open()
        for job in jobs { try await job.value }
    }

    @Test("at most so many jobs run at the same time as there are threads, the others wait and run later")
    func bounded() async throws {
        let work = BlockingWork(threads: 3), gate = Gate(), count = Count(), threads = OwnThreads()
        let jobs = (0..<20).map { _ in
            Task(executorPreference: threads) {
                try await work.run {
                    count.begin()
                    gate.pass()
                    count.end()
                }
            }
        }
        let haveCome = await OwnThreads.run { gate.wait(for: 3) }
        #expect(haveCome)
        gate.open()
        for job in jobs { try await job.value }
        #expect(count.maximum == 3 && count.done == 20)
    }

    @Test("what a job throws comes out as it is")
    func throwing() async throws {
        struct Broken: Error {}
        await #expect(throws: Broken.self) { try await BlockingWork.run { throw Broken() } }
    }
}
