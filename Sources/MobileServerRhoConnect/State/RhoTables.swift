internal import MobileServer
internal import MobileStore

/// The tables of the face in the server's state.
enum RhoTables {
    static func create(in connection: any StateConnection) throws {
        let ordered = connection.dialect.ordered
        for statement in [
            "CREATE TABLE IF NOT EXISTS _rho_session (token TEXT PRIMARY KEY, user_name TEXT NOT NULL, used BIGINT NOT NULL)",
            "CREATE TABLE IF NOT EXISTS _rho_client (id TEXT PRIMARY KEY, user_name TEXT NOT NULL, fields TEXT NOT NULL)",
            // The copy of the back end's objects. content: the attributes as JSON, sorted by name, so that equal objects have equal texts.
            """
            CREATE TABLE IF NOT EXISTS _rho_md (
                source TEXT NOT NULL, owner TEXT NOT NULL, object TEXT NOT NULL, content TEXT NOT NULL, PRIMARY KEY (source, owner, object))\(ordered)
            """,
            // The objects that a client holds.
            """
            CREATE TABLE IF NOT EXISTS _rho_cd (
                client TEXT NOT NULL, source TEXT NOT NULL, object TEXT NOT NULL, content TEXT NOT NULL, PRIMARY KEY (client, source, object))\(ordered)
            """,
            // The rest of the state of a client in a source (see ClientState), and of a source for its owner.
            "CREATE TABLE IF NOT EXISTS _rho_state (client TEXT NOT NULL, source TEXT NOT NULL, content TEXT NOT NULL, PRIMARY KEY (client, source))",
            // refreshed: NULL before the first time. changes: counts what uploads have changed in the copy of the objects.
            """
            CREATE TABLE IF NOT EXISTS _rho_source (
                source TEXT NOT NULL, owner TEXT NOT NULL, refreshed BIGINT, changes BIGINT NOT NULL DEFAULT 0, errors TEXT NOT NULL, metadata TEXT,
                PRIMARY KEY (source, owner))
            """,
            // Uploaded changes. upload: a random text. content: a JSON array of pairs, id and attributes, that are to be done.
            """
            CREATE TABLE IF NOT EXISTS _rho_queue (
                id \(connection.dialect.id), source TEXT NOT NULL, kind TEXT NOT NULL, client TEXT NOT NULL, user_name TEXT NOT NULL, upload TEXT NOT NULL,
                content TEXT NOT NULL)
            """,
            // Bulk files: the last one of an owner counts. place: the path of the URL. alive: the last sign of the process that makes it. schemas: names and
            // versions. sources: the names of the selected ones, as a JSON array.
            """
            CREATE TABLE IF NOT EXISTS _rho_bulk (
                id \(connection.dialect.id), owner TEXT NOT NULL, place TEXT NOT NULL, state TEXT NOT NULL, alive BIGINT NOT NULL, schemas TEXT NOT NULL,
                sources TEXT NOT NULL)
            """,
            "CREATE INDEX IF NOT EXISTS _rho_bulk_owner ON _rho_bulk (owner)",
            "CREATE INDEX IF NOT EXISTS _rho_bulk_place ON _rho_bulk (place)",
            // The objects in a file, which its receivers hold from then on.
            """
            CREATE TABLE IF NOT EXISTS _rho_bulk_md (
                file BIGINT NOT NULL, source TEXT NOT NULL, object TEXT NOT NULL, content TEXT NOT NULL, PRIMARY KEY (file, source, object))\(ordered)
            """,
            // The bytes, in pieces of equal size but for the last. form: the suffix of the URL.
            """
            CREATE TABLE IF NOT EXISTS _rho_bulk_piece (
                file BIGINT NOT NULL, form TEXT NOT NULL, number BIGINT NOT NULL, content \(connection.dialect.bytes) NOT NULL, length BIGINT NOT NULL,
                PRIMARY KEY (file, form, number))
            """,
            // The last token, and the versions of copies (see MasterDocument.version).
            "CREATE TABLE IF NOT EXISTS _rho_value (name TEXT PRIMARY KEY, value BIGINT NOT NULL)",
        ] { try connection.execute(statement) }
    }

    /// Makes a token: a number that grows, in microseconds.
    static func token(_ now: Int64, in connection: any StateConnection) throws -> String {
        let token = try connection.first(
            """
            INSERT INTO _rho_value (name, value) VALUES ('token', ?1) ON CONFLICT (name)
            DO UPDATE SET value = CASE WHEN _rho_value.value < excluded.value THEN excluded.value ELSE _rho_value.value + 1 END RETURNING value
            """, [.integer(now * 1000)])
        return String(token?.first?.integer ?? 0)
    }
}

/// The state of one client in one source: what was sent and not acknowledged, and the results of uploads that were not sent.
struct ClientState {
    private(set) var members: JSONObject
    private let client: String
    private let source: String

    /// Reads the state.
    /// - Parameter isChanging: whether it is written in the same transaction: others that write it wait until that ends.
    init(_ client: String, _ source: String, isChanging: Bool = true, in connection: any StateConnection) throws {
        (self.client, self.source) = (client, source)
        let place: [Value] = [.text(client), .text(source)]
        // A row that is not there cannot be locked.
        if isChanging {
            try connection.execute("INSERT INTO _rho_state (client, source, content) VALUES (?1, ?2, '{}') ON CONFLICT DO NOTHING", place)
        }
        let text = try connection.first(
            "SELECT content FROM _rho_state WHERE client = ?1 AND source = ?2" + (isChanging ? connection.dialect.lock : ""), place)?.first?.text
        members = try text.map { try JSONValue(parsing: $0) }?.object ?? [:]
    }

    func save(in connection: any StateConnection) throws {
        try connection.execute(
            "INSERT INTO _rho_state (client, source, content) VALUES (?1, ?2, ?3) ON CONFLICT (client, source) DO UPDATE SET content = excluded.content",
            [.text(client), .text(source), .text(JSONValue.object(members).description)])
    }

    enum Member: String {
        /// The token of the page that waits for its acknowledgement, and the page.
        case token, page, pageCount, pageTotal
        /// Errors that travel with the page.
        case errorPage
        /// Results of uploads: links, errors by kind, deletions of objects that got no id.
        case links, errors, orphans
        /// The texts that the client has.
        case metadata, schema
        case search
        /// How far the comparison of the objects has come: a ``DocumentScan``.
        case scan
    }

    subscript(_ member: Member) -> JSONValue? {
        get { members[member.rawValue] }
        set {
            if let newValue {
                members[member.rawValue] = newValue
            } else {
                members = JSONObject(uniqueKeys: members.filter { $0.key != member.rawValue }.map { ($0.key, $0.value) })
            }
        }
    }

    /// Has the links of the page that waits come again with the next one.
    mutating func keepLinks() {
        guard case .object(let page)? = self[.page], case .object(let links)? = page["links"] else { return }
        for link in links where self[.links]?[link.key] == nil { add(link.key, link.value, to: .links) }
    }

    /// Forgets the page that waits.
    mutating func forgetPage() {
        for member in [Member.token, .page, .pageCount, .pageTotal, .errorPage] { self[member] = nil }
    }

    /// Adds a member to an object.
    mutating func add(_ key: String, _ value: JSONValue, to member: Member) {
        var object = self[member]?.object ?? [:]
        object[key] = value
        self[member] = .object(object)
    }
}

/// Attributes as text, and back.
enum ObjectText {
    static func text(_ attributes: [String: String]) -> String {
        JSONValue.object(json(attributes)).description
    }

    static func json(_ attributes: [String: String]) -> JSONObject {
        JSONObject(uniqueKeys: attributes.sorted { $0.key < $1.key }.map { ($0.key, JSONValue.string($0.value)) })
    }

    static func attributes(_ text: String) throws -> [String: String] {
        guard case .object(let members) = try JSONValue(parsing: text) else { return [:] }
        return Dictionary(members.map { ($0.key, $0.value.string ?? "") }) { $1 }
    }

    /// Attributes as a client sends them: every value becomes a text, reserved names are dropped, and a colon in a name begins its value.
    static func received(_ json: JSONValue) -> [String: String] {
        guard case .object(let members) = json else { return [:] }
        var attributes: [String: String] = [:]
        for member in members where member.key != "id" && member.key != "attrib_type" {
            let text = text(of: member.value)
            guard let colon = member.key.firstIndex(of: ":") else {
                attributes[member.key] = text
                continue
            }
            attributes[String(member.key[..<colon])] = member.key[member.key.index(after: colon)...] + ":" + text
        }
        return attributes
    }

    private static func text(of value: JSONValue) -> String {
        switch value {
        case .null: ""
        case .boolean(let flag): flag ? "true" : "false"
        case .integer(let number): String(number)
        case .number(let text): shortened(text)
        case .string(let text): text
        case .array, .object: value.description
        }
    }

    /// A number as the shortest text of the same double, as the original server writes it.
    private static func shortened(_ text: String) -> String { Double(text).map { "\($0)" } ?? text }
}
