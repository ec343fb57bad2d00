import Dispatch
import Foundation
import MobileExecution
import MobileStore
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import MobileServer

/// Refreshes at the same time as others and as other work, on both engines of the state.
@Suite(.runsOnce) struct RefreshTests {
    /// A load that waits in the back end until the test lets it go.
    final class Stop: Sendable {
        private let reached = DispatchSemaphore(value: 0), go = DispatchSemaphore(value: 0)
        private let isUsed = SystemLock(false)

        /// Stops the first caller.
        func pass() {
            let isFirst = isUsed.withLock { isUsed in
                defer { isUsed = true }
                return !isUsed
            }
            guard isFirst else { return }
            reached.signal()
            _ = go.wait(timeout: .now() + 60)
        }

        func waitUntilReached() -> Bool { reached.wait(timeout: .now() + 60) == .success }
        func release() { go.signal() }
    }

    /// Work on a thread of its own.
    final class Work: Sendable {
        private let done = Promise<Void, any Error>()

        init(_ body: @escaping () throws -> Void) {
            let done = done
            nonisolated(unsafe) let body = body
            BlockingWork(threads: 1).start { done.resolve(Result { try body() }) }
        }

        func finish() throws { try done.wait(timeout: .seconds(60)) }
    }

    private static func article(_ name: String, on shelves: String = "A") -> Depot.Article { .init(name: name, shelves: shelves) }

    private static func depot(hasLog: Bool = true, hasSnapshots: Bool = true, articles: Int64 = 6) -> Depot {
        let depot = Depot(hasLog: hasLog, hasSnapshots: hasSnapshots)
        for number in 1...articles { depot.set(number, article("article \(number)")) }
        return depot
    }

    /// Rules under which all but the smallest comparisons are staged, and a server that hangs is noticed soon.
    private static func rules(beat: Duration = .seconds(1)) -> RefreshRules {
        RefreshRules(beat: beat, patience: .milliseconds(300), poll: .milliseconds(5), wait: .seconds(60), rowsInMemory: 3, bytesInMemory: 1 << 20)
    }

    // MARK: Other work

    @Test(
        "a back end that hangs in a load keeps no login, no password, no grant, no other package and no other partition waiting",
        arguments: StateStoreTests.Engine.available)
    func slowBackEnd(engine: StateStoreTests.Engine) throws {
        let depot = Self.depot(hasLog: false), other = Self.depot()
        for number: Int64 in 1...6 { other.set(number, Self.article("other", on: "Z")) }
        let servers = try DepotServers(depot, engine, rules: [Self.rules()], also: other)
        for isFirst in [true, false] {
            let stop = Stop()
            depot.willLoad.withLock { $0 = { _ in stop.pass() } }
            let refresh = Work { try servers.refresh("A") }
            #expect(stop.waitUntilReached())
            let server = servers.servers[0]
            try server.administration.setPassword("other \(isFirst)", ofUser: "ada")
            let keys = try servers.store.write(label: "test") { try server.packages[0].cache.takeKeys(10, in: $0) }
            #expect(keys.last - keys.first == 9)
            depot.willLoad.withLock { $0 = nil }
            // Whole requests, on a thread that the test does not wait for without end.
            let isAnswered = SystemLock(false)
            func login(_ package: String, _ shelf: JSONValue) -> Work {
                Work {
                    let isComplete = try servers.login(password: "other \(isFirst)", package: package, shelf: shelf)
                    isAnswered.withLock { $0 = isComplete }
                }
            }
            try login("Other:1.0", "Z").finish()
            #expect(isAnswered.withLock { $0 })
            // Another shelf that was loaded before, or is loaded in memory.
            if !isFirst {
                try servers.refresh("B")
                isAnswered.withLock { $0 = false }
                try login("Depot:1.0", "B").finish()
                #expect(isAnswered.withLock { $0 })
            }
            stop.release()
            try refresh.finish()
            #expect(try servers.rows("A").count == 6)
            try servers.refresh("B")
            for number: Int64 in 1...6 { depot.set(number, Self.article("changed")) }
        }
    }

    // MARK: Reported rows

    @Test("reported rows are read alone; the next request finds the other changes", arguments: StateStoreTests.Engine.available)
    func reported(engine: StateStoreTests.Engine) throws {
        let depot = Self.depot(hasLog: false), servers = try DepotServers(depot, engine)
        for number: Int64 in 1...3 { depot.set(number, Self.article("both", on: "AB")) }
        try servers.refresh("AB")
        let loads = depot.loads.withLock { $0 }
        depot.set(1, nil)
        depot.set(2, Self.article("reported", on: "AB"))
        depot.set(3, Self.article("silent", on: "AB"))
        for _ in 0..<2 { try servers.report([1, 2, 77], on: "AB") }
        for shelf in "AB" {
            let rows = try servers.rows(shelf)
            #expect(rows[1] == nil && rows[2]?.name == "reported" && rows[3]?.name == "both", "shelf \(shelf)")
            #expect(try servers.version(shelf) == 2, "shelf \(shelf): the second report is no news")
        }
        try servers.report([4], on: "C")
        #expect(try servers.rows("C").isEmpty && depot.loads.withLock { $0 } == loads, "no shelf was loaded as a whole")
        try servers.refresh("ABC")
        #expect(try servers.rows("A")[3]?.name == "silent" && servers.rows("B")[3]?.name == "silent")
        // A report of what was read already keeps the position: the next request loads nothing.
        let known = depot.loads.withLock { $0 }
        try servers.report([3], on: "AB")
        try servers.refresh("ABC")
        #expect(depot.loads.withLock { $0 } == known)
    }

    // MARK: One load for several requests

    @Test("requests that come during a load wait for it, and load nothing", arguments: StateStoreTests.Engine.available)
    func oneProcess(engine: StateStoreTests.Engine) throws {
        let depot = Self.depot(hasLog: false), servers = try DepotServers(depot, engine), stop = Stop()
        depot.willLoad.withLock { $0 = { _ in stop.pass() } }
        let refreshes = (0..<4).map { _ in Work { try servers.refresh("A") } }
        #expect(stop.waitUntilReached())
        #expect(eventually { servers.refresher().turns.waitingCount == 3 })
        stop.release()
        for refresh in refreshes { try refresh.finish() }
        #expect(depot.loads.withLock { $0 } == 1)
    }

    @Test("two servers load a partition once: the one that waits finds the changes since", .needsPostgreSQL)
    func twoServers() throws {
        let depot = Self.depot(), servers = try DepotServers(depot, .postgreSQL, count: 2), stop = Stop()
        depot.willLoad.withLock { $0 = { _ in stop.pass() } }
        let first = Work { try servers.refresh("A") }
        #expect(stop.waitUntilReached())
        let second = Work { try servers.refresh("A", on: 1) }
        #expect(eventually { servers.refresher(1).turns.isTaken(.allRows(backEnd: "depot")) })
        stop.release()
        try first.finish()
        try second.finish()
        #expect(depot.loads.withLock { $0 } == 1)
        #expect(try servers.version("A") == 1)
    }

    // MARK: Servers that stand still

    @Test("a server that stands still in a load is taken over, and what it read is not written when it continues", .needsPostgreSQL)
    func takenOver() throws {
        // Without a log, only the lease shows that the rows were compared meanwhile and found unchanged.
        let depot = Self.depot(hasLog: false)
        let servers = try DepotServers(depot, .postgreSQL, count: 2, rules: [Self.rules(beat: .seconds(3600)), Self.rules()])
        try servers.refresh("A")
        try servers.refresh("A", on: 1)
        let version = try servers.version("A"), rows = try servers.rows("A"), stop = Stop()
        depot.set(1, Self.article("for a moment"))
        depot.willLoad.withLock { $0 = { _ in stop.pass() } }
        let stopped = Work { try servers.refresh("A") }
        #expect(stop.waitUntilReached())
        depot.set(1, Self.article("article 1"))
        let before = try servers.store.read { try $0.number("SELECT number FROM _refresh") }
        try servers.refresh("A", on: 1)
        #expect(try servers.store.read { try $0.number("SELECT number FROM _refresh") } == before + 1)
        stop.release()
        try stopped.finish()
        #expect(try servers.version("A") == version && servers.rows("A") == rows)
    }

    @Test("the lease of a server that lives is not taken over, however long its load takes", .needsPostgreSQL)
    func beats() throws {
        let depot = Self.depot(), rules = Self.rules(beat: .milliseconds(20)), stop = Stop()
        let servers = try DepotServers(depot, .postgreSQL, count: 2, rules: [rules, rules])
        depot.willLoad.withLock { $0 = { _ in stop.pass() } }
        let first = Work { try servers.refresh("A") }
        #expect(stop.waitUntilReached())
        let second = Work { try servers.refresh("A", on: 1) }
        // Many times the patience of the second one.
        let beat = { try servers.store.read { try $0.number("SELECT beat FROM _refresh") } }
        #expect(try eventually { try beat() > 60 })
        #expect(depot.loads.withLock { $0 } == 1)
        stop.release()
        try first.finish()
        try second.finish()
        #expect(depot.loads.withLock { $0 } == 1)
    }

    @Test("the lease of a process that was killed costs the next one on the same file nothing")
    func killed() throws {
        let depot = Self.depot(), bench = try StateBench(.sqlite)
        var configuration = bench.configuration
        configuration.packages = [PackageDeployment(Depot.model)]
        configuration.packages[0].providedBackEnds = ["depot": depot]
        configuration.refreshRules = Self.rules()
        configuration.refreshRules.patience = .seconds(3600)
        configuration.refreshRules.wait = .zero
        let shelf = PartitionParameters(object: "Article", values: [.text("A")], text: "[\"A\"]")
        for _ in 0..<2 {
            let server = try MobileServer(configuration)
            _ = try server.packages[0].refresher.refresh([shelf])
            try server.packages[0].stateStore.write(label: "test") {
                _ = try $0.execute("UPDATE _refresh SET held = 1")
                _ = try $0.execute("UPDATE _partition SET mark = NULL, compared = 0")
            }
            try server.close()
        }
        #expect(depot.loads.withLock { $0 } == 2)
    }

    // MARK: Changes during a load

    @Test("a row that a device creates before or during a load keeps the device's key", arguments: StateStoreTests.Engine.available, [true, false])
    func keys(engine: StateStoreTests.Engine, hasSnapshots: Bool) throws {
        let depot = Self.depot(hasSnapshots: hasSnapshots), servers = try DepotServers(depot, engine, rules: [Self.rules()])
        let number = SystemLock<Int64>(100)
        let create: @Sendable () -> Void = {
            let next = number.withLock { number in
                number += 1
                return number
            }
            depot.create(next, Self.article("created", on: "AB"), key: next + 5000)
        }
        for shelf in ["A", "B"] {
            depot.willRead.withLock { $0 = create }
            depot.willLoad.withLock { $0 = { _ in create() } }
            // The first load is staged; the next one finds a few keys in the log.
            try servers.refresh(shelf)
            let loaded = try servers.rows(Character(shelf)).filter { $0.key > 100 }
            #expect(!loaded.isEmpty && loaded.allSatisfy { $0.value.key == $0.key + 5000 }, "\(shelf): \(loaded)")
            try servers.refresh(shelf)
        }
        depot.willRead.withLock { $0 = nil }
        depot.willLoad.withLock { $0 = nil }
        try servers.refresh("AB")
        for shelf in "AB" {
            let created = try servers.rows(shelf).filter { $0.key > 100 }
            #expect(created.count > 4 && created.allSatisfy { $0.value.key == $0.key + 5000 }, "\(shelf): \(created)")
        }
    }

    @Test("what another server has found in the log during a load is not set back", .needsPostgreSQL, arguments: [true, false])
    func keyedMeanwhile(isStaged: Bool) throws {
        let depot = Self.depot(), clocks = (0..<2).map { _ in VirtualClock(start: .seconds(1_800_000_000)) }
        let servers = try DepotServers(depot, .postgreSQL, count: 2, clocks: clocks, rules: isStaged ? [Self.rules(), Self.rules()] : [])
        try servers.refresh("A")
        try servers.refresh("A", on: 1)
        // For the first server, the comparison of all rows is due.
        clocks[0].advance(by: .days(2))
        let stop = Stop(), names = SystemLock<[String]>([])
        depot.set(1, Self.article("old"))
        depot.willLoad.withLock { hook in hook = { isWhole in if isWhole { stop.pass() } } }
        let whole = Work { try servers.refresh("A") }
        #expect(stop.waitUntilReached())
        depot.set(1, Self.article("new"))
        try servers.refresh("A", on: 1)
        #expect(try servers.rows("A")[1]?.name == "new")
        let version = try servers.version("A")
        // Look at the row before each further load: the late commit must not have taken place.
        depot.willLoad.withLock { hook in
            hook = { _ in
                let name = (try? servers.rows("A")[1]?.name) ?? ""
                names.withLock { $0.append(name) }
            }
        }
        stop.release()
        try whole.finish()
        #expect(names.withLock { $0 } == ["new"])
        #expect(try servers.rows("A")[1]?.name == "new" && servers.version("A") == version)
    }

    @Test("a server that has found nothing new looks again when another one writes what it read before", .needsPostgreSQL)
    func overtaken() throws {
        let depot = Self.depot(hasLog: false), servers = try DepotServers(depot, .postgreSQL, count: 2), stop = Stop()
        try servers.refresh("A")
        try servers.refresh("A", on: 1)
        depot.set(1, Self.article("for a moment"))
        depot.willLoad.withLock { $0 = { _ in stop.pass() } }
        let slow = Work { try servers.refresh("A") }
        #expect(stop.waitUntilReached())
        depot.set(1, Self.article("article 1"))
        try servers.refresh("A", on: 1)
        stop.release()
        try slow.finish()
        try servers.refresh("A", on: 1)
        #expect(try servers.rows("A")[1]?.name == "article 1")
    }

    @Test("a row that gets another key during a load is compared once more", arguments: StateStoreTests.Engine.available)
    func rekeyed(engine: StateStoreTests.Engine) throws {
        let depot = Self.depot(hasLog: false), servers = try DepotServers(depot, engine, rules: [Self.rules()])
        try servers.refresh("A")
        let stop = Stop(), server = servers.servers[0]
        depot.set(2, Self.article("changed"))
        depot.willLoad.withLock { $0 = { _ in stop.pass() } }
        let refresh = Work { try servers.refresh("A") }
        #expect(stop.waitUntilReached())
        depot.create(1, Self.article("again"), key: 7777)
        let keys = KeyMap(package: server.packages[0].deployed, cache: server.packages[0].cache)
        try keys.catchUp(with: #require(server.packages[0].deployed.backEnds["depot"]), server.packages[0].stateStore)
        stop.release()
        try refresh.finish()
        let rows = try servers.rows("A")
        #expect(rows.count == 6 && rows[1] == .init(name: "again", key: 7777, parent: rows[1]?.parent))
    }

    @Test("a row that refers to a new parent is written, also where it referred to none before", arguments: StateStoreTests.Engine.available)
    func newParent(engine: StateStoreTests.Engine) throws {
        let depot = Self.depot(hasLog: false), servers = try DepotServers(depot, engine, rules: [Self.rules()])
        depot.set(51, .init(name: "child", shelves: "A", hasParent: false))
        try servers.refresh("A")
        #expect(try servers.rows("A")[51]?.parent == nil && servers.key(of: 25) == nil)
        depot.set(51, .init(name: "child", shelves: "A"))
        try servers.refresh("A")
        let parent = try servers.key(of: 25)
        #expect(try parent != nil && servers.rows("A")[51]?.parent == parent)
    }

    @Test("a record with many outcomes is imported in portions", arguments: StateStoreTests.Engine.available)
    func portions(engine: StateStoreTests.Engine) throws {
        let depot = Self.depot()
        for number: Int64 in 1...2500 { depot.create(number, Self.article("created", on: number % 100 == 0 ? "A" : ""), key: number + 10_000) }
        let servers = try DepotServers(depot, engine)
        try servers.refresh("A")
        let rows = try servers.rows("A")
        #expect(rows.count == 25 && rows.allSatisfy { $0.value.key == $0.key + 10_000 })
        #expect(try servers.store.read { try $0.number("SELECT applied FROM _back_end") } == 2500)
    }

    @Test(
        "more rows than fit into memory together are compared in one look, whatever changes meanwhile, also where their keys were reported",
        arguments: StateStoreTests.Engine.available, [false, true])
    func movingBackEnd(engine: StateStoreTests.Engine, isReported: Bool) throws {
        // Each of the shelves fits into memory, two of them do not.
        let depot = Depot(hasLog: false)
        for number: Int64 in 1...3 { depot.set(number, Self.article("article", on: "ABC")) }
        let servers = try DepotServers(depot, engine, rules: [Self.rules()])
        try servers.refresh("ABC")
        for number: Int64 in 1...3 { depot.set(number, Self.article("changed", on: "ABC")) }
        let looks = SystemLock(0)
        depot.willRead.withLock {
            $0 = {
                let count = looks.withLock { looks in
                    looks += 1
                    return looks
                }
                // Another application commits before each look. A refresh without an end is ended here.
                depot.set(10, Self.article("change \(count)", on: "Z"))
                if count == 50 { depot.breaksBefore.withLock { $0 = 1 } }
            }
        }
        if isReported { try servers.report([1, 2, 3], on: "ABC") } else { try servers.refresh("ABC") }
        #expect(looks.withLock { $0 } < 10)
        for shelf in "ABC" { #expect(try servers.rows(shelf).values.allSatisfy { $0.name == "changed" }) }
    }

    @Test("a load with one key twice holds back this row alone, in memory and staged", arguments: StateStoreTests.Engine.available)
    func twice(engine: StateStoreTests.Engine) throws {
        for rows in [0, 5000] {
            var rules = Self.rules()
            rules.rowsInMemory = rows
            let depot = Self.depot(hasLog: false), servers = try DepotServers(depot, engine, rules: [rules])
            depot.doubled.withLock { $0 = 3 }
            try servers.refresh("A")
            #expect(try servers.rows("A").keys.sorted() == [1, 2, 4, 5, 6])
            depot.doubled.withLock { $0 = nil }
            depot.set(3, Self.article("changed"))
            try servers.refresh("A")
            #expect(try servers.rows("A")[3]?.name == "changed")
            depot.doubled.withLock { $0 = 3 }
            depot.set(3, Self.article("held"))
            depot.set(5, nil)
            try servers.refresh("A")
            #expect(try servers.rows("A")[3]?.name == "changed" && servers.rows("A").keys.sorted() == [1, 2, 3, 4, 6])
            depot.doubled.withLock { $0 = nil }
            depot.set(6, nil)
            try servers.refresh("A")
            #expect(try servers.rows("A")[3]?.name == "held" && servers.rows("A").keys.sorted() == [1, 2, 3, 4])
        }
    }
}
