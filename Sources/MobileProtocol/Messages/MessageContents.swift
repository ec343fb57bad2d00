public import MobileStore

/// Who somebody is: the content of ``MessageMethod/register`` and ``MessageMethod/login``.
public struct Credentials: WireValue, Hashable {
    /// The user's name.
    public var user: String
    /// The user's password; it goes over the wire as it is, so use HTTPS.
    public var password: String
    /// The code that an administrator gave for this device; nil where registration is automatic.
    public var activationCode: String?

    /// Who somebody is, and by what it is shown.
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

    /// A session of this token.
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

    /// A connection with these settings.
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

    /// What a client wants to get.
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

/// The content of ``MessageMethod/log``: a part of a log that is kept on a device, for the server's domain log.
public struct ClientLogContent: WireValue, Hashable {
    /// One text of the log.
    public struct Entry: WireValue, Hashable {
        /// What it is called on the device; one that comes again under its name replaces the earlier one.
        public var name: String
        /// The text.
        public var text: String

        /// One text of a log.
        public init(name: String, text: String) { (self.name, self.text) = (name, text) }

        public init(json: JSONValue) throws(ProtocolError) {
            let members = try WireMembers(json, "log entry")
            name = try members.string("name")
            text = try members.string("text")
        }

        public var json: JSONValue { ["name": .string(name), "text": .string(text)] }
    }

    /// Which inquiry it answers.
    public var inquiry: ServerInquiry
    /// The texts; none where the device has none.
    public var entries: [Entry]
    /// Whether this completes the answer: a long log comes in several messages. Default true.
    public var isLast: Bool

    /// An answer, or a part of one.
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
    /// The versions of the protocol that it speaks.
    public var versions: [Int64]
    /// Names and versions of its packages, such as `CRM:1.0`.
    public var packages: [String]

    /// The status of a server.
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
