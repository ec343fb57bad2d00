public import MobileStore

/// A position in what the server has sent to this client for one group. Made by the server, opaque to the client, which stores
/// it in the transaction that imports the group and sends it back with the next synchronization.
public struct Token: WireValue, Hashable {
    /// The server's own value, an object.
    public let json: JSONValue

    public init(json: JSONValue) throws(ProtocolError) {
        guard json.object != nil else {
            throw ProtocolError(.invalidContent, "token: expected an object, found \(json.kindName)")
        }
        self.json = json
    }

    /// A token with these members; for servers.
    public init(_ members: JSONObject) { json = .object(members) }

    /// The token as JSON text, for a client to store.
    public var text: String { json.description }
}

/// The synchronization parameters of one package: per object a list of subscriptions, each an object of parameter values.
public typealias Subscriptions = [String: [JSONObject]]

/// The first frame of an upload: who synchronizes what, and how far this client has come.
public struct SynchronizeHeader: WireValue, Hashable {
    /// The protocol's version, see ``ProtocolVersion``.
    public var version: Int64
    /// The client id (`cid`): a GUID made once per local database; the namespace of operation ids.
    public var client: String
    /// Name and version of the package, such as `CRM:1.0` (`pkg`).
    public var package: String
    /// The groups to download, in this order. None: the synchronization only uploads.
    public var groups: [String]
    /// What the client has of each group; a group without token is sent from the start.
    public var tokens: [String: Token]
    /// The synchronization parameters per object.
    public var subscriptions: Subscriptions
    /// Values of the personalization keys.
    public var personalization: JSONObject
    /// The client has settled the results of all its operations with an id below this one, so the server may forget them.
    public var settledBelow: Int64
    /// How many surrogate keys the client has left; the server grants a new range when they are few. 0...
    public var keysLeft: Int64

    /// The beginning of an upload, in the present version of the protocol.
    public init(
        client: String, package: String, groups: [String] = [], tokens: [String: Token] = [:], subscriptions: Subscriptions = [:],
        personalization: JSONObject = [:], settledBelow: Int64 = 0, keysLeft: Int64 = 0
    ) {
        self.version = ProtocolVersion.current
        self.client = client
        self.package = package
        self.groups = groups
        self.tokens = tokens
        self.subscriptions = subscriptions
        self.personalization = personalization
        self.settledBelow = settledBelow
        self.keysLeft = keysLeft
    }

    public init(json: JSONValue) throws(ProtocolError) {
        let members = try WireMembers(json, "synchronize header")
        version = try members.version()
        client = try members.string("cid")
        package = try members.string("pkg")
        groups = try members.isAbsent("groups") ? [] : members.strings("groups")
        tokens = [:]
        for member in try members.members("tokens") { tokens[member.key] = try Token(json: member.value) }
        subscriptions = try Subscriptions(wire: members)
        personalization = try members.members("personalization")
        settledBelow = try members.optionalInteger("settledBelow", in: 0 ... .max) ?? 0
        keysLeft = try members.optionalInteger("keysLeft", in: 0 ... .max) ?? 0
    }

    public var json: JSONValue {
        var object: JSONObject = ["version": .integer(version), "cid": .string(client), "pkg": .string(package)]
        object["groups"] = .array(groups.map { .string($0) })
        object.set("tokens", JSONObject(uniqueKeys: tokens.sorted { $0.key < $1.key }.map { ($0.key, $0.value.json) }))
        object.set("subscriptions", subscriptions.wireObject)
        object.set("personalization", personalization)
        object["settledBelow"] = .integer(settledBelow)
        object["keysLeft"] = .integer(keysLeft)
        return .object(object)
    }
}

/// Something that the server's administrator wants from a client, which answers with a message.
public struct ServerInquiry: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The summaries of the interactions that were measured on the device; answered by ``MessageMethod/log``. SMP 2.3: *Get Trace*.
    public static let performanceLog = ServerInquiry(rawValue: "performanceLog")
}

/// The group that every package has without naming it: its log records.
public enum SystemGroup {
    /// `system`; no group of a model has this name.
    public static let name = "system"
}

/// The first frame of a download.
public struct SynchronizeAnswer: WireValue, Hashable {
    /// The protocol's version, see ``ProtocolVersion``.
    public var version: Int64
    /// Name and version of the package, as the client named it.
    public var package: String
    /// The groups that follow, in this order.
    public var groups: [String]
    /// How many operations of this upload the server has a result for; the results follow in `R` frames.
    public var operations: Int64
    /// What the server's administrator asks this client for, such as ``ServerInquiry/performanceLog``. A client skips what it does not know.
    public var inquiries: [ServerInquiry]

    /// The beginning of a download, in the present version of the protocol.
    public init(package: String, groups: [String] = [], operations: Int64 = 0, inquiries: [ServerInquiry] = []) {
        version = ProtocolVersion.current
        self.package = package
        self.groups = groups
        self.operations = operations
        self.inquiries = inquiries
    }

    public init(json: JSONValue) throws(ProtocolError) {
        let members = try WireMembers(json, "synchronize answer")
        version = try members.version()
        package = try members.string("pkg")
        groups = try members.isAbsent("groups") ? [] : members.strings("groups")
        operations = try members.optionalInteger("operations", in: 0 ... .max) ?? 0
        inquiries = try members.isAbsent("inquiries") ? [] : members.strings("inquiries").map(ServerInquiry.init(rawValue:))
    }

    public var json: JSONValue {
        var members: JSONObject = [
            "version": .integer(version), "pkg": .string(package), "groups": .array(groups.map { .string($0) }),
            "operations": .integer(operations),
        ]
        if !inquiries.isEmpty { members["inquiries"] = .array(inquiries.map { .string($0.rawValue) }) }
        return .object(members)
    }
}

extension WireMembers {
    /// The version of a stream.
    /// - Throws: ``ProtocolError/Code/unsupportedVersion`` for one that this end does not speak.
    func version() throws(ProtocolError) -> Int64 {
        let version = try integer("version")
        guard version == ProtocolVersion.current else {
            throw ProtocolError(.unsupportedVersion, "\(name): version \(version) of the protocol; this end speaks \(ProtocolVersion.current)")
        }
        return version
    }
}

extension Subscriptions {
    /// Reads the member `subscriptions`: `{object: [{parameter: value}]}`.
    init(wire members: WireMembers) throws(ProtocolError) {
        self = [:]
        for member in try members.members("subscriptions") {
            guard let list = member.value.array else {
                throw members.unexpected("subscriptions", "an array per object", member.value)
            }
            var parameters: [JSONObject] = []
            for element in list {
                guard let object = element.object else {
                    throw members.unexpected("subscriptions", "an object of parameters per subscription", element)
                }
                parameters.append(object)
            }
            self[member.key] = parameters
        }
    }

    /// The form on the wire, objects in the order of their names.
    var wireObject: JSONObject {
        JSONObject(uniqueKeys: sorted { $0.key < $1.key }.map { ($0.key, .array($0.value.map { .object($0) })) })
    }
}
