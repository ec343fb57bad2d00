internal import Foundation
package import PostgreSQLClient

/// An empty database of one test, removed with this object.
package final class PostgreSQLTestDatabase: Sendable {
    /// The server.
    package let server: PostgreSQLServer
    /// The name, which needs no quotation marks.
    package let name: String

    /// Makes a database on the shared server.
    package convenience init() throws { try self.init(on: .shared()) }

    /// Makes a copy of a database without open connections.
    package convenience init(copyOf database: PostgreSQLTestDatabase) throws { try self.init(on: database.server, template: database.name) }

    init(on server: PostgreSQLServer, template: String = "template0") throws {
        self.server = server
        name = "test_" + UUID().uuidString.lowercased().replacing("-", with: "")
        try PostgreSQLConnection(server.configuration(database: "postgres")).execute("CREATE DATABASE \(name) TEMPLATE \(template)")
    }

    deinit {
        // A server that the test has stopped takes the database with it.
        let administrator = try? PostgreSQLConnection(server.configuration(database: "postgres"))
        _ = try? administrator?.execute("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
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
