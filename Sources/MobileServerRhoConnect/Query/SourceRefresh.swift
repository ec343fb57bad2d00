internal import MobileServer
internal import MobileStore

/// The query of a source's adapter, when its time has come.
///
///     adapter --slow--> _rho_load                          no lock, no snapshot of the state
///     _rho_load --differences--> the copy of the objects   one write
///
/// No step holds all objects in memory, unless the adapter does.
struct SourceRefresh {
    let face: RhoConnectServer
    let source: RhoConnectSource
    let user: String

    /// The number of queries after which uploads in between are let win until the next refresh.
    private static let attempts = 3

    /// Asks the adapter, and takes the differences over. An error stays until the next success.
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
            let isStored = try face.store.staging { staging in
                var errors: JSONObject = [:]
                let isLoaded = try load(parameters, &errors, staging)
                let metadata = try? source.adapter.metadata(user: user)
                return try staging.write(label: "rhoconnect refresh") { connection in
                    try store(isLoaded, errors, metadata, owner, now, ifChanges: last?[1].integer ?? 0, in: connection)
                }
            }
            if isStored { return }
        }
    }

    /// Loads the objects into a table of the connection.
    /// - Returns: false when the adapter failed; the table is then of no use.
    private func load(_ parameters: [String: String], _ errors: inout JSONObject, _ staging: any StagingConnection) throws -> Bool {
        try staging.prepare { connection in
            var isLoaded = false
            try connection.stage("_rho_load", [("object", "TEXT"), ("content", "TEXT")]) { add in
                isLoaded = try visit(parameters, &errors) { id, attributes in
                    if !attributes.isEmpty { try add([.text(id), .text(ObjectText.text(attributes))]) }
                }
            }
            try connection.execute("CREATE INDEX _rho_load_object ON _rho_load (object)")
            return isLoaded
        }
    }

    /// - Returns: false, and nothing is stored, if an upload has changed the copy since the query: what it created is not in the result.
    private func store(
        _ isLoaded: Bool, _ errors: JSONObject, _ metadata: String?, _ owner: String, _ now: Int64, ifChanges known: Int64,
        in connection: any StateConnection
    ) throws -> Bool {
        guard try MasterDocument.lock(source.name, owner, in: connection) == known else { return false }
        if isLoaded { try takeDifferences(owner, in: connection) }
        try connection.execute(
            """
            UPDATE _rho_source SET refreshed = ?3, errors = ?4, metadata = coalesce(CAST(?5 AS TEXT), metadata) WHERE source = ?1 AND owner = ?2
            """, [.text(source.name), .text(owner), .integer(now), .text(JSONValue.object(errors).description), Value(metadata)])
        return true
    }

    private func takeDifferences(_ owner: String, in connection: any StateConnection) throws {
        let place: [Value] = [.text(source.name), .text(owner)]
        let gone = try connection.execute(
            """
            DELETE FROM _rho_md WHERE source = ?1 AND owner = ?2 AND NOT EXISTS (SELECT 1 FROM _rho_load l WHERE l.object = _rho_md.object)
            """, place)
        // An object that comes several times counts once.
        let changed = try connection.execute(
            """
            INSERT INTO _rho_md (source, owner, object, content) SELECT CAST(?1 AS TEXT), CAST(?2 AS TEXT), l.object, l.content
            FROM (SELECT object, max(content) AS content FROM _rho_load GROUP BY object) l
            WHERE NOT EXISTS (SELECT 1 FROM _rho_md m WHERE m.source = ?1 AND m.owner = ?2 AND m.object = l.object AND m.content = l.content)
            ON CONFLICT (source, owner, object) DO UPDATE SET content = excluded.content
            """, place)
        if gone + changed > 0 { try MasterDocument.noteChange(source.name, owner, in: connection) }
    }

    /// Asks the adapter for the objects.
    /// - Returns: false when it failed, before or after it has given some objects; the errors are noted.
    /// - Throws: the errors of `add`.
    func visit(_ parameters: [String: String], _ errors: inout JSONObject, _ add: ObjectVisit) throws -> Bool {
        do { try source.adapter.login(user: user) } catch {
            errors["login-error"] = ["message": .string(adapterText(error))]
            return false
        }
        defer {
            do { try source.adapter.logoff(user: user) } catch { errors["logoff-error"] = ["message": .string(adapterText(error))] }
        }
        var failure: (any Error)?
        func visited(_ id: String, _ attributes: [String: String]) throws {
            do { try add(id, attributes) } catch {
                failure = error
                throw error
            }
        }
        do {
            if let adapter = source.adapter as? any VisitingAdapter {
                try adapter.forEachObject(user: user, parameters: parameters, visited)
            } else {
                for (id, attributes) in try source.adapter.query(user: user, parameters: parameters) { try visited(id, attributes) }
            }
            return true
        } catch {
            if let failure { throw failure }
            errors["query-error"] = ["message": .string(adapterText(error))]
            return false
        }
    }
}
