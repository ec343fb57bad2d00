internal import MobileStore

/// The persistent state of an application: its device, its registration and the server's settings, in a small database of its own. It never contains
/// a password.
struct ApplicationStore: Sendable {
    private let database: Database

    /// The registration as the server granted it.
    struct Registration: Sendable, Equatable {
        var identifier: String
        /// The properties at the time of the grant, without the password.
        var properties: ConnectionProperties
        /// The proof of the registration for the server.
        var token: String
        /// The user whose session ``token`` is; nil where the server knows the device by an activation code, or an earlier release has stored it.
        var sessionUser: String?
    }

    init(_ profile: ConnectionProfile) throws(SyncError) {
        database = try Self.checked("open the application's database \(profile.path)") {
            let database = try Database(profile)
            try database.write(label: "application") { connection in
                _ = try connection.execute(
                    "CREATE TABLE IF NOT EXISTS \"_application\" (\"name\" TEXT PRIMARY KEY, \"value\" TEXT NOT NULL) WITHOUT ROWID")
            }
            return database
        }
    }

    func close() throws(SyncError) { try Self.checked("close the application's database") { try database.close() } }

    /// Returns the device's own id: created once, the same for every registration of this database.
    func device(orMake make: () -> String) throws(SyncError) -> String {
        let made = make()
        return try Self.checked("read the device's id") {
            try database.write(label: "application") { connection in
                if case .text(let device)? = try connection.first(Self.select, [.text("device")])?.first { return device }
                _ = try connection.execute(Self.upsert, [.text("device"), .text(made)])
                return made
            }
        }
    }

    private static func damaged(_ what: String) -> SyncError { SyncError(.persistence, .localDatabase, "the registration is damaged: \(what)") }

    func load() throws(SyncError) -> (registration: Registration?, settings: ApplicationSettings?) {
        let rows = try Self.checked("read the registration") {
            try database.read { try $0.rows("SELECT \"name\", \"value\" FROM \"_application\"") }
        }
        var values: [String: String] = [:], settings: [String: String] = [:], headers: [String: String] = [:]
        for row in rows {
            guard case .text(let name) = row[0], case .text(let value) = row[1] else { throw Self.damaged("a name or value that is not text") }
            if name.hasPrefix("setting.") {
                settings[String(name.dropFirst(8))] = value
            } else if name.hasPrefix("header.") {
                headers[String(name.dropFirst(7))] = value
            } else {
                values[name] = value
            }
        }
        guard let token = values["token"], let identifier = values["identifier"] else { return (nil, nil) }
        guard let server = values["serverName"], let port = values["portNumber"].flatMap({ Int($0) }),
            let networkProtocol = values["networkProtocol"].flatMap({ NetworkProtocol(rawValue: $0) }), let urlSuffix = values["urlSuffix"]
        else { throw Self.damaged("the address of the server is incomplete") }
        let properties = ConnectionProperties(
            serverName: server, portNumber: port, networkProtocol: networkProtocol,
            loginCredentials: values["user"].map { LoginCredentials(user: $0, password: nil) }, urlSuffix: urlSuffix, httpHeaders: headers)
        return (
            Registration(
                identifier: identifier, properties: properties, token: token, sessionUser: values["sessionUser"] ?? properties.loginCredentials?.user),
            settings.isEmpty ? nil : ApplicationSettings(values: settings)
        )
    }

    /// Replaces the stored registration, in one transaction.
    func save(_ registration: Registration, settings: ApplicationSettings?) throws(SyncError) {
        let properties = registration.properties
        var values = [
            "identifier": registration.identifier, "token": registration.token, "serverName": properties.serverName,
            "portNumber": String(properties.portNumber), "networkProtocol": properties.networkProtocol.rawValue,
            "urlSuffix": properties.urlSuffix,
        ]
        values["user"] = properties.loginCredentials?.user
        values["sessionUser"] = registration.sessionUser
        for (name, value) in properties.httpHeaders { values["header." + name] = value }
        for (name, value) in settings?.values ?? [:] { values["setting." + name] = value }
        try replace(with: values)
    }

    /// Deletes the registration; the device's id remains.
    func forget() throws(SyncError) { try replace(with: [:]) }

    private func replace(with values: [String: String]) throws(SyncError) {
        try Self.checked("keep the registration") {
            try database.write(label: "application") { connection in
                _ = try connection.execute("DELETE FROM \"_application\" WHERE \"name\" <> 'device'", [])
                for (name, value) in values { _ = try connection.execute(Self.upsert, [.text(name), .text(value)]) }
            }
        }
    }

    private static let select = "SELECT \"value\" FROM \"_application\" WHERE \"name\" = ?"
    private static let upsert =
        "INSERT INTO \"_application\" (\"name\", \"value\") VALUES (?, ?) ON CONFLICT (\"name\") DO UPDATE SET \"value\" = excluded.\"value\""

    private static func checked<Result>(_ what: String, _ body: () throws -> Result) throws(SyncError) -> Result {
        do { return try body() } catch { throw SyncError(.persistence, .localDatabase, "cannot \(what): \(error)", cause: error) }
    }
}
