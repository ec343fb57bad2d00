internal import MobileCrypto
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

    /// The order in which the kinds of one upload are done.
    private static let kinds: [RhoConnectChange.Kind] = [.create, .update, .delete]

    func accept(_ body: JSONObject, files: [String: [UInt8]]) throws {
        var entries: [(kind: RhoConnectChange.Kind, objects: [JSONValue])] = []
        for kind in Self.kinds {
            guard let changes = body[kind.rawValue] else { continue }
            let objects = try pairs(changes).map { try stored($0, body["blob_fields"], files) }.filter { !$0.attributes.isEmpty }
            if !objects.isEmpty { entries.append((kind, objects.map { .array([.string($0.object), .object(ObjectText.json($0.attributes))]) })) }
        }
        if source.isPassThrough { return passThrough(entries) }
        try face.store.write(label: "rhoconnect upload") { connection in
            for entry in entries {
                try connection.execute(
                    "INSERT INTO _rho_queue (source, kind, client, user_name, upload, content) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                    [
                        .text(source.name), .text(entry.kind.rawValue), .text(client), .text(user),
                        .text(face.server.configuration.random(16).hexadecimal), .text(JSONValue.array(entry.objects).description),
                    ])
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

    private func passThrough(_ entries: [(kind: RhoConnectChange.Kind, objects: [JSONValue])]) {
        guard (try? source.adapter.login(user: user)) != nil else { return }
        for entry in entries {
            let upload = face.server.configuration.random(16).hexadecimal
            for (index, pair) in entry.objects.enumerated() {
                _ = try? source.adapter.change(change(entry.kind, pair, user, upload: upload, number: Int64(entry.objects.count - index)))
            }
        }
        _ = try? source.adapter.logoff(user: user)
    }

    private func change(
        _ kind: RhoConnectChange.Kind, _ pair: JSONValue, _ user: String, upload: String, number: Int64
    ) -> RhoConnectChange {
        RhoConnectChange(
            kind: kind, user: user, object: pair[0]?.string ?? "", attributes: ObjectText.received(pair[1] ?? .null), upload: upload, number: number)
    }

    /// Works off the whole queue of one kind, also the changes of other clients. Processing ends at the first failing object; the objects after it wait for
    /// the next upload.
    private func work(_ kind: RhoConnectChange.Kind) throws {
        let users = try face.store.read { connection in
            try connection.rows(
                "SELECT DISTINCT user_name FROM _rho_queue WHERE source = ?1 AND kind = ?2", [.text(source.name), .text(kind.rawValue)])
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
                        [.text(source.name), .text(kind.rawValue), .text(user)])
                }?.first?.integer ?? 0
            var after: Int64 = 0
            while let id = try step(kind, user, after: after, upTo: last) { after = id }
            do { try source.adapter.logoff(user: user) } catch { try note("logoff-error", error, user) }
        }
    }

    /// Does one object of the queue, and stores the result with it.
    /// - Returns: the position in the queue to continue after; nil at its end.
    private func step(_ kind: RhoConnectChange.Kind, _ user: String, after: Int64, upTo last: Int64) throws -> Int64? {
        // The row is locked: the transaction does not run again because others have met it, which would do the change a second time.
        try face.store.write(label: "rhoconnect change", isolation: .locks) { connection in
            let row = try connection.first(
                """
                SELECT id, client, content, upload FROM _rho_queue WHERE source = ?1 AND kind = ?2 AND user_name = ?3 AND id > ?4 AND id <= ?5 ORDER BY id LIMIT 1
                """ + connection.dialect.lock, [.text(source.name), .text(kind.rawValue), .text(user), .integer(after), .integer(last)])
            guard let row, let id = row[0].integer, let client = row[1].text, case .array(var objects)? = try? JSONValue(parsing: row[2].text ?? "")
            else {
                // Another process may have worked off the row in this moment.
                let next = try connection.first(
                    "SELECT 1 FROM _rho_queue WHERE source = ?1 AND kind = ?2 AND user_name = ?3 AND id > ?4 AND id <= ?5 LIMIT 1",
                    [.text(source.name), .text(kind.rawValue), .text(user), .integer(after), .integer(last)])
                return next == nil ? nil : after
            }
            var isStopped = false
            if !objects.isEmpty {
                // The number of changes that are left is the position from the end.
                let number = Int64(objects.count)
                isStopped = try !settle(change(kind, objects.removeFirst(), user, upload: row[3].text ?? "", number: number), client, in: connection)
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
    private func settle(_ change: RhoConnectChange, _ client: String, in connection: any StateConnection) throws -> Bool {
        var state = try ClientState(client, source.name, in: connection)
        let outcome = Result { try source.adapter.change(change) }
        switch outcome {
        case .success(let id): try accept(change, id, client, &state, in: connection)
        case .failure(let error): try refuse(change, client, error, &state, in: connection)
        }
        try state.save(in: connection)
        if case .failure = outcome { return false }
        return true
    }

    private func accept(
        _ change: RhoConnectChange, _ id: String?, _ client: String, _ state: inout ClientState, in connection: any StateConnection
    ) throws {
        let owner = source.owner(change.user), object = change.object, attributes = change.attributes
        if change.kind != .update {
            try connection.execute(
                """
                INSERT INTO _rho_source (source, owner, changes, errors) VALUES (?1, ?2, 1, '{}')
                ON CONFLICT (source, owner) DO UPDATE SET changes = _rho_source.changes + 1
                """, [.text(source.name), .text(owner)])
            try MasterDocument.noteChange(source.name, owner, in: connection)
        }
        switch (change.kind, id) {
        case (.create, let id?):
            state.add(object, ["l": .string(id)], to: .links)
            try ClientDocument.put(attributes, id, client, source.name, in: connection)
            try MasterDocument.put(attributes, id, source.name, owner, in: connection)
        case (.create, nil): state.add(object, .object(ObjectText.json(attributes)), to: .orphans)
        case (.update, _): break
        case (.delete, _):
            // A client that held other values gets a deletion of those.
            let held = try ClientDocument.object(object, client, source.name, in: connection) ?? [:]
            try ClientDocument.put(held.filter { attributes[$0.key] != $0.value }, object, client, source.name, in: connection)
            try MasterDocument.remove(object, source.name, owner, in: connection)
        }
    }

    private func refuse(
        _ change: RhoConnectChange, _ client: String, _ error: any Error, _ state: inout ClientState, in connection: any StateConnection
    ) throws {
        let object = change.object, kind = change.kind.rawValue + "-error"
        var errors = state[.errors]?.object ?? [:]
        var refused = errors[kind]?.object ?? [:]
        refused[object] = .object(ObjectText.json(change.attributes))
        refused[object + "-error"] = ["message": .string(adapterText(error))]
        errors[kind] = .object(refused)
        if change.kind == .update, let held = try ClientDocument.object(object, client, source.name, in: connection) {
            var rollback = errors["update-rollback"]?.object ?? [:]
            rollback[object] = .object(ObjectText.json(held))
            errors["update-rollback"] = .object(rollback)
        }
        state[.errors] = .object(errors)
    }

    /// Drops the changes of a user whose login at the adapter failed, as the original server does.
    private func drop(_ kind: RhoConnectChange.Kind, _ user: String, _ error: any Error) throws {
        try face.store.write(label: "rhoconnect drop") { connection in
            _ = try connection.execute(
                "DELETE FROM _rho_queue WHERE source = ?1 AND kind = ?2 AND user_name = ?3", [.text(source.name), .text(kind.rawValue), .text(user)])
        }
        try note("login-error", error, user)
    }

    private func note(_ name: String, _ error: any Error, _ user: String) throws {
        let errors = JSONValue.object([name: ["message": .string(adapterText(error))]]).description
        try face.store.write(label: "rhoconnect source error") { connection in
            _ = try connection.execute(
                """
                INSERT INTO _rho_source (source, owner, errors) VALUES (?1, ?2, ?3)
                ON CONFLICT (source, owner) DO UPDATE SET errors = excluded.errors
                """, [.text(source.name), .text(source.owner(user)), .text(errors)])
        }
    }
}
