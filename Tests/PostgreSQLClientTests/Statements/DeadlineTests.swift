import PostgreSQLClient
import PostgreSQLTestSupport
import Testing

extension PostgreSQLTests {
    /// Every wait ends, at its deadline or by another thread.
    @Suite struct DeadlineTests {
        let database: PostgreSQLTestDatabase
        let connection: PostgreSQLConnection

        init() throws {
            database = try PostgreSQLTestDatabase()
            connection = try database.connect()
            try connection.run(script: "CREATE TABLE item (id bigint PRIMARY KEY, n bigint); INSERT INTO item VALUES (1, 0)")
        }

        @Test("a statement past its deadline is cancelled, and the connection stays usable")
        func sleepingStatement() throws {
            let start = ContinuousClock.now
            let error = #expect(throws: PostgreSQLError.self) { try connection.execute("SELECT pg_sleep(60)", deadline: after(.milliseconds(100))) }
            #expect(error?.code == .timeout)
            #expect(error?.message == "the deadline has passed; the statement was cancelled")
            #expect(.now - start < .seconds(30))
            #expect(.now - start >= .milliseconds(100))
            #expect(connection.isOpen)
            #expect(try connection.first("SELECT 1") == [1])
        }

        @Test("the configuration's time limit holds where a call has no deadline, a deadline in the past ends it at once")
        func timeLimit() throws {
            let limited = try database.connect { $0.timeLimit = .milliseconds(100) }
            let usual = #expect(throws: PostgreSQLError.self) { try limited.execute("SELECT pg_sleep(60)") }
            #expect(usual?.code == .timeout)
            let past = #expect(throws: PostgreSQLError.self) { try limited.execute("SELECT pg_sleep(60)", deadline: after(.seconds(-1))) }
            #expect(past?.code == .timeout)
            #expect(try limited.first("SELECT 1", deadline: after(.seconds(20))) == [1])
        }

        @Test("a wait for a lock ends at the deadline, and a transaction's deadline holds for its statements")
        func lockWait() throws {
            let other = try database.connect()
            try other.run(script: "BEGIN; UPDATE item SET n = 1")
            let error = #expect(throws: PostgreSQLError.self) { try connection.execute("UPDATE item SET n = 2", deadline: after(.milliseconds(100))) }
            #expect(error?.code == .timeout)
            let inTransaction = #expect(throws: PostgreSQLError.self) {
                try connection.transaction(deadline: after(.milliseconds(100))) {
                    try $0.execute("UPDATE item SET n = 2", deadline: after(.seconds(50)))
                }
            }
            #expect(inTransaction?.code == .timeout)
            #expect(!connection.isInTransaction)
            try other.run(script: "ROLLBACK")
            #expect(try connection.execute("UPDATE item SET n = 3") == 1)
        }

        @Test("the server's own limits for statements and locks")
        func serverLimits() throws {
            let limited = try database.connect {
                $0.statementTimeout = .milliseconds(300)
                $0.lockTimeout = .milliseconds(50)
            }
            #expect(try limited.first("SELECT current_setting('statement_timeout'), current_setting('lock_timeout')") == ["300ms", "50ms"])
            let statement = #expect(throws: PostgreSQLError.self) { try limited.execute("SELECT pg_sleep(60)") }
            #expect(statement?.code == .timeout)
            #expect(statement?.sqlState == "57014")
            let other = try database.connect()
            try other.run(script: "BEGIN; UPDATE item SET n = 1")
            let lock = #expect(throws: PostgreSQLError.self) { try limited.execute("UPDATE item SET n = 2") }
            #expect(lock?.code == .lockNotAvailable)
            let noWait = #expect(throws: PostgreSQLError.self) { try connection.execute("SELECT 1 FROM item FOR UPDATE NOWAIT") }
            #expect(noWait?.code == .lockNotAvailable)
        }

        @Test("a server process that does not answer is left at the deadline, after the time for recovery")
        func stoppedProcess() throws {
            let stopped = try database.connect { $0.recoveryTime = .milliseconds(100) }
            let process = stopped.processID
            #expect(try stopped.first("SELECT 1") == [1])
            database.server.pause(process: process)
            defer { database.server.resume(process: process) }
            let start = ContinuousClock.now
            let error = #expect(throws: PostgreSQLError.self) { try stopped.execute("SELECT 1", deadline: after(.milliseconds(100))) }
            #expect(error?.code == .timeout)
            #expect(error?.message == "the deadline has passed; the connection was closed")
            #expect(.now - start < .seconds(30))
            #expect(!stopped.isOpen)
            let next = #expect(throws: PostgreSQLError.self) { try stopped.execute("SELECT 1") }
            #expect(next?.code == .connectionLost)
        }

        @Test("a server process that stops in the middle of a batch or a COPY is left at the deadline", arguments: ["batch", "copy"])
        func stoppedWhileReading(way: String) throws {
            let stopped = try database.connect { $0.recoveryTime = .milliseconds(100) }
            let process = stopped.processID, body = String(repeating: "b", count: 10_000)
            try stopped.run(script: "CREATE TABLE text (body text)")
            defer { database.server.resume(process: process) }
            var added = 0
            let error = #expect(throws: PostgreSQLError.self) {
                if way == "copy" {
                    try stopped.copy(into: "text", columns: ["body"], deadline: after(.milliseconds(300))) { copy in
                        database.server.pause(process: process)
                        for _ in 0..<10_000 {
                            try copy.add([.text(body)])
                            added += 1
                        }
                    }
                } else {
                    try stopped.execute("INSERT INTO text VALUES (?1)", ["a"])
                    database.server.pause(process: process)
                    try stopped.batch(deadline: after(.milliseconds(300))) { batch in
                        for _ in 0..<10_000 { batch.add("INSERT INTO text VALUES (?1)", [.text(body)]) }
                    }
                }
            }
            #expect(error?.code == .timeout)
            // The rows wait for the socket, not in memory: its buffers take less than a megabyte.
            #expect(added < 1000)
            #expect(!stopped.isOpen)
        }

        @Test("another thread cancels the running statement, and no other one")
        func cancellation() throws {
            #expect(!connection.cancellation.cancel(deadline: after(.seconds(20))))
            let cancellation = connection.cancellation, process = connection.processID
            let canceller = Background { [database] in
                try database.connect().awaitRunning("pg_sleep", process)
                return cancellation.cancel(deadline: after(.seconds(20)))
            }
            let error = #expect(throws: PostgreSQLError.self) { try connection.execute("SELECT pg_sleep(60)") }
            #expect(error?.code == .cancelled)
            #expect(try canceller.value())
            #expect(!cancellation.cancel(deadline: after(.seconds(20))))
            #expect(try connection.first("SELECT 1") == [1])
        }

        @Test("requests to cancel in any moment meet the running statement or none")
        func cancellationInAnyMoment() throws {
            let cancellation = connection.cancellation
            let requests = Background { (0..<50).filter { _ in cancellation.cancel(deadline: after(.seconds(20))) }.count }
            var cancelled = 0
            for _ in 0..<300 {
                do {
                    #expect(try connection.first("SELECT 1") == [1])
                } catch {
                    #expect(error.code == .cancelled)
                    cancelled += 1
                }
            }
            #expect(try cancelled <= requests.value())
            #expect(try connection.first("SELECT 2") == [2])
        }
    }
}
