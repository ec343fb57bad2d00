import Foundation
import MobileModel
import MobileServer

/// The arguments after `mobile serve`.
struct ServeArguments {
    var models: [String] = []
    /// Files and addresses by back-end name.
    var backEnds: [String: String] = [:]
    var cache = ""
    /// The address of a PostgreSQL database for the server's state, in place of the file ``cache``.
    var store: String?
    var port: UInt16 = 0
    var address = "127.0.0.1"
    /// Users whose passwords are to be set.
    var users: [String] = []
    var passwords = PasswordSource.terminal
    /// PEM files of the server's certificate and its private key; empty for plain HTTP.
    var certificate = ""
    var privateKey = ""
    var tracesAll = false
    var tracedDevices: Set<String> = []
    var logsSuccesses = false
    /// The time that an application needs the log records of its clients, by application.
    var logRetention: [String: Duration] = [:]
    var logFormat = LogFormat.text
    /// The time between the report that the server leaves and the first refusal.
    var drainNotice: Duration = .seconds(1)
    /// The time to finish requests when the server leaves.
    var drainTimeout: Duration = .seconds(30)
    /// The file of the tokens of operators' programs, one in each line; empty for none.
    var operatorTokens = ""
    /// The addresses of proxies that name their clients.
    var trustedProxies: Set<String> = []
    /// The maximum number of concurrent synchronizations; nil for the server's default.
    var synchronizations: Int?
    /// The folder of the files that devices fetch; nil for the server's default.
    var segmentFolder: String?
    /// The location under which a proxy sends these files; nil if the server does.
    var segmentRedirect: String?
    /// The configuration file of the Worklight face; empty for none.
    var worklight = ""
    /// The port of the Worklight face.
    var worklightPort: UInt16 = 0
    /// Whether clients of RhoConnect are served.
    var isRhoConnect = false
    /// The port of the RhoConnect face.
    var rhoConnectPort: UInt16 = 0

    static let usage = """
        usage: mobile serve --model FILE ... --cache FILE|--store ADDRESS [--backend NAME=PLACE ...] [--port N] [--address A] [--user NAME ...] [--password-fd N]
                            [--tls-certificate FILE --tls-key FILE]
                            [--trace all|DEVICE ...] [--log-successes yes|no] [--log-retention APPLICATION=DAYS ...]
                            [--trusted-proxy ADDRESS ...] [--log-format text|json] [--synchronizations N] [--drain-notice SECONDS] [--drain-time SECONDS]
                            [--operator-tokens FILE]
                            [--segment-folder DIR] [--segment-redirect PATH] [--worklight FILE [--worklight-port N]]
                            [--rhoconnect [--rhoconnect-port N]]

          --model FILE           a package model (*.mbo.json); several serve several packages
          --backend NAME=PLACE   the SQLite file of a back end of the models, over the path in the model, or a PostgreSQL database:
                                 NAME=postgresql://USER@HOST/DATABASE; the password comes from PGPASSWORD or libpq's password file
          --cache FILE           the server's own database; it is made when it does not exist
          --store ADDRESS        a PostgreSQL database in its place, which several servers can share: postgresql://USER@HOST/DATABASE; the password
                                 comes from PGPASSWORD or libpq's password file
          --port N               the port to listen on, 0 (default) for any free one
          --address A            the address to listen on, default 127.0.0.1
          --user NAME            makes a user, or sets a user's password, which it asks for on the terminal; users stay in the cache, and a new
                                 password ends the user's sessions
          --password-fd N        reads the passwords from an open file descriptor instead, one line for each --user, in their order
          --tls-certificate FILE the server's certificate, followed by those that vouch for it, as PEM: serves over HTTPS (TLS 1.2 and 1.3)
          --tls-key FILE         the certificate's private key, as PEM
          --trusted-proxy ADDRESS
                                 a proxy in front of this server: its X-Forwarded-For names the client's address, which limits and the log use
          --trace all|DEVICE     writes a line about each request, or each of one device, to the standard error
          --log-successes yes    sends devices a log record of every operation that was done, not of rejections alone
          --log-retention APPLICATION=DAYS
                                 how long an application needs the log records that its devices upload; the longest time counts, default: forever
          --log-format json      writes each line of the log as a JSON object with time, level and message; lines about requests have fields
          --synchronizations N   how many devices synchronize at a time; others wait, and are refused with status 503 after 10 seconds
          --operator-tokens FILE the tokens of programs that may report changes of a back end, one in each line, of 16 characters or more
          --segment-folder DIR   the folder of the files that devices fetch (segments of rows, and long values)
          --segment-redirect PATH
                                 the internal location under which a proxy sends these files, by X-Accel-Redirect
          --worklight FILE       serves clients of IBM Worklight too, on a port of their own: a JSON file with applications, realms, and procedures
                                 that run SQL on SQLite back ends named with --backend; the documentation of MobileServerWorklight has its form
          --worklight-port N     that port, 0 (default) for any free one
          --rhoconnect           serves clients of RhoConnect too, on a port of their own: each object of the packages is a source with its name
          --rhoconnect-port N    that port, 0 (default) for any free one
          --drain-notice SECONDS the time between a SIGTERM, from which on /ready answers 503, and the first refused request, default 1
          --drain-time SECONDS   the time for finishing requests after that, default 30

        Prints one line with the address when it listens. A SIGTERM ends it without disturbing a device: it reports at /ready that it leaves, then
        refuses further requests with status 503, finishes those in progress, and ends with status 0. A SIGINT does so without the notice. A second
        signal ends the process at once. GET /live and GET /ready answer load balancers and supervisors.
        """

    init(_ arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        while let option = rest.popFirst() {
            guard option.hasPrefix("--") else { throw UsageError(message: "serve: \"\(option)\" is not an option") }
            if option == "--rhoconnect" {
                isRhoConnect = try rest.popSwitch("serve: " + option)
                continue
            }
            guard let value = rest.popFirst() else { throw UsageError(message: "serve: \(option) needs a value") }
            try take(option, value)
        }
        if models.isEmpty { throw UsageError(message: "serve: name a package model with --model") }
        guard cache.isEmpty != (store == nil) else { throw UsageError(message: "serve: name the server's database with --cache or --store") }
        guard certificate.isEmpty == privateKey.isEmpty else {
            throw UsageError(message: "serve: --tls-certificate and --tls-key go together")
        }
    }

    private mutating func take(_ option: String, _ value: String) throws(UsageError) {
        switch option {
        case "--model": models.append(value)
        case "--cache": cache = value
        case "--store": store = value
        case "--address": address = value
        case "--port": port = try Self.port(value)
        case "--backend":
            let parts = value.split(separator: "=", maxSplits: 1)
            // The text is not repeated here: an address may contain a password.
            guard parts.count == 2 else {
                throw UsageError(
                    message: "serve: --backend: write NAME=FILE or NAME=postgresql://USER@HOST/DATABASE; the password comes from PGPASSWORD or libpq's password file"
                )
            }
            backEnds[String(parts[0])] = String(parts[1])
        case "--user":
            // The text after the colon is not repeated here: it may be a password.
            guard !value.isEmpty, !value.contains(":") else {
                throw UsageError(
                    message: "serve: --user: write a name alone, without a colon; the command asks for its password, or reads it from --password-fd")
            }
            users.append(value)
        case "--password-fd": passwords = try PasswordSource(option: value)
        case "--tls-certificate": certificate = value
        case "--tls-key": privateKey = value
        case "--trusted-proxy": trustedProxies.insert(value)
        case "--trace": if value == "all" { tracesAll = true } else { tracedDevices.insert(value) }
        case "--log-successes":
            guard ["yes", "no"].contains(value) else { throw UsageError(message: "serve: --log-successes \"\(value)\": use yes or no") }
            logsSuccesses = value == "yes"
        case "--log-retention":
            let parts = value.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let days = Int(parts[1]), (0...36_500).contains(days) else {
                throw UsageError(message: "serve: --log-retention \"\(value)\": write APPLICATION=DAYS, with 0 to 36500 days")
            }
            logRetention[String(parts[0])] = .seconds(days * 86_400)
        case "--log-format":
            guard let format = LogFormat(rawValue: value) else { throw UsageError(message: "serve: --log-format \"\(value)\": use text or json") }
            logFormat = format
        case "--operator-tokens": operatorTokens = value
        case "--segment-folder": segmentFolder = value
        case "--segment-redirect": segmentRedirect = value
        case "--worklight": worklight = value
        case "--worklight-port": worklightPort = try Self.port(value)
        case "--rhoconnect-port": rhoConnectPort = try Self.port(value)
        case "--drain-notice": drainNotice = try Self.seconds(option, value)
        case "--drain-time": drainTimeout = try Self.seconds(option, value)
        case "--synchronizations":
            guard let number = Int(value), (1...1000).contains(number) else {
                throw UsageError(message: "serve: --synchronizations \"\(value)\": use 1 to 1000")
            }
            synchronizations = number
        default: throw UsageError(message: "serve: there is no option \(option)")
        }
    }

    private static func port(_ value: String) throws(UsageError) -> UInt16 {
        guard let number = UInt16(value) else { throw UsageError(message: "serve: port \"\(value)\": use 0 to 65535") }
        return number
    }

    private static func seconds(_ option: String, _ value: String) throws(UsageError) -> Duration {
        guard let seconds = Int(value), (0...86_400).contains(seconds) else {
            throw UsageError(message: "serve: \(option) \"\(value)\": use 0 to 86400 seconds")
        }
        return .seconds(seconds)
    }

    /// The configuration of the listener; reads certificate and key.
    /// - Throws: ``CommandFailure`` if one of them cannot be read.
    func listening() throws -> HTTPServer.Configuration {
        var configuration = HTTPServer.Configuration()
        configuration.port = port
        configuration.address = address
        configuration.trustedProxies = trustedProxies
        if !certificate.isEmpty {
            configuration.certificate = try Self.text(of: certificate, "certificate")
            configuration.privateKey = try Self.text(of: privateKey, "private key")
        }
        return configuration
    }

    private static func text(of path: String, _ what: String) throws(CommandFailure) -> String {
        guard let bytes = FileManager.default.contents(atPath: path) else { throw CommandFailure("the \(what) \(path) cannot be read") }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The server's configuration; reads the models, and asks for the passwords.
    /// - Throws: `ModelError` with all errors of a model; ``CommandFailure`` if a password is missing.
    func configuration() throws -> ServerConfiguration {
        let packages = try models.map { path in
            let url = URL(fileURLWithPath: path)
            var deployment = PackageDeployment(
                try PackageModel(contentsOf: url), backEnds: backEnds, directory: url.deletingLastPathComponent().path)
            deployment.logRetention = logRetention
            return deployment
        }
        try checkBackEnds(packages.map(\.model))
        var configuration = ServerConfiguration(cachePath: cache, packages: packages, users: try passwords.passwords(of: users))
        configuration.storeAddress = store
        configuration.requestTrace = RequestTrace(all: tracesAll, devices: tracedDevices)
        configuration.logsSuccesses = logsSuccesses
        configuration.logFormat = logFormat
        if !operatorTokens.isEmpty {
            configuration.operatorTokens = Set(
                try Self.text(of: operatorTokens, "file of tokens").split(whereSeparator: \.isNewline).map(String.init))
        }
        configuration.segmentDirectory = segmentFolder
        configuration.segmentRedirect = segmentRedirect
        if let synchronizations { configuration.limits.synchronizations = synchronizations }
        return configuration
    }

    /// Checks that each back end is one of a model. The procedures of a Worklight face may have further ones.
    private func checkBackEnds(_ models: [PackageModel]) throws(CommandFailure) {
        let known = models.flatMap(\.backEnds).map(\.name)
        guard worklight.isEmpty, let name = backEnds.keys.sorted().first(where: { !known.contains($0) }) else { return }
        let remedy =
            known.isEmpty
            ? "the models have no back end" : "the models have \(Set(known).sorted().map { "\"\($0)\": write --backend \($0)=FILE" }.joined(separator: ", "))"
        throw CommandFailure("--backend names \"\(name.prefix(80))\", which no model has; \(remedy)")
    }
}
