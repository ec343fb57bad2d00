import MobileServer
import MobileStore

/// The commands of `mobile admin` about access to the server.
enum AccountCommands {
    static let usage = """
          users                         the users, with their devices and sessions
          users set NAME [--password-fd N]
                                        makes a user, or sets a new password, which ends the user's sessions; asks for the password on the terminal,
                                        or reads one line from an open file descriptor
          users remove|lock|unlock NAME removes a user with devices and sessions; or keeps a user out
          users roles NAME [ROLE ... | --none]
                                        the user's roles; with roles, replaces them
          users attributes NAME [ATTRIBUTE VALUE ... | ATTRIBUTE --none]
                                        the values of the user's attributes, to which models bind parameters; with values, replaces those of one
          devices                       the registered devices
          devices remove|lock|unlock APPLICATION DEVICE
          sessions                      the sessions of devices
          sessions remove ID            ends a session
          subscriptions                 the subscriptions of devices' local databases
          subscriptions remove|lock|unlock PACKAGE CLIENT

        """

    /// The action of a command; nil for an unknown command.
    static func work(_ command: String, _ values: [String]) throws(UsageError) -> ((ServerAdministration) throws -> AdminResult)? {
        let verb = values.first, names = Array(values.dropFirst())
        switch (command, verb, names.count) {
        case ("users", nil, 0): return users
        case ("users", "set", 1): return try set(names[0], .terminal)
        case ("users", "set", 3) where names[1] == "--password-fd": return try set(names[0], PasswordSource(option: names[2]))
        case ("users", "remove", 1): return done { try $0.removeUser(names[0]) }
        case ("users", "lock", 1), ("users", "unlock", 1): return done { try $0.setLocked(verb == "lock", user: names[0]) }
        case ("users", "roles", 1): return { try roles(of: names[0], $0) }
        case ("users", "roles", 2...): return done { try $0.setRoles(texts(names.dropFirst()), ofUser: names[0]) }
        case ("users", "attributes", 1): return { try attributes(of: names[0], $0) }
        case ("users", "attributes", 3...):
            return done { try $0.setAttribute(names[1], to: texts(names.dropFirst(2)), ofUser: names[0]) }
        case ("devices", nil, 0): return devices
        case ("devices", "remove", 2): return done { try $0.removeDevice(names[1], application: names[0]) }
        case ("devices", "lock", 2), ("devices", "unlock", 2):
            return done { try $0.setLocked(verb == "lock", device: names[1], application: names[0]) }
        case ("sessions", nil, 0): return sessions
        case ("sessions", "remove", 1): return done { try $0.removeSession(names[0]) }
        case ("subscriptions", nil, 0): return subscriptions
        case ("subscriptions", "remove", 2): return done { try $0.removeSubscription(client: names[1], package: names[0]) }
        case ("subscriptions", "lock", 2), ("subscriptions", "unlock", 2):
            return done { try $0.setLocked(verb == "lock", client: names[1], package: names[0]) }
        default: return nil
        }
    }

    private static func done(_ body: @escaping (ServerAdministration) throws -> Void) -> (ServerAdministration) throws -> AdminResult {
        return {
            try body($0)
            return .done
        }
    }

    private static func set(_ name: String, _ source: PasswordSource) throws(UsageError) -> (ServerAdministration) throws -> AdminResult {
        // A colon could be the beginning of a password; for the same reason the message does not repeat the text.
        guard !name.isEmpty, !name.contains(":") else { throw UsageError(message: "admin: users set: write a name alone, without a colon") }
        return done { try $0.setPassword(source.password(of: name), ofUser: name) }
    }

    /// The given texts; none for the option `--none` alone.
    private static func texts(_ arguments: ArraySlice<String>) -> Set<String> { arguments.elementsEqual(["--none"]) ? [] : Set(arguments) }

    // MARK: Lists

    private static func roles(of user: String, _ administration: ServerAdministration) throws -> AdminResult {
        let roles = try administration.roles(ofUser: user).sorted()
        return AdminResult(roles.map { LogSanitizer.escaped($0) }, .array(roles.map { .string($0) }))
    }

    private static func attributes(of user: String, _ administration: ServerAdministration) throws -> AdminResult {
        .table(
            [("attribute", "attribute"), ("value", "value")],
            try administration.attributes(ofUser: user).sorted { $0.key < $1.key }.flatMap { name, values in values.map { [.text(name), .text($0)] } }
        )
    }

    private static func users(_ administration: ServerAdministration) throws -> AdminResult {
        .table(
            [("user", "user"), ("devices", "devices"), ("sessions", "sessions"), ("", "isLocked")],
            try administration.users().map {
                [.text($0.name), .number(Int64($0.devices)), .number(Int64($0.sessions)), .flag($0.isLocked, "locked")]
            })
    }

    private static func devices(_ administration: ServerAdministration) throws -> AdminResult {
        .table(
            [("application", "application"), ("device", "device"), ("user", "user"), ("registered", "registered"), ("", "isLocked")],
            try administration.devices().map {
                [.text($0.application), .text($0.device), .text($0.user), .time($0.registered), .flag($0.isLocked, "locked")]
            })
    }

    private static func sessions(_ administration: ServerAdministration) throws -> AdminResult {
        .table(
            [
                ("session", "session"), ("user", "user"), ("application", "application"), ("device", "device"), ("began", "began"), ("used", "used"),
            ],
            try administration.sessions().map {
                [.text($0.id), .text($0.user), .text($0.application), .text($0.device), .time($0.began), .time($0.used)]
            })
    }

    private static func subscriptions(_ administration: ServerAdministration) throws -> AdminResult {
        .table(
            [("package", "package"), ("client", "client"), ("user", "user"), ("state", "state")],
            try administration.subscriptions().map { [.text($0.package), .text($0.client), .text($0.user), .text($0.state)] })
    }
}
