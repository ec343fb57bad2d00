import Testing

@testable import MobileSync

@Suite struct RequestQueueTests {
    @Test func `neighbours of one kind are served together, in their order`() {
        var queue = RequestQueue()
        let requests = [
            SynchronizationRequest(groups: ["a"]), SynchronizationRequest(groups: ["b"]),
            SynchronizationRequest(groups: ["a"], isUploadOnly: true), SynchronizationRequest(groups: ["c"]),
        ]
        let startsWork = requests.map { queue.add($0) }
        #expect(startsWork == [true, false, false, false])
        var served: [[[String]]] = []
        while case let batch = queue.take(), !batch.isEmpty { served.append(batch.map(\.groups)) }
        #expect(served == [[["a"], ["b"]], [["a"]], [["c"]]])
        #expect(!queue.isServed)
        let startsAgain = queue.add(requests[0])
        #expect(startsAgain, "whoever comes first again starts the work")
    }

    @Test func `a request with a listener is served alone`() {
        final class Listener: SynchronizationStatusListener {
            func onSynchronizationStatusChange(_ info: inout SynchronizationStatusInfo) {}
        }
        var queue = RequestQueue()
        for request in [
            SynchronizationRequest(groups: ["a"]), SynchronizationRequest(groups: ["b"], listener: Listener()), SynchronizationRequest(groups: ["c"]),
        ] { _ = queue.add(request) }
        var served: [[[String]]] = []
        while case let batch = queue.take(), !batch.isEmpty { served.append(batch.map(\.groups)) }
        #expect(served == [[["a"]], [["b"]], [["c"]]])
    }

    @Test func `combined groups come once, in the order of the model`() {
        let requests = [SynchronizationRequest(groups: ["c", "a"]), SynchronizationRequest(groups: ["a", "x"])]
        #expect(RequestQueue.union(requests, inOrderOf: ["a", "b", "c"]) == ["a", "c"])
    }
}
