import Testing

@testable import MobileSync

@Suite struct RequestQueueTests {
    @Test func `neighbours of one kind are served together, in their order`() {
        var queue = RequestQueue()
        let requests = [
            SynchronizationRequest(groups: ["a"]), SynchronizationRequest(groups: ["b"]),
            SynchronizationRequest(groups: ["a"], isUploadOnly: true), SynchronizationRequest(groups: ["c"]),
        ]
        let admissions = requests.map { queue.add($0) }
        #expect(admissions == [.queued(startsWork: true)] + Array(repeating: .queued(startsWork: false), count: 3))
        #expect(serve(&queue) == [[["a"], ["b"]], [["a"]], [["c"]]])
        #expect(!queue.isServed)
        let again = queue.add(requests[0])
        #expect(again == .queued(startsWork: true), "whoever comes first again starts the work")
    }

    @Test func `a request with a listener is served alone`() {
        final class Listener: SynchronizationStatusListener {
            func onSynchronizationStatusChange(_ info: inout SynchronizationStatusInfo) {}
        }
        var queue = RequestQueue()
        for request in [
            SynchronizationRequest(groups: ["a"]), SynchronizationRequest(groups: ["b"], listener: Listener()), SynchronizationRequest(groups: ["c"]),
        ] { _ = queue.add(request) }
        #expect(serve(&queue) == [[["a"]], [["b"]], [["c"]]])
    }

    /// Serves the queue to its end, and returns the groups of the requests of each run.
    private func serve(_ queue: inout RequestQueue) -> [[[String]]] {
        var served: [[[String]]] = []
        while let run = queue.take() {
            served.append(run.requests.map(\.groups))
            queue.end(run)
        }
        return served
    }

    @Test func `a request is found from the moment it is queued until its run has ended`() throws {
        var queue = RequestQueue()
        let request = SynchronizationRequest(groups: ["a"])
        _ = queue.add(request)
        let waiting = queue.disable(), taken = queue.take(), running = queue.disable()
        let run = try #require(taken)
        #expect(waiting.map(\.groups) == [["a"]] && running.map(\.groups) == [["a"]])
        #expect(queue.unwanted.isEmpty)
        request.cancel()
        #expect(queue.unwanted.count == 1)
        queue.end(run)
        let left = queue.disable()
        #expect(left.isEmpty && queue.unwanted.isEmpty)
    }

    @Test func `a queue that is disabled takes nothing, neither behind the others nor at once`() {
        var queue = RequestQueue()
        _ = queue.disable()
        let refused = queue.add(SynchronizationRequest(groups: ["a"]))
        #expect(refused == .refused && queue.waiting.isEmpty && !queue.isServed)
        let run = queue.takeAtOnce(SynchronizationRequest(groups: ["a"]))
        #expect(run?.requests == nil && queue.runs.isEmpty)
        queue.enable()
        let taken = queue.add(SynchronizationRequest(groups: ["a"]))
        #expect(taken == .queued(startsWork: true))
    }

    @Test func `combined groups come once, in the order of the model`() {
        let requests = [SynchronizationRequest(groups: ["c", "a"]), SynchronizationRequest(groups: ["a", "x"])]
        #expect(RequestQueue.union(requests, inOrderOf: ["a", "b", "c"]) == ["a", "c"])
    }
}
