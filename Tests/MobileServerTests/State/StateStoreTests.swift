import MobileExecution
import MobileStore
import PostgreSQLClient
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import MobileServer

/// The seam between the server and the database of its own state, on both engines.
@Suite(.runsOnce) struct StateStoreTests {
    /// A store of one engine with a table.
    final class Bench {
        let state: StateBench
        let store: any StateStore

        init(_ engine: Engine) throws {
            state = try StateBench(engine)
            store = try state.configuration.openStateStore(createsFile: true)
            try store.write(label: "test") { _ = try $0.execute("CREATE TABLE thing (id BIGINT PRIMARY KEY, name TEXT, bytes \($0.dialect.bytes))") }
        }

        deinit { try? store.close() }
    }

    enum Engine: String, CaseIterable, Sendable {
        case sqlite, postgreSQL
        static let available = PostgreSQLInstallation.runsTests ? allCases : [.sqlite]
    }

    struct Refusal: Error {}

    @Test(arguments: Engine.available)
    func `values come back as they were, a failed body leaves nothing, and rows are visited one by one`(engine: Engine) throws {
        let bench = try Bench(engine), store = bench.store
        let rows: [[Value]] = [[.integer(.max), .text("Grüße"), .blob([0, 255])], [.integer(.min), .null, .blob([])], [3, "", .null]]
        try store.write(label: "test") { connection in
            for row in rows { try connection.execute("INSERT INTO thing VALUES (?1, ?2, ?3)", row) }
        }
        func fail() throws {
            try store.write(label: "test") { connection in
                try connection.execute("DELETE FROM thing")
                throw Refusal()
            }
        }
        #expect(throws: Refusal.self) { try fail() }
        let read = try store.read { try $0.rows("SELECT id, name, bytes FROM thing ORDER BY id DESC") }
        #expect(read == [rows[0], rows[2], rows[1]])
        var visited: [String] = []
        try store.read { connection in
            try connection.forEachRow("SELECT name, id, bytes FROM thing WHERE id > ?1 ORDER BY id", [.integer(0)]) { row in
                visited.append("\(row.bytes(0)) \(row.integer(1)) \(row.bytes(2)) \(row.value(2) == .null)")
            }
        }
        #expect(visited == ["[] 3 [] true", "\(Array("Grüße".utf8)) \(Int64.max) [0, 255] false"])
    }

    @Test(arguments: Engine.available)
    func `a staged table is seen by its transaction alone, and goes with it`(engine: Engine) throws {
        let bench = try Bench(engine), store = bench.store
        for round in 0..<2 {
            let sum = try store.write(label: "test", isolation: .locks) { connection in
                try connection.stage("_load", [("n", "BIGINT"), ("t", "TEXT"), ("b", connection.dialect.bytes)]) { add in
                    for number in 0..<5000 {
                        try add([.integer(Int64(number)), number % 2 == 0 ? .null : .text("a\tb\\\"\n"), .blob([UInt8(number % 256)])])
                    }
                }
                let sum = try connection.number(
                    "SELECT CAST(sum(n) AS BIGINT) FROM _load WHERE t = ?1 AND b IS NOT NULL", [.text("a\tb\\\"\n")])
                try connection.unstage("_load")
                return sum
            }
            #expect(sum == 6_250_000, "round \(round)")
        }
    }

    @Test(arguments: Engine.available)
    func `a table that is staged again has the new rows alone, whatever its columns are`(engine: Engine) throws {
        let bench = try Bench(engine), store = bench.store
        func stage(_ count: Int, _ column: String, in connection: any StateConnection) throws -> [Value] {
            try connection.stage("_load", [(column, "BIGINT")]) { add in for number in 0..<count { try add([.integer(Int64(number))]) } }
            let sum = try connection.rows("SELECT count(*), CAST(sum(\(column)) AS BIGINT) FROM _load")[0]
            try connection.unstage("_load")
            return sum
        }
        for isolation in [StateIsolation.serial, .locks] {
            try store.write(label: "test", isolation: isolation) { connection in
                for (count, column) in [(3, "n"), (2, "n"), (5000, "n"), (1, "n"), (4, "m"), (0, "n"), (2, "n")] {
                    let sum = try stage(count, column, in: connection)
                    #expect(sum == [.integer(Int64(count)), count == 0 ? .null : .integer(Int64(count * (count - 1) / 2))], "\(count) \(column)")
                }
            }
        }
        // Those of a preparation stay, unless they are given up.
        try store.staging { staging in
            for _ in 0..<2 {
                let sum = try staging.write(label: "test") { try stage(2, "n", in: $0) }
                #expect(sum == [2, 1])
            }
        }
    }

    @Test(arguments: Engine.available)
    func `a write that fails between two stagings leaves no table to the next one on its connection`(engine: Engine) throws {
        let bench = try Bench(engine), store = bench.store
        func stage(_ count: Int64, in connection: any StateConnection) throws -> Int64 {
            try connection.stage("_load", [("n", "BIGINT")]) { add in for number in 0..<count { try add([.integer(number)]) } }
            return try connection.number("SELECT count(*) FROM _load")
        }
        for isUsed in [false, true, false] {
            #expect(throws: Refusal.self) {
                try store.write(label: "test") { connection in
                    _ = try stage(3, in: connection)
                    if !isUsed { try connection.unstage("_load") }
                    throw Refusal()
                }
            }
            let count = try store.write(label: "test") { connection in
                let count = try stage(2, in: connection)
                try connection.unstage("_load")
                return count
            }
            #expect(count == 2)
        }
    }

    @Test(.enabled(if: PostgreSQLInstallation.runsTests))
    func `a write that runs again after a conflict makes its staged tables again`() throws {
        let bench = try Bench(.postgreSQL), store = bench.store
        func insert(_ id: Int64, _ meanwhile: (any StateConnection) throws -> Void) throws {
            try store.write(label: "test") { connection in
                let seen = try connection.number("SELECT count(*) FROM thing")
                try meanwhile(connection)
                try connection.execute("INSERT INTO thing (id) VALUES (?1)", [.integer(id + seen)])
            }
        }
        var attempts = 0, sums: [Int64] = []
        try insert(100) { connection in
            attempts += 1
            sums = []
            for count in [3, 2] as [Int64] {
                try connection.stage("_load", [("n", "BIGINT")]) { add in for number in 0..<count { try add([.integer(number)]) } }
                try sums.append(connection.number("SELECT count(*) FROM _load"))
                try connection.unstage("_load")
                // It reads what this write changes, and changes what this write has read.
                if attempts == 1, count == 3 { try insert(1) { _ in } }
            }
        }
        #expect(attempts == 2 && sums == [3, 2])
        #expect(try store.read { try $0.rows("SELECT id FROM thing ORDER BY id") } == [[1], [101]])
    }

    @Test(.enabled(if: PostgreSQLInstallation.runsTests))
    func `PostgreSQL makes the tables of a transaction with many partitions once, and counts their rows again when there are many more or fewer`() throws {
        let bench = try Bench(.postgreSQL)
        try bench.store.write(label: "test") { connection in
            var tables: Set<Int64> = [], counted: [Int64] = []
            for count in [1, 2, 0, 90, 90, 300, 200, 3, 2] {
                try connection.stage("_load", [("n", "BIGINT")]) { add in for number in 0..<count { try add([.integer(Int64(number))]) } }
                try tables.insert(connection.number("SELECT CAST('_load'::regclass AS BIGINT)"))
                try counted.append(connection.number("SELECT CAST(reltuples AS BIGINT) FROM pg_class WHERE oid = '_load'::regclass"))
                try connection.unstage("_load")
            }
            #expect(tables.count == 1)
            #expect(counted == [1, 1, 1, 1, 1, 300, 300, 3, 3])
        }
    }

    @Test(arguments: Engine.available)
    func `a write is prepared beside other writes, on tables that it finds again`(engine: Engine) throws {
        let bench = try Bench(engine), store = bench.store
        func insert(_ id: Int64) throws {
            try store.write(label: "test") { _ = try $0.execute("INSERT INTO thing (id) VALUES (?1)", [.integer(id)]) }
        }
        try insert(1)
        let found = try store.staging { staging in
            try staging.prepare { connection in
                try connection.stage("_load", [("n", "BIGINT")]) { add in
                    try add([.integer(1)])
                    // The source of the rows is slow: others write meanwhile.
                    try insert(2)
                    try add([.integer(2)])
                }
            }
            let before = try staging.prepare { connection in
                let known = "SELECT count(*) FROM thing JOIN _load ON n = id"
                let first = try connection.number(known)
                try insert(3)
                try connection.execute("INSERT INTO _load VALUES (3)")
                // The snapshot has begun with the first read.
                return try [first, connection.number(known)]
            }
            let after = try staging.write(label: "test") { connection in
                try connection.execute("INSERT INTO thing (id) SELECT n + 10 FROM _load")
                return try connection.number("SELECT count(*) FROM thing JOIN _load ON n = id")
            }
            return before + [after]
        }
        #expect(found == [2, 2, 3])
        #expect(try store.read { try $0.number("SELECT count(*) FROM thing") } == 6)
        func fail() throws {
            try store.staging { staging in
                try staging.write(label: "test") { connection in
                    try connection.execute("DELETE FROM thing")
                    throw Refusal()
                }
            }
        }
        #expect(throws: Refusal.self) { try fail() }
        // The tables have gone with their connection.
        let rows = try store.staging { staging in
            try staging.prepare { connection in
                try connection.stage("_load", [("n", "BIGINT")]) { _ in }
                return try connection.number("SELECT count(*) + (SELECT count(*) FROM thing) FROM _load")
            }
        }
        #expect(rows == 6)
    }

    @Test(arguments: Engine.available)
    func `lists of numbers in a parameter become rows`(engine: Engine) throws {
        let bench = try Bench(engine)
        let rows = try bench.store.read { connection in
            try connection.rows(
                "SELECT key, value FROM (\(connection.dialect.pairs("?1"))) AS p ORDER BY key", [.text("[[2,9007199254740993],[1,-5]]")])
                + connection.rows("SELECT value FROM (\(connection.dialect.numbers("?1"))) AS n ORDER BY value", [.text("[7,4]")])
        }
        #expect(rows == [[1, -5], [2, 9_007_199_254_740_993], [4], [7]])
    }

    @Test(arguments: Engine.available)
    func `writers that read before they write lose nothing`(engine: Engine) async throws {
        let bench = try Bench(engine), store = bench.store
        try store.write(label: "test") { _ = try $0.execute("INSERT INTO thing (id, name) VALUES (1, '0')") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try await BlockingWork.run {
                        for _ in 0..<20 {
                            try store.write(label: "test") { connection in
                                let count = try connection.texts("SELECT name FROM thing WHERE id = 1").first.flatMap { Int($0) } ?? 0
                                try connection.execute("UPDATE thing SET name = ?1 WHERE id = 1", [.text(String(count + 1))])
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try store.read { try $0.texts("SELECT name FROM thing") } == ["80"])
    }

    @Test(.needsPostgreSQL) func `a text with U+0000 is stored with a replacement where PostgreSQL cannot keep it`() throws {
        let bench = try Bench(.postgreSQL)
        let text = try bench.store.write(label: "test") { connection in
            try connection.execute("INSERT INTO thing (id, name) VALUES (1, ?1)", [.text("a\0b")])
            return try connection.texts("SELECT name FROM thing")
        }
        #expect(text == ["a\u{FFFD}b"])
    }

    // MARK: Failures of the engine

    @Test(.needsPostgreSQL) func `a transaction whose connection is cut runs again`() throws {
        let database = try PostgreSQLTestDatabase()
        let store = try PostgreSQLStateStore(database.configuration)
        defer { try? store.close() }
        try store.write(label: "test") { _ = try $0.execute("CREATE TABLE thing (id BIGINT)") }
        let administrator = try database.connect()
        var runs = 0
        try store.write(label: "test") { connection in
            runs += 1
            try connection.execute("INSERT INTO thing VALUES (?1)", [.integer(Int64(runs))])
            let process = try connection.number("SELECT CAST(pg_backend_pid() AS BIGINT)")
            if runs == 1 { _ = try administrator.execute("SELECT pg_terminate_backend(CAST(?1 AS INTEGER))", [.integer(process)]) }
            try connection.execute("INSERT INTO thing VALUES (?1)", [.integer(Int64(runs * 10))])
        }
        #expect(runs == 2)
        #expect(try store.read { try $0.rows("SELECT id FROM thing ORDER BY id") } == [[2], [20]])
    }

    @Test(.needsPostgreSQL) func `a commit without an answer is looked up, and is not done twice`() throws {
        // The commit waits for a standby that does not exist; then its process ends, after it has committed.
        let server = try PostgreSQLServer(settings: ["synchronous_standby_names": "nobody", "synchronous_commit": "local"])
        let store = try PostgreSQLStateStore(server.configuration(database: "postgres"))
        defer { try? store.close() }
        try store.write(label: "test") { _ = try $0.execute("CREATE TABLE thing (id BIGINT)") }
        let administrator = try PostgreSQLConnection(server.configuration(database: "postgres"))
        var runs = 0
        var waits: Termination?
        let result = try store.write(label: "test") { connection in
            runs += 1
            try connection.execute("SET LOCAL synchronous_commit = on")
            try connection.execute("INSERT INTO thing VALUES (1)")
            let process = try connection.number("SELECT CAST(pg_backend_pid() AS BIGINT)")
            waits = Termination(administrator, process)
            return runs
        }
        waits?.join()
        #expect(runs == 1 && result == 1)
        #expect(try store.read { try $0.rows("SELECT id FROM thing") } == [[1]])
    }

    /// Ends a server process when it waits for a standby.
    private final class Termination {
        private let done = Promise<Void, any Error>()

        init(_ administrator: PostgreSQLConnection, _ process: Int64) {
            let done = done
            nonisolated(unsafe) let administrator = administrator
            BlockingWork(threads: 1).start {
                done.resolve(
                    Result {
                        let waits = "SELECT 1 FROM pg_stat_activity WHERE pid = CAST(?1 AS INTEGER) AND wait_event = 'SyncRep'"
                        while try administrator.first(waits, [.integer(process)]) == nil {}
                        _ = try administrator.execute("SELECT pg_terminate_backend(CAST(?1 AS INTEGER))", [.integer(process)])
                    })
            }
        }

        func join() { _ = try? done.wait(timeout: .seconds(60)) }
    }

    @Test(.needsPostgreSQL) func `of several stores that open an empty database at once, one creates the tables`() async throws {
        let database = try PostgreSQLTestDatabase()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask { try await BlockingWork.run { try PostgreSQLStateStore(database.configuration).close() } }
            }
            try await group.waitForAll()
        }
        let versions = try database.connect().rows("SELECT version FROM _state")
        #expect(versions == [[.integer(PostgreSQLStateSchema.version)]])
    }

    @Test(.needsPostgreSQL) func `a database of the first release gets the tables of segments and the marks of partitions`() throws {
        let database = try PostgreSQLTestDatabase()
        try PostgreSQLStateStore(database.configuration).close()
        let added = ["_segment_run", "_segment", "_tombstone_horizon", "_secret", "_refresh"], connection = try database.connect()
        for statement in RestoredStoreTests.toVersion3 + added.map({ "DROP TABLE \($0)" }) { try connection.execute(statement) }
        try connection.execute("UPDATE _state SET version = 1")
        try PostgreSQLStateStore(database.configuration).close()
        for table in added + ["_mark"] { #expect(try connection.rows("SELECT count(*) FROM \(table)") == [[.integer(0)]]) }
        #expect(try connection.rows("SELECT count(mark), count(compared) FROM _partition") == [[.integer(0), .integer(0)]])
        #expect(try connection.rows("SELECT version FROM _state") == [[.integer(PostgreSQLStateSchema.version)]])
    }

    @Test(.needsPostgreSQL) func `a process of the release before that has read rows writes some while the tables are brought up to date`() throws {
        let database = try PostgreSQLTestDatabase(), observer = try database.connect(), earlier = try database.connect()
        try PostgreSQLStateStore(database.configuration).close()
        for statement in [
            "DROP INDEX _row_changed", "CREATE INDEX _row_version ON _row (partition, version, deleted)", "UPDATE _state SET version = 7",
            "INSERT INTO _row (partition, sk, version, since, deleted, body) VALUES (1, 1, 1, 1, 0, '')",
        ] { try observer.execute(statement) }
        let upgrade = try earlier.transaction { transaction in
            #expect(try transaction.rows("SELECT version FROM _row") == [[1]])
            let upgrade = concurrently { Result { try PostgreSQLStateStore(database.configuration).close() } }
            let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
            #expect(try eventually { try observer.first(waiting) == [1] })
            try transaction.execute("UPDATE _row SET version = 2")
            return upgrade
        }
        try upgrade().get()
        #expect(try observer.rows("SELECT version FROM _state") == [[.integer(PostgreSQLStateSchema.version)]])
        #expect(try observer.rows("SELECT version FROM _row WHERE version > 1") == [[2]])
        let indexes = "SELECT indexname FROM pg_indexes WHERE tablename = '_row' AND indexname IN ('_row_changed', '_row_version')"
        #expect(try observer.rows(indexes) == [["_row_changed"]])
    }

    @Test(.needsPostgreSQL) func `a database of a later release, and an address with a password, are refused`() throws {
        let database = try PostgreSQLTestDatabase()
        try PostgreSQLStateStore(database.configuration).close()
        try database.connect().execute("UPDATE _state SET version = 99")
        var configuration = ServerConfiguration(cachePath: "")
        configuration.storeAddress = database.configuration.address
        let later = #expect(throws: ServerError.self) { try MobileServer(configuration) }
        #expect(later?.code == .cache && later?.message.contains("found version 99") == true)
        configuration.storeAddress = "postgresql://ada:secret@localhost/x"
        let password = #expect(throws: ServerError.self) { try MobileServer(configuration) }
        #expect(password?.code == .configuration && password?.message.contains("secret") == false, "\(String(describing: password))")
    }
}
