import Foundation
import PostgreSQLClient
import PostgreSQLTestSupport
import TestSupport
import Testing

extension PostgreSQLTests {
    /// Addresses, passwords and refusals.
    @Suite struct ConnectingTests {
        let database: PostgreSQLTestDatabase
        let administrator: PostgreSQLConnection
        let user: String

        init() throws {
            database = try PostgreSQLTestDatabase()
            administrator = try database.connect()
            user = "user_\(database.name)"
            try administrator.run(script: "CREATE ROLE \(user) LOGIN PASSWORD 'right word' IN ROLE secret")
        }

        private func address(_ further: String = "") -> String {
            "host=\(database.server.folder) port=\(database.server.port) dbname=\(database.name) user=\(user) \(further)"
        }

        private func failure(_ configuration: PostgreSQLConfiguration) -> PostgreSQLError? {
            #expect(throws: PostgreSQLError.self) { _ = try PostgreSQLConnection(configuration) }
        }

        private func connects(_ configuration: PostgreSQLConfiguration) throws -> Bool {
            try PostgreSQLConnection(configuration).first("SELECT current_user") == [.text(user)]
        }

        @Test("the password comes from a source, a passfile, or explicitly from the address")
        func passwords() throws {
            defer { try? administrator.run(script: "DROP ROLE \(user)") }
            #expect(try connects(PostgreSQLConfiguration(address(), password: PasswordSource { "right word" })))
            let folder = try TemporaryDirectory()
            let file = try folder.write("*:*:\(database.name):\(user):right word\n".utf8, to: "passfile")
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
            #expect(try connects(PostgreSQLConfiguration(address("passfile=\(file)"))))
            #expect(try connects(PostgreSQLConfiguration(address("password='right word'"), allowsPasswordInAddress: true)))
        }

        @Test("wrong and missing passwords, unknown users and databases")
        func refusals() throws {
            defer { try? administrator.run(script: "DROP ROLE \(user)") }
            let wrong = failure(PostgreSQLConfiguration(address(), password: PasswordSource { "wrong" }))
            #expect(wrong?.code == .authentication)
            #expect(wrong?.sqlState == "28P01")
            #expect(wrong?.message.contains("password authentication failed for user \"\(user)\"") == true)
            #expect(wrong?.message.contains("LOCATION") == false)
            let missing = failure(PostgreSQLConfiguration(address("passfile=/nowhere")))
            #expect(missing?.code == .authentication)
            struct NoVault: Error {}
            let source = failure(PostgreSQLConfiguration(address(), password: PasswordSource { throw NoVault() }))
            #expect(source?.code == .authentication)
            #expect(source?.cause is NoVault)
            let nobody = failure(database.server.configuration(database: database.name, user: "nobody"))
            #expect(nobody?.code == .authentication)
            let nowhere = failure(database.server.configuration(database: "nowhere"))
            #expect(nowhere?.code == .undefinedObject)
            #expect(nowhere?.sqlState == "3D000")
        }

        @Test(
            "a password in an address is refused without repeating it, and so is an unreadable address",
            arguments: [
                "postgresql://crm:hunter2@localhost/crm", "postgresql://crm@localhost/crm?password=hunter2", "host=localhost password=hunter2",
                "host=localhost hunter2", "postgresql://crm:hunter2@[localhost/crm", "postgresql://crm@localhost/crm?hunter2=1",
                "host=localhost hunter2=1", "host=localhost password='hunter2",
            ])
        func passwordInAddress(address: String) {
            let error = failure(PostgreSQLConfiguration(address))
            #expect(error?.code == .misuse)
            #expect(error?.description.contains("hunter2") == false)
        }

        @Test("settings out of their range are refused")
        func ranges() {
            #expect(failure(PostgreSQLConfiguration(address(), statementCacheSize: 0))?.code == .misuse)
            #expect(failure(PostgreSQLConfiguration(address(), lockTimeout: .microseconds(1)))?.code == .misuse)
            #expect(failure(PostgreSQLConfiguration(address(), statementTimeout: .seconds(1 << 40)))?.code == .misuse)
        }

        @Test("no server, and one that does not answer")
        func noServer() throws {
            let start = ContinuousClock.now
            let nowhere = failure(PostgreSQLConfiguration("host=/tmp/nowhere dbname=x user=x"))
            #expect(nowhere?.code == .connectionFailed)
            #expect(nowhere?.canBeRepeated == true)
            let silent = try SilentServer()
            let late = failure(PostgreSQLConfiguration("host=127.0.0.1 port=\(silent.port) user=x", connectionTimeout: .milliseconds(100)))
            #expect(late?.code == .timeout)
            let source = failure(
                PostgreSQLConfiguration(
                    "host=127.0.0.1",
                    password: PasswordSource {
                        silent.waitForEnd(); return ""
                    }, connectionTimeout: .milliseconds(100)))
            #expect(source?.code == .timeout)
            #expect(.now - start < .seconds(30))
            silent.end()
        }

        @Test("the session's settings precede those of database and user, and survive RESET ALL")
        func sessionSettings() throws {
            try administrator.run(
                script: """
                    ALTER DATABASE \(database.name) SET timezone = 'Asia/Tokyo'; ALTER DATABASE \(database.name) SET datestyle = 'German';
                    ALTER DATABASE \(database.name) SET bytea_output = 'escape'; ALTER DATABASE \(database.name) SET client_encoding = 'LATIN1'
                    """)
            let connection = try PostgreSQLConnection(
                PostgreSQLConfiguration(
                    "host=\(database.server.folder) dbname=\(database.name) user=postgres options='-c work_mem=5MB'", applicationName: "a 'name'",
                    idleInTransactionTimeout: .milliseconds(1500)))
            for _ in 0..<2 {
                let names = [
                    "timezone", "datestyle", "bytea_output", "client_encoding", "standard_conforming_strings", "idle_in_transaction_session_timeout",
                    "application_name", "work_mem",
                ]
                let row = try connection.first("SELECT " + names.map { "current_setting('\($0)')" }.joined(separator: ", "))
                #expect(row == ["UTC", "ISO, MDY", "hex", "UTF8", "on", "1500ms", "a 'name'", "5MB"] || row?[1].text?.hasPrefix("ISO") == true)
                #expect(row?[0] == "UTC")
                #expect(row?[2...] == ["hex", "UTF8", "on", "1500ms", "a 'name'", "5MB"])
                try connection.run(script: "SET timezone = 'Asia/Tokyo'; RESET ALL")
            }
            #expect(connection.serverVersion >= 120_000)
            #expect(connection.processID > 0)
            #expect(!connection.usesTLS)
            connection.close()
            let closed = #expect(throws: PostgreSQLError.self) { try connection.execute("SELECT 1") }
            #expect(closed?.code == .closed)
        }
    }

    /// TLS as `sslmode` demands it. Logins over TCP need a password, too.
    @Suite struct TLSTests {
        @Test("a server without TLS is refused where TLS is required")
        func refused() throws {
            let server = try PostgreSQLServer(usesTCP: true)
            let address = "host=127.0.0.1 port=\(server.port) dbname=postgres user=postgres"
            let error = #expect(throws: PostgreSQLError.self) { _ = try PostgreSQLConnection(PostgreSQLConfiguration("\(address) sslmode=require")) }
            #expect(error?.code == .connectionFailed)
            #expect(error?.message.contains("SSL") == true)
        }

        @Test("the certificate is verified where the address says so")
        func verified() throws {
            let server = try PostgreSQLServer(usesTCP: true), folder = try TemporaryDirectory()
            try server.useTLS(certificate: LoopbackCertificate.certificate, key: LoopbackCertificate.privateKey)
            try PostgreSQLConnection(server.configuration(database: "postgres")).run(script: "ALTER ROLE postgres PASSWORD 'word'")
            let trusted = try folder.write(LoopbackCertificate.certificate.utf8, to: "trusted.pem")
            let stranger = try folder.write(LoopbackCertificate.stranger.utf8, to: "stranger.pem")
            func connection(_ mode: String, _ root: String) throws -> PostgreSQLConnection {
                let address = "host=127.0.0.1 port=\(server.port) dbname=postgres user=postgres sslmode=\(mode) sslrootcert=\(root)"
                return try PostgreSQLConnection(PostgreSQLConfiguration(address, password: PasswordSource { "word" }))
            }
            let verified = try connection("verify-full", trusted)
            #expect(verified.usesTLS)
            #expect(try verified.first("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()") == [1])
            // Deadlines and cancelling work over TLS as well.
            let late = #expect(throws: PostgreSQLError.self) { try verified.execute("SELECT pg_sleep(60)", deadline: after(.milliseconds(100))) }
            #expect(late?.code == .timeout)
            #expect(try verified.first("SELECT 1") == [1])
            let error = #expect(throws: PostgreSQLError.self) { _ = try connection("verify-full", stranger) }
            #expect(error?.code == .connectionFailed)
        }
    }
}
