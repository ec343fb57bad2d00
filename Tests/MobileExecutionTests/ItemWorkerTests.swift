import Dispatch
import MobileExecution
import Testing

@Suite struct ItemWorkerTests {
    private struct Refused: Error {}

    @Test func `items are worked on in their order, each once`() throws {
        let done = SystemLock<[Int]>([])
        let worker = try #require(ItemWorker<Int>(capacity: 2) { { item in done.withLock { $0.append(item) } } })
        for item in 0..<1000 { try worker.add(item) }
        try worker.finish()
        #expect(done.withLock { $0 } == Array(0..<1000))
        // An item after the end is dropped, and no call waits.
        for _ in 0..<10 { try worker.add(-1) }
        try worker.finish()
        #expect(done.withLock { $0.count } == 1000)
    }

    @Test func `items that wait are dropped by a cancellation, and the one in work is finished`() throws {
        let gate = DispatchSemaphore(value: 0), begun = DispatchSemaphore(value: 0), done = SystemLock<[Int]>([])
        let worker = try #require(
            ItemWorker<Int>(capacity: 2) {
                { item in
                    begun.signal()
                    gate.wait()
                    done.withLock { $0.append(item) }
                }
            })
        try worker.add(1)
        begun.wait()
        try worker.add(2)
        try worker.add(3)
        worker.cancel()
        gate.signal()
        #expect(throws: CancellationError.self) { try worker.finish() }
        #expect(throws: CancellationError.self) { try worker.add(4) }
        #expect(done.withLock { $0 } == [1])
    }

    @Test func `an item waits while as many others do as may`() throws {
        let gate = DispatchSemaphore(value: 0), begun = DispatchSemaphore(value: 0), isAdded = SystemLock(false)
        let worker = try #require(
            ItemWorker<Int>(capacity: 1) {
                { _ in
                    begun.signal()
                    gate.wait()
                }
            })
        try worker.add(1)
        begun.wait()
        try worker.add(2)
        let third = DispatchSemaphore(value: 0)
        #expect(
            SystemThread.start {
                try? worker.add(3)
                isAdded.withLock { $0 = true }
                third.signal()
            })
        // The first item is not done, and the second one waits: there is no place for the third one.
        #expect(third.wait(timeout: .now() + .milliseconds(20)) == .timedOut && !isAdded.withLock { $0 })
        for _ in 0..<3 { gate.signal() }
        third.wait()
        try worker.finish()
    }

    @Test func `a failure ends the work, and is thrown to the one who adds and finishes`() throws {
        let done = SystemLock(0)
        let worker = try #require(
            ItemWorker<Int>(capacity: 1) {
                { item in
                    if item == 3 { throw Refused() }
                    done.withLock { $0 += 1 }
                }
            })
        #expect(throws: Refused.self) { for item in 1...100 { try worker.add(item) } }
        #expect(throws: Refused.self) { try worker.finish() }
        #expect(throws: Refused.self) { try worker.add(1) }
        #expect(done.withLock { $0 } == 2)
    }
}
