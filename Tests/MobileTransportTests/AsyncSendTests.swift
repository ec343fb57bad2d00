import Dispatch
import Foundation
import MobileTransport
import TestSupport
import Testing

/// The `async` methods wait for their responses on their own threads.
@Suite struct AsyncSendTests {
    /// A transport whose requests wait until it is opened, and which reports their arrival.
    private final class ClosedTransport: Transport {
        private let arrived = DispatchSemaphore(value: 0)
        private let opened = DispatchSemaphore(value: 0)

        func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
            arrived.signal()
            opened.wait()
            opened.signal()
            return TransportResponse(status: 204)
        }

        /// Waits for this number of requests; false if they do not arrive. A pool that grows by one thread per second is too slow.
        func wait(for count: Int) -> Bool {
            let deadline = DispatchTime.now() + 20
            return (0..<count).allSatisfy { _ in arrived.wait(timeout: deadline) == .success }
        }

        func open() { opened.signal() }
    }

    @Test("requests that wait for their servers run at the same time, and keep no thread of Dispatch's global queues")
    func starvesNobody() async throws {
        let transport = ClosedTransport(), count = 48, threads = OwnThreads()
        let requests = (0..<count).map { _ in
            Task(executorPreference: threads) { try await transport.send(TransportRequest(url: "http://a.example/"), receive: { _ in }).status }
        }
        let areWaiting = await OwnThreads.run { transport.wait(for: count) }
        #expect(areWaiting, "\(count) requests do not run at the same time")
        let ran = DispatchSemaphore(value: 0)
        for _ in 0..<count { DispatchQueue.global().async { ran.signal() } }
        let dispatchRuns = await OwnThreads.run { (0..<count).allSatisfy { _ in ran.wait(timeout: .now() + 30) == .success } }
        #expect(dispatchRuns, "Dispatch's global queue has no thread left")
        transport.open()
        for request in requests { #expect(try await request.value == 204) }
    }
}
