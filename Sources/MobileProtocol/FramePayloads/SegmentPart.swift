public import MobileStore

/// Bytes that a client fetches on their own, at ``Endpoint/segments``, and can continue to fetch after a cut.
public struct NamedContent: Sendable, Hashable {
    /// The SHA-256 of the bytes, 64 hexadecimal digits in lower case.
    public var name: String
    /// The server's permission for this session to fetch the bytes. It ends with time; the next download names the content with a new one.
    public var grant: String

    /// Creates the name of a content with the permission to fetch it.
    public init(name: String, grant: String) {
        self.name = name
        self.grant = grant
    }

    init(_ members: WireMembers) throws(ProtocolError) {
        name = try members.string("name")
        grant = try members.string("grant")
        // The name becomes that of a file, and the grant a part of an address.
        guard Self.isName(name) else {
            throw ProtocolError(.invalidContent, "\(members.name), member \"name\": expected 64 hexadecimal digits in lower case")
        }
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9"), letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        guard !grant.isEmpty, grant.utf8.allSatisfy({ digits ~= $0 || letters ~= $0 || $0 == UInt8(ascii: ".") }) else {
            throw ProtocolError(.invalidContent, "\(members.name), member \"grant\": expected digits, small letters and points")
        }
    }

    func write(to members: inout JSONObject) {
        members["name"] = .string(name)
        members["grant"] = .string(grant)
    }

    /// Whether a text has the form of a name.
    public static func isName(_ text: String) -> Bool {
        text.utf8.count == 64
            && text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0 }
    }
}

/// Names rows of one object that the client fetches on their own: the payload of an `S` frame. It stands for a ``TablePart`` of mode
/// ``TablePart/Mode/upsert``, whose data is one zlib stream.
public struct SegmentPart: WireValue, Hashable {
    /// The object's name in the model.
    public var object: String
    /// The columns of each row, in order; the first one is the surrogate key `_sk`.
    public var columns: [String]
    /// The name of the data.
    public var content: NamedContent
    /// The number of bytes of the data as it is fetched.
    public var length: Int64
    /// The number of rows.
    public var rows: Int64

    /// Creates the name of rows of one object.
    public init(object: String, columns: [String], content: NamedContent, length: Int64, rows: Int64) {
        self.object = object
        self.columns = columns
        self.content = content
        self.length = length
        self.rows = rows
    }

    public init(json: JSONValue) throws(ProtocolError) {
        let members = try WireMembers(json, "segment")
        object = try members.string("object")
        columns = try members.strings("columns")
        content = try NamedContent(members)
        length = try members.integer("bytes", in: 1 ... .max)
        rows = try members.integer("rows", in: 1 ... .max)
        guard Set(columns).count == columns.count, !columns.isEmpty else {
            throw ProtocolError(.invalidContent, "segment, member \"columns\": expected at least one column and none twice")
        }
    }

    public var json: JSONValue {
        var members: JSONObject = ["object": .string(object), "columns": .array(columns.map { .string($0) })]
        content.write(to: &members)
        members["bytes"] = .integer(length)
        members["rows"] = .integer(rows)
        return .object(members)
    }
}
