import Foundation
import MobileModel
import MobileObjects
import MobileStore
import MobileSync

/// `mobile snapshot`: writes the database of a package with a user's rows, for devices to begin with.
enum SnapshotCommand {
    static let summary = "writes a client database with the rows of a user, which applications ship or fetch first"

    /// - Parameter arguments: the arguments after `snapshot`.
    /// - Returns: the exit status: 0 success, 1 failure, 64 wrong arguments.
    @Sendable static func run(_ arguments: [String]) -> Int32 {
        if arguments.contains("--help") || arguments.contains("-h") {
            print(SnapshotArguments.usage)
            return 0
        }
        do {
            print(try write(SnapshotArguments(arguments)))
            return 0
        } catch let error as UsageError {
            Terminal.complain("\(error.message)\n\n\(SnapshotArguments.usage)")
            return Command.usageStatus
        } catch {
            Terminal.complain("mobile snapshot: \(error)")
            return 1
        }
    }

    /// Synchronizes a database of its own, and writes its content without an owner.
    /// - Returns: a line about the snapshot.
    static func write(_ arguments: SnapshotArguments) throws -> String {
        guard !FileManager.default.fileExists(atPath: arguments.output) else { throw CommandFailure("the file \(arguments.output) exists already") }
        let model = try PackageModel(contentsOf: URL(fileURLWithPath: arguments.model))
        let properties = try arguments.properties()
        // Next to the output, so that the finished file only gets its name.
        let folder = arguments.output + ".work"
        try? FileManager.default.removeItem(atPath: folder)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let application = try Application(identifier: "mobile-snapshot", profile: ConnectionProfile(path: folder + "/application.db"))
        defer { try? application.close() }
        application.connectionProperties = properties
        let package = try PackageDatabase(model: model, profile: ConnectionProfile(path: folder + "/package.db"))
        package.application = application
        for (object, parameters) in arguments.parameters {
            guard let entity = package.metadata.entities.first(where: { $0.name == object }) else {
                throw CommandFailure("package \(model.name) has no object \"\(object)\"")
            }
            try package.addSubscription(json: parameters, to: entity)
        }
        if !arguments.personalization.isEmpty { try package.savePersonalization(json: arguments.personalization) }
        try application.register(timeout: .seconds(60))
        // The server forgets the client that made the snapshot.
        defer { try? application.unregister(timeout: .seconds(60)) }
        try package.subscribe()
        let result = try package.synchronize(arguments.groups)
        try package.closeConnection()
        try FileManager.default.copyItem(atPath: folder + "/package.db", toPath: folder + "/snapshot.db")
        let snapshot = try PackageDatabase(model: model, profile: ConnectionProfile(path: folder + "/snapshot.db"))
        // It is a copy on purpose: no warning.
        snapshot.console.level = .error
        try snapshot.becomeSnapshot()
        try FileManager.default.moveItem(atPath: folder + "/snapshot.db", toPath: arguments.output)
        try package.unsubscribe()
        try package.closeConnection()
        let size = try FileManager.default.attributesOfItem(atPath: arguments.output)[.size] as? NSNumber
        return "\(arguments.output): \(Format.count(result.rowsImported, "row")) and \(Format.count(result.largeValuesImported, "large value")) of "
            + "\(model.name):\(model.version), \(Format.bytes(size?.int64Value ?? 0))"
    }
}

/// The arguments after `mobile snapshot`.
struct SnapshotArguments {
    var model = ""
    var server = ""
    var user = ""
    var passwords = PasswordSource.terminal
    /// Sets of synchronization parameters, each of an object.
    var parameters: [(object: String, values: JSONObject)] = []
    var personalization = JSONObject()
    /// Names joined by commas; nil for all.
    var groups: String?
    var output = ""

    static let usage = """
        usage: mobile snapshot --server URL --model FILE --user NAME --out FILE [--password-fd N]
                               [--parameters OBJECT=JSON ...] [--personalization JSON] [--groups NAME,...]

          --server URL             the address of a running server, such as http://mobile.example:5001
          --model FILE             the model of the package (*.mbo.json)
          --user NAME              the user whose rows the snapshot has; the command asks for the password on the terminal
          --password-fd N          reads the password from an open file descriptor instead
          --parameters OBJECT=JSON a set of synchronization parameters, such as 'Customer={"region": "NORTH"}'; several sets add up
          --personalization JSON   personalization keys, such as '{"region": "NORTH"}'
          --groups NAME,...        the synchronization groups, default all
          --out FILE               the file to write, which must not exist

        An application puts the file at the path of its database before it opens it, registers, subscribes and synchronizes: only what changed since the
        snapshot travels. Each device that opens a copy becomes a client of its own. The file has the rows of its user: give it to no other user.
        """

    init(_ arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        while let option = rest.popFirst() {
            guard option.hasPrefix("--") else { throw UsageError(message: "snapshot: \"\(option)\" is not an option") }
            guard let value = rest.popFirst() else { throw UsageError(message: "snapshot: \(option) needs a value") }
            switch option {
            case "--server": server = value
            case "--model": model = value
            case "--user": user = value
            case "--password-fd": passwords = try PasswordSource(option: value)
            case "--groups": groups = value
            case "--out": output = value
            case "--personalization": personalization = try Self.object(option, value)
            case "--parameters":
                let parts = value.split(separator: "=", maxSplits: 1)
                guard parts.count == 2 else { throw UsageError(message: "snapshot: --parameters \"\(value)\": write OBJECT=JSON") }
                parameters.append((String(parts[0]), try Self.object(option, String(parts[1]))))
            default: throw UsageError(message: "snapshot: there is no option \(option)")
            }
        }
        for (option, value) in [("--server", server), ("--model", model), ("--user", user), ("--out", output)] where value.isEmpty {
            throw UsageError(message: "snapshot: \(option) is missing")
        }
    }

    private static func object(_ option: String, _ text: String) throws(UsageError) -> JSONObject {
        guard let object = try? JSONValue(parsing: Array(text.utf8)).object else {
            throw UsageError(message: "snapshot: \(option): \"\(text.prefix(80))\" is not a JSON object")
        }
        return object
    }

    /// The address and the user of the server; asks for the password.
    func properties() throws -> ConnectionProperties {
        guard let url = URLComponents(string: server), let host = url.host, !host.isEmpty, let scheme = url.scheme.flatMap(NetworkProtocol.init)
        else {
            throw UsageError(message: "snapshot: --server \"\(server.prefix(80))\": write http://HOST:PORT or https://HOST:PORT")
        }
        return ConnectionProperties(
            serverName: host, portNumber: url.port ?? (scheme == .https ? 443 : 80), networkProtocol: scheme,
            loginCredentials: LoginCredentials(user: user, password: try passwords.password(of: user)), urlSuffix: url.path)
    }
}
