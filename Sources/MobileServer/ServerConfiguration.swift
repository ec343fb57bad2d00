public import MobileCrypto
public import MobileModel

/// What a server is made of. Start from ``init(cachePath:packages:users:)`` and set what differs from the defaults.
public struct ServerConfiguration: Sendable {
    /// The file of the cache database: accounts, sessions, key ranges and what the back ends had when they were last read. It is
    /// made when it does not exist. If it is lost, devices register again and load all data again; nothing else is lost.
    public var cachePath: String
    /// The packages to deploy.
    public var packages: [PackageDeployment]
    /// Users and their passwords. They are made, or their passwords set, when the server opens; users of earlier runs stay. A new
    /// password ends the user's sessions.
    public var users: [String: String]
    /// Activation codes by user, for devices that register without password. Each is good for the registration of one device, until
    /// ``activationCodeLifetime`` has passed since the server has seen it first; another one takes its place. SMP 2.3: manual registration.
    public var activationCodes: [String: String] = [:]
    /// How long an activation code can be used; default three days. SMP 1.5.3: the hours until the code expires.
    public var activationCodeLifetime: Duration = .seconds(3 * 86_400)
    /// How long a session lasts that nobody uses; default 30 days. Then the device logs in again, by itself if it has the password.
    public var sessionIdleLimit: Duration = .seconds(30 * 86_400)
    /// How long a session lasts at most; default 365 days.
    public var sessionLifetime: Duration = .seconds(365 * 86_400)
    /// What one request may take up.
    public var limits = RequestLimits()
    /// How much work it is to check a password; default some 0.1 s. Verifiers that exist keep theirs.
    public var passwordParameters = PasswordVerifier.Parameters()
    /// Settings that every device gets when it registers or logs in, by name. Default: ``defaultApplicationSettings``.
    public var applicationSettings = ServerConfiguration.defaultApplicationSettings
    /// Surrogate keys in one grant, 1 to 1,000,000; default 10,000. A client gets a grant when it has less than half of that left.
    public var keyRangeSize: Int64 = 10_000
    /// Bytes of the longest large value that is taken into memory as a whole; default 256 MB. Long binary values go into their rows piece by piece
    /// and are as long as the back end takes them; those that it takes as a whole only (texts, values that a trigger, an index or a constraint
    /// looks at, values of modelled statements) are rejected beyond this length with 413.
    public var maximumWholeValue = 256 << 20
    /// The domain that the server belongs to: the first part of the names of its tables of log records. Letters, digits, `-` and `_`, 1 to 64;
    /// default `default`. Another domain begins tables of its own. SMP 2.3: domains of the server.
    public var domain = "default"
    /// The number of rows from which on a table of log records is reported to ``log`` as too long; default 10,000.
    /// SMP 2.3: the guideline for the log record table.
    public var logTableGuideline = 10_000
    /// Rows that cleaning changes in one transaction, 1 to 100,000; default 500. Synchronizations go through between two of them.
    public var cleaningPortion = 500
    /// How long a request waits for a connection to the cache or to a back end, each time that it needs one; default 10 s. Then it is refused
    /// with status 503.
    public var connectionTimeout = ServerConfiguration.defaultConnectionTimeout
    /// Milliseconds since 1970, UTC; default the system's clock.
    public var clock: @Sendable () -> Int64 = SystemEnvironment.milliseconds
    /// So many random bytes; default the system's cryptographic source.
    public var random: @Sendable (Int) -> [UInt8] = SystemEnvironment.randomBytes
    /// Whether a device gets a log record for each operation that was done, besides those for rejections. Default false: successes are told
    /// by the replay's result.
    public var logsSuccesses = false
    /// Which requests leave a line in ``log``. Default none; may be switched while the server runs.
    public var requestTrace = RequestTrace()
    /// Called with one line per event worth keeping: rejected operations, refused requests, internal failures, traced requests. Default nothing.
    public var log: @Sendable (String) -> Void = { _ in }

    /// A configuration of these packages and users; the rest as its defaults say.
    public init(cachePath: String, packages: [PackageDeployment] = [], users: [String: String] = [:]) {
        self.cachePath = cachePath
        self.packages = packages
        self.users = users
    }
}

extension ServerConfiguration {
    /// What devices are told where nobody has set anything: the rules for the passwords of their vaults, switched off, with the defaults that
    /// a vault has itself. SMP 2.3: the password policy of the default connection template.
    public static let defaultApplicationSettings = [
        "PWDPOLICY_ENABLED": "false", "PWDPOLICY_DEFAULT_PASSWORD_ALLOWED": "false", "PWDPOLICY_MIN_LENGTH": "0",
        "PWDPOLICY_HAS_DIGITS": "false", "PWDPOLICY_HAS_UPPER": "false", "PWDPOLICY_HAS_LOWER": "false", "PWDPOLICY_HAS_SPECIAL": "false",
        "PWDPOLICY_EXPIRES_IN_N_DAYS": "0", "PWDPOLICY_MIN_UNIQUE_CHARS": "0", "PWDPOLICY_LOCK_TIMEOUT": "0", "PWDPOLICY_RETRY_LIMIT": "0",
    ]

    /// Where nothing else is said.
    static let defaultConnectionTimeout: Duration = .seconds(10)

    func checkCleaning() throws(ServerError) {
        guard (1...100_000).contains(cleaningPortion) else {
            throw ServerError(.configuration, "cleaning portion \(cleaningPortion): use 1 to 100,000")
        }
    }

    /// - Throws: ``ServerError/Code/configuration`` for times and numbers that are none.
    func checkAccounts() throws(ServerError) {
        for (name, time) in [
            ("activation code lifetime", activationCodeLifetime), ("session idle limit", sessionIdleLimit), ("session lifetime", sessionLifetime),
            ("time of strangers", limits.strangerTime), ("upload time", limits.uploadTime),
        ] where time <= .zero || time > .seconds(100 * 366 * 86_400) {
            throw ServerError(.configuration, "\(name): \(time) is not above 0 and at most 100 years")
        }
        for (name, number) in [
            ("messages", limits.messages), ("bytes of strangers", limits.strangerBytes), ("upload bytes", limits.uploadBytes),
            ("logins", limits.logins),
        ] where number < 1 {
            throw ServerError(.configuration, "limit of \(name) \(number): use 1 or more")
        }
    }

    /// - Throws: ``ServerError/Code/configuration`` for what the log records cannot be kept with.
    func checkLogs() throws(ServerError) {
        try checkCleaning()
        guard (1...64).contains(domain.utf8.count),
            domain.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) })
        else {
            throw ServerError(.configuration, "domain \"\(domain.prefix(80))\": use 1 to 64 letters, digits, - and _")
        }
        for package in packages {
            for (application, time) in package.logRetention where time < .zero || time > .seconds(100 * 366 * 86_400) {
                throw ServerError(
                    .configuration, "package \"\(package.identifier)\", log retention of \"\(application)\": \(time) is not between 0 and 100 years")
            }
        }
    }
}

/// One package as it is deployed: its model, and where its back ends are.
public struct PackageDeployment: Sendable {
    /// The model.
    public var model: PackageModel
    /// Paths of the back ends' SQLite files by their names in the model; they win over the paths in the model.
    public var backEnds: [String: String]
    /// The folder that relative paths of the model start from; default the current one.
    public var directory: String

    /// How long the applications that use the package need the log records that their clients have uploaded, by application id. The longest
    /// time counts for all of them, because they share one table; older records are deleted, on the server and then on the devices. Default
    /// empty: kept until somebody cleans. SMP 2.3: the retention policy of client logs.
    public var logRetention: [String: Duration] = [:]

    /// A package of this model, with the paths of its back ends by their names.
    public init(_ model: PackageModel, backEnds: [String: String] = [:], directory: String = "") {
        self.model = model
        self.backEnds = backEnds
        self.directory = directory
    }

    /// Opens the back ends and holds the model against them, as a server does before it serves the package. Nothing is written.
    /// - Throws: ``ServerError`` that names the file, table, column or statement that does not fit.
    public func verify() throws { _ = try PackageDeployer(self, timeout: ServerConfiguration.defaultConnectionTimeout).verified() }

    /// Name and version, as clients call the package: `CRM:1.0`.
    var identifier: String { "\(model.name):\(model.version)" }
}
