import PostgreSQLTestSupport
import Testing

@testable import PostgreSQLClient

extension PostgreSQLTests {
    /// Messages between sessions.
    @Suite struct NotificationTests {
        let database: PostgreSQLTestDatabase
        let listener: PostgreSQLConnection
        let sender: PostgreSQLConnection

        init() throws {
            database = try PostgreSQLTestDatabase()
            listener = try database.connect()
            sender = try database.connect()
        }

        @Test("messages arrive with channel, text and sender, in order, at the commit")
        func messages() throws {
            let channel = "News of \"x\"; 'ü'"
            try listener.listen(channel)
            try sender.transaction { transaction in
                try transaction.notify(channel, "first")
                try transaction.notify(channel)
                #expect(try listener.waitForNotification(deadline: after(.milliseconds(50))) == nil)
            }
            let first = try listener.waitForNotification(deadline: after(.seconds(20)))
            #expect(first == PostgreSQLNotification(channel: channel, payload: "first", processID: sender.processID))
            #expect(try listener.waitForNotification(deadline: after(.seconds(20)))?.payload == "")
            #expect(try listener.waitForNotification(deadline: after(.seconds(-1))) == nil)
        }

        @Test("messages that arrive during other calls are kept, and those after the end of the subscription do not arrive")
        func kept() throws {
            try listener.listen("a")
            try sender.notify("a", "1")
            #expect(try listener.first("SELECT 1") == [1])
            #expect(try listener.waitForNotification(deadline: after(.seconds(20)))?.payload == "1")
            try listener.unlisten("a")
            try sender.notify("a", "2")
            #expect(try listener.waitForNotification(deadline: after(.milliseconds(50))) == nil)
        }

        @Test("a thread that waits is woken by a message")
        func woken() throws {
            let waiting = Background { [database] in
                let connection = try database.connect { $0.applicationName = "waiting" }
                try connection.listen("b")
                return try connection.waitForNotification(deadline: after(.seconds(50)))?.payload
            }
            try wait {
                try sender.first(
                    "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'waiting' AND query LIKE 'LISTEN%' AND state = 'idle'") == [1]
            }
            try sender.notify("b", "hello")
            #expect(try waiting.value() == "hello")
        }

        @Test("a session that the server ends while it waits says so")
        func lost() throws {
            try listener.listen("c")
            try sender.execute("SELECT pg_terminate_backend(?1)", [PostgreSQLValue(listener.processID)])
            let error = #expect(throws: PostgreSQLError.self) { _ = try listener.waitForNotification(deadline: after(.seconds(50))) }
            #expect(error?.code == .shuttingDown)
            #expect(!listener.isOpen)
        }

        @Test("names that PostgreSQL would cut and texts that it refuses")
        func refusals() {
            for name in ["", String(repeating: "ü", count: 32)] {
                let error = #expect(throws: PostgreSQLError.self) { try listener.listen(name) }
                #expect(error?.code == .misuse)
                #expect(throws: PostgreSQLError.self) { try sender.notify(name) }
            }
            #expect(throws: PostgreSQLError.self) { try sender.notify("a", String(repeating: "x", count: 8000)) }
        }
    }

    /// The identity of a server's data.
    @Suite struct HistoryTests {
        @Test("system identifier and timeline; a recovery that ends begins a new timeline, another server has another identifier")
        func history() throws {
            let server = try PostgreSQLServer(hasOwnIdentifier: true, settings: ["restore_command": "/bin/false"])
            let connection = try PostgreSQLConnection(server.configuration(database: "postgres"))
            let first = try connection.history()
            #expect(try first.systemIdentifier == connection.first("SELECT system_identifier FROM pg_control_system()")?[0].integer)
            #expect(first.timeline == 1)
            #expect(try PostgreSQLServer.shared().history() != first)
            connection.close()
            try server.recover()
            #expect(try server.history() == PostgreSQLHistory(systemIdentifier: first.systemIdentifier, timeline: 2))
        }

        @Test("users without privileges read it")
        func unprivileged() throws {
            let database = try PostgreSQLTestDatabase(), administrator = try database.connect(), user = "reader_\(database.name)"
            try administrator.run(script: "CREATE ROLE \(user) LOGIN")
            defer { try? administrator.run(script: "DROP ROLE \(user)") }
            let connection = try PostgreSQLConnection(database.server.configuration(database: database.name, user: user))
            #expect(try connection.history() == administrator.history())
        }
    }
}

extension PostgreSQLServer {
    fileprivate func history() throws -> PostgreSQLHistory { try PostgreSQLConnection(configuration(database: "postgres")).history() }
}
