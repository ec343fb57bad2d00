public import MobileCrypto
public import MobileModel

/// What a server is made of. Start from ``init(cachePath:packages:users:)`` and set what differs from the defaults.
public struct ServerConfiguration: Sendable {
    /// The file of the cache database: accounts, sessions, key ranges and what the back ends had when they were last read. It is
    /// made when it does not exist. If it is lost, devices register again and load all data again; nothing else is lost.
    public var cachePath: String
    /// The packages to deploy.
    public var packages: [PackageDeployment]
    /// Users and their passwords. They are made, or their passwords set, when the server opens; users of earlier runs stay.
    public var users: [String: String]
    /// Activation codes by user, for devices that register without password. SMP 2.3: manual registration.
    public var activationCodes: [String: String] = [:]
    /// How much work it is to check a password; default some 0.1 s. Verifiers that exist keep theirs.
    public var passwordParameters = PasswordVerifier.Parameters()
    /// Settings that every device gets when it registers or logs in, by name. Default: ``defaultApplicationSettings``.
    public var applicationSettings = ServerConfiguration.defaultApplicationSettings
    /// Surrogate keys in one grant, 1 to 1,000,000; default 10,000. A client gets a grant when it has less than half of that left.
    public var keyRangeSize: Int64 = 10_000
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
}

/// One package as it is deployed: its model, and where its back ends are.
public struct PackageDeployment: Sendable {
    /// The model.
    public var model: PackageModel
    /// Paths of the back ends' SQLite files by their names in the model; they win over the paths in the model.
    public var backEnds: [String: String]
    /// The folder that relative paths of the model start from; default the current one.
    public var directory: String

    public init(_ model: PackageModel, backEnds: [String: String] = [:], directory: String = "") {
        self.model = model
        self.backEnds = backEnds
        self.directory = directory
    }

    /// Opens the back ends and holds the model against them, as a server does before it serves the package. Nothing is written.
    /// - Throws: ``ServerError`` that names the file, table, column or statement that does not fit.
    public func verify() throws { _ = try PackageDeployer(self).verified() }

    /// Name and version, as clients call the package: `CRM:1.0`.
    var identifier: String { "\(model.name):\(model.version)" }
}
