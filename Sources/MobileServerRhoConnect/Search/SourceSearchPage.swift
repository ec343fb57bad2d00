internal import MobileServer
internal import MobileStore

/// A client's search in a source, page by page.
struct SourceSearchPage {
    let face: RhoConnectServer
    let source: RhoConnectSource
    let client: String
    let user: String

    init(_ face: RhoConnectServer, _ source: RhoConnectSource, client: String, user: String) {
        (self.face, self.source, self.client, self.user) = (face, source, client, user)
    }

    /// Returns the inner array of the response: empty without further results.
    func result(token: String?, size: Int, parameters: [String: String], isResend: Bool) throws -> JSONValue {
        var found: [String: [String: String]] = [:]
        if token == nil {
            do {
                try source.adapter.login(user: user)
                found = try source.adapter.search(user: user, parameters: parameters)
                try source.adapter.logoff(user: user)
            } catch {
                return failure(adapterText(error))
            }
        }
        return try face.store.write(label: "rhoconnect search") { connection in
            var state = try ClientState(client, source.name, in: connection)
            if token == nil {
                let objects = JSONObject(uniqueKeys: found.sorted { $0.key < $1.key }.map { ($0.key, JSONValue.object(ObjectText.json($0.value))) })
                state[.search] = ["token": .string(try RhoTables.token(face.now, in: connection)), "rest": .object(objects), "page": [:]]
            } else if isResend, case .object(let page)? = state[.search]?["page"] {
                return page.isEmpty ? [] : response(state[.search]?["token"]?.string ?? "", page)
            } else if state[.search]?["token"]?.string != token {
                state[.search] = nil
                try state.save(in: connection)
                return failure("Search error - invalid token")
            }
            let result = try next(&state, size, in: connection)
            try state.save(in: connection)
            return result
        }
    }

    /// Takes the next results that the client does not hold. It holds them from now on.
    private func next(_ state: inout ClientState, _ size: Int, in connection: any StateConnection) throws -> JSONValue {
        guard case .object(let rest)? = state[.search]?["rest"], let token = state[.search]?["token"]?.string else { return [] }
        let owner = source.owner(user)
        var page: JSONObject = [:], left: [(String, JSONValue)] = []
        for object in rest {
            let attributes = ObjectText.received(object.value)
            if try ClientDocument.object(object.key, client, source.name, in: connection) == attributes { continue }
            guard page.count < size else {
                left.append((object.key, object.value))
                continue
            }
            if page.isEmpty { _ = try MasterDocument.lock(source.name, owner, in: connection) }
            page[object.key] = object.value
            try ClientDocument.put(attributes, object.key, client, source.name, in: connection)
            try MasterDocument.put(attributes, object.key, source.name, owner, in: connection)
        }
        if !page.isEmpty { try MasterDocument.noteChange(source.name, owner, in: connection) }
        guard !page.isEmpty else {
            state[.search] = nil
            return []
        }
        state[.search] = ["token": .string(token), "rest": .object(JSONObject(uniqueKeys: left)), "page": .object(page)]
        return response(token, page)
    }

    private func response(_ token: String, _ page: JSONObject) -> JSONValue {
        [
            ["version": 3], ["token": .string(token)], ["source": .string(source.name)], ["count": .integer(Int64(page.count))],
            ["insert": .object(page)],
        ]
    }

    private func failure(_ message: String) -> JSONValue {
        [["version": 3], ["source": .string(source.name)], ["search-error": ["search-error": ["message": .string(message)]]]]
    }
}
