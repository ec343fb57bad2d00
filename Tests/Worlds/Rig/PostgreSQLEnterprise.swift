internal import MobilePostgreSQL

/// A back end in a database of PostgreSQL.
package final class PostgreSQLEnterprise: EnterpriseDatabase {
    private var connection: OpaquePointer?

    private let settings: String

    /// - Parameter isDurable: whether its changes survive when PostgreSQL is killed.
    package init(address: String, isDurable: Bool = false) throws {
        guard let opened = PQconnectdb(address) else { throw EnterpriseFailure(description: "no memory") }
        connection = opened
        settings =
            "SET client_min_messages = warning; SET timezone = 'UTC'; SET datestyle = ISO; SET synchronous_commit = \(isDurable ? "on" : "off")"
        guard PQstatus(opened) == CONNECTION_OK else { throw EnterpriseFailure(description: String(cString: PQerrorMessage(opened))) }
        try run(settings)
    }

    /// Connects again after a restart of PostgreSQL.
    func reconnect() throws {
        PQreset(connection)
        try run(settings)
    }

    deinit { close() }

    package func close() {
        PQfinish(connection)
        connection = nil
    }

    package func run(_ sql: String) throws { _ = try rows(sql) }

    package func rows(_ sql: String) throws -> [[String?]] {
        let result = PQexec(connection, sql)
        defer { PQclear(result) }
        let status = PQresultStatus(result)
        guard status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK else {
            throw EnterpriseFailure(description: "\(String(cString: PQerrorMessage(connection))): \(sql)")
        }
        return (0..<PQntuples(result)).map { row in
            (0..<PQnfields(result)).map { column in
                PQgetisnull(result, row, column) == 1 ? nil : PQgetvalue(result, row, column).map { String(cString: $0) }
            }
        }
    }
}
