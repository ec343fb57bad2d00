public import MobileStore

/// One operation that the client submitted: the payload of an `O` frame.
public struct OperationFrame: WireValue, Hashable {
    /// The effect of an operation on its row.
    public enum Change: String, Sendable, CaseIterable {
        case create = "C"
        case update = "U"
        case delete = "D"
        /// Any other operation of the model.
        case other = "O"
    }

    /// The operation's id: the replay counter at its submission; unique per client and growing.
    public var id: Int64
    /// The object's name in the model (`mbo`).
    public var object: String
    /// The effect of the operation.
    public var change: Change
    /// The operation's name in the model; nil for the only operation of the object with this effect.
    public var operation: String?
    /// The id of the first operation of its batch. Operations of one batch are consecutive and are done together or not at all.
    public var batch: Int64
    /// The row's surrogate key (`_sk`).
    public var key: Int64
    /// The values to write, by attribute; large attributes follow in `V` parts.
    public var attributes: JSONObject
    /// The row's primary key as the server knew it; empty for a row that the server has not seen.
    public var primaryKey: JSONObject
    /// Per relationship that holds the foreign key: the surrogate key of the parent row, or null for no parent.
    public var refs: JSONObject
    /// Values of the operation's own parameters.
    public var parameters: JSONObject
    /// The SHA-256 of the operation's content when it was submitted, 64 hexadecimal digits. It stays the same when the operation is sent again. Servers
    /// compare digests with each other, and never with the content. Nil (default) where the client has none.
    public var digest: String?
    /// The row that the user's change is based on: the values of attributes that are neither large nor part of the key. Nil (default)
    /// for a create, and where the object does not refuse conflicts. A value that is missing is not compared.
    public var original: JSONObject?
    /// The id of the device's previous operation on the row, if the device did not have the row that it left when the user changed the row again; nil
    /// (default) without one.
    public var follows: Int64?

    /// Creates an operation with these values; omitted ones are empty.
    public init(
        id: Int64, object: String, change: Change, operation: String? = nil, batch: Int64? = nil, key: Int64,
        attributes: JSONObject = [:], primaryKey: JSONObject = [:], refs: JSONObject = [:], parameters: JSONObject = [:], digest: String? = nil,
        original: JSONObject? = nil, follows: Int64? = nil
    ) {
        self.id = id
        self.object = object
        self.change = change
        self.operation = operation
        self.batch = batch ?? id
        self.key = key
        self.attributes = attributes
        self.primaryKey = primaryKey
        self.refs = refs
        self.parameters = parameters
        self.digest = digest
        self.original = original
        self.follows = follows
    }

    public init(json: JSONValue) throws(ProtocolError) {
        let members = try WireMembers(json, "operation")
        id = try members.integer("id", in: 1 ... .max)
        object = try members.string("mbo")
        change = try members.choice("change", of: Change.self)
        operation = try members.optionalString("operation")
        batch = try members.optionalInteger("batch", in: 1...id) ?? id
        key = try members.integer("key")
        attributes = try members.members("attributes")
        primaryKey = try members.members("primaryKey")
        refs = try members.members("refs")
        parameters = try members.members("parameters")
        digest = try members.optionalString("digest")
        if let digest, !Self.isDigest(digest) {
            throw ProtocolError(.invalidContent, "operation, member \"digest\": expected 64 hexadecimal digits in lower case")
        }
        original = try members.optionalMembers("original")
        follows = try members.optionalInteger("follows", in: 1...max(1, id - 1))
        for ref in refs where ref.value != .null && ref.value.integer == nil {
            throw members.unexpected("refs", "a surrogate key or null for \"\(ref.key.prefix(80))\"", ref.value)
        }
        if change == .other, operation == nil {
            throw ProtocolError(.invalidContent, "operation, member \"operation\": expected a name for change \"O\", it is missing")
        }
    }

    public var json: JSONValue {
        var members: JSONObject = ["id": .integer(id), "mbo": .string(object), "change": .string(change.rawValue)]
        members.set("operation", operation)
        members["batch"] = .integer(batch)
        members["key"] = .integer(key)
        members.set("attributes", attributes)
        members.set("primaryKey", primaryKey)
        members.set("refs", refs)
        members.set("parameters", parameters)
        members.set("digest", digest)
        if let original { members["original"] = .object(original) }
        if let follows { members["follows"] = .integer(follows) }
        return .object(members)
    }

    private static func isDigest(_ text: String) -> Bool {
        text.utf8.count == 64 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}
