import PostgreSQLClient
import PostgreSQLTestSupport
import Testing

extension PostgreSQLTests {
    /// Servers that go away in the middle of work.
    @Suite struct LossTests {
        @Test(
            "a server that is killed in the middle of a statement, a COPY, a batch or a row is a lost connection",
            arguments: ["statement", "copy", "batch", "rows"])
        func killed(way: String) throws {
            let server = try PostgreSQLServer(), connection = try PostgreSQLConnection(server.configuration(database: "postgres"))
            let process = connection.processID
            try connection.run(script: "CREATE TABLE item (body text)")
            let observer = try PostgreSQLConnection(server.configuration(database: "postgres")), killer = SharedConnection(observer)
            let body = String(repeating: "b", count: 10_000)
            let killing = Background {
                if way == "statement" || way == "batch" {
                    try killer.connection.awaitRunning("pg_sleep", process)
                    server.kill()
                }
            }
            let error = #expect(throws: PostgreSQLError.self) {
                switch way {
                case "statement": try connection.execute("SELECT pg_sleep(60)", deadline: after(.seconds(50)))
                case "copy":
                    try connection.copy(into: "item", columns: ["body"], deadline: after(.seconds(50))) { copy in
                        for row in 0..<10_000 {
                            if row == 1000 { server.kill() }
                            try copy.add([.text(body)])
                        }
                    }
                case "batch":
                    try connection.batch(deadline: after(.seconds(50))) { batch in
                        for number in 0..<5000 {
                            batch.add(number == 1000 ? "SELECT ?1::text, pg_sleep(60)" : "INSERT INTO item VALUES (?1)", [.text(body)])
                        }
                    }
                default:
                    try connection.forEachRow("SELECT g, ?1::text FROM generate_series(1, 1000000) g", [.text(body)], deadline: after(.seconds(50))) {
                        row in
                        if row[0] == 1000 { server.kill() }
                    }
                }
            }
            #expect(error?.code == .connectionLost)
            #expect(error?.canBeRepeated == true)
            #expect(!connection.isOpen)
            _ = try killing.value()
            try server.start()
            #expect(try PostgreSQLConnection(server.configuration(database: "postgres")).first("SELECT count(*) FROM item") == [0])
        }

        @Test("a server that stops, and one that is not there, say so")
        func stopped() throws {
            let server = try PostgreSQLServer(), connection = try PostgreSQLConnection(server.configuration(database: "postgres"))
            let process = connection.processID
            let stopping = Background {
                try PostgreSQLConnection(server.configuration(database: "postgres")).awaitRunning("pg_sleep", process)
                server.stop()
            }
            let error = #expect(throws: PostgreSQLError.self) { try connection.execute("SELECT pg_sleep(60)", deadline: after(.seconds(50))) }
            #expect(error?.code == .shuttingDown)
            #expect(error?.sqlState == "57P01")
            _ = try stopping.value()
            let gone = #expect(throws: PostgreSQLError.self) { _ = try PostgreSQLConnection(server.configuration(database: "postgres")) }
            #expect(gone?.code == .connectionFailed)
        }

        @Test("too many connections are the server's lack of resources")
        func tooMany() throws {
            let server = try PostgreSQLServer(settings: ["max_connections": "4", "superuser_reserved_connections": "0", "max_wal_senders": "0"])
            var held: [PostgreSQLConnection] = []
            let error = #expect(throws: PostgreSQLError.self) {
                for _ in 0..<10 { held.append(try PostgreSQLConnection(server.configuration(database: "postgres"))) }
            }
            #expect(error?.code == .outOfResources)
            #expect(held.count <= 4)
        }
    }

    /// A connection that a test hands to a thread.
    struct SharedConnection: @unchecked Sendable {  // the thread that made it no longer uses it
        let connection: PostgreSQLConnection
        init(_ connection: PostgreSQLConnection) { self.connection = connection }
    }
}
