internal import MobileServer
internal import MobileStore

/// One page of a query.
struct QueryPage {
    var token: String
    var count: Int
    var total: Int64
    var commands: JSONObject

    /// The array of six elements.
    var bytes: [UInt8] {
        JSONValue.array([
            ["version": 3], ["token": .string(token)], ["count": .integer(Int64(count))], ["progress_count": 0], ["total_count": .integer(total)],
            .object(commands),
        ]).bytes
    }

    var headers: [(name: String, value: String)] {
        [("X-Rhoconnect-PAGE-TOKEN", token), ("X-Rhoconnect-PAGE-OBJECT-COUNT", String(count))]
    }
}

/// A client's query of a source: acknowledges the last page, or sends it again, or makes the next one.
struct SourceQuery {
    let face: RhoConnectServer
    let source: RhoConnectSource
    let client: String
    let user: String

    init(_ face: RhoConnectServer, _ source: RhoConnectSource, client: String, user: String) {
        (self.face, self.source, self.client, self.user) = (face, source, client, user)
    }

    func page(token: String?, size: Int, parameters: [String: String]) throws -> QueryPage {
        if source.isPassThrough { return try passThrough(parameters) }
        if let pending = try face.store.read({ try resent(ClientState(client, source.name, isChanging: false, in: $0), token, in: $0) }) {
            return pending
        }
        try SourceRefresh(face: face, source: source, user: user).run(parameters: parameters)
        return try face.store.write(label: "rhoconnect page") { connection in
            var state = try ClientState(client, source.name, in: connection)
            // Another request of this client may have been faster.
            if let pending = try resent(state, token, in: connection) { return pending }
            acknowledge(&state, token)
            let page = try next(&state, size, in: connection)
            try state.save(in: connection)
            return page
        }
    }

    /// The page that waits, if the token is not its own.
    private func resent(_ state: ClientState, _ token: String?, in connection: any StateConnection) throws -> QueryPage? {
        guard let pending = state[.token]?.string, let token, token != pending, case .object(var commands)? = state[.page] else { return nil }
        if case .object(let errors)? = state[.errorPage] { for error in errors { commands[error.key] = error.value } }
        if case .object(let orphans)? = state[.orphans] {
            var deletes = commands["delete"]?.object ?? [:]
            for orphan in orphans { deletes[orphan.key] = orphan.value }
            commands["delete"] = .object(deletes)
        }
        try addSourceErrors(to: &commands, in: connection)
        return QueryPage(
            token: pending, count: Int(state[.pageCount]?.integer ?? 0), total: state[.pageTotal]?.integer ?? 0, commands: commands)
    }

    /// Forgets the page that waited. Without a token it counts as received, and its links come again.
    private func acknowledge(_ state: inout ClientState, _ token: String?) {
        guard state[.token] != nil else { return }
        if token == nil { state.keepLinks() } else { state[.orphans] = nil }
        state.forgetPage()
    }

    private func next(_ state: inout ClientState, _ size: Int, in connection: any StateConnection) throws -> QueryPage {
        let owner = source.owner(user)
        if let version = source.schema?.version {
            defer { state[.schema] = .string(version) }
            if let known = state[.schema]?.string, known != version {
                return try keep(QueryPage(token: "", count: 0, total: 0, commands: ["schema-changed": "true"]), &state, in: connection)
            }
        }
        var page = try difference(size, owner, &state, in: connection)
        if let links = state[.links] {
            page.commands["links"] = links
            state[.links] = nil
        }
        let hasContent = !page.commands.isEmpty
        if let metadata = try connection.first(
            "SELECT metadata FROM _rho_source WHERE source = ?1 AND owner = ?2", [.text(source.name), .text(owner)])?
            .first?.text, state[.metadata]?.string != metadata
        {
            page.commands["metadata"] = .string(metadata)
            state[.metadata] = .string(metadata)
        }
        let errors = state[.errors]
        state[.errors] = nil
        if hasContent {
            state[.errorPage] = errors
            page = try keep(page, &state, in: connection)
        }
        if case .object(let errors)? = errors { for error in errors { page.commands[error.key] = error.value } }
        try addSourceErrors(to: &page.commands, in: connection)
        return page
    }

    /// Gives a page its token, and keeps it until its acknowledgement.
    private func keep(_ page: QueryPage, _ state: inout ClientState, in connection: any StateConnection) throws -> QueryPage {
        var page = page
        page.token = try RhoTables.token(face.now, in: connection)
        state[.token] = .string(page.token)
        state[.page] = .object(page.commands)
        state[.pageCount] = .integer(Int64(page.count))
        state[.pageTotal] = .integer(page.total)
        return page
    }

    /// The next differences between the source's objects and those of the client, which has them from now on.
    private func difference(_ size: Int, _ owner: String, _ state: inout ClientState, in connection: any StateConnection) throws -> QueryPage {
        var scan = try DocumentScan(state[.scan], source.name, owner, in: connection)
        var inserts: JSONObject = [:], deletes: JSONObject = [:]
        let places: [Value] = [.text(source.name), .text(owner), .text(client), Value(size)]
        if let after = scan.source {
            let changed = try connection.rows(
                """
                SELECT m.object, m.content, c.content FROM _rho_md m LEFT JOIN _rho_cd c ON c.client = ?3 AND c.source = ?1 AND c.object = m.object
                WHERE m.source = ?1 AND m.owner = ?2 AND m.object > ?5 AND (c.content IS NULL OR c.content <> m.content) ORDER BY m.object LIMIT ?4
                """, places + [.text(after)])
            for row in changed {
                let object = row[0].text ?? "", new = try ObjectText.attributes(row[1].text ?? ""),
                    old = try row[2].text.map { try ObjectText.attributes($0) } ?? [:]
                let added = new.filter { old[$0.key] != $0.value }, removed = old.filter { new[$0.key] != $0.value }
                if !added.isEmpty { inserts[object] = .object(ObjectText.json(added)) }
                if !removed.isEmpty { deletes[object] = .object(ObjectText.json(removed)) }
                try ClientDocument.put(new, object, client, source.name, in: connection)
            }
            scan.source = changed.count < size ? nil : changed.last?[0].text ?? after
        }
        if let after = scan.client {
            let gone = try connection.rows(
                """
                SELECT c.object, c.content FROM _rho_cd c LEFT JOIN _rho_md m ON m.source = ?1 AND m.owner = ?2 AND m.object = c.object
                WHERE c.client = ?3 AND c.source = ?1 AND c.object > ?5 AND m.object IS NULL ORDER BY c.object LIMIT ?4
                """, places + [.text(after)])
            for row in gone {
                let object = row[0].text ?? ""
                deletes[object] = .object(ObjectText.json(try ObjectText.attributes(row[1].text ?? "")))
                try ClientDocument.remove(object, client, source.name, in: connection)
            }
            scan.client = gone.count < size ? nil : gone.last?[0].text ?? after
        }
        state[.scan] = scan.json
        var commands: JSONObject = [:]
        if !inserts.isEmpty { commands["insert"] = .object(inserts) }
        if !deletes.isEmpty { commands["delete"] = .object(deletes) }
        return QueryPage(token: "", count: inserts.count + deletes.count, total: scan.total, commands: commands)
    }

    private func addSourceErrors(to commands: inout JSONObject, in connection: any StateConnection) throws {
        let text = try connection.first(
            "SELECT errors FROM _rho_source WHERE source = ?1 AND owner = ?2", [.text(source.name), .text(source.owner(user))])?.first?.text
        if let text, case .object(let errors) = try JSONValue(parsing: text), !errors.isEmpty { commands["source-error"] = .object(errors) }
    }

    /// A source without a copy answers everything at each query.
    private func passThrough(_ parameters: [String: String]) throws -> QueryPage {
        var errors: JSONObject = [:], objects: [String: [String: String]] = [:]
        let refresh = SourceRefresh(face: face, source: source, user: user)
        if try !refresh.visit(parameters, &errors, { objects[$0] = $1 }) { objects = [:] }
        let token = objects.isEmpty ? "" : try face.store.write(label: "rhoconnect token") { try RhoTables.token(face.now, in: $0) }
        var page = QueryPage(token: token, count: objects.count, total: Int64(objects.count), commands: [:])
        if !objects.isEmpty {
            page.commands["insert"] = .object(
                JSONObject(uniqueKeys: objects.sorted { $0.key < $1.key }.map { ($0.key, .object(ObjectText.json($0.value))) }))
        }
        if !errors.isEmpty { page.commands["source-error"] = .object(errors) }
        return page
    }
}
