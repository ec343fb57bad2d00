internal import Foundation
public import MobileCrypto
public import MobileModel

/// The configuration of a server. Start from ``init(cachePath:packages:users:)`` and set the properties that differ from the defaults.
public struct ServerConfiguration: Sendable {
    /// The path of the cache database: accounts, sessions, key ranges, log records, and the contents of the back ends at their last reading. The file
    /// is created if it does not exist. If it is lost, devices register again and load all data again. Users set by ``ServerAdministration``, log
    /// records and traces are lost with it; no data of a back end is.
    public var cachePath: String
    /// The address of a PostgreSQL database that holds the server's state instead of the file ``cachePath``: a URL such as
    /// `postgresql://mobile@db.example.com/mobile`, or parameters of libpq. Default nil. Any number of server processes can share one database. The
    /// tables are created in the first schema of the search path. The password comes from the variable `PGPASSWORD` or from libpq's password file;
    /// an address that contains one is refused.
    public var storeAddress: String?
    /// The packages to deploy.
    public var packages: [PackageDeployment]
    /// Users and their passwords. They are created, or their passwords set, when the server opens; users of earlier runs remain. A new password ends
    /// the user's sessions.
    public var users: [String: String]
    /// Activation codes by user, for devices that register without a password. Each allows the registration of one device, until
    /// ``activationCodeLifetime`` has passed since the server first saw the code. A new code replaces the user's previous one. SMP 2.3: manual
    /// registration.
    public var activationCodes: [String: String] = [:]
    /// The validity period of an activation code; default three days. SMP 1.5.3: the hours until the code expires.
    public var activationCodeLifetime: Duration = .seconds(3 * 86_400)
    /// The time after which an unused session ends; default 30 days. The device then logs in again, by itself if it has the password.
    public var sessionIdleLimit: Duration = .seconds(30 * 86_400)
    /// The maximum lifetime of a session; default 365 days.
    public var sessionLifetime: Duration = .seconds(365 * 86_400)
    /// The limits of one request.
    public var limits = RequestLimits()
    /// The amount of work for checking a password; default about 0.1 s. Existing verifiers keep their parameters.
    public var passwordParameters = PasswordVerifier.Parameters()
    /// The settings that every device receives when it registers or logs in, by name. Default: ``defaultApplicationSettings``.
    public var applicationSettings = ServerConfiguration.defaultApplicationSettings
    /// The number of surrogate keys in one grant, 1 to 1,000,000; default 10,000. A client receives a grant when less than half of that number is
    /// left.
    public var keyRangeSize: Int64 = 10_000
    /// The maximum size of a large value that is read into memory as a whole, in bytes; default 256 MB. Long binary values are written into their
    /// rows piece by piece, and only the back end limits their length. Values that the back end accepts only as a whole are rejected beyond this size
    /// with 413: texts, values that a trigger, an index or a constraint uses, and values of modelled statements.
    public var maximumWholeValue = 256 << 20
    /// The domain of the server: the first part of the names of its log record tables. Letters, digits, `-` and `_`, 1 to 64 characters; default
    /// `default`. Another domain begins tables of its own. SMP 2.3: domains of the server.
    public var domain = "default"
    /// The number of rows from which on a table of log records is reported to ``log`` as too long; default 10,000.
    /// SMP 2.3: the guideline for the log record table.
    public var logTableGuideline = 10_000
    /// The number of rows that cleaning changes in one transaction, 1 to 100,000; default 500. Synchronizations can run between two transactions.
    public var cleaningPortion = 500
    /// The folder of the contents that devices fetch on their own (segments of rows, and long values), as files; nil (default) for a folder next to the cache
    /// database, or for a temporary one if the state is in PostgreSQL. Several processes on one machine may use one folder. Missing files are written again.
    public var segmentDirectory: String?
    /// The number of bytes of these files from which on those that were not used for longest are removed; default 4 GB.
    public var segmentCacheSize: Int64 = 4 << 30
    /// The internal location under which a proxy sends the files of ``segmentDirectory``, such as `/segments`: such requests are then answered with
    /// `X-Accel-Redirect`, after the server has authorized them. Default nil: the server sends the files itself.
    public var segmentRedirect: String?
    /// The rules by which segments are made and used.
    package var segmentRules = SegmentRules()
    /// The times and limits of refreshes.
    package var refreshRules = RefreshRules()
    /// The rules by which changes are found with sums of rows.
    package var changeRules = ChangeRules()
    /// The time that a request waits for a connection to the cache or to a back end, each time that it needs one; default 10 s. After that, the
    /// request is refused with status 503.
    public var connectionTimeout = ServerConfiguration.defaultConnectionTimeout
    /// The time within which the cache and all back ends must answer, for the server to be ready (`GET /ready`); default 2 s.
    public var readinessTimeout: Duration = .seconds(2)
    /// The folder of uploads that arrive in pieces; nil (default) for ``cachePath`` with the suffix `-uploads`, and without a
    /// path for a temporary one. Several processes may share it; otherwise a client whose
    /// pieces go to different processes begins again.
    public var uploadFolder: String?
    /// The tokens of operators' programs, such as a back end that reports its changes (`POST /mobile/v1/changes`); default none. 16 characters or more
    /// each: choose them at random.
    public var operatorTokens: Set<String> = []
    /// The time after which all rows of a partition are compared with the back end although its mark shows the changed ones: a change that no trigger saw,
    /// or that got no new version, is found then. Default one day.
    public var comparisonInterval: Duration = .seconds(86_400)
    /// The time for which the server keeps what grows with every device and every day.
    public var retention = Retention()
    /// The current time in milliseconds since 1970, UTC; default the system's clock.
    public var clock: @Sendable () -> Int64 = SystemEnvironment.milliseconds
    /// A source of random bytes, which returns the given number of them; default the system's cryptographic source.
    public var random: @Sendable (Int) -> [UInt8] = SystemEnvironment.randomBytes
    /// Whether a device receives a log record for each successful operation, in addition to those for rejections. Default false: the replay's result
    /// reports successes.
    public var logsSuccesses = false
    /// The requests that leave a line in ``log``. Default none; can be changed while the server runs.
    public var requestTrace = RequestTrace()
    /// The form of the lines that ``log`` receives; default text.
    public var logFormat = LogFormat.text
    /// The destination of log lines: called with one line per event worth keeping, such as rejected operations, refused requests, internal failures
    /// and traced requests. Default: discards the lines.
    public var log: @Sendable (String) -> Void = { _ in }

    /// Creates a configuration of these packages and users; all other properties have their defaults.
    public init(cachePath: String, packages: [PackageDeployment] = [], users: [String: String] = [:]) {
        self.cachePath = cachePath
        self.packages = packages
        self.users = users
    }
}

extension ServerConfiguration {
    /// The settings that devices receive unless the configuration replaces them: the rules for vault passwords, switched off, with the vault's own
    /// defaults. SMP 2.3: the password policy of the default connection template.
    public static let defaultApplicationSettings = [
        "PWDPOLICY_ENABLED": "false", "PWDPOLICY_DEFAULT_PASSWORD_ALLOWED": "false", "PWDPOLICY_MIN_LENGTH": "0",
        "PWDPOLICY_HAS_DIGITS": "false", "PWDPOLICY_HAS_UPPER": "false", "PWDPOLICY_HAS_LOWER": "false", "PWDPOLICY_HAS_SPECIAL": "false",
        "PWDPOLICY_EXPIRES_IN_N_DAYS": "0", "PWDPOLICY_MIN_UNIQUE_CHARS": "0", "PWDPOLICY_LOCK_TIMEOUT": "0", "PWDPOLICY_RETRY_LIMIT": "0",
    ]

    /// The default of ``connectionTimeout``, and the timeout of ``PackageDeployment/verify()``.
    static let defaultConnectionTimeout: Duration = .seconds(10)

    func checkCleaning() throws(ServerError) {
        guard (1...100_000).contains(cleaningPortion) else {
            throw ServerError(.configuration, "cleaning portion \(cleaningPortion): use 1 to 100,000")
        }
    }

    /// - Throws: ``ServerError/Code/configuration`` for times and numbers out of range.
    func checkAccounts() throws(ServerError) {
        for (name, time) in [
            ("activation code lifetime", activationCodeLifetime), ("session idle limit", sessionIdleLimit), ("session lifetime", sessionLifetime),
            ("time of strangers", limits.strangerTime), ("upload time", limits.uploadTime),
            ("waiting time", limits.waitingTime), ("lifetime of uploads", limits.uploadLifetime), ("readiness timeout", readinessTimeout),
            ("comparison interval", comparisonInterval),
        ] where time <= .zero || time > .seconds(100 * 366 * 86_400) {
            throw ServerError(.configuration, "\(name): \(time) is not above 0 and at most 100 years")
        }
        guard operatorTokens.allSatisfy({ $0.utf8.count >= 16 }) else {
            throw ServerError(.configuration, "an operator's token is shorter than 16 characters")
        }
        for (name, number) in [
            ("messages", limits.messages), ("bytes of strangers", limits.strangerBytes), ("upload bytes", limits.uploadBytes),
            ("logins", limits.logins), ("synchronizations", limits.synchronizations), ("waiting requests", limits.waitingRequests),
            ("uploads of a user", limits.uploadsPerUser), ("listening connections", limits.listeningConnections),
            ("listening connections of a user", limits.listeningConnectionsPerUser),
            ("listening connections of a device", limits.listeningConnectionsPerDevice),
        ] where number < 1 {
            throw ServerError(.configuration, "limit of \(name) \(number): use 1 or more")
        }
    }

    /// - Throws: ``ServerError/Code/configuration`` for settings that log records cannot be kept with.
    func checkLogs() throws(ServerError) {
        try checkCleaning()
        try retention.check()
        guard (1...64).contains(domain.utf8.count),
            domain.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) })
        else {
            throw ServerError(.configuration, "domain \"\(domain.prefix(80))\": use 1 to 64 letters, digits, - and _")
        }
        for package in packages {
            for (application, time) in package.logRetention where time < .zero || time > .seconds(LogTable.longestRetention) {
                throw ServerError(
                    .configuration, "package \"\(package.identifier)\", log retention of \"\(application)\": \(time) is not between 0 and 100 years")
            }
        }
    }
}

/// The clock and the random source of the machine: the defaults of settings that a caller can replace.
enum SystemEnvironment {
    static let milliseconds: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1000) }

    static var processors: Int { ProcessInfo.processInfo.activeProcessorCount }

    static let randomBytes: @Sendable (Int) -> [UInt8] = { count in
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}

/// The limits of one request, by its purpose.
public struct RequestLimits: Sendable {
    /// The maximum number of messages in one request; default 64. Only one of them may register or log in.
    public var messages = 64
    /// The maximum size of messages without a session, in bytes; default 64 KB. Such messages can only register or log in.
    public var strangerBytes = 64 << 10
    /// The maximum size of one upload, in bytes; default 4 GB.
    public var uploadBytes = 4 << 30
    /// The time within which messages without a session must be complete; default one minute.
    public var strangerTime: Duration = .seconds(60)
    /// The time within which any body that belongs to a session must be complete; default one hour.
    public var uploadTime: Duration = .seconds(3600)
    /// The minimum average rate of a body after ``grace``, in bytes per second; default 256.
    public var leastRate = 256
    /// The time for which a body may arrive more slowly than ``leastRate``, or not at all; default 30 seconds.
    public var grace: Duration = .seconds(30)
    /// The maximum number of concurrent registrations and logins; default 4. Each takes the memory of ``ServerConfiguration/passwordParameters``. At
    /// most 64 others wait, each for at most ten seconds.
    public var logins = 4
    /// The maximum number of concurrent synchronizations; default 4 for each processor, but 8 or more. Further ones wait for their turn.
    public var synchronizations = max(8, RequestLimits.synchronizationsPerProcessor * SystemEnvironment.processors)
    /// The maximum number of requests of a kind that wait for their turn: synchronizations, requests for messages with a session, and those without;
    /// default 256. One more is refused with status 503.
    public var waitingRequests = 256
    /// The time that a request waits for its turn; default 10 s. After that, it is refused with status 503.
    public var waitingTime: Duration = .seconds(10)

    /// The maximum number of uploads in pieces that wait for a synchronization of their user; default 16. One more is refused with status 429. Together
    /// they have ``uploadBytes`` at most, before the last of them.
    public var uploadsPerUser = 16
    /// The time after which an upload in pieces is removed, counted from its last piece; default one day.
    public var uploadLifetime: Duration = .seconds(86_400)
    /// The maximum number of connections that listen for events; default 7,500. One more is refused with status 503, and its client polls.
    public var listeningConnections = 7500
    /// The same for one user; default 64, refused with status 429.
    public var listeningConnectionsPerUser = 64
    /// The same for one device; default 8, refused with status 429.
    public var listeningConnectionsPerDevice = 8

    var listeners: ListenerRegistry.Limits {
        .init(all: listeningConnections, perUser: listeningConnectionsPerUser, perDevice: listeningConnectionsPerDevice)
    }

    static let synchronizationsPerProcessor = 4

    /// The defaults.
    public init() {}
}

/// One package to deploy: its model, and the locations of its back ends.
public struct PackageDeployment: Sendable {
    /// The model.
    public var model: PackageModel
    /// The places of the back ends by their names in the model; they override the paths in the model. A place is the path of an SQLite file, or the
    /// address of a PostgreSQL database, such as `postgresql://mobile@db.example.com/sales`. The password comes from the variable `PGPASSWORD` or from
    /// libpq's password file; an address that contains one is refused.
    public var backEnds: [String: String]
    /// Back ends of other kinds by their names in the model; they override ``backEnds``. The server closes them. Default empty.
    public var providedBackEnds: [String: any BackEnd] = [:]
    /// The folder that relative paths of the model start from; default the current one.
    public var directory: String

    /// The time for which the package's applications need the log records that their clients have uploaded, by application id. The longest time
    /// applies to all of them, because they share one table. Older records are deleted, first on the server and then on the devices. Default empty:
    /// records stay until an administrator cleans them. SMP 2.3: the retention policy of client logs.
    public var logRetention: [String: Duration] = [:]

    /// Creates a package of this model, with the places of its back ends by their names.
    public init(_ model: PackageModel, backEnds: [String: String] = [:], directory: String = "") {
        self.model = model
        self.backEnds = backEnds
        self.directory = directory
    }

    /// Opens the back ends and checks them against the model, as a server does before it serves the package. Writes nothing.
    /// - Throws: ``ServerError`` that names the file, table, column or statement that does not fit.
    public func verify() throws {
        _ = try PackageDeployer(self, timeout: ServerConfiguration.defaultConnectionTimeout, wholeValueLimit: .max).verified()
    }

    /// Name and version in the form that clients use: `CRM:1.0`.
    var identifier: String { "\(model.name):\(model.version)" }
}
