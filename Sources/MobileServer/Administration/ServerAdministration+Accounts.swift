internal import MobileCrypto

extension ServerAdministration {
    // MARK: Users

    /// A user of the server.
    public struct User: Sendable, Hashable {
        /// The name that the user logs in with.
        public let name: String
        /// Whether the user is locked out.
        public let isLocked: Bool
        /// The number of devices that are registered for the user.
        public let devices: Int
        /// The number of the user's sessions, including expired ones that were not removed yet.
        public let sessions: Int
    }

    /// Returns all users, by name.
    public func users() throws -> [User] { try directory.users() }

    /// Creates a user, or gives one a new password. Sessions that began with another password end: devices log in again.
    /// - Throws: ``ServerError/Code/configuration`` for an empty name, or one of more than 256 bytes.
    public func setPassword(_ password: String, ofUser name: String) throws {
        try directory.setPassword(password, ofUser: name, random: configuration.random, parameters: configuration.passwordParameters)
    }

    /// Removes a user with password, devices, sessions and activation codes, and ends the subscriptions. The user's devices are answered with 401.
    /// - Throws: ``ServerError/Code/notFound`` for an unknown user. The other methods that change an entry throw it as well.
    public func removeUser(_ name: String) throws { try directory.removeUser(name) }

    /// Locks a user out, even with the right password, and ends the sessions; or unlocks the user. Devices of a locked user are answered with 401,
    /// and with 403 when they log in.
    public func setLocked(_ isLocked: Bool, user name: String) throws { try directory.setLocked(isLocked, user: name) }

    // MARK: Roles and attributes

    /// Returns the roles of a user; none for an unknown one.
    public func roles(ofUser name: String) throws -> Set<String> { try directory.roles(of: name) }

    /// Gives a user these roles in place of the former ones. A package whose model names roles answers users without any of them with 403.
    /// - Throws: ``ServerError/Code/configuration`` for more than 2,000 roles, and for a role that is empty or has more than 1,024 bytes.
    public func setRoles(_ roles: Set<String>, ofUser name: String) throws { try directory.setRoles(roles, ofUser: name) }

    /// Returns the values of a user's attributes, by name.
    public func attributes(ofUser name: String) throws -> [String: [String]] { try directory.attributes(of: name) }

    /// Gives an attribute of a user these values in place of the former ones; an empty set removes it. A model binds synchronization parameters to
    /// attributes: each value brings its rows, and a user without a value has none. Numbers and truth values are written as in JSON.
    /// - Throws: ``ServerError/Code/configuration`` for more than 2,000 values of all attributes together, and for a name or value that is empty or has
    ///   more than 1,024 bytes.
    public func setAttribute(_ attribute: String, to values: Set<String>, ofUser name: String) throws {
        try directory.setAttribute(attribute, to: values, ofUser: name)
    }

    // MARK: Devices

    /// A registered device.
    public struct Device: Sendable, Hashable {
        /// The id of the application.
        public let application: String
        /// The device's id.
        public let device: String
        /// The name of the user that it is registered for.
        public let user: String
        /// The time of its registration, in milliseconds since 1970.
        public let registered: Int64
        /// Whether it is locked out.
        public let isLocked: Bool
    }

    /// Returns all devices, by application and id.
    public func devices() throws -> [Device] { try directory.devices() }

    /// Removes a device and ends its sessions. It is answered with 401, and with 580 when it logs in: it has to register again.
    public func removeDevice(_ device: String, application: String) throws { try directory.removeDevice(device, application) }

    /// Locks a device out and ends its sessions, or unlocks it. A locked device can neither log in nor register: it is answered with 403.
    public func setLocked(_ isLocked: Bool, device: String, application: String) throws {
        try directory.setLocked(isLocked, device: device, application)
    }

    // MARK: Sessions

    /// A session of a device.
    public struct Session: Sendable, Hashable {
        /// The session's id for administration; not its token, which the server does not store.
        public let id: String
        /// The name of the user who logged in.
        public let user: String
        /// The id of the application.
        public let application: String
        /// The device's id.
        public let device: String
        /// The time of its beginning, in milliseconds since 1970.
        public let began: Int64
        /// The time of its last use, in milliseconds since 1970, to an hour.
        public let used: Int64
    }

    /// Returns all sessions, by user and device, including expired ones that were not removed yet.
    public func sessions() throws -> [Session] { try directory.sessions() }

    /// Ends a session. Its device logs in again if it has a password.
    public func removeSession(_ id: String) throws { try directory.removeSession(id) }

    // MARK: Subscriptions

    /// The subscription of a device's local database.
    public struct Subscription: Sendable, Hashable {
        /// Name and version of the package.
        public let package: String
        /// The client's id.
        public let client: String
        /// The name of the user that it belongs to.
        public let user: String
        /// `subscribed`, `suspended`, `unsubscribed` or `locked`.
        public let state: String
    }

    /// Returns all subscriptions, by package and user.
    public func subscriptions() throws -> [Subscription] { try directory.subscriptions() }

    /// Ends a subscription. The client is answered with 404 and may subscribe again.
    public func removeSubscription(client: String, package: String) throws {
        try directory.setState(.unsubscribed, client: client, package: package)
    }

    /// Locks a client out, so that it is answered with 403 and cannot subscribe; or unlocks it, as subscribed.
    public func setLocked(_ isLocked: Bool, client: String, package: String) throws {
        try directory.setState(isLocked ? .locked : .subscribed, client: client, package: package, onlyFrom: isLocked ? nil : .locked)
    }
}
