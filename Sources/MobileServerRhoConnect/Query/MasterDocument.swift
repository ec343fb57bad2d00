internal import MobileServer
internal import MobileStore

/// The server's copy of a source's objects, for one owner.
///
/// Each change calls ``lock(_:_:in:)`` before it writes objects, and ``noteChange(_:_:in:)``: comparisons with the copy continue from page to page until then.
enum MasterDocument {
    static func object(_ id: String, _ source: String, _ owner: String, in connection: any StateConnection) throws -> [String: String]? {
        try connection.first(
            "SELECT content FROM _rho_md WHERE source = ?1 AND owner = ?2 AND object = ?3", [.text(source), .text(owner), .text(id)])?.first?.text
            .map { try ObjectText.attributes($0) }
    }

    /// Writes an object; one without attributes does not exist.
    static func put(_ attributes: [String: String], _ id: String, _ source: String, _ owner: String, in connection: any StateConnection) throws {
        guard !attributes.isEmpty else { return try remove(id, source, owner, in: connection) }
        try connection.execute(
            """
            INSERT INTO _rho_md (source, owner, object, content) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (source, owner, object) DO UPDATE SET content = excluded.content
            """, [.text(source), .text(owner), .text(id), .text(ObjectText.text(attributes))])
    }

    static func remove(_ id: String, _ source: String, _ owner: String, in connection: any StateConnection) throws {
        try connection.execute(
            "DELETE FROM _rho_md WHERE source = ?1 AND owner = ?2 AND object = ?3", [.text(source), .text(owner), .text(id)])
    }

    /// Keeps other changes of the copy waiting until the transaction ends. Without it, two of them could each wait for an object that the other one has
    /// written, and PostgreSQL would end one: an upload whose change the adapter has done already.
    /// - Returns: the number of creates and deletions by uploads.
    static func lock(_ source: String, _ owner: String, in connection: any StateConnection) throws -> Int64 {
        try connection.number(
            """
            INSERT INTO _rho_source (source, owner, errors) VALUES (?1, ?2, '{}')
            ON CONFLICT (source, owner) DO UPDATE SET changes = _rho_source.changes RETURNING changes
            """, [.text(source), .text(owner)])
    }

    /// Notes that objects have changed.
    static func noteChange(_ source: String, _ owner: String, in connection: any StateConnection) throws {
        try connection.execute(
            "INSERT INTO _rho_value (name, value) VALUES (?1, 1) ON CONFLICT (name) DO UPDATE SET value = _rho_value.value + 1",
            [.text(versionName(source, owner))])
    }

    /// The number of changes that were noted.
    static func version(_ source: String, _ owner: String, in connection: any StateConnection) throws -> Int64 {
        try connection.first("SELECT value FROM _rho_value WHERE name = ?1", [.text(versionName(source, owner))])?.first?.integer ?? 0
    }

    private static func versionName(_ source: String, _ owner: String) -> String { JSONValue.array([.string(source), .string(owner)]).description }

    static func count(_ source: String, _ owner: String, in connection: any StateConnection) throws -> Int64 {
        try connection.number("SELECT count(*) FROM _rho_md WHERE source = ?1 AND owner = ?2", [.text(source), .text(owner)])
    }
}

/// The objects of a source that a client holds, as the server believes.
enum ClientDocument {
    static func put(_ attributes: [String: String], _ id: String, _ client: String, _ source: String, in connection: any StateConnection) throws {
        guard !attributes.isEmpty else { return try remove(id, client, source, in: connection) }
        try connection.execute(
            """
            INSERT INTO _rho_cd (client, source, object, content) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (client, source, object) DO UPDATE SET content = excluded.content
            """, [.text(client), .text(source), .text(id), .text(ObjectText.text(attributes))])
    }

    static func object(_ id: String, _ client: String, _ source: String, in connection: any StateConnection) throws -> [String: String]? {
        try connection.first(
            "SELECT content FROM _rho_cd WHERE client = ?1 AND source = ?2 AND object = ?3", [.text(client), .text(source), .text(id)])?.first?.text
            .map { try ObjectText.attributes($0) }
    }

    static func remove(_ id: String, _ client: String, _ source: String, in connection: any StateConnection) throws {
        try connection.execute(
            "DELETE FROM _rho_cd WHERE client = ?1 AND source = ?2 AND object = ?3", [.text(client), .text(source), .text(id)])
    }
}

/// How far the comparison of a client's objects with those of a source has come. It continues there with the next page, as long as the source's objects stay
/// the same: the cost of a page depends on its size, not on the number of objects, and an end page reads none.
struct DocumentScan {
    private let version: Int64
    private let owner: String
    /// The number of the source's objects.
    let total: Int64
    /// The last object of the source that was compared: empty at the beginning, nil when all were.
    var source: String?
    /// The same for the objects that the client holds.
    var client: String?

    /// Continues a comparison, or begins one if there is none or the source's objects have changed since.
    init(_ json: JSONValue?, _ name: String, _ owner: String, in connection: any StateConnection) throws {
        // Before the objects are read: a change after that has another version.
        version = try MasterDocument.version(name, owner, in: connection)
        self.owner = owner
        if let json, json["version"]?.integer == version, json["owner"]?.string == owner, let total = json["total"]?.integer {
            (self.total, source, client) = (total, json["source"]?.string, json["client"]?.string)
        } else {
            (total, source, client) = (try MasterDocument.count(name, owner, in: connection), "", "")
        }
    }

    var json: JSONValue {
        var members: JSONObject = ["version": .integer(version), "owner": .string(owner), "total": .integer(total)]
        if let source { members["source"] = .string(source) }
        if let client { members["client"] = .string(client) }
        return .object(members)
    }
}
