import MobileExecution
import TestSupport
import Testing

@testable import MobileSync

/// The parts of listening that need no network.
@Suite struct ListeningPartsTests {
    private func events(_ text: String, cutInto size: Int) throws -> [ServerEvent] {
        var reader = ServerEventReader(), events: [ServerEvent] = []
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: size) {
            try reader.take(bytes[start..<min(start + size, bytes.count)]) { events.append($0) }
        }
        return events
    }

    @Test("events are the same however the stream is cut, and whatever ends its lines", arguments: ["\n", "\r", "\r\n"])
    func reading(end: String) throws {
        let text = [
            ": comment", "", "event: listening", "data: {}", "", ":", "", "data", "data: two", "data:  three", "id: 7", "unknown: x", "",
            "retry: 250", "event: end", "data:{}", "", "retry: -1", "event: left", "data: out",
        ].joined(separator: end)
        let expected = [
            ServerEvent(name: "listening", data: "{}"), ServerEvent(name: "message", data: "\ntwo\n three"),
            ServerEvent(name: "end", data: "{}", retry: .milliseconds(250)),
        ]
        for size in [1, 2, 3, 7, 1000] { #expect(try events(text, cutInto: size) == expected, "pieces of \(size) bytes") }
    }

    @Test("an event that never ends is refused, any number of heartbeats is not")
    func longEvent() throws {
        #expect(throws: SyncError.self) { _ = try events(String(repeating: "x", count: ServerEventReader.longest + 1), cutInto: 65_536) }
        #expect(try events(String(repeating: ":\n\n", count: ServerEventReader.longest), cutInto: 65_536).isEmpty)
    }

    private static let policy = RetryPolicy(initialDelay: .seconds(1), maximumDelay: .seconds(60))

    @Test("reconnections come after growing delays; short connections lead to polls, and ten polls to another attempt")
    func plan() {
        var plan = ListeningPlan(), random = RandomNumberSource { 0 }
        func after(_ end: ListeningPlan.End) -> ListeningPlan.Step { plan.ended(end, Self.policy, pollingInterval: .seconds(300), &random) }
        #expect([1, 2, 4, 8].allSatisfy { after(.unreachable(retryAfter: nil)) == .listen(after: .seconds($0)) })
        #expect(after(.unreachable(retryAfter: .seconds(50))) == .listen(after: .seconds(50)))
        #expect(after(.lost) == .listen(after: .seconds(1)) && after(.unreachable(retryAfter: nil)) == .listen(after: .seconds(1)))
        #expect(after(.left(retry: .seconds(7))) == .listen(after: .seconds(7)))
        #expect(after(.short) == .listen(after: .seconds(1)) && after(.short) == .listen(after: .seconds(2)))
        #expect(after(.short) == .poll(after: .seconds(300)))
        for _ in 1..<ListeningPlan.polls { #expect(plan.polled(pollingInterval: .seconds(300), &random) == .poll(after: .seconds(300))) }
        #expect(plan.polled(pollingInterval: .seconds(300), &random) == .listen(after: .zero))
        #expect(after(.short) == .listen(after: .seconds(1)), "the attempt begins a new count")
        #expect(after(.refused(retryAfter: .seconds(500))) == .listen(after: .seconds(500)), "a busy server is tried again, when it wants")
        #expect(after(.refused(retryAfter: .seconds(500))) == .poll(after: .seconds(500)))
        // The largest number of the source takes all of the random part.
        random = RandomNumberSource { .max }
        #expect(after(.refused(retryAfter: nil)) == .poll(after: .seconds(150)), "polls are spread")
        #expect(after(.refused(retryAfter: .seconds(400))) == .poll(after: .seconds(600)), "and never come before the time that the server has set")
    }

    /// Synchronizations that a test ends.
    private final class Requests: Sendable {
        let list = SystemLock<[(groups: [String], outcome: Promise<SynchronizationResult, SyncError>)]>([])
        let isDisabled = SystemLock(false)

        func begin(_ groups: [String]) -> Promise<SynchronizationResult, SyncError>? {
            if isDisabled.withLock({ $0 }) { return nil }
            let outcome = Promise<SynchronizationResult, SyncError>()
            list.withLock { $0.append((groups, outcome)) }
            return outcome
        }

        var groups: [[String]] { list.withLock { $0.map(\.groups) } }
        func end(_ result: Result<SynchronizationResult, SyncError>) { list.withLock { $0.last?.outcome }?.resolve(result) }
    }

    @Test("news during a synchronization lead to one more; a failure is repeated when the server wants it; a refusal is not")
    func groups() {
        let requests = Requests(), work = SteppedWork()
        let groups = NotifiedGroups(
            Self.policy, RandomNumberSource { 0 }, work, interval: { $0 == "slow" ? .seconds(3600) : .zero }, synchronize: { requests.begin($0) })
        groups.add(["b", "a"])
        groups.add(["a"])
        groups.add(["c", "a"])
        #expect(requests.groups == [["a", "b"]])
        requests.end(.success(SynchronizationResult()))
        #expect(requests.groups == [["a", "b"], ["a", "c"]])
        requests.end(.failure(SyncError(.synchronize, .unavailable, "busy", retryAfter: .seconds(30))))
        #expect(requests.groups.count == 2 && work.delays.count == 1 && work.delays[0] > .seconds(29) && work.delays[0] <= .seconds(30))
        groups.add(["d"])
        #expect(requests.groups.last == ["d"], "other groups need not wait")
        requests.end(.failure(SyncError(.synchronize, .cancelled, "refused by the application")))
        #expect(requests.groups.count == 3)
        groups.add(["slow"])
        requests.end(.success(SynchronizationResult()))
        groups.add(["slow"])
        #expect(requests.groups.count == 4 && work.delays.last ?? .zero < .seconds(30), "the interval of a group is kept")
        requests.isDisabled.withLock { $0 = true }
        groups.add(["d"])
        #expect(requests.groups.count == 4)
        groups.stop()
        requests.isDisabled.withLock { $0 = false }
        work.elapse()
        work.runAll()
        #expect(requests.groups.count == 4, "nothing comes after the end")
    }
}
