internal import MobileCrypto
internal import MobileProtocol
internal import MobileStore

/// The content that a grant allows a client to fetch, and the partition that is the reason for it.
struct ContentPermission: Hashable, Sendable {
    /// The place of a large value.
    struct LargeValue: Hashable, Sendable {
        let object: String
        let attribute: String
        let surrogateKey: Int64
    }

    /// Name and version of the package.
    let package: String
    /// The client whose download names the content.
    let client: String
    var partition: Int64
    /// nil for a segment.
    var value: LargeValue?
}

/// Signs the permission of a session to fetch a content, and checks it.
///
/// **A name alone does not authorize:** it is the digest of the content, and each client that has had the content knows it. A grant is made for the user,
/// the application and the device of the session whose download names the content, and ends with time. Nothing is stored for it, so any process of
/// the server can check the grants of the others: they share the secret. The present rights of the user are checked apart: see
/// ``ServedPackage/isAllowed(_:_:to:in:)``.
struct ContentGrants: Sendable {
    private let key: AuthenticationKey
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
        key = try AuthenticationKey(secret)
        lifetime = configuration.segmentRules.retention
        clock = configuration.clock
    }

    /// - Parameter name: the digest of the content.
    func grant(_ name: String, _ permission: ContentPermission, to session: Accounts.Session) throws -> String {
        let end = String(clock() + lifetime), what = permission.bytes.hexadecimal
        return "\(end).\(what).\(try signature(name, end, what, session).hexadecimal)"
    }

    /// Returns what a grant allows; nil for one of another content or session, one that has ended, and any other text.
    func permission(_ grant: String, for name: String, of session: Accounts.Session) throws -> ContentPermission? {
        // Bytes, because the search for the ends of characters would take longer than all the rest.
        let parts = grant.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map { String($0) ?? "" }
        guard parts.count == 3, let end = Int64(parts[0]), end >= clock(), let code = [UInt8](hexadecimal: parts[2]) else { return nil }
        // In constant time: the comparison must not reveal how much of a guess is right.
        guard try signature(name, parts[0], parts[1], session).equalsInConstantTime(code) else { return nil }
        return [UInt8](hexadecimal: parts[1]).flatMap(ContentPermission.init)
    }

    private func signature(_ name: String, _ end: String, _ what: String, _ session: Accounts.Session) throws -> [UInt8] {
        let signed = [name, end, what, session.user, session.application, session.device].map { JSONValue.string($0) }
        return try key.code(of: JSONValue.array(signed).bytes)
    }
}

extension ContentPermission {
    fileprivate var bytes: [UInt8] {
        let reason: [JSONValue] = [.string(package), .string(client), .integer(partition)]
        return JSONValue.array(
            reason + (value.map { [.string($0.object), .string($0.attribute), .integer($0.surrogateKey)] } ?? [])
        ).bytes
    }

    fileprivate init?(_ bytes: [UInt8]) {
        guard let values = try? JSONValue(parsing: bytes), let package = values[0]?.string, let client = values[1]?.string,
            let partition = values[2]?.integer
        else { return nil }
        self.init(package: package, client: client, partition: partition)
        guard let object = values[3]?.string, let attribute = values[4]?.string, let key = values[5]?.integer else { return }
        value = LargeValue(object: object, attribute: attribute, surrogateKey: key)
    }
}

/// The grants of one download.
struct SessionGrants: Sendable {
    let grants: ContentGrants
    let session: Accounts.Session
    /// Name and version of the package.
    let package: String
    /// The client that receives the download.
    let client: String

    /// - Parameter value: the place of a large value; nil for a segment.
    func content(_ name: String, of partition: Int64, _ value: ContentPermission.LargeValue? = nil) throws -> NamedContent {
        let permission = ContentPermission(package: package, client: client, partition: partition, value: value)
        return NamedContent(name: name, grant: try grants.grant(name, permission, to: session))
    }
}
