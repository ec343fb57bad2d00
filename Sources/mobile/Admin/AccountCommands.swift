import MobileServer

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
    static func work(_ command: String, _ values: [String]) throws(UsageError) -> ((ServerAdministration) throws -> [String])? {
        let verb = values.first, names = Array(values.dropFirst())
        switch (command, verb, names.count) {
        case ("users", nil, 0): return users
        case ("users", "set", 1): return try set(names[0], .terminal)
        case ("users", "set", 3) where names[1] == "--password-fd": return try set(names[0], PasswordSource(option: names[2]))
        case ("users", "remove", 1): return done { try $0.removeUser(names[0]) }
        case ("users", "lock", 1), ("users", "unlock", 1): return done { try $0.setLocked(verb == "lock", user: names[0]) }
        case ("users", "roles", 1): return { try $0.roles(ofUser: names[0]).sorted().map { LogSanitizer.escaped($0) } }
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

    private static func done(_ body: @escaping (ServerAdministration) throws -> Void) -> (ServerAdministration) throws -> [String] {
        return {
            try body($0)
            return []
        }
    }

    private static func set(_ name: String, _ source: PasswordSource) throws(UsageError) -> (ServerAdministration) throws -> [String] {
        // A colon could be the beginning of a password; for the same reason the message does not repeat the text.
        guard !name.isEmpty, !name.contains(":") else { throw UsageError(message: "admin: users set: write a name alone, without a colon") }
        return done { try $0.setPassword(source.password(of: name), ofUser: name) }
    }

    /// The given texts; none for the option `--none` alone.
    private static func texts(_ arguments: ArraySlice<String>) -> Set<String> { arguments.elementsEqual(["--none"]) ? [] : Set(arguments) }

    // MARK: Lists

    private static func attributes(of user: String, _ administration: ServerAdministration) throws -> [String] {
        table(
            ["attribute", "value"],
            try administration.attributes(ofUser: user).sorted { $0.key < $1.key }.flatMap { name, values in values.map { [name, $0] } })
    }

    private static func users(_ administration: ServerAdministration) throws -> [String] {
        table(
            ["user", "devices", "sessions", ""], try administration.users().map { [$0.name, "\($0.devices)", "\($0.sessions)", mark($0.isLocked)] })
    }

    private static func devices(_ administration: ServerAdministration) throws -> [String] {
        table(
            ["application", "device", "user", "registered", ""],
            try administration.devices().map { [$0.application, $0.device, $0.user, AdminCommand.time($0.registered), mark($0.isLocked)] })
    }

    private static func sessions(_ administration: ServerAdministration) throws -> [String] {
        table(
            ["session", "user", "application", "device", "began", "used"],
            try administration.sessions().map {
                [$0.id, $0.user, $0.application, $0.device, AdminCommand.time($0.began), AdminCommand.time($0.used)]
            })
    }

    private static func subscriptions(_ administration: ServerAdministration) throws -> [String] {
        table(["package", "client", "user", "state"], try administration.subscriptions().map { [$0.package, $0.client, $0.user, $0.state] })
    }

    private static func mark(_ isLocked: Bool) -> String { isLocked ? "locked" : "" }

    /// Devices have chosen some of the names, so they are escaped.
    private static func table(_ heading: [String], _ rows: [[String]]) -> [String] {
        Terminal.table([heading] + rows.map { $0.map { LogSanitizer.escaped($0) } })
    }
}
