public import MobileStore

/// The position of this client in the data of one group. The server creates it. The client cannot interpret it: it stores the token in the
/// transaction that imports the group and returns it with the next synchronization.
public struct Token: WireValue, Hashable {
    /// The server's own value, an object.
    public let json: JSONValue

    public init(json: JSONValue) throws(ProtocolError) {
        guard json.object != nil else {
            throw ProtocolError(.invalidContent, "token: expected an object, found \(json.kindName)")
        }
        self.json = json
    }

    /// Creates a token with these members; for servers.
    public init(_ members: JSONObject) { json = .object(members) }

    /// The token as JSON text, for a client to store.
    public var text: String { json.description }
}

/// The synchronization parameters of one package: per object a list of subscriptions, each an object of parameter values.
public typealias Subscriptions = [String: [JSONObject]]

/// The first frame of an upload: the client, the package, and the client's state of each group.
public struct SynchronizeHeader: WireValue, Hashable {
    /// The protocol's version, see ``ProtocolVersion``.
    public var version: Int64
    /// The client id (`cid`): a GUID made once per local database; the namespace of operation ids.
    public var client: String
    /// Name and version of the package, such as `CRM:1.0` (`pkg`).
    public var package: String
    /// The groups to download, in this order. If empty, the synchronization only uploads.
    public var groups: [String]
    /// The state of each group on the client; a group without token is sent from the start.
    public var tokens: [String: Token]
    /// The synchronization parameters per object.
    public var subscriptions: Subscriptions
    /// Values of the personalization keys.
    public var personalization: JSONObject
    /// The client has settled the results of all its operations with an id below this one: the server may forget them, and never does them again.
    public var settledBelow: Int64
    /// The number of unused surrogate keys of the client, 0 or more; the server grants a new range when few are left.
    public var keysLeft: Int64
    /// The ranges of surrogate keys that the client made itself and has given keys of, each by its first key: see ``ClaimedKeyRange``.
    public var keyClaims: [Int64]
    /// By era of a back end: the number of the last operation whose acceptance the client remembers. Default empty.
    public var receipts: [String: Int64] = [:]
    /// By era of a back end: the number that its record had reached when the client was last sent rows, see ``SynchronizeAnswer/records``. Default empty.
    public var seen: [String: Int64] = [:]
    /// The operations that the client lists as lost since its last upload, see ``SynchronizeAnswer/lost``. Default empty.
    public var lost: [ReportedOperation] = []
    /// The rows, by object, that the client has because an operation of its own was accepted, and that no download of their group has confirmed since: the
    /// server sends the deletions of those that are in none of the client's partitions. At most ``unconfirmedLimit`` rows; default empty.
    public var unconfirmed: [String: [Int64]] = [:]
    /// The rows, by object, that the client has removed because a delete of its own was accepted, and that no download of their group has confirmed since: the
    /// server sends those that one of the client's partitions still has. At most ``unconfirmedLimit`` rows; default empty.
    public var removed: [String: [Int64]] = [:]
    /// Large values of the rows in ``unconfirmed`` that the client has, by object: the server does not send them again. A client that sets this, if only to an
    /// empty dictionary, also finds the contents of ``LargeValuePart/submitted``. At most ``heldLimit`` values; default nil.
    public var held: [String: [HeldValue]]?
    /// The present client id of a database that settles the operations of ``client``: it is a copy of that client's database. Such an upload requests no
    /// groups. Default nil.
    public var successor: String?

    /// The maximum number of rows in ``unconfirmed``, and in ``removed``: a client names the others in its next uploads.
    public static let unconfirmedLimit = 2000
    /// The maximum number of values in ``held``.
    public static let heldLimit = 2000

    /// Creates the beginning of an upload, in the current version of the protocol.
    public init(
        client: String, package: String, groups: [String] = [], tokens: [String: Token] = [:], subscriptions: Subscriptions = [:],
        personalization: JSONObject = [:], settledBelow: Int64 = 0, keysLeft: Int64 = 0, keyClaims: [Int64] = []
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
        self.keyClaims = keyClaims
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
        keyClaims = try members.claimedKeyRanges("keyClaims")
        receipts = try members.numbersByEra("receipts")
        seen = try members.numbersByEra("seen")
        lost = try members.reportedOperations("lost")
        unconfirmed = try members.lists("unconfirmed", of: "surrogate keys", limit: Self.unconfirmedLimit, \.integer)
        removed = try members.lists("removed", of: "surrogate keys", limit: Self.unconfirmedLimit, \.integer)
        held = try members.isAbsent("held") ? nil : members.lists("held", of: "[key, attribute, digest]", limit: Self.heldLimit, HeldValue.init)
        successor = try members.optionalString("successor")
    }

    public var json: JSONValue {
        var object: JSONObject = ["version": .integer(version), "cid": .string(client), "pkg": .string(package)]
        object["groups"] = .array(groups.map { .string($0) })
        object.set("tokens", JSONObject(uniqueKeys: tokens.sorted { $0.key < $1.key }.map { ($0.key, $0.value.json) }))
        object.set("subscriptions", subscriptions.wireObject)
        object.set("personalization", personalization)
        object["settledBelow"] = .integer(settledBelow)
        object["keysLeft"] = .integer(keysLeft)
        if !keyClaims.isEmpty { object["keyClaims"] = .array(keyClaims.map { .integer($0) }) }
        object.set("receipts", receipts.byEra)
        object.set("seen", seen.byEra)
        if !lost.isEmpty { object["lost"] = .array(lost.map(\.json)) }
        object.set("unconfirmed", unconfirmed.wireObject)
        object.set("removed", removed.wireObject)
        if let held { object["held"] = held.wireObject }
        object.set("successor", successor)
        return .object(object)
    }
}

/// A request of the server's administrator to a client, which answers with a message.
public struct ServerInquiry: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The summaries of the interactions that were measured on the device; answered by ``MessageMethod/log``. SMP 2.3: *Get Trace*.
    public static let performanceLog = ServerInquiry(rawValue: "performanceLog")
}

/// The implicit group of every package: its log records.
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
    /// The number of operations of this upload for which the server has a result; the results follow in `R` frames.
    public var operations: Int64
    /// Requests of the server's administrator to this client, such as ``ServerInquiry/performanceLog``. A client skips unknown ones.
    public var inquiries: [ServerInquiry]
    /// The claimed ranges that belong to another client, each by its first key. The server has done no operation of this upload then.
    public var refusedClaims: [Int64]
    /// By era: the number up to which the back end has the operations of ``SynchronizeHeader/receipts``. It was restored from a backup, and accepted
    /// operations of this era above that number are lost. Default empty.
    public var lost: [String: Int64] = [:]
    /// By era of a back end: the number of the last operation that its record had when the rows of the groups were read. The client stores it with each
    /// group's token, and returns it as ``SynchronizeHeader/seen``. Default empty, as for a download without changes.
    public var records: [String: Int64] = [:]
    /// The objects with rows of accepted operations about which the server cannot say yet whether they are in the client's partitions: the client names them
    /// again. Default empty.
    public var undecided: [String] = []

    /// Creates the beginning of a download, in the current version of the protocol.
    public init(
        package: String, groups: [String] = [], operations: Int64 = 0, inquiries: [ServerInquiry] = [], refusedClaims: [Int64] = []
    ) {
        version = ProtocolVersion.current
        self.package = package
        self.groups = groups
        self.operations = operations
        self.inquiries = inquiries
        self.refusedClaims = refusedClaims
    }

    public init(json: JSONValue) throws(ProtocolError) {
        let members = try WireMembers(json, "synchronize answer")
        version = try members.version()
        package = try members.string("pkg")
        groups = try members.isAbsent("groups") ? [] : members.strings("groups")
        operations = try members.optionalInteger("operations", in: 0 ... .max) ?? 0
        inquiries = try members.isAbsent("inquiries") ? [] : members.strings("inquiries").map(ServerInquiry.init(rawValue:))
        refusedClaims = try members.claimedKeyRanges("refusedClaims")
        lost = try members.numbersByEra("lost")
        records = try members.numbersByEra("records")
        undecided = try members.isAbsent("undecided") ? [] : members.strings("undecided")
    }

    public var json: JSONValue {
        var members: JSONObject = [
            "version": .integer(version), "pkg": .string(package), "groups": .array(groups.map { .string($0) }),
            "operations": .integer(operations),
        ]
        if !inquiries.isEmpty { members["inquiries"] = .array(inquiries.map { .string($0.rawValue) }) }
        members.set("lost", lost.byEra)
        members.set("records", records.byEra)
        if !undecided.isEmpty { members["undecided"] = .array(undecided.map { .string($0) }) }
        if !refusedClaims.isEmpty { members["refusedClaims"] = .array(refusedClaims.map { .integer($0) }) }
        return .object(members)
    }
}

extension WireMembers {
    /// Reads the version of a stream.
    /// - Throws: ``ProtocolError/Code/outdatedVersion`` for an earlier version, ``ProtocolError/Code/unsupportedVersion`` for any other that this end
    ///   does not speak.
    func version() throws(ProtocolError) -> Int64 {
        let version = try integer("version")
        guard version == ProtocolVersion.current else {
            let isOutdated = version > 0 && version < ProtocolVersion.current
            throw ProtocolError(
                isOutdated ? .outdatedVersion : .unsupportedVersion,
                "\(name): version \(version) of the protocol; this end speaks \(ProtocolVersion.current)")
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

extension WireMembers {
    /// Reads a list for each object; none if the member is absent.
    /// - Parameters:
    ///   - form: phrase for the elements, for messages.
    ///   - limit: the maximum number of elements of all lists.
    ///   - element: reads an element; nil for another form.
    func lists<Element>(
        _ name: String, of form: String, limit: Int, _ element: (JSONValue) -> Element?
    ) throws(ProtocolError) -> [String: [Element]] {
        var lists: [String: [Element]] = [:], count = 0
        for member in try self.members(name) {
            let elements = member.value.array?.compactMap(element)
            guard let elements, elements.count == member.value.array?.count else {
                throw unexpected(name, "an array of \(form) per object", member.value)
            }
            lists[member.key] = elements
            count += elements.count
        }
        guard count <= limit else {
            throw ProtocolError(.invalidContent, "synchronize header, member \"\(name)\": more than \(limit) elements")
        }
        return lists
    }
}

extension [String: [Int64]] {
    /// The form on the wire, objects in the order of their names.
    fileprivate var wireObject: JSONObject {
        JSONObject(uniqueKeys: sorted { $0.key < $1.key }.map { ($0.key, .array($0.value.map { .integer($0) })) })
    }
}
