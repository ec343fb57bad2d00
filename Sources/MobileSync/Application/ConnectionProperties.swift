internal import MobileStore

/// The address of the server, and the user who registers. Set before ``Application/register(timeout:)-(Duration)``. A registered application keeps the
/// server of its registration: with other properties, ``Application/startConnection(timeout:)-(Duration)`` and all requests throw a ``SyncError`` of kind
/// ``SyncError/Kind/connectionProperty``. To move to another server, unregister, change them, register.
/// SMP 2.3: `SUPConnectionProperties`.
public struct ConnectionProperties: Sendable, Equatable {
    /// Host name or address of the server. Required.
    public var serverName: String
    /// Port of the server, 1 to 65535; default 5001. SMP 2.3: `portNumber`.
    public var portNumber: Int
    /// The URL scheme; default ``NetworkProtocol/http``.
    public var networkProtocol: NetworkProtocol
    /// User and password for automatic registration; for manual registration the user's name with a nil password.
    public var loginCredentials: LoginCredentials?
    /// The code that the administrator gave out, which makes the registration a manual one. Nil (default): automatic.
    public var activationCode: String?
    /// A prefix of the path of every request, for proxies. Empty by default.
    public var urlSuffix: String
    /// Header fields of every request, for proxies. Empty by default.
    public var httpHeaders: [String: String]

    /// Creates properties with these values; ``Application/register(timeout:)-(Duration)`` reports those that are missing.
    public init(
        serverName: String = "", portNumber: Int = 5001, networkProtocol: NetworkProtocol = .http,
        loginCredentials: LoginCredentials? = nil, activationCode: String? = nil, urlSuffix: String = "", httpHeaders: [String: String] = [:]
    ) {
        self.serverName = serverName
        self.portNumber = portNumber
        self.networkProtocol = networkProtocol
        self.loginCredentials = loginCredentials
        self.activationCode = activationCode
        self.urlSuffix = urlSuffix
        self.httpHeaders = httpHeaders
    }

    /// Checks the properties of the server; `validateRegistration` checks those of the user.
    /// - Throws: ``SyncError`` of kind ``SyncError/Kind/connectionProperty`` that names the property.
    func validate() throws(SyncError) {
        guard !serverName.isEmpty else { throw .property("serverName is missing: name the host of the server") }
        guard serverName.utf8.allSatisfy({ $0 > 0x20 && $0 != UInt8(ascii: "/") && $0 != 0x7f }) else {
            throw .property("serverName \"\(serverName.prefix(80))\" is not a host name: give neither a scheme nor a path")
        }
        try checkPort()
        guard (1...65535).contains(portNumber) else { throw .property("portNumber \(portNumber): use 1 to 65535") }
        for (name, value) in httpHeaders where (name + value).utf8.contains(where: { $0 < 0x20 }) {
            throw .property("httpHeaders: \"\(name.prefix(80))\" has a control character")
        }
    }

    /// Checks that the host's name has no port. An address of IPv6 has at least two colons, and no brackets here.
    private func checkPort() throws(SyncError) {
        guard !serverName.contains("[") else {
            throw .property("serverName \"\(serverName.prefix(80))\" has brackets: give the address of IPv6 without them, and its port as portNumber")
        }
        let parts = serverName.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return }
        let port = parts.last.flatMap { Int($0) }.map(String.init) ?? "the port"
        throw .property(
            "serverName \"\(serverName.prefix(80))\" contains a port: set portNumber to \(port), and serverName to the name or address of the host alone"
        )
    }

    /// Checks the additional properties of a registration: credentials for an automatic one, user and code for a manual one.
    func validateRegistration() throws(SyncError) {
        try validate()
        guard let credentials = loginCredentials, !credentials.user.isEmpty else {
            throw .property("loginCredentials are missing: give a user (and a password, unless there is an activation code)")
        }
        guard activationCode != nil || credentials.password != nil else {
            throw .property("loginCredentials of \"\(credentials.user.prefix(80))\" have no password: give one, or an activation code")
        }
    }
}

extension Application.State {
    /// Checks that the properties have the server of the registration. Properties without a `serverName` have none, and are not compared. User and
    /// password may differ, because they are those of the next login.
    /// - Throws: ``SyncError`` of kind ``SyncError/Kind/connectionProperty``.
    func checkProperties() throws(SyncError) {
        guard let registration, !properties.serverName.isEmpty, !plan.isRegistering else { return }
        let registered = registration.properties
        let differences: [(name: String, isDifferent: Bool)] = [
            ("serverName", properties.serverName != registered.serverName), ("portNumber", properties.portNumber != registered.portNumber),
            ("networkProtocol", properties.networkProtocol != registered.networkProtocol),
            ("urlSuffix", properties.urlSuffix != registered.urlSuffix),
            ("httpHeaders", properties.httpHeaders != registered.httpHeaders),
        ]
        let names = differences.filter(\.isDifferent).map(\.name)
        guard !names.isEmpty else { return }
        throw .property(
            "application \"\(registration.identifier)\" is registered with \(registered.address), and its connectionProperties have "
                + "\(properties.address) (\(names.joined(separator: ", "))): unregister it, set them, and register again")
    }
}

extension ConnectionProperties {
    /// The server for messages, such as `https://mobile.example:5001/suffix`.
    var address: String {
        let suffix = urlSuffix.isEmpty || urlSuffix.hasPrefix("/") ? urlSuffix : "/" + urlSuffix
        return "\(networkProtocol.rawValue)://\(serverName):\(portNumber)\(suffix)"
    }
}

/// User and password. SMP 2.3: `SUPLoginCredentials`.
public struct LoginCredentials: Sendable, Equatable {
    /// The name that the server knows the user by.
    public var user: String
    /// The password; nil only for a manual registration. Never stored on the device.
    public var password: String?
    /// Creates the credentials of one user.
    public init(user: String, password: String?) { (self.user, self.password) = (user, password) }

    /// Compares byte by byte, as the server does: "é" as one scalar and as two are different characters of a password.
    public static func == (left: LoginCredentials, right: LoginCredentials) -> Bool {
        left.user.hasSameBytes(as: right.user)
            && (left.password.map { text in right.password.map(text.hasSameBytes) ?? false } ?? (right.password == nil))
    }
}

/// URL scheme of the server. SMP 2.3: `SUPNetworkProtocol`.
public enum NetworkProtocol: String, Sendable, CaseIterable { case http, https }

extension SyncError {
    /// Returns the error for a wrong or missing connection property.
    static func property(_ message: String) -> SyncError { SyncError(.connectionProperty, .connectionPropertyMissing, message) }
}
