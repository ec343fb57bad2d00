import Dispatch
import MobileExecution
import MobileStore
import PostgreSQLTestSupport
import Synchronization
import TestSupport
import Testing

@testable import MobileServer

/// Where events come from: looks at a back end, and messages of other processes.
@Suite(.runsOnce) struct EventSourceTests {
    @Test("a look finds a change, a wake makes it look at once, an error is reported once and the change is found afterwards")
    func watch() {
        struct Failure: Error {}
        let position = Atomic<Int64>(1), fails = Atomic(false), reads = Atomic(0), failures = Atomic(0)
        let watch = BackEndWatch(
            position: {
                if fails.load(ordering: .relaxed) { throw Failure() }
                return BackEndPosition(historyID: "", state: "\(position.load(ordering: .relaxed))")
            }, changed: { reads.add(1, ordering: .relaxed) }, failed: { _ in failures.add(1, ordering: .relaxed) })
        watch.start()
        watch.start()
        #expect(eventually { reads.load(ordering: .relaxed) == 1 })
        position.store(2, ordering: .relaxed)
        #expect(eventually { reads.load(ordering: .relaxed) == 2 })
        watch.wake()
        #expect(eventually { reads.load(ordering: .relaxed) == 3 })
        fails.store(true, ordering: .relaxed)
        #expect(eventually { failures.load(ordering: .relaxed) == 1 })
        watch.wake()
        fails.store(false, ordering: .relaxed)
        watch.wake()
        #expect(eventually { reads.load(ordering: .relaxed) == 4 } && failures.load(ordering: .relaxed) == 1)
        watch.close()
        #expect(!watch.isRunning)
    }

    private static func position(_ version: Int64, _ era: String = "") -> PartitionPosition { PartitionPosition(version: version, era: era) }

    private static func listener(_ partition: Int64, in registry: ListenerRegistry) throws -> EventListener {
        let topic = EventListener.Topic(package: "P:1", client: "c", group: "default", partitions: [partition: position(0)])
        let listener = EventListener(.init(user: "ada", application: "a", device: "d", clients: ["c"]), [topic]) { registry.remove($0) }
        try registry.add(listener)
        _ = listener.take()
        return listener
    }

    @Test("a refresh of another process arrives by a message, and without one by a look at the versions", .needsPostgreSQL, arguments: [true, false])
    func otherProcess(hasMessages: Bool) throws {
        let database = try PostgreSQLTestDatabase()
        let store = try PostgreSQLStateStore(database.configuration), other = try PostgreSQLStateStore(database.configuration)
        defer {
            try? store.close()
            try? other.close()
        }
        let partition = try other.write(label: "test") { try $0.number("INSERT INTO _partition (object, parameters) VALUES (1, '[]') RETURNING id") }
        let registry = ListenerRegistry(.init(all: 10, perUser: 10, perDevice: 10))
        let news = VersionNews(registry: registry, stateStore: store, log: { Issue.record(Comment(rawValue: $0)) })
        let listener = try Self.listener(partition, in: registry)
        let receiver = NotificationReceiver(
            database.configuration, news, rest: hasMessages ? .seconds(3600) : .milliseconds(50), reported: { _ in })
        receiver.start()
        defer { receiver.close() }
        for version: Int64 in 1...3 {
            try other.write(label: "test") { connection in
                try connection.execute("UPDATE _partition SET version = ?2 WHERE id = ?1", [.integer(partition), .integer(version)])
                // A text without numbers stands for all partitions.
                if hasMessages {
                    try connection.notify(StateNotifications.partitions, version == 2 ? "" : StateNotifications.text([partition]))
                }
            }
            let event = #"event: news"# + "\n" + #"data: {"pkg":"P:1","cid":"c","groups":["default"]}"# + "\n\n"
            #expect(eventually { listener.take() == .events(Array(event.utf8)) }, "version \(version)")
        }
    }

    @Test("a long list of partitions becomes a message about all of them")
    func longList() {
        #expect(StateNotifications.partitions(in: StateNotifications.text([1, 22, 333])) == [1, 22, 333])
        #expect(StateNotifications.text(Array(1_000_000...1_002_000)).isEmpty && StateNotifications.partitions(in: "") == nil)
    }

    @Test("many changes before a client reads are one event with each group once, and what it has received since is left out")
    func coalescing() throws {
        let registry = ListenerRegistry(.init(all: 10, perUser: 10, perDevice: 10))
        let topics = [
            EventListener.Topic(package: "P:1", client: "c", group: "first", partitions: [1: Self.position(5), 2: Self.position(5)]),
            EventListener.Topic(package: "P:1", client: "c", group: "second", partitions: [3: Self.position(5)]),
        ]
        let listener = EventListener(.init(user: "ada", application: "a", device: "d", clients: ["c"]), topics) { registry.remove($0) }
        try registry.add(listener)
        let wakes = Atomic(0)
        _ = listener.take()
        listener.attach { wakes.add(1, ordering: .relaxed) }
        for version: Int64 in 0...100 { registry.note((1...4).map { ($0, Self.position(version)) }) }
        func text(_ groups: String) -> EventListener.Step {
            .events(Array("event: news\ndata: {\"pkg\":\"P:1\",\"cid\":\"c\",\"groups\":[\(groups)]}\n\n".utf8))
        }
        #expect(listener.take() == text(#""first","second""#) && listener.take() == .wait && wakes.load(ordering: .relaxed) > 0)
        registry.note([(1, Self.position(100)), (3, Self.position(99))])
        #expect(listener.take() == .wait, "known versions are no news")
        // While the client synchronizes nothing is sent; what its answer contains is left out.
        listener.hold()
        registry.note([(1, Self.position(101)), (3, Self.position(102))])
        #expect(listener.take() == .wait)
        listener.note(delivered: [1: Self.position(101), 2: Self.position(100), 3: Self.position(101)])
        listener.release()
        #expect(listener.take() == text(#""second""#))
        registry.note([(2, nil)])
        #expect(listener.take() == text(#""first""#), "an unknown version counts as new")
        registry.note([(3, Self.position(90, "restored"))])
        #expect(listener.take() == text(#""second""#), "a version of another era counts as new")
    }
}
