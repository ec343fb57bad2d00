public import MobileStore

/// The name and password of a user: the content of ``MessageMethod/register`` and ``MessageMethod/login``.
public struct Credentials: WireValue, Hashable {
    /// The user's name.
    public var user: String
    /// The user's password; it is sent unencrypted, so use HTTPS.
    public var password: String
    /// The code that an administrator issued for this device; nil if registration is automatic.
    public var activationCode: String?

    /// Creates the credentials of a user.
    public init(user: String, password: String, activationCode: String? = nil) {
        self.user = user
        self.password = password
        self.activationCode = activationCode
    }

    public init(json: JSONValue) throws(ProtocolError) {
        let members = try WireMembers(json, "credentials")
        user = try members.string("user")
        password = try members.string("password")
        activationCode = try members.optionalString("activationCode")
    }

    public var json: JSONValue {
        var members: JSONObject = ["user": .string(user), "password": .string(password)]
        members.set("activationCode", activationCode)
        return .object(members)
    }
}

/// The content of `registerResult` and `loginResult`.
public struct SessionGrant: WireValue, Hashable {
    /// The session's token: 32 random bytes in hexadecimal. Later requests carry it as `Authorization: Bearer <token>`.
    public var token: String
    /// The server's settings for the application, by name.
    public var settings: JSONObject

    /// Creates a grant with this token.
    public init(token: String, settings: JSONObject = [:]) {
        self.token = token
        self.settings = settings
    }

    public init(json: JSONValue) throws(ProtocolError) {
        let members = try WireMembers(json, "session")
        token = try members.string("token")
        settings = try members.members("settings")
    }

    public var json: JSONValue {
        var members: JSONObject = ["token": .string(token)]
        members.set("settings", settings)
        return .object(members)
    }
}

/// The content of `connectResult`.
public struct ConnectionGrant: WireValue, Hashable {
    /// The server's settings for the application, by name.
    public var settings: JSONObject

    /// Creates a grant with these settings.
    public init(settings: JSONObject = [:]) { self.settings = settings }

    public init(json: JSONValue) throws(ProtocolError) {
        settings = try WireMembers(json, "connection").members("settings")
    }

    public var json: JSONValue {
        var members = JSONObject()
        members.set("settings", settings)
        return .object(members)
    }
}

/// The content of ``MessageMethod/subscribe``.
public struct SubscribeContent: WireValue, Hashable {
    /// The synchronization parameters per object.
    public var subscriptions: Subscriptions
    /// Values of the personalization keys.
    public var personalization: JSONObject

    /// Creates the content of a subscription.
    public init(subscriptions: Subscriptions = [:], personalization: JSONObject = [:]) {
        self.subscriptions = subscriptions
        self.personalization = personalization
    }

    public init(json: JSONValue) throws(ProtocolError) {
        let members = try WireMembers(json, "subscribe")
        subscriptions = try Subscriptions(wire: members)
        personalization = try members.members("personalization")
    }

    public var json: JSONValue {
        var members = JSONObject()
        members.set("subscriptions", subscriptions.wireObject)
        members.set("personalization", personalization)
        return .object(members)
    }
}

/// The content of ``MessageMethod/log``: a part of a device's log, for the server's domain log.
public struct ClientLogContent: WireValue, Hashable {
    /// One text of the log.
    public struct Entry: WireValue, Hashable {
        /// The entry's name on the device; a repeated entry of the same name replaces the earlier one.
        public var name: String
        /// The text.
        public var text: String

        /// Creates an entry.
        public init(name: String, text: String) { (self.name, self.text) = (name, text) }

        public init(json: JSONValue) throws(ProtocolError) {
            let members = try WireMembers(json, "log entry")
            name = try members.string("name")
            text = try members.string("text")
        }

        public var json: JSONValue { ["name": .string(name), "text": .string(text)] }
    }

    /// The inquiry that this answers.
    public var inquiry: ServerInquiry
    /// The entries; empty if the device has none.
    public var entries: [Entry]
    /// Whether this completes the answer: a long log is sent in several messages. Default true.
    public var isLast: Bool

    /// Creates an answer, or a part of one.
    public init(inquiry: ServerInquiry, entries: [Entry], isLast: Bool = true) {
        (self.inquiry, self.entries, self.isLast) = (inquiry, entries, isLast)
    }

    public init(json: JSONValue) throws(ProtocolError) {
        let members = try WireMembers(json, "log")
        inquiry = ServerInquiry(rawValue: try members.string("inquiry"))
        entries = []
        for entry in try members.array("entries") { entries.append(try Entry(json: entry)) }
        isLast = try members.optionalBoolean("last") ?? true
    }

    public var json: JSONValue {
        ["inquiry": .string(inquiry.rawValue), "entries": .array(entries.map(\.json)), "last": .boolean(isLast)]
    }
}

/// The answer of ``Endpoint/status``.
public struct ServerStatus: WireValue, Hashable {
    /// The server's name and release.
    public var server: String
    /// The versions of the protocol that the server speaks.
    public var versions: [Int64]
    /// Names and versions of the server's packages, such as `CRM:1.0`.
    public var packages: [String]

    /// Creates the status of a server.
    public init(server: String, versions: [Int64] = [ProtocolVersion.current], packages: [String]) {
        self.server = server
        self.versions = versions
        self.packages = packages
    }

    public init(json: JSONValue) throws(ProtocolError) {
        let members = try WireMembers(json, "server status")
        server = try members.string("server")
        packages = try members.strings("packages")
        versions = []
        for version in try members.array("versions") {
            guard let version = version.integer else { throw members.unexpected("versions", "an array of integers", version) }
            versions.append(version)
        }
    }

    public var json: JSONValue {
        [
            "server": .string(server), "versions": .array(versions.map { .integer($0) }),
            "packages": .array(packages.map { .string($0) }),
        ]
    }
}
