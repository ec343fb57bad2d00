internal import MobileServer
internal import MobileStore

/// An upload to a source: its changes join the queue, which is worked off at once.
struct SourceUpload {
    let face: RhoConnectServer
    let source: RhoConnectSource
    let client: String
    let user: String

    init(_ face: RhoConnectServer, _ source: RhoConnectSource, client: String, user: String) {
        (self.face, self.source, self.client, self.user) = (face, source, client, user)
    }

    private static let kinds = ["create", "update", "delete"]

    func accept(_ body: JSONObject, files: [String: [UInt8]]) throws {
        var entries: [(kind: String, objects: [JSONValue])] = []
        for kind in Self.kinds {
            guard let changes = body[kind] else { continue }
            let objects = try pairs(changes).map { try stored($0, body["blob_fields"], files) }.filter { !$0.attributes.isEmpty }
            if !objects.isEmpty { entries.append((kind, objects.map { .array([.string($0.object), .object(ObjectText.json($0.attributes))]) })) }
        }
        if source.isPassThrough { return passThrough(entries) }
        try face.store.write(label: "rhoconnect upload") { connection in
            for entry in entries {
                try connection.execute(
                    "INSERT INTO _rho_queue (source, kind, client, user_name, content) VALUES (?1, ?2, ?3, ?4, ?5)",
                    [.text(source.name), .text(entry.kind), .text(client), .text(user), .text(JSONValue.array(entry.objects).description)])
            }
        }
        for kind in Self.kinds { try work(kind) }
    }

    private typealias Change = (object: String, attributes: [String: String])

    /// The changes of an object of objects, or of an array of pairs.
    private func pairs(_ changes: JSONValue) -> [Change] {
        switch changes {
        case .object(let objects): objects.map { ($0.key, ObjectText.received($0.value)) }
        case .array(let list): list.compactMap { pair in pair[0]?.string.map { ($0, ObjectText.received(pair[1] ?? .null)) } }
        default: []
        }
    }

    /// Replaces the values of files by those that the adapter gives them.
    private func stored(_ change: Change, _ fields: JSONValue?, _ files: [String: [UInt8]]) throws -> Change {
        guard case .array(let names)? = fields else { return change }
        var attributes = change.attributes
        for name in names.compactMap(\.string) {
            guard let content = files["\(name)-\(change.object)"] else { continue }
            attributes[name] = try source.adapter.storeBlob(user: user, attribute: name, object: change.object, content: content)
        }
        return (change.object, attributes)
    }

    private func passThrough(_ entries: [(kind: String, objects: [JSONValue])]) {
        guard (try? source.adapter.login(user: user)) != nil else { return }
        for entry in entries {
            for pair in entry.objects { _ = try? apply(entry.kind, pair[0]?.string ?? "", ObjectText.received(pair[1] ?? .null), user) }
        }
        _ = try? source.adapter.logoff(user: user)
    }

    private func apply(_ kind: String, _ object: String, _ attributes: [String: String], _ user: String) throws -> String? {
        switch kind {
        case "create": return try source.adapter.create(user: user, attributes: attributes)
        case "update": try source.adapter.update(user: user, object: object, attributes: attributes)
        default: try source.adapter.delete(user: user, object: object, attributes: attributes)
        }
        return nil
    }

    /// Works off the whole queue of one kind, also the changes of other clients. Processing ends at the first failing object; the objects after it wait for
    /// the next upload.
    private func work(_ kind: String) throws {
        let users = try face.store.read { connection in
            try connection.rows("SELECT DISTINCT user_name FROM _rho_queue WHERE source = ?1 AND kind = ?2", [.text(source.name), .text(kind)])
        }.compactMap(\.first?.text)
        for user in users {
            do { try source.adapter.login(user: user) } catch {
                try drop(kind, user, error)
                continue
            }
            let last =
                try face.store.read { connection in
                    try connection.first(
                        "SELECT max(id) FROM _rho_queue WHERE source = ?1 AND kind = ?2 AND user_name = ?3",
                        [.text(source.name), .text(kind), .text(user)])
                }?.first?.integer ?? 0
            var after: Int64 = 0
            while let id = try step(kind, user, after: after, upTo: last) { after = id }
            do { try source.adapter.logoff(user: user) } catch { try note("logoff-error", error, user) }
        }
    }

    /// Does one object of the queue, and stores the result with it.
    /// - Returns: the position in the queue to continue after; nil at its end.
    private func step(_ kind: String, _ user: String, after: Int64, upTo last: Int64) throws -> Int64? {
        try face.store.write(label: "rhoconnect change") { connection in
            let row = try connection.first(
                """
                SELECT id, client, content FROM _rho_queue WHERE source = ?1 AND kind = ?2 AND user_name = ?3 AND id > ?4 AND id <= ?5 ORDER BY id LIMIT 1
                """ + connection.dialect.lock, [.text(source.name), .text(kind), .text(user), .integer(after), .integer(last)])
            guard let row, let id = row[0].integer, let client = row[1].text, case .array(var objects)? = try? JSONValue(parsing: row[2].text ?? "")
            else {
                return nil
            }
            var isStopped = false
            if !objects.isEmpty {
                let pair = objects.removeFirst()
                isStopped = try !settle(kind, pair[0]?.string ?? "", ObjectText.received(pair[1] ?? .null), client, user, in: connection)
            }
            if objects.isEmpty {
                try connection.execute("DELETE FROM _rho_queue WHERE id = ?1", [.integer(id)])
            } else {
                try connection.execute(
                    "UPDATE _rho_queue SET content = ?1 WHERE id = ?2", [.text(JSONValue.array(objects).description), .integer(id)])
            }
            return isStopped || objects.isEmpty ? id : id - 1
        }
    }

    /// Has the adapter do one change, and stores the result for its client.
    /// - Returns: false for a refused change.
    private func settle(
        _ kind: String, _ object: String, _ attributes: [String: String], _ client: String, _ user: String, in connection: any StateConnection
    ) throws -> Bool {
        var state = try ClientState(client, source.name, in: connection)
        let outcome = Result { try apply(kind, object, attributes, user) }
        switch outcome {
        case .success(let id): try accept(kind, object, attributes, id, client, user, &state, in: connection)
        case .failure(let error): try refuse(kind, object, attributes, client, error, &state, in: connection)
        }
        try state.save(in: connection)
        if case .failure = outcome { return false }
        return true
    }

    private func accept(
        _ kind: String, _ object: String, _ attributes: [String: String], _ id: String?, _ client: String, _ user: String, _ state: inout ClientState,
        in connection: any StateConnection
    ) throws {
        let owner = source.owner(user)
        if kind == "create", let id {
            state.add(object, ["l": .string(id)], to: .links)
            try ClientDocument.put(attributes, id, client, source.name, in: connection)
            try MasterDocument.put(attributes, id, source.name, owner, in: connection)
        } else if kind == "create" {
            state.add(object, .object(ObjectText.json(attributes)), to: .orphans)
        } else if kind == "delete" {
            // A client that held other values gets a deletion of those.
            let held = try ClientDocument.object(object, client, source.name, in: connection) ?? [:]
            try ClientDocument.put(held.filter { attributes[$0.key] != $0.value }, object, client, source.name, in: connection)
            try MasterDocument.remove(object, source.name, owner, in: connection)
        }
    }

    private func refuse(
        _ kind: String, _ object: String, _ attributes: [String: String], _ client: String, _ error: any Error, _ state: inout ClientState,
        in connection: any StateConnection
    ) throws {
        var errors = state[.errors]?.object ?? [:]
        var refused = errors[kind + "-error"]?.object ?? [:]
        refused[object] = .object(ObjectText.json(attributes))
        refused[object + "-error"] = ["message": .string(adapterText(error))]
        errors[kind + "-error"] = .object(refused)
        if kind == "update", let held = try ClientDocument.object(object, client, source.name, in: connection) {
            var rollback = errors["update-rollback"]?.object ?? [:]
            rollback[object] = .object(ObjectText.json(held))
            errors["update-rollback"] = .object(rollback)
        }
        state[.errors] = .object(errors)
    }

    /// Drops the changes of a user whose login at the adapter failed, as the original server does.
    private func drop(_ kind: String, _ user: String, _ error: any Error) throws {
        try face.store.write(label: "rhoconnect drop") { connection in
            _ = try connection.execute(
                "DELETE FROM _rho_queue WHERE source = ?1 AND kind = ?2 AND user_name = ?3", [.text(source.name), .text(kind), .text(user)])
        }
        try note("login-error", error, user)
    }

    private func note(_ name: String, _ error: any Error, _ user: String) throws {
        let errors = JSONValue.object([name: ["message": .string(adapterText(error))]]).description
        try face.store.write(label: "rhoconnect source error") { connection in
            _ = try connection.execute(
                """
                INSERT INTO _rho_source (source, owner, refreshed, errors) VALUES (?1, ?2, 0, ?3)
                ON CONFLICT (source, owner) DO UPDATE SET errors = excluded.errors
                """, [.text(source.name), .text(source.owner(user)), .text(errors)])
        }
    }
}
