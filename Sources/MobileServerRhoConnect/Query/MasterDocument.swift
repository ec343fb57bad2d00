internal import MobileServer
internal import MobileStore

/// The server's copy of a source's objects, for one owner.
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

/// The query of a source's adapter, when its time has come.
struct SourceRefresh {
    let face: RhoConnectServer
    let source: RhoConnectSource
    let user: String

    /// The number of queries after which uploads in between are let win until the next refresh.
    private static let attempts = 3

    /// Asks the adapter, and replaces the copy of its objects. An error stays until the next success.
    func run(parameters: [String: String]) throws {
        let owner = source.owner(user), now = face.now
        for _ in 0..<Self.attempts {
            let last = try face.store.read { connection in
                try connection.first(
                    "SELECT refreshed, changes FROM _rho_source WHERE source = ?1 AND owner = ?2", [.text(source.name), .text(owner)])
            }
            if let refreshed = last?[0].integer {
                guard source.pollInterval >= 0, now - refreshed >= Int64(source.pollInterval) * 1000 else { return }
            }
            var errors: JSONObject = [:]
            let result = query(parameters, &errors)
            let metadata = try? source.adapter.metadata(user: user)
            if try store(result, errors, metadata, owner, now, ifChanges: last?[1].integer ?? 0) { return }
        }
    }

    /// - Returns: false, and nothing is stored, if an upload has changed the copy since the query: what it created is not in the result.
    private func store(
        _ result: [String: [String: String]]?, _ errors: JSONObject, _ metadata: String?, _ owner: String, _ now: Int64, ifChanges known: Int64
    ) throws -> Bool {
        try face.store.write(label: "rhoconnect refresh") { connection in
            let changes = try connection.first(
                """
                INSERT INTO _rho_source (source, owner, errors) VALUES (?1, ?2, '{}')
                ON CONFLICT (source, owner) DO UPDATE SET changes = _rho_source.changes RETURNING changes
                """, [.text(source.name), .text(owner)])
            guard changes?.first?.integer == known else { return false }
            if let result { try replace(result, owner, in: connection) }
            try connection.execute(
                """
                UPDATE _rho_source SET refreshed = ?3, errors = ?4, metadata = coalesce(CAST(?5 AS TEXT), metadata) WHERE source = ?1 AND owner = ?2
                """, [.text(source.name), .text(owner), .integer(now), .text(JSONValue.object(errors).description), Value(metadata)])
            return true
        }
    }

    /// Returns nil when the adapter failed.
    func query(_ parameters: [String: String], _ errors: inout JSONObject) -> [String: [String: String]]? {
        do { try source.adapter.login(user: user) } catch {
            errors["login-error"] = ["message": .string(adapterText(error))]
            return nil
        }
        defer {
            do { try source.adapter.logoff(user: user) } catch { errors["logoff-error"] = ["message": .string(adapterText(error))] }
        }
        do { return try source.adapter.query(user: user, parameters: parameters) } catch {
            errors["query-error"] = ["message": .string(adapterText(error))]
            return nil
        }
    }

    private func replace(_ objects: [String: [String: String]], _ owner: String, in connection: any StateConnection) throws {
        var stored: [String: String] = [:]
        for row in try connection.rows("SELECT object, content FROM _rho_md WHERE source = ?1 AND owner = ?2", [.text(source.name), .text(owner)]) {
            stored[row[0].text ?? ""] = row[1].text
        }
        for (id, attributes) in objects where !attributes.isEmpty && stored[id] != ObjectText.text(attributes) {
            try MasterDocument.put(attributes, id, source.name, owner, in: connection)
        }
        for id in stored.keys where objects[id]?.isEmpty ?? true { try MasterDocument.remove(id, source.name, owner, in: connection) }
    }
}
