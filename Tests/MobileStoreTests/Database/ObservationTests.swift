import Foundation
import MobileExecution
import MobileStore
import TestSupport
import Testing

@Suite struct ObservationTests {
    let directory: TemporaryDirectory
    let database: Database

    init() throws {
        directory = try TemporaryDirectory()
        database = try Database(directory.profile())
        try database.write { try $0.execute("CREATE TABLE \"größe\" (id INTEGER PRIMARY KEY, x); CREATE TABLE b (id INTEGER PRIMARY KEY)") }
    }

    @Test func `a commit is told with its tables and keys, an import's like any other, until nobody holds the observation`() throws {
        let told = SystemLock<[CommittedChanges]>([])
        var observation: Observation? = try database.observe(["größe"]) { changes in told.withLock { $0.append(changes) } }
        try database.write { connection in
            let importer = try connection.importer(into: "größe", columns: ["id", "x"], mode: .upsert)
            try importer.push(Array("[[2, 0], [1, 0]]".utf8))
            _ = try importer.finish()
        }
        try database.write { try $0.execute("INSERT INTO b VALUES (1)") }
        #expect(told.withLock { $0 }.map(\.tables) == [["größe": [1, 2]]])
        #expect(told.withLock { $0 }.first?.mayChange("größe") == true)
        #expect(told.withLock { $0 }.first?.mayChange("b") == false)
        withExtendedLifetime(observation) {}
        observation = nil
        try database.write { try $0.execute("DELETE FROM größe WHERE id = 1") }
        #expect(told.withLock { $0 }.count == 1)
    }

    @Test func `who is told of a commit may read what it wrote`() throws {
        let seen = SystemLock<[Int64?]>([])
        let observation = try database.observe(["b"]) { [unowned database] _ in
            let count = try? database.read { try $0.rows("SELECT count(*) FROM b") }[0][0].integer
            seen.withLock { $0.append(count) }
        }
        for id in 1...2 { try database.write { _ = try $0.execute("INSERT INTO b VALUES (?)", [.integer(Int64(id))]) } }
        #expect(seen.withLock { $0 } == [1, 2])
        withExtendedLifetime(observation) {}
    }

    @Test func `a task hears of commits one by one`() async throws {
        let commits = try database.commits()
        for id in 1...3 { try await database.write { _ = try $0.execute("INSERT INTO b VALUES (?)", [.integer(Int64(id))]) } }
        var keys: [Int64] = []
        for await changes in commits {
            keys += (changes.tables["b"] ?? []) ?? []
            if keys.count == 3 { break }
        }
        #expect(keys == [1, 2, 3])
    }

    @Test func `statistics, settings of the log and its warning reach Swift`() throws {
        let warnings = SystemLock<[ConnectionProfile.LogWarning]>([])
        let profile = directory.profile {
            $0.path = directory.file("log.db")
            $0.pageSize = 1024
            $0.checkpointPages = 10
            $0.logLimit = .megabytes(5)
            $0.journalSizeLimit = nil
            $0.warning = { warning in warnings.withLock { $0.append(warning) } }
        }
        let database = try Database(profile)
        #expect(database.settings.logLimit == .megabytes(5) && database.settings.journalSizeLimit == nil)
        try database.write { try $0.execute("CREATE TABLE t (x)") }
        let done = DispatchSemaphore(value: 0), isReading = DispatchSemaphore(value: 0), hasEnded = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            try? database.read(length: .long, label: "audit") { connection in
                _ = try connection.first("SELECT count(*) FROM t")
                isReading.signal()
                done.wait()
            }
            hasEnded.signal()
        }
        isReading.wait()
        for _ in 0..<20 { try database.write { try $0.execute("INSERT INTO t VALUES (zeroblob(9000))") } }
        let warning = try #require(warnings.withLock { $0 }.first)
        #expect(warning.reader == "audit" && warning.age > .zero && warning.logSize > .bytes(80_000))
        #expect(database.statistics.readersActive == 1)
        #expect(database.connectionStatistics.map(\.isWriter) == [true, false])
        #expect(database.connectionStatistics[1].active != nil)
        done.signal()
        hasEnded.wait()
        let statistics = database.statistics
        #expect(statistics.checkouts == 22 && statistics.log.heldCheckpoints > 0 && statistics.pages.writes > 200)
    }

    @Test("DBP-06 X-13: many threads may write; they take turns, and one row written by all of them has every change")
    func concurrentWrites() async throws {
        try await database.write { _ = try $0.execute("INSERT INTO größe VALUES (1, 0)") }
        let database = database
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<25 {
                        try await database.write { connection in
                            let value = try connection.first("SELECT x FROM größe WHERE id = 1")?[0].integer ?? -1
                            _ = try connection.execute("UPDATE größe SET x = ? WHERE id = 1", [.integer(value + 1)])
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await database.read { try $0.first("SELECT x FROM größe") } == [200])
    }

    @Test func `withoutReporting keeps changes from observers; a reader has none`() throws {
        let seen = RecordedLines()
        let observation = try database.observe { seen.add($0.tables.keys.sorted().joined(separator: " ") + ($0.mayChangeAnyTable ? " any" : "")) }
        try database.write { _ = try $0.execute("CREATE TABLE kept (k PRIMARY KEY) WITHOUT ROWID") }
        _ = seen.take()
        struct Failed: Error {}
        try database.write { connection in
            try connection.execute("INSERT INTO größe VALUES (5, 5)")
            let rows = try connection.withoutReporting { try connection.execute("INSERT INTO kept VALUES (1), (2)") }
            #expect(rows == 2)
            #expect(throws: Failed.self) { try connection.withoutReporting { throw Failed() } }
            try connection.execute("INSERT INTO größe VALUES (6, 6)")
        }
        #expect(seen.take() == ["größe"])
        let refused = #expect(throws: StoreError.self) { try database.read { try $0.withoutReporting {} } }
        #expect(refused?.code == .misuse)
        withExtendedLifetime(observation) {}
    }
}
