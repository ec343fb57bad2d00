import Foundation
import MobileModel
import MobileStore
import MobileSync

/// The options of commands that synchronize a device of their own: its server, its user and what it asks for.
struct ScratchDeviceArguments {
    private var model = ""
    private var server = ""
    private var user = ""
    private var passwords = PasswordSource.terminal
    /// Sets of synchronization parameters, each of an object.
    private(set) var parameters: [(object: String, values: JSONObject)] = []
    private(set) var personalization = JSONObject()
    /// Names joined by commas; nil for all.
    private(set) var groups: String?

    static let usage = """
          --server URL             the address of a running server, such as http://mobile.example:5001
          --model FILE             the model of the package (*.mbo.json)
          --user NAME              the user whose rows are fetched; the command asks for the password on the terminal
          --password-fd N          reads the password from an open file descriptor instead
          --parameters OBJECT=JSON a set of synchronization parameters, such as 'Customer={"region": "NORTH"}'; several sets add up
          --personalization JSON   personalization keys, such as '{"region": "NORTH"}'
          --groups NAME,...        the synchronization groups, default all
        """

    /// Takes an option; false where it is none of these.
    mutating func take(_ option: String, _ value: String, of command: String) throws(UsageError) -> Bool {
        switch option {
        case "--server": server = value
        case "--model": model = value
        case "--user": user = value
        case "--password-fd": passwords = try PasswordSource(option: value)
        case "--groups": groups = value
        case "--personalization": personalization = try Self.object(option, value, command)
        case "--parameters":
            let parts = value.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { throw UsageError(message: "\(command): --parameters \"\(value)\": write OBJECT=JSON") }
            parameters.append((String(parts[0]), try Self.object(option, String(parts[1]), command)))
        default: return false
        }
        return true
    }

    /// Checks that nothing is missing, and that the address is one.
    func check(_ command: String) throws(UsageError) {
        for (option, value) in [("--server", server), ("--model", model), ("--user", user)] where value.isEmpty {
            throw UsageError(message: "\(command): \(option) is missing")
        }
        guard address != nil else {
            throw UsageError(message: "\(command): --server \"\(server.prefix(80))\": write http://HOST:PORT or https://HOST:PORT")
        }
    }

    private static func object(_ option: String, _ text: String, _ command: String) throws(UsageError) -> JSONObject {
        guard let object = try? JSONValue(parsing: Array(text.utf8)).object else {
            throw UsageError(message: "\(command): \(option): \"\(text.prefix(80))\" is not a JSON object")
        }
        return object
    }

    func packageModel() throws -> PackageModel { try PackageModel(contentsOf: URL(fileURLWithPath: model)) }

    private var address: (host: String, port: Int, scheme: NetworkProtocol, path: String)? {
        guard let url = URLComponents(string: server), let host = url.host, !host.isEmpty, let scheme = url.scheme.flatMap(NetworkProtocol.init)
        else { return nil }
        return (host, url.port ?? (scheme == .https ? 443 : 80), scheme, url.path)
    }

    /// The address and the user of the server; asks for the password.
    func properties() throws -> ConnectionProperties {
        guard let address else { throw UsageError(message: "--server \"\(server.prefix(80))\" is not an address") }
        return ConnectionProperties(
            serverName: address.host, portNumber: address.port, networkProtocol: address.scheme,
            loginCredentials: LoginCredentials(user: user, password: try passwords.password(of: user)), urlSuffix: address.path)
    }
}
