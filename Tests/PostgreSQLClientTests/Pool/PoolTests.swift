import MobileExecution
import PostgreSQLTestSupport
import Testing

@testable import PostgreSQLClient

extension PostgreSQLTests {
    /// A limited number of connections for any number of threads.
    @Suite struct PoolTests {
        let database: PostgreSQLTestDatabase
        init() throws { database = try PostgreSQLTestDatabase() }

        private func pool(_ maximum: Int, idleTime: Duration = .seconds(60)) -> PostgreSQLPool {
            PostgreSQLPool(database.configuration, maximumConnections: maximum, idleTime: idleTime)
        }

        private func process(_ pool: PostgreSQLPool) throws -> Int { try pool.withConnection { $0.processID } }

        @Test("a connection is used again, and its prepared statements stay")
        func reuse() throws {
            let pool = pool(4)
            let first = try pool.withConnection { connection in
                try connection.execute("SELECT 1")
                return connection.processID
            }
            try pool.withConnection { connection throws in
                #expect(connection.processID == first)
                #expect(connection.preparedStatements == 1)
            }
            #expect(pool.usage == .init(connections: 1, idle: 1, waiting: 0))
        }

        @Test("nothing of a session reaches its next user")
        func reset() throws {
            let pool = pool(1)
            struct Stop: Error {}
            #expect(throws: Stop.self) {
                try pool.withConnection { connection in
                    try connection.run(
                        script: "CREATE TEMPORARY TABLE t (a int); SET timezone = 'Asia/Tokyo'; SET ROLE pg_monitor; RESET ROLE; SET my.name = 'x'")
                    try connection.listen("a")
                    _ = try connection.first("SELECT pg_advisory_lock(7)")
                    try connection.run(script: "DECLARE c CURSOR WITH HOLD FOR SELECT 1")
                    try connection.run(script: "CREATE SEQUENCE s; SELECT nextval('s')")
                    try connection.run(script: "SET SESSION AUTHORIZATION pg_monitor; BEGIN; SELECT 1")
                    throw Stop()
                }
            }
            try pool.withConnection { connection throws in
                #expect(!connection.isInTransaction)
                #expect(try connection.first("SELECT current_user, current_setting('timezone'), to_regclass('t')::text") == ["postgres", "UTC", .null])
                #expect(try connection.first("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()") == [0])
                #expect(try connection.first("SELECT count(*) FROM pg_cursors WHERE name = 'c'") == [0])
                #expect(try connection.first("SELECT count(*) FROM pg_listening_channels()") == [0])
                #expect(try connection.first("SELECT coalesce(current_setting('my.name', true), '')") == [""])
                #expect(throws: PostgreSQLError.self) { try connection.first("SELECT lastval()") }
            }
            #expect(pool.usage.connections == 1)
        }

        @Test("a connection that was kept is of no use after its closure")
        func kept() throws {
            let pool = pool(1)
            let kept = try pool.withConnection { $0 }, cancellation = kept.cancellation
            let error = #expect(throws: PostgreSQLError.self) { try kept.execute("SELECT 1") }
            #expect(error?.code == .closed)
            let process = try process(pool)
            let running = Background { try pool.withConnection { try $0.first("SELECT pg_sleep(0.2), 1")?[1] } }
            try database.connect().awaitRunning("pg_sleep", process)
            #expect(!cancellation.cancel(deadline: after(.seconds(20))))
            #expect(try running.value() == 1)
        }

        @Test("when all connections are in use, a caller waits until its deadline")
        func exhaustion() throws {
            let pool = pool(2)
            try pool.withConnection { _ in
                try pool.withConnection { _ in
                    let error = #expect(throws: PostgreSQLError.self) { try pool.withConnection(deadline: after(.milliseconds(50))) { _ in } }
                    #expect(error?.code == .timeout)
                    #expect(error?.message == "no connection of the pool before the deadline: all 2 are in use")
                    #expect(pool.usage == .init(connections: 2, idle: 0, waiting: 0))
                }
            }
            #expect(try pool.withConnection { try $0.first("SELECT 1") } == [1])
            #expect(pool.usage == .init(connections: 2, idle: 2, waiting: 0))
        }

        @Test("callers are served in the order of their calls, and a later one does not overtake")
        func fairness() throws {
            let pool = pool(1), order = SystemLock<[Int]>([])
            var callers: [Background<Void>] = []
            try pool.withConnection { _ in
                for number in 0..<8 {
                    callers.append(Background { try pool.withConnection { _ in order.withLock { $0.append(number) } } })
                    try wait { pool.usage.waiting == number + 1 }
                }
            }
            for caller in callers { try caller.value() }
            #expect(order.withLock { $0 } == Array(0..<8))
        }

        @Test("a caller that has given up leaves its turn to the next one")
        func givenUp() throws {
            let pool = pool(1)
            var late: Background<Void>?, next: Background<PostgreSQLValue?>?
            try pool.withConnection { _ in
                late = Background { try pool.withConnection(deadline: after(.milliseconds(100))) { _ in } }
                try wait { pool.usage.waiting == 1 }
                next = Background { try pool.withConnection { try $0.first("SELECT 1")?[0] } }
                #expect(try late?.error()?.code == .timeout)
            }
            #expect(try next?.value() == 1)
        }

        @Test("a connection that broke in use, and one that broke while it was idle, are replaced")
        func replaced() throws {
            let pool = pool(1), observer = try database.connect()
            let first = try pool.withConnection { connection in
                #expect(throws: PostgreSQLError.self) { try connection.execute("SELECT pg_terminate_backend(pg_backend_pid())") }
                return connection.processID
            }
            #expect(pool.usage.connections == 0)
            let second = try process(pool)
            #expect(second != first)
            try observer.execute("SELECT pg_terminate_backend(?1, 20000)", [PostgreSQLValue(second)])
            #expect(try pool.withConnection { try $0.first("SELECT 1") } == [1])
            #expect(pool.usage == .init(connections: 1, idle: 1, waiting: 0))
        }

        @Test("a place whose connection cannot be opened goes to the next caller")
        func refusedPlace() throws {
            let server = try PostgreSQLServer(), pool = PostgreSQLPool(server.configuration(database: "postgres"), maximumConnections: 1)
            var waiting: [Background<Void>] = []
            try pool.withConnection { _ in
                for number in 0..<3 {
                    waiting.append(Background { try pool.withConnection { _ in } })
                    try wait { pool.usage.waiting == number + 1 }
                }
                server.stop()
            }
            for caller in waiting { #expect(try caller.error()?.code == .connectionFailed) }
            #expect(pool.usage == .init(connections: 0, idle: 0, waiting: 0))
            try server.start()
            #expect(try pool.withConnection { try $0.first("SELECT 1") } == [1])
        }

        @Test("unused connections are closed after their time, the more recently used ones later")
        func idleTime() throws {
            let pool = pool(2, idleTime: .milliseconds(100))
            try pool.withConnection { _ in try pool.withConnection { _ in } }
            #expect(pool.usage.connections == 2)
            try wait { pool.usage.connections == 0 }
            let observer = try database.connect()
            try wait { try observer.first("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()") == [1] }
            #expect(try pool.withConnection { try $0.first("SELECT 1") } == [1])
        }

        @Test("a closed pool refuses callers, those that wait, too, and closes connections as they come back")
        func close() throws {
            let pool = pool(1)
            var waiting: Background<Void>?
            try pool.withConnection { connection in
                waiting = Background { try pool.withConnection { _ in } }
                try wait { pool.usage.waiting == 1 }
                pool.close()
                pool.close()
                #expect(try connection.first("SELECT 1") == [1])
            }
            #expect(try waiting?.error()?.code == .closed)
            #expect(pool.usage == .init(connections: 0, idle: 0, waiting: 0))
            let error = #expect(throws: PostgreSQLError.self) { try pool.withConnection { _ in } }
            #expect(error?.code == .closed)
        }

        @Test("many threads on few connections")
        func manyThreads() throws {
            let pool = pool(3)
            try database.connect().run(script: "CREATE TABLE counter (n bigint); INSERT INTO counter VALUES (0)")
            let threads = (0..<12).map { _ in
                Background {
                    for _ in 0..<20 {
                        try pool.withConnection { connection in
                            try connection.transaction { _ = try $0.execute("UPDATE counter SET n = n + 1") }
                        }
                    }
                }
            }
            for thread in threads { try thread.value() }
            #expect(try database.connect().first("SELECT n FROM counter") == [240])
            #expect(pool.usage.connections <= 3)
        }
    }
}
