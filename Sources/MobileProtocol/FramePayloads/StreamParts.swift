public import MobileStore

/// The encoding of a part's data.
public enum PartCompression: String, Sendable, CaseIterable {
    /// Plain data.
    case none
    /// One zlib stream (RFC 1950) per part.
    case zlib
}

/// Begins rows of one object: the payload of a `T` frame. `D` frames follow with JSON: for ``Mode/upsert`` an array of arrays under
/// the column list, for ``Mode/delete`` an array of `[surrogate key]` arrays.
public struct TablePart: WireValue, Hashable {
    /// The effect on the rows.
    public enum Mode: String, Sendable, CaseIterable {
        /// New rows are inserted, known ones overwritten.
        case upsert
        /// Rows leave this client: deleted in the back end, or no longer part of what it subscribes to.
        case delete
        /// All rows of the object leave the client, as by ``delete``: the server does not know which rows the client has. The part has no data;
        /// the server's rows follow in other parts.
        case reset
    }

    /// The object's name in the model.
    public var object: String
    /// The columns of each row, in order; the first one is the surrogate key `_sk`.
    public var columns: [String]
    /// The effect on the rows.
    public var mode: Mode
    /// The encoding of the data.
    public var compression: PartCompression
    /// For ``Mode/reset``: whether a row that follows is the client's row with its surrogate key, and no other one: the client has keys of this life of the
    /// server's state, or the back end has given primary keys to other rows since. Otherwise (default) it is the client's row with its primary key.
    public var keepsKeys = false

    /// Creates the beginning of the rows of one object.
    public init(object: String, columns: [String], mode: Mode = .upsert, compression: PartCompression = .zlib) {
        self.object = object
        self.columns = columns
        self.mode = mode
        self.compression = compression
    }

    public init(json: JSONValue) throws(ProtocolError) {
        let members = try WireMembers(json, "table part")
        object = try members.string("object")
        columns = try members.strings("columns")
        mode = try members.choice("mode", of: Mode.self)
        compression = try members.choice("compression", of: PartCompression.self)
        keepsKeys = try members.optionalBoolean("keepsKeys") ?? false
        guard Set(columns).count == columns.count, !columns.isEmpty else {
            throw ProtocolError(.invalidContent, "table part, member \"columns\": expected at least one column and none twice")
        }
    }

    public var json: JSONValue {
        var members: JSONObject = [
            "object": .string(object), "columns": .array(columns.map { .string($0) }), "mode": .string(mode.rawValue),
            "compression": .string(compression.rawValue),
        ]
        if keepsKeys { members["keepsKeys"] = .boolean(true) }
        return .object(members)
    }
}

/// Begins the value of one large attribute: the payload of a `V` frame. `D` frames follow with its bytes (a string's in UTF-8).
public struct LargeValuePart: WireValue, Hashable {
    /// The owner of the value.
    public enum Owner: Sendable, Hashable {
        /// In a download: the row with this surrogate key.
        case row(key: Int64)
        /// In an upload: the operation with this id, which is that of the last `O` frame before.
        case operation(id: Int64)
    }

    /// The object's name in the model.
    public var object: String
    /// The attribute's name.
    public var attribute: String
    /// The owner of the value.
    public var owner: Owner
    /// The number of bytes of the value before compression; nil: the value is NULL, and no data follows.
    public var length: Int64?
    /// The encoding of the data.
    public var compression: PartCompression
    /// In a download: the name under which the client fetches the value on its own, so that a broken transfer can be continued. The part then has no
    /// data. Nil: the data follows.
    public var content: NamedContent?
    /// In a download: the id of the operation of the same upload that has brought this content, so that the client has it. The part then has no data. Only for
    /// clients with ``SynchronizeHeader/held``. Nil: the content is another one.
    public var submitted: Int64?

    /// Creates the beginning of one large value.
    public init(
        object: String, attribute: String, owner: Owner, length: Int64?, compression: PartCompression = .none, content: NamedContent? = nil,
        submitted: Int64? = nil
    ) {
        (self.content, self.submitted) = (content, submitted)
        self.object = object
        self.attribute = attribute
        self.owner = owner
        self.length = length
        self.compression = compression
    }

    public init(json: JSONValue) throws(ProtocolError) {
        let members = try WireMembers(json, "large value part")
        object = try members.string("object")
        attribute = try members.string("attribute")
        switch (try members.optionalInteger("key"), try members.optionalInteger("operation", in: 1 ... .max)) {
        case (let key?, nil): owner = .row(key: key)
        case (nil, let id?): owner = .operation(id: id)
        default: throw ProtocolError(.invalidContent, "large value part: expected either \"key\" or \"operation\"")
        }
        _ = try members.value("length", "an integer or null")
        length = try members.optionalInteger("length", in: 0 ... .max)
        compression = try members.choice("compression", of: PartCompression.self)
        content = members.isAbsent("name") ? nil : try NamedContent(members)
        submitted = try members.optionalInteger("submitted", in: 1 ... .max)
        guard content == nil && submitted == nil || length != nil else {
            throw ProtocolError(.invalidContent, "large value part: a value without length has no content of its own")
        }
        guard content == nil || submitted == nil else {
            throw ProtocolError(.invalidContent, "large value part: its content is either fetched or that of an operation, not both")
        }
    }

    public var json: JSONValue {
        var members: JSONObject = ["object": .string(object), "attribute": .string(attribute)]
        content?.write(to: &members)
        switch owner {
        case .row(let key): members["key"] = .integer(key)
        case .operation(let id): members["operation"] = .integer(id)
        }
        if let submitted { members["submitted"] = .integer(submitted) }
        members["length"] = length.map { .integer($0) } ?? .null
        members["compression"] = .string(compression.rawValue)
        return .object(members)
    }
}

/// Ends the open part: the payload of an `E` frame.
public enum PartEnd: WireValue, Hashable {
    /// The number of rows of a table part.
    case rows(Int64)
    /// The number of bytes of a large value before compression; 0 for NULL.
    case bytes(Int64)

    public init(json: JSONValue) throws(ProtocolError) {
        let members = try WireMembers(json, "end of part")
        switch (try members.optionalInteger("rows", in: 0 ... .max), try members.optionalInteger("bytes", in: 0 ... .max)) {
        case (let rows?, nil): self = .rows(rows)
        case (nil, let bytes?): self = .bytes(bytes)
        default: throw ProtocolError(.invalidContent, "end of part: expected either \"rows\" or \"bytes\"")
        }
    }

    public var json: JSONValue {
        switch self {
        case .rows(let count): ["rows": .integer(count)]
        case .bytes(let count): ["bytes": .integer(count)]
        }
    }
}

/// Ends a synchronization group: the payload of a `G` frame.
public struct GroupEnd: WireValue, Hashable {
    /// The group's name.
    public var group: String
    /// The state of the group on the client once it has stored everything before this frame.
    public var token: Token
    /// Surrogate keys of the client's rows, by object, whose present versions the server holds back, because the attributes cannot hold them: the client has
    /// earlier versions. At most ``staleLimit``; default empty.
    public var stale: [String: [Int64]]

    /// The maximum number of keys in ``stale``.
    public static let staleLimit = 1000

    /// Creates the end of a group.
    public init(group: String, token: Token, stale: [String: [Int64]] = [:]) {
        (self.group, self.token, self.stale) = (group, token, stale)
    }

    public init(json: JSONValue) throws(ProtocolError) {
        let members = try WireMembers(json, "end of group")
        group = try members.string("group")
        token = try Token(json: members.value("token", "an object"))
        stale = try members.isAbsent("stale") ? [:] : members.lists("stale", of: "surrogate keys", limit: Self.staleLimit, \.integer)
    }

    public var json: JSONValue {
        var members: JSONObject = ["group": .string(group), "token": token.json]
        if !stale.isEmpty {
            members["stale"] = .object(
                JSONObject(uniqueKeys: stale.sorted { $0.key < $1.key }.map { ($0.key, .array($0.value.map { .integer($0) })) }))
        }
        return .object(members)
    }
}

/// Surrogate keys that the client may give to new rows: the payload of a `K` frame.
public struct KeyRange: WireValue, Hashable {
    /// The first key.
    public var first: Int64
    /// The last key, which belongs to the range.
    public var last: Int64

    /// Creates a range of surrogate keys, both ends included.
    public init(first: Int64, last: Int64) {
        self.first = first
        self.last = last
    }

    public init(json: JSONValue) throws(ProtocolError) {
        let members = try WireMembers(json, "key range")
        first = try members.integer("first", in: 1 ... .max)
        last = try members.integer("last", in: first ... .max)
    }

    public var json: JSONValue { ["first": .integer(first), "last": .integer(last)] }
}
