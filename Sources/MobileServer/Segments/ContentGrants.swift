internal import MobileCrypto
internal import MobileProtocol
internal import MobileStore

/// The place of a large value that a client fetches on its own.
struct LargeValueAddress: Hashable, Sendable {
    /// Name and version of the package.
    let package: String
    let object: String
    let attribute: String
    let surrogateKey: Int64
}

/// Signs the permission of a session to fetch a content, and checks it.
///
/// **A name alone does not authorize:** it is the digest of the content, and each client that has had the content knows it. A grant is made for the user,
/// the application and the device of the session whose download names the content, and ends with time. Nothing is stored for it, so any process of
/// the server can check the grants of the others: they share the secret.
struct ContentGrants: Sendable {
    let secret: [UInt8]
    /// The validity of a grant in milliseconds.
    let lifetime: Int64
    let clock: @Sendable () -> Int64

    /// Reads the secret, or makes it when there is none.
    init(_ stateStore: any StateStore, _ configuration: ServerConfiguration) throws {
        let made = configuration.random(32)
        let row = try stateStore.write(label: "secret") { connection in
            try connection.execute("INSERT INTO _secret (name, content) VALUES ('content', ?1) ON CONFLICT (name) DO NOTHING", [.blob(made)])
            return try connection.first("SELECT content FROM _secret WHERE name = 'content'")
        }
        guard case .blob(let secret)? = row?.first else { throw StoreError(.corrupt, "table _secret: the secret of contents is missing") }
        self.secret = secret
        lifetime = configuration.segmentRules.retention
        clock = configuration.clock
    }

    /// The content that a valid grant allows to fetch.
    enum Permission: Equatable {
        case segment
        case largeValue(LargeValueAddress)
    }

    /// - Parameter name: the digest of the content.
    func grant(_ name: String, _ permission: Permission, to session: Accounts.Session) throws -> String {
        let end = String(clock() + lifetime), what = permission.bytes.hexadecimal
        return "\(end).\(what).\(try signature(name, end, what, session))"
    }

    /// Returns what a grant allows; nil for one of another content or session, one that has ended, and any other text.
    func permission(_ grant: String, for name: String, of session: Accounts.Session) throws -> Permission? {
        let parts = grant.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let end = Int64(parts[0]), end >= clock() else { return nil }
        let expected = try signature(name, parts[0], parts[1], session)
        // In constant time: the comparison must not reveal how much of a guess is right.
        guard expected.utf8.equalsInConstantTime(parts[2].utf8) else { return nil }
        return [UInt8](hexadecimal: parts[1]).flatMap(Permission.init)
    }

    private func signature(_ name: String, _ end: String, _ what: String, _ session: Accounts.Session) throws -> String {
        let signed = [name, end, what, session.user, session.application, session.device].map { JSONValue.string($0) }
        return try Self.authenticationCode(JSONValue.array(signed).bytes, key: secret).hexadecimal
    }

    /// HMAC with SHA-256 (RFC 2104). The key has at most 64 bytes.
    static func authenticationCode(_ message: [UInt8], key: [UInt8]) throws -> [UInt8] {
        let key = key + [UInt8](repeating: 0, count: 64 - key.count)
        let inner = try SHA256.digest(of: key.map { $0 ^ 0x36 } + message)
        return try SHA256.digest(of: key.map { $0 ^ 0x5C } + inner)
    }
}

extension ContentGrants.Permission {
    fileprivate var bytes: [UInt8] {
        guard case .largeValue(let address) = self else { return [] }
        return JSONValue.array(
            [.string(address.package), .string(address.object), .string(address.attribute), .integer(address.surrogateKey)]
        ).bytes
    }

    fileprivate init?(_ bytes: [UInt8]) {
        if bytes.isEmpty {
            self = .segment
            return
        }
        guard let values = try? JSONValue(parsing: bytes), let package = values[0]?.string, let object = values[1]?.string,
            let attribute = values[2]?.string, let key = values[3]?.integer
        else { return nil }
        self = .largeValue(LargeValueAddress(package: package, object: object, attribute: attribute, surrogateKey: key))
    }
}

/// The grants for one session.
struct SessionGrants: Sendable {
    let grants: ContentGrants
    let session: Accounts.Session

    func content(_ name: String, _ permission: ContentGrants.Permission) throws -> NamedContent {
        NamedContent(name: name, grant: try grants.grant(name, permission, to: session))
    }
}
