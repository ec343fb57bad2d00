/// The address of a database, and the settings of connections to it. A configuration is a value: changing it does not affect open connections.
package struct PostgreSQLConfiguration: Sendable {
    /// The database: a URI like `postgresql://app@db1:5432/crm?sslmode=verify-full` or a string like `host=db1 user=app dbname=crm`, with all
    /// the parameters of libpq; parameters that it lacks come from libpq's environment variables. `sslmode` and `sslrootcert` decide about TLS.
    /// `client_encoding` is always UTF-8, and ``connectionTimeout`` replaces `connect_timeout`. A host that is gone is noticed after a minute, also by a
    /// connection that only listens, unless the address has other `keepalives` parameters.
    package var address: String

    /// The source of the password; nil (default) for libpq's own: `PGPASSWORD`, then the passfile (`~/.pgpass` or `passfile=`).
    package var password: PasswordSource?

    /// Whether ``address`` may contain the password; default false: addresses end up in logs and lists of processes.
    package var allowsPasswordInAddress: Bool

    /// The name under which the server lists the connection; default `MobileObjects`. A name in ``address`` precedes it.
    package var applicationName: String

    /// The time to find the host, connect and log in; default 10 s.
    package var connectionTimeout: Duration

    /// The time for a call without its own deadline; default 30 s.
    package var timeLimit: Duration

    /// The further time, after a deadline or a failure, to cancel what runs and to roll back; default 2 s. When it is not enough, the connection
    /// is closed.
    package var recoveryTime: Duration

    /// The time after which the server ends a session that waits inside of a transaction, 1 ms or more, nil for no limit; default 10 s. A
    /// stopped process gives back its locks after this time.
    package var idleInTransactionTimeout: Duration?

    /// The time after which the server itself cancels a statement, 1 ms or more; nil (default) for the server's setting.
    package var statementTimeout: Duration?

    /// The time after which the server refuses to wait longer for one lock, 1 ms or more; nil (default) for the server's setting.
    package var lockTimeout: Duration?

    /// The number of prepared statements that each connection keeps, 1 to 10000; default 128. The least recently used one goes first.
    package var statementCacheSize: Int

    /// Makes a configuration; all settings but the address have the defaults of their properties.
    package init(
        _ address: String, password: PasswordSource? = nil, allowsPasswordInAddress: Bool = false, applicationName: String = "MobileObjects",
        connectionTimeout: Duration = .seconds(10), timeLimit: Duration = .seconds(30), recoveryTime: Duration = .seconds(2),
        idleInTransactionTimeout: Duration? = .seconds(10), statementTimeout: Duration? = nil, lockTimeout: Duration? = nil,
        statementCacheSize: Int = 128
    ) {
        self.address = address
        self.password = password
        self.allowsPasswordInAddress = allowsPasswordInAddress
        self.applicationName = applicationName
        self.connectionTimeout = connectionTimeout
        self.timeLimit = timeLimit
        self.recoveryTime = recoveryTime
        self.idleInTransactionTimeout = idleInTransactionTimeout
        self.statementTimeout = statementTimeout
        self.lockTimeout = lockTimeout
        self.statementCacheSize = statementCacheSize
    }

    /// The oldest version of the server: 12.
    package static let minimumServerVersion = 12
}

/// A place from which each new connection takes the password, so that a changed password needs no restart.
package struct PasswordSource: Sendable {
    let password: @Sendable () throws -> String

    /// Takes the password from a closure, which runs on another thread than the caller's, and within the time for connecting.
    package init(_ password: @escaping @Sendable () throws -> String) { self.password = password }
}

extension PostgreSQLConfiguration {
    /// The parameters of libpq, those of the address and those of this module. Settings of the session are among them, so `RESET ALL`
    /// returns to them, and they precede settings of the database and of the user.
    /// - Throws: `.misuse` (an unreadable address, a password in it, a setting out of its range), `.authentication` (no password).
    func parameters() throws(PostgreSQLError) -> [(key: String, value: String)] {
        try checkRanges()
        try address.checkForPostgreSQL()
        var parameters = try ConnectionString.parse(address)
        guard allowsPasswordInAddress || !parameters.contains(where: { $0.key == "password" }) else {
            throw PostgreSQLError(
                .misuse, "the address of a database contains a password: use PGPASSWORD, a passfile or a password source, or allow it explicitly")
        }
        let options = parameters.first { $0.key == "options" }.map { [$0.value] } ?? []
        parameters.removeAll { $0.key == "options" || $0.key == "client_encoding" || $0.key == "connect_timeout" }
        let defaults = [
            ("application_name", applicationName), ("keepalives_idle", "30"), ("keepalives_interval", "10"), ("keepalives_count", "3"),
        ]
        for (key, value) in defaults where !parameters.contains(where: { $0.key == key }) { parameters.append((key, value)) }
        if let password { parameters.append(("password", try read(password))) }
        parameters.append(("client_encoding", "UTF8"))
        parameters.append(("options", (options + sessionSettings).joined(separator: " ")))
        return parameters
    }

    private var sessionSettings: [String] {
        var settings = [
            "DateStyle=ISO", "TimeZone=UTC", "standard_conforming_strings=on", "bytea_output=hex", "extra_float_digits=1",
            "idle_in_transaction_session_timeout=\(idleInTransactionTimeout?.wholeMilliseconds ?? 0)",
        ]
        if let statementTimeout { settings.append("statement_timeout=\(statementTimeout.wholeMilliseconds)") }
        if let lockTimeout { settings.append("lock_timeout=\(lockTimeout.wholeMilliseconds)") }
        return settings.map { "-c \($0)" }
    }

    private func checkRanges() throws(PostgreSQLError) {
        guard (1...10_000).contains(statementCacheSize) else {
            throw PostgreSQLError(.misuse, "statement cache size \(statementCacheSize): use a number from 1 to 10000")
        }
        for time in [idleInTransactionTimeout, statementTimeout, lockTimeout] {
            guard let time, !(1...Int(Int32.max)).contains(time.wholeMilliseconds) else { continue }
            throw PostgreSQLError(.misuse, "a timeout of the server of \(time): use 1 ms to 24 days, or nil")
        }
    }

    private func read(_ source: PasswordSource) throws(PostgreSQLError) -> String {
        do {
            let password = try source.password()
            try password.checkForPostgreSQL()
            return password
        } catch {
            throw PostgreSQLError(.authentication, "the password source has no password", cause: error)
        }
    }
}

extension Duration {
    /// Whole milliseconds, rounded down; beyond the range of Int32 its end.
    fileprivate var wholeMilliseconds: Int { Int(min(max(self / .milliseconds(1), -1), Double(Int32.max) + 1)) }
}
