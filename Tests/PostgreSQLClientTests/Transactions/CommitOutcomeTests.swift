import PostgreSQLClient
import PostgreSQLTestSupport
import Testing

extension PostgreSQLTests {
    /// A connection that breaks at COMMIT: whether the transaction took effect is known, or reported as unknown.
    @Suite struct CommitOutcomeTests {
        let database: PostgreSQLTestDatabase
        let observer: PostgreSQLConnection

        init() throws {
            database = try PostgreSQLTestDatabase()
            observer = try database.connect()
            try observer.run(script: "CREATE TABLE item (id bigint)")
        }

        private func insert(_ connection: PostgreSQLConnection) throws {
            try connection.transaction { _ = try $0.execute("INSERT INTO item VALUES (1)") }
        }

        private func awaitEnd(_ process: Int) throws {
            try wait { try observer.first("SELECT count(*) FROM pg_stat_activity WHERE pid = ?1", [PostgreSQLValue(process)]) == [0] }
        }

        @Test("a lost answer and a lost COMMIT look the same to the client", arguments: [(CuttingProxy.Place.beforeAnswer, 1), (.beforeServer, 0)])
        func cut(place: CuttingProxy.Place, rows: Int) throws {
            let proxy = try CuttingProxy(to: database.server, cutAt: "COMMIT\0", place)
            let connection = try PostgreSQLConnection(proxy.configuration(database)), process = connection.processID
            let error = #expect(throws: PostgreSQLError.self) { try insert(connection) }
            #expect(error?.code == .commitUnknown)
            #expect(error?.canBeRepeated == false)
            #expect(!connection.isOpen)
            try awaitEnd(process)
            #expect(try observer.first("SELECT count(*) FROM item") == [PostgreSQLValue(rows)])
        }

        @Test("a connection that broke before the COMMIT has changed nothing, and that is known")
        func brokenBefore() throws {
            let connection = try database.connect(), process = connection.processID
            let error = #expect(throws: PostgreSQLError.self) {
                try connection.transaction { transaction in
                    try transaction.execute("INSERT INTO item VALUES (1)")
                    try observer.execute("SELECT pg_terminate_backend(?1)", [PostgreSQLValue(process)])
                    try awaitEnd(process)
                }
            }
            #expect(error?.code == .shuttingDown)
            #expect(error?.sqlState == "57P01")
            #expect(try observer.first("SELECT count(*) FROM item") == [0])
        }

        @Test("a server process that stops at the COMMIT leaves the outcome unknown")
        func stoppedProcess() throws {
            let connection = try database.connect { $0.recoveryTime = .milliseconds(100) }
            let process = connection.processID
            defer { database.server.resume(process: process) }
            let error = #expect(throws: PostgreSQLError.self) {
                try connection.transaction(deadline: after(.milliseconds(500))) { transaction in
                    try transaction.execute("INSERT INTO item VALUES (1)")
                    database.server.pause(process: process)
                }
            }
            #expect(error?.code == .commitUnknown)
        }

        private func makeSlowCommit() throws {
            try observer.run(
                script: """
                    CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(60); RETURN NULL; END';
                    CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON item DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow()
                    """)
        }

        @Test("a COMMIT past its deadline that the server could cancel has changed nothing, and the connection stays usable")
        func cancelledCommit() throws {
            try makeSlowCommit()
            let connection = try database.connect()
            let error = #expect(throws: PostgreSQLError.self) {
                try connection.transaction(deadline: after(.milliseconds(300))) { _ = try $0.execute("INSERT INTO item VALUES (1)") }
            }
            #expect(error?.code == .timeout)
            #expect(try connection.first("SELECT count(*) FROM item") == [0])
        }

        @Test("a session that is ended during the COMMIT leaves the outcome unknown")
        func endedDuringCommit() throws {
            try makeSlowCommit()
            let connection = try database.connect(), process = connection.processID
            let ending = Background { [database] in
                let observer = try database.connect()
                try observer.awaitRunning("COMMIT", process)
                try observer.execute("SELECT pg_terminate_backend(?1)", [PostgreSQLValue(process)])
            }
            let error = #expect(throws: PostgreSQLError.self) { try insert(connection) }
            #expect(error?.code == .commitUnknown)
            #expect(error?.sqlState == "57P01")
            _ = try ending.value()
        }
    }
}
