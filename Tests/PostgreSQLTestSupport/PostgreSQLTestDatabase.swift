internal import Foundation
internal import MobileServer
package import PostgreSQLClient

/// An empty database of one test, removed with this object.
package final class PostgreSQLTestDatabase: Sendable {
    /// The server.
    package let server: PostgreSQLServer
    /// The name, which needs no quotation marks.
    package let name: String

    /// Makes a database on the shared server.
    package convenience init() throws { try self.init(on: .shared()) }

    /// Makes a database with the tables of a server's state and no rows in them, on the shared server. It is a copy of one in which a server has made them:
    /// to make more than a hundred tables and indexes takes longer than many a test.
    package static func ofState() throws -> PostgreSQLTestDatabase {
        let server = try PostgreSQLServer.shared()
        let template = try server.template("state") { database in
            var configuration = ServerConfiguration(cachePath: "", packages: [])
            configuration.storeAddress = database.address
            try ServerAdministration(cacheOf: configuration).close()
        }
        return try PostgreSQLTestDatabase(on: server, template: template)
    }

    /// Makes a copy of a database of this server, which `prepare` fills the first time.
    package convenience init(
        copyOf template: String, on server: PostgreSQLServer, _ prepare: (PostgreSQLConfiguration) throws -> Void
    ) throws {
        try self.init(on: server, template: try server.template(template, prepare))
    }

    /// Makes a copy of a database without open connections.
    package convenience init(copyOf database: PostgreSQLTestDatabase) throws { try self.init(on: database.server, template: database.name) }

    /// Makes a copy of a database that is in use: its connections end.
    package convenience init(copyOfOpen database: PostgreSQLTestDatabase) throws {
        let server = database.server, name = database.name
        try server.administrate { try $0.execute("ALTER DATABASE \(name) ALLOW_CONNECTIONS false") }
        defer { _ = try? server.administrate { try $0.execute("ALTER DATABASE \(name) ALLOW_CONNECTIONS true") } }
        // The processes end a moment later.
        try server.administrate { administrator in
            while try administrator.first(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = ?1", [.text(name)])?[0].integer != 0
            {}
        }
        try self.init(on: server, template: name)
    }

    /// The files are copied, which takes a third of the time that a copy through the log takes.
    init(on server: PostgreSQLServer, template: String = "template0") throws {
        self.server = server
        name = "test_" + UUID().uuidString.lowercased().replacing("-", with: "")
        let name = name
        try server.administrate { administrator in
            // The only way before version 15.
            let version = try administrator.first("SELECT current_setting('server_version_num')::int8")?[0].integer ?? 0
            try administrator.execute("CREATE DATABASE \(name) TEMPLATE \(template)\(version < 150_000 ? "" : " STRATEGY FILE_COPY")")
        }
    }

    /// Takes a copy of another database in place of this one, under the same name, as after the promotion of a standby that lacks the last commits.
    /// Open connections end.
    /// - Parameter saved: a database without open connections.
    package func replace(with saved: PostgreSQLTestDatabase) throws {
        let next = "next_" + UUID().uuidString.lowercased().replacing("-", with: "")
        try server.administrate { administrator in
            try administrator.execute("CREATE DATABASE \(next) TEMPLATE \(saved.name)")
            try administrator.execute("DROP DATABASE \(name) WITH (FORCE)")
            try administrator.execute("ALTER DATABASE \(next) RENAME TO \(name)")
        }
    }

    deinit {
        // A server that the test has stopped takes the database with it.
        _ = try? server.administrate { try $0.execute("DROP DATABASE IF EXISTS \(name) WITH (FORCE)") }
    }

    /// The settings for the database.
    package var configuration: PostgreSQLConfiguration { server.configuration(database: name) }

    /// Opens a connection.
    /// - Parameter configure: changes the settings.
    package func connect(_ configure: (inout PostgreSQLConfiguration) -> Void = { _ in }) throws -> PostgreSQLConnection {
        var configuration = configuration
        configure(&configuration)
        return try PostgreSQLConnection(configuration)
    }
}
