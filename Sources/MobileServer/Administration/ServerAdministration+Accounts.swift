internal import MobileCrypto

extension ServerAdministration {
    // MARK: Users

    /// A user of the server.
    public struct User: Sendable, Hashable {
        /// The name that the user logs in with.
        public let name: String
        /// Whether the user is kept out.
        public let isLocked: Bool
        /// Devices that are registered for the user.
        public let devices: Int
        /// Sessions of the user, those included that have lasted too long and were not swept yet.
        public let sessions: Int
    }

    /// All users, by name.
    public func users() throws -> [User] { try directory.users() }

    /// Makes a user, or gives one a new password. Sessions that began with another password end: devices log in again.
    /// - Throws: ``ServerError/Code/configuration`` for an empty name, or one of more than 256 bytes.
    public func setPassword(_ password: String, ofUser name: String) throws {
        try directory.setPassword(password, ofUser: name, random: configuration.random, parameters: configuration.passwordParameters)
    }

    /// Removes a user with password, devices, sessions and activation codes, and ends the subscriptions. The user's devices are answered with 401.
    /// - Throws: ``ServerError/Code/notFound``, as all of these.
    public func removeUser(_ name: String) throws { try directory.removeUser(name) }

    /// Keeps a user out, with the right password too, and ends the sessions; or lets the user in again. Devices of a locked user are answered with 401,
    /// and with 403 when they log in.
    public func setLocked(_ isLocked: Bool, user name: String) throws { try directory.setLocked(isLocked, user: name) }

    // MARK: Devices

    /// A registered device.
    public struct Device: Sendable, Hashable {
        /// The id of the application.
        public let application: String
        /// The device's id.
        public let device: String
        /// Whom it is registered for.
        public let user: String
        /// When it registered, in milliseconds since 1970.
        public let registered: Int64
        /// Whether it is kept out.
        public let isLocked: Bool
    }

    /// All devices, by application and id.
    public func devices() throws -> [Device] { try directory.devices() }

    /// Forgets a device and ends its sessions. It is answered with 401, and with 580 when it logs in: it has to register again.
    public func removeDevice(_ device: String, application: String) throws { try directory.removeDevice(device, application) }

    /// Keeps a device out and ends its sessions, or lets it in again. A locked device can neither log in nor register: it is answered with 403.
    public func setLocked(_ isLocked: Bool, device: String, application: String) throws {
        try directory.setLocked(isLocked, device: device, application)
    }

    // MARK: Sessions

    /// A session of a device.
    public struct Session: Sendable, Hashable {
        /// What it is called here; not its token, which the server does not know.
        public let id: String
        /// Who logged in.
        public let user: String
        /// The id of the application.
        public let application: String
        /// The device's id.
        public let device: String
        /// When it began, in milliseconds since 1970.
        public let began: Int64
        /// When it was used, in milliseconds since 1970, to an hour.
        public let used: Int64
    }

    /// All sessions, by user and device, those included that have lasted too long and were not swept yet.
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
        /// Whom it belongs to.
        public let user: String
        /// `subscribed`, `suspended`, `unsubscribed` or `locked`.
        public let state: String
    }

    /// All subscriptions, by package and user.
    public func subscriptions() throws -> [Subscription] { try directory.subscriptions() }

    /// Ends a subscription. The client is answered with 404 and may subscribe again.
    public func removeSubscription(client: String, package: String) throws {
        try directory.setState(.unsubscribed, client: client, package: package)
    }

    /// Keeps a client out: it is answered with 403 and cannot subscribe; or lets it in again, as subscribed.
    public func setLocked(_ isLocked: Bool, client: String, package: String) throws {
        try directory.setState(isLocked ? .locked : .subscribed, client: client, package: package, onlyFrom: isLocked ? nil : .locked)
    }
}
