internal import MobileServer
public import MobileStore
internal import PostgreSQLClient

/// A database whose statements of SQL are procedures of adapters.
public final class WorklightBackEnd: Sendable {
    private enum Engine: Sendable {
        case sqlite(Database)
        case postgreSQL(PostgreSQLPool)
    }
    private let engine: Engine

    /// Takes an SQLite database that is open; the caller closes it.
    public init(_ database: Database) { engine = .sqlite(database) }

    /// Opens a back end, by a place as in `PackageDeployment.backEnds`.
    /// - Parameters:
    ///   - place: the path of an SQLite file that exists, or the address of a PostgreSQL database, such as `postgresql://mobile@db.example.com/sales`. The
    ///     password comes from the variable `PGPASSWORD` or from libpq's password file; an address that contains one is refused.
    ///   - connections: the most connections to PostgreSQL at a time; default 8.
    /// - Throws: `StoreError`: the file cannot be opened; `ServerError`: PostgreSQL cannot be reached.
    public init(place: String, connections: Int = 8) throws {
        guard PostgreSQLPlace.isAddress(place) else {
            var profile = ConnectionProfile(path: place, journal: .unchanged)
            profile.createsFile = false
            engine = .sqlite(try Database(profile))
            return
        }
        let pool = PostgreSQLPool(PostgreSQLConfiguration(place), maximumConnections: connections)
        do { try pool.withConnection { _ = try $0.first("SELECT 1") } } catch {
            pool.close()
            // The message does not repeat an address that contains a password.
            guard (error as? PostgreSQLError)?.code != .misuse else {
                throw ServerError(.configuration, "Worklight back end: \((error as? PostgreSQLError)?.message ?? "")", cause: error)
            }
            throw ServerError(.missingBackEnd, "Worklight back end \(place): \(error)", cause: error)
        }
        engine = .postgreSQL(pool)
    }

    /// Closes the connections; procedures fail from then on.
    public func close() throws {
        switch engine {
        case .sqlite(let database): try database.close()
        case .postgreSQL(let pool): pool.close()
        }
    }

    /// Runs a statement.
    /// - Returns: the result in the form of the platform's SQL adapters.
    func run(_ statement: String, _ parameters: [JSONValue]) throws -> JSONValue {
        let values = try parameters.map { try Self.value($0) }
        switch engine {
        case .sqlite(let database): return try Self.run(statement, values, database)
        case .postgreSQL(let pool):
            do { return try pool.withConnection { try Self.run(statement, values, $0) } } catch let error as PostgreSQLError {
                throw WorklightProcedureError(error.message)
            }
        }
    }

    private static func run(_ statement: String, _ values: [Value], _ database: Database) throws -> JSONValue {
        let text = statement.drop(while: \.isWhitespace)
        guard text.prefix(6).lowercased() == "select" || text.prefix(4).lowercased() == "with" else {
            return updated(
                try database.write(label: "procedure") { connection in
                    try check(connection.statement(statement), values)
                    return try connection.execute(statement, values)
                })
        }
        let rows = try database.read { connection in
            let query = try connection.statement(statement)
            try check(query, values)
            try query.bind(values)
            let names = query.columnNames
            var rows: [JSONValue] = []
            while try query.step() { rows.append(row(names, query.values.map(json))) }
            return rows
        }
        return ["isSuccessful": true, "resultSet": .array(rows)]
    }

    /// SQLite would take NULL for a parameter that the call does not have.
    private static func check(_ statement: Statement, _ values: [Value]) throws {
        guard (try? statement.bind(.null, at: values.count + 1)) != nil else { return }
        throw WorklightProcedureError("the statement has more parameters than the \(values.count) of the call")
    }

    private static func run(_ statement: String, _ values: [Value], _ connection: PostgreSQLConnection) throws -> JSONValue {
        let columns = try connection.columns(of: statement), parameters = values.map(PostgreSQLValue.init)
        guard !columns.isEmpty else { return updated(try connection.execute(statement, parameters)) }
        let names = columns.map(\.name), types = columns.map(\.typeID)
        let rows = try connection.rows(statement, parameters).map { found in
            row(names, zip(found, types).map { json($0, type: $1) })
        }
        return ["isSuccessful": true, "resultSet": .array(rows)]
    }

    private static func updated(_ count: Int) -> JSONValue {
        ["isSuccessful": true, "updateStatementResult": ["updateCount": .integer(Int64(count))]]
    }

    private static func row(_ names: [String], _ values: [JSONValue]) -> JSONValue {
        var row = JSONObject()
        for (name, value) in zip(names, values) { row[name] = value }
        return .object(row)
    }

    private static func value(_ json: JSONValue) throws -> Value {
        switch json {
        case .null: .null
        case .boolean(let value): .integer(value ? 1 : 0)
        case .integer(let value): .integer(value)
        case .number: Value(json.double)
        case .string(let text): .text(text)
        case .array, .object: throw WorklightProcedureError("a parameter is an array or an object, which SQL does not have")
        }
    }

    private static func json(_ value: Value) -> JSONValue {
        switch value {
        case .null: .null
        case .integer(let value): .integer(value)
        case .real(let value): JSONValue(value) ?? .null
        case .text(let text): .string(text)
        case .blob(let bytes): .string(bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
        }
    }

    /// Types of PostgreSQL (`pg_type`) whose values are not what their form here is.
    private enum TypeID {
        static let boolean: UInt32 = 16, json: UInt32 = 114, numeric: UInt32 = 1700, jsonb: UInt32 = 3802
    }

    private static func json(_ value: PostgreSQLValue, type: UInt32) -> JSONValue {
        switch (type, value) {
        case (TypeID.boolean, .integer(let value)): .boolean(value != 0)
        // NaN is not a number of JSON.
        case (TypeID.numeric, .text(let digits)): (try? JSONValue(parsing: digits)) ?? .string(digits)
        case (TypeID.json, .text(let text)), (TypeID.jsonb, .text(let text)): (try? JSONValue(parsing: text)) ?? .string(text)
        default: json(Value(value))
        }
    }
}
