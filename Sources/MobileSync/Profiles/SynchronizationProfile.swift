internal import Foundation

/// The synchronization settings of one package. A setting that is nil is inherited from the connection properties of the application.
/// SMP 2.3: `SUPConnectionProfile` of `getSynchronizationProfile`.
public struct SynchronizationProfile: Sendable, Equatable {
    /// The domain of the package on the server; default `default`. It has no effect in this release.
    public var domainName = "default"
    /// Host to synchronize with; nil (default) inherits.
    public var serverName: String?
    /// Port to synchronize with; nil (default) inherits.
    public var portNumber: Int?
    /// The URL scheme; nil (default) inherits.
    public var networkProtocol: NetworkProtocol?
    /// The user in whose name the package subscribes and synchronizes; nil (default) inherits the credentials of the registration. Another user than that
    /// of the present session logs in before the next request, which needs ``password``.
    public var user: String?
    /// Password of ``user``. In memory only.
    public var password: String?
    /// Further settings of the stream; see ``StreamParameters``. SMP 2.3: `networkStreamParams`.
    public var streamParameters = StreamParameters()
    /// Whether a synchronization may return before the back end has replayed the upload; default true. The server of this release replays before it
    /// answers, so both values have the same effect.
    public var asyncReplay = true
    /// The longest time without a byte in either direction before a synchronization fails; default 60 s.
    public var idleTimeout: Duration = .seconds(60)
    /// The time between two synchronizations in the background where the server's announcements of changes cannot be received; a part of it is random.
    /// Default 5 minutes. See `PackageDatabase.startBackgroundSynchronization()`.
    public var pollingInterval: Duration = .seconds(300)
    /// The part of the traffic with the server that is written to the package's console; default none. Applies from the next request on.
    public var messageTrace = MessageTraceLevel.off

    /// Creates a profile that inherits all settings.
    public init() {}

    /// Switches the trace of messages on or off. SMP 2.3: `enableTrace:`, `enableTrace:withPayload:` of the synchronization profile.
    /// - Parameters:
    ///   - isOn: whether messages are traced; default true.
    ///   - withPayload: whether the contents of messages are included: values of users, names and passwords; default false.
    public mutating func enableTrace(_ isOn: Bool = true, withPayload: Bool = false) {
        messageTrace = isOn ? withPayload ? .payload : .headers : .off
    }

    /// The user with the password; nil if no user is set.
    var credentials: LoginCredentials? {
        guard let user, !user.isEmpty else { return nil }
        return LoginCredentials(user: user, password: password)
    }

    /// - Throws: ``SyncError`` of kind ``SyncError/Kind/connectionProperty`` that names the setting.
    func validate() throws(SyncError) {
        guard !domainName.isEmpty else { throw .property("domainName of the synchronization profile is empty: the usual one is \"default\"") }
        guard streamParameters.endToEndPublicKey == nil else {
            throw .property("stream parameter e2ee_public_key: end-to-end encryption is not supported by this release; use https")
        }
        if let portNumber, !(1...65535).contains(portNumber) {
            throw .property("portNumber \(portNumber) of the synchronization profile: use 1 to 65535")
        }
        guard pollingInterval > .zero, pollingInterval <= .seconds(366 * 86_400) else {
            throw .property("pollingInterval \(pollingInterval) of the synchronization profile: use more than 0, and at most 366 days")
        }
        if let serverName, serverName.isEmpty { throw .property("serverName of the synchronization profile is empty: use nil to inherit it") }
    }
}

/// The semicolon-separated `name=value` list of a synchronization profile, as a value. SMP 2.3: `networkStreamParams`.
public struct StreamParameters: Sendable, Equatable {
    /// The compression of rows; default ``Compression/zlib``. The server of this release always deflates rows, and never deflates pictures and other
    /// large values.
    public var compression = Compression.zlib
    /// The file with the certificates to trust instead of the system's, PEM; nil (default): those of the application's transport.
    public var trustedCertificates: String?
    /// A prefix of the path of the requests, for a proxy or relay server; nil inherits.
    public var urlSuffix: String?
    /// The file with the server's certificate for end-to-end encryption, PEM; nil: no encryption. Any other value is refused as not supported.
    public var endToEndPublicKey: String?
    /// The file with the client's certificate and private key, PEM; nil: those of the application's transport.
    public var identity: String?
    /// The password of ``identity``.
    public var identityPassword: String?

    /// The compression of rows in transit.
    public enum Compression: String, Sendable, CaseIterable { case none, zlib }

    /// Creates the default parameters.
    public init() {}

    /// Reads the documented form, such as `trusted_certificates=rsa.crt;compression=zlib;url_suffix=/ias_relay`. Spaces around names and values are ignored.
    /// - Throws: ``SyncError`` of kind ``SyncError/Kind/connectionProperty`` for an unknown name, a name given twice or a wrong value.
    public init(_ text: String) throws(SyncError) {
        var seen: Set<String> = []
        for part in text.split(separator: ";", omittingEmptySubsequences: true) {
            guard let equals = part.firstIndex(of: "=") else {
                if part.allSatisfy(\.isWhitespace) { continue }
                throw .property("stream parameter \"\(part.prefix(80))\": write it as name=value")
            }
            let name = Self.trim(part[..<equals])
            let value = Self.trim(part[part.index(after: equals)...])
            guard seen.insert(name).inserted else { throw .property("stream parameter \"\(name.prefix(80))\" is given twice") }
            try set(name, value)
        }
    }

    /// Returns the text of a certificate file.
    static func pem(_ path: String) throws(SyncError) -> String {
        do { return try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8) } catch {
            throw SyncError(
                .connectionProperty, .connectionPropertyMissing, "cannot read certificate file \"\(path.prefix(80))\": \(error.localizedDescription)",
                cause: error)
        }
    }

    private mutating func set(_ name: String, _ value: String) throws(SyncError) {
        switch name {
        case "compression":
            guard let compression = Compression(rawValue: value) else {
                throw .property("stream parameter compression=\(value.prefix(80)): use zlib or none")
            }
            self.compression = compression
        case "trusted_certificates": trustedCertificates = value
        case "url_suffix": urlSuffix = value
        case "e2ee_public_key": endToEndPublicKey = value
        case "identity": identity = value
        case "identity_password": identityPassword = value
        default:
            throw .property(
                "stream parameter \"\(name.prefix(80))\" is unknown: there are compression, trusted_certificates, url_suffix, e2ee_public_key, "
                    + "identity and identity_password")
        }
    }

    private static func trim(_ text: Substring) -> String {
        var text = text
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
