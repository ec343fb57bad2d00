internal import MobileCrypto
internal import MobileServer
internal import MobileStore

extension RhoRequest {
    /// Finds the call of the path, and answers it.
    func answer(by face: RhoConnectServer) throws -> ServerResponse {
        let parts = path.split(separator: "/").map(String.init)
        if isOlder { return try older(parts.count > 1 ? parts[1] : "", face) }
        switch (method, parts.first, parts.dropFirst().first) {
        case (_, "rc", "v1"): return try current(Array(parts.dropFirst(2)), face)
        case (_, "app", "v1") where parts.count >= 3:
            if parts.count == 4, parts[3] == "push_objects" || parts[3] == "push_deletes" { return try push(parts[2], parts[3], face) }
            return try source(parts[2], object: parts.count > 3 ? parts[3] : nil, face)
        // Addresses of bulk files and their forms; they need no session.
        case ("GET", "data", _): return try BulkPieces.answer(path, range: headers["range"], face)
        default: throw RhoFailure.text(404, "there is nothing at this path")
        }
    }

    private func older(_ call: String, _ face: RhoConnectServer) throws -> ServerResponse {
        var response: ServerResponse
        switch (method, call) {
        case ("POST", "clientlogin"): response = try login(face)
        case ("GET", "clientcreate"), ("POST", "clientcreate"): response = try createClient(face)
        case ("POST", "clientregister"): response = try register(nil, face)
        case ("GET", "clientreset"): response = try reset(nil, face)
        case ("GET", "search"): response = try search(face)
        case ("GET", "bulk_data"): response = try bulk(face)
        case ("GET", ""), ("GET", "query"): response = try source(parameter("source_name"), object: nil, face)
        case ("POST", ""), ("POST", "queue_updates"): response = try source(parameter("source_name"), object: nil, face)
        default: throw RhoFailure.text(404, "there is nothing at this path")
        }
        response.headers.append((name: "Warning", value: "Use of the \(method) /application is deprecated. Use Rhoconnect API v1 instead."))
        return response
    }

    private func current(_ parts: [String], _ face: RhoConnectServer) throws -> ServerResponse {
        switch (method, parts) {
        case ("POST", ["app", "login"]): return try login(face)
        case ("POST", ["clients"]): return try createClient(face)
        case ("POST", ["app", "search"]): return try search(face)
        case ("POST", ["app", "bulk_data"]): return try bulk(face)
        case ("POST", _) where parts.count == 3 && parts[0] == "clients" && parts[2] == "register": return try register(parts[1], face)
        case ("POST", _) where parts.count == 3 && parts[0] == "clients" && parts[2] == "reset": return try reset(parts[1], face)
        case ("POST", ["users", "ping"]):
            try administrate(face)
            return .empty
        case ("DELETE", _) where parts.count == 4 && parts[0] == "users" && parts[2] == "clients":
            try administrate(face)
            try face.store.write(label: "rhoconnect client") { try Clients.remove(parts[3], in: $0) }
            return ServerResponse(status: 200, contentType: "text/html", body: .bytes([UInt8]("Client deleted".utf8)))
        default: throw RhoFailure.text(404, "there is nothing at this path")
        }
    }

    // MARK: Sessions

    private func login(_ face: RhoConnectServer) throws -> ServerResponse {
        let name = parameter("login") ?? "", password = parameter("password") ?? ""
        var decision = RhoConnectServer.LoginDecision.refused(nil)
        if !name.isEmpty {
            if let authenticate = face.configuration.authenticate {
                do { decision = try authenticate(name, password) } catch { throw RhoFailure.text(500, adapterText(error)) }
            } else {
                switch try face.server.faceAccounts.login(user: name, password: password, from: address) {
                case .accepted: decision = .accepted(user: name)
                case .refused: break
                case .later(let text): throw RhoFailure.text(503, text)
                }
            }
        }
        guard case .accepted(let user) = decision else {
            guard case .refused(let text) = decision else { throw RhoFailure.notAuthenticated }
            var refusal = RhoFailure.text(401, text ?? "Unable to authenticate '\(name)'").response
            // As the original server does: the cookie of a refused login names no user.
            refusal.headers.append(SessionTable.cookie("none", now: face.now, life: face.configuration.sessionLife))
            return refusal
        }
        let token = face.server.configuration.random(32).hexadecimal
        try face.store.write(label: "rhoconnect login") { connection in
            _ = try connection.execute(
                "INSERT INTO _rho_session (token, user_name, used) VALUES (?1, ?2, ?3)",
                [.text(SessionTable.digest(token)), .text(user), .integer(face.now)])
        }
        let cookie = SessionTable.cookie(token, now: face.now, life: face.configuration.sessionLife)
        guard isBrowser else { return ServerResponse(status: 200, headers: [cookie], contentType: "text/html") }
        let value = JSONValue.object(["rhoconnect_session": .string("rhoconnect_session%3D\(token)%3B")])
        return ServerResponse(status: 200, headers: [cookie], contentType: "application/json", body: .bytes(value.bytes))
    }

    /// The user of the session.
    /// - Throws: ``RhoFailure/notAuthenticated``.
    private func user(_ face: RhoConnectServer) throws -> (name: String, token: String) {
        guard let token = session, let name = try SessionTable.user(of: token, face) else { throw RhoFailure.notAuthenticated }
        return (name, token)
    }

    private func answer(_ json: [UInt8]?, _ token: String, _ face: RhoConnectServer, headers: [(name: String, value: String)] = []) -> ServerResponse
    {
        let all =
            [SessionTable.cookie(token, now: face.now, life: face.configuration.sessionLife), ("Cache-Control", "no-cache"), ("pragma", "no-cache")]
            + headers
        guard let json else { return ServerResponse(status: 200, headers: all, contentType: "text/html") }
        return ServerResponse(status: 200, headers: all, contentType: "application/json", body: .bytes(json))
    }

    // MARK: Clients

    private func createClient(_ face: RhoConnectServer) throws -> ServerResponse {
        let (user, token) = try user(face)
        let id = face.server.configuration.random(16).hexadecimal
        try face.store.write(label: "rhoconnect client") { try Clients.register(id, user, fields(), in: $0) }
        return answer(JSONValue.object(["client": ["client_id": .string(id)]]).bytes, token, face)
    }

    private func register(_ id: String?, _ face: RhoConnectServer) throws -> ServerResponse {
        let (user, token) = try user(face)
        guard let id = clientID(inPath: id), !id.isEmpty else { throw RhoFailure.unknownClient }
        try face.store.write(label: "rhoconnect client") { try Clients.register(id, user, fields(), in: $0) }
        return answer(nil, token, face)
    }

    /// The device fields of the body.
    private func fields() -> JSONObject {
        let names: Set<String> = ["device_pin", "phone_id", "device_port", "device_type", "device_push_type", "device_app_id", "device_app_version"]
        return JSONObject(uniqueKeys: body.filter { names.contains($0.key) }.map { ($0.key, $0.value) })
    }

    private func reset(_ id: String?, _ face: RhoConnectServer) throws -> ServerResponse {
        let (user, token) = try user(face)
        var names: [String]?
        if case .array(let list)? = body["sources"] { names = list.compactMap { $0["name"]?.string } }
        if isOlder, !namedSources.isEmpty { names = namedSources.map(\.name) }
        try face.store.write(label: "rhoconnect reset") { connection in
            let client = try Clients.check(clientID(inPath: id), user, in: connection)
            for source in names ?? face.sources.keys.sorted() { try Clients.flush(client, source, in: connection) }
        }
        return answer(nil, token, face)
    }

    // MARK: Sources

    private func source(_ name: String?, object: String?, _ face: RhoConnectServer) throws -> ServerResponse {
        let (user, token) = try user(face)
        guard let name, !name.isEmpty else { throw RhoFailure.unknownSource }
        let client = try face.store.write(label: "rhoconnect client") { try Clients.check(clientID(), user, in: $0) }
        guard let source = face.sources[name] else {
            guard method == "GET" else { throw RhoFailure.unknownSource }
            // As a server without the address of its back end does.
            let page = QueryPage(
                token: "", count: 0, total: 0, commands: ["source-error": ["query-error": ["message": .string("unknown source \(name)")]]])
            return answer(page.bytes, token, face, headers: page.headers)
        }
        switch (method, object) {
        case ("GET", nil):
            let page = try SourceQuery(face, source, client: client, user: user).page(
                token: parameter("token"), size: pageSize, parameters: map("query"))
            return answer(page.bytes, token, face, headers: page.headers)
        case ("POST", nil):
            try SourceUpload(face, source, client: client, user: user).accept(body, files: files)
        case ("PUT", let object?):
            try SourceUpload(face, source, client: client, user: user).accept(["update": .object([object: body["update"] ?? [:]])], files: [:])
        case ("DELETE", let object?):
            let held = try face.store.read { connection in
                try connection.first(
                    "SELECT content FROM _rho_cd WHERE client = ?1 AND source = ?2 AND object = ?3", [.text(client), .text(name), .text(object)])?
                    .first?.text
            }
            let attributes = try held.map { try ObjectText.attributes($0) } ?? [:]
            try SourceUpload(face, source, client: client, user: user).accept(
                ["delete": .object([object: .object(ObjectText.json(attributes))])], files: [:])
        default: throw RhoFailure.text(404, "there is nothing at this path")
        }
        return answer(nil, token, face)
    }

    private func search(_ face: RhoConnectServer) throws -> ServerResponse {
        let (user, token) = try user(face)
        let client = try face.store.write(label: "rhoconnect client") { try Clients.check(clientID(), user, in: $0) }
        var wanted: [(name: String, token: String?)] = []
        if case .array(let list)? = body["sources"] {
            guard !list.isEmpty else { throw RhoFailure.text(500, "no sources") }
            wanted = list.map { ($0["name"]?.string ?? "", $0["token"]?.string) }
        } else {
            wanted = namedSources
        }
        var results: [JSONValue] = []
        for (name, token) in wanted {
            guard let source = face.sources[name] else { throw RhoFailure.unknownSource }
            results.append(
                try SourceSearchPage(face, source, client: client, user: user).result(
                    token: token, size: pageSize, parameters: map("search"), isResend: parameter("resend") == "1"))
        }
        return answer(JSONValue.array(results).bytes, token, face)
    }

    // MARK: Bulk files

    private func bulk(_ face: RhoConnectServer) throws -> ServerResponse {
        let (user, token) = try user(face)
        let client = try face.store.write(label: "rhoconnect client") { try Clients.check(clientID(), user, in: $0) }
        guard let partition = parameter("partition").flatMap(RhoConnectSource.Partition.init) else {
            throw RhoFailure.text(500, "bulk data: name the partition, user or app")
        }
        var sources = face.sources.values.sorted { $0.name < $1.name }
        if let names = names(parameter: "sources") {
            sources = try names.map { name in
                guard let source = face.sources[name] else { throw RhoFailure.unknownSource }
                return source
            }
        }
        // Clients of the original engine name the sources of all partitions.
        sources.removeAll { $0.partition != partition }
        guard !sources.isEmpty else { return answer(JSONValue.object(["result": "nop"]).bytes, token, face) }
        let request = BulkRequest(face: face, client: client, user: user, partition: partition, sources: sources)
        return answer(try request.answer().json.bytes, token, face)
    }

    /// The names in a parameter: an array, or a text with commas.
    private func names(parameter name: String) -> [String]? {
        if case .array(let list)? = body[name] { return list.compactMap(\.string) }
        return parameter(name).map { $0.split(separator: ",").map(String.init) }
    }

    // MARK: Administration

    private func administrate(_ face: RhoConnectServer) throws {
        guard let token = headers["x-rhoconnect-api-token"], !token.isEmpty else { throw RhoFailure.text(422, "No API token provided") }
        guard let expected = face.configuration.administrationToken, SessionTable.digest(expected) == SessionTable.digest(token) else {
            throw RhoFailure.text(422, "Invalid/missing API user")
        }
    }

    /// Changes the server's copy of the data, without a query of the adapter.
    private func push(_ name: String, _ call: String, _ face: RhoConnectServer) throws -> ServerResponse {
        try administrate(face)
        guard let source = face.sources[name] else { throw RhoFailure.unknownSource }
        let owner = source.owner(body["user_id"]?.string ?? "")
        try face.store.write(label: "rhoconnect push") { connection in
            _ = try MasterDocument.lock(name, owner, in: connection)
            if call == "push_deletes", case .array(let list)? = body["objects"] {
                for object in list { try MasterDocument.remove(object.string ?? "", name, owner, in: connection) }
            } else if case .object(let objects)? = body["objects"] {
                for object in objects {
                    let old = try MasterDocument.object(object.key, name, owner, in: connection) ?? [:]
                    try MasterDocument.put(old.merging(ObjectText.received(object.value)) { $1 }, object.key, name, owner, in: connection)
                }
            }
            try MasterDocument.noteChange(name, owner, in: connection)
        }
        return ServerResponse(status: 200, contentType: "text/html", body: .bytes([UInt8]("done".utf8)))
    }
}

extension ServerResponse {
    /// An answer without content.
    static var empty: ServerResponse { ServerResponse(status: 200, contentType: "text/html") }
}

/// Sessions: random tokens; the state keeps only their digests.
enum SessionTable {
    static func digest(_ token: String) -> String { (try? SHA256.digest(of: [UInt8](token.utf8)).hexadecimal) ?? "" }

    static func user(of token: String, _ face: RhoConnectServer) throws -> String? {
        guard let row = try face.store.read({ try $0.first("SELECT user_name, used FROM _rho_session WHERE token = ?1", [.text(digest(token))]) }),
            let user = row[0].text, let used = row[1].integer
        else { return nil }
        let age = face.now - used
        guard age <= face.configuration.sessionLife * 1000 else { return nil }
        // The life counts from the last response; one hour is exact enough, and saves a write per request.
        if age > 3_600_000 {
            try face.store.write(label: "rhoconnect session") { connection in
                _ = try connection.execute("UPDATE _rho_session SET used = ?1 WHERE token = ?2", [.integer(face.now), .text(digest(token))])
            }
        }
        return user
    }

    static func cookie(_ token: String, now: Int64, life: Int64) -> (name: String, value: String) {
        ("Set-Cookie", "rhoconnect_session=\(token); path=/; Max-Age=\(life); HttpOnly")
    }
}

/// The registrations of devices.
enum Clients {
    /// Makes a client, or changes the given fields of one.
    static func register(_ id: String, _ user: String, _ fields: JSONObject, in connection: any StateConnection) throws {
        var all: JSONObject = [:]
        if let row = try connection.first("SELECT fields FROM _rho_client WHERE id = ?1", [.text(id)]), let text = row.first?.text {
            all = try JSONValue(parsing: text).object ?? [:]
        }
        for field in fields { all[field.key] = field.value }
        try connection.execute(
            "INSERT INTO _rho_client (id, user_name, fields) VALUES (?1, ?2, ?3) ON CONFLICT (id) DO UPDATE SET fields = excluded.fields",
            [.text(id), .text(user), .text(JSONValue.object(all).description)])
    }

    /// Returns the id of a client. One of another user moves to this user, and loses its documents.
    /// - Throws: ``RhoFailure/unknownClient``.
    static func check(_ id: String?, _ user: String, in connection: any StateConnection) throws -> String {
        guard let id, let owner = try connection.first("SELECT user_name FROM _rho_client WHERE id = ?1", [.text(id)])?.first?.text else {
            throw RhoFailure.unknownClient
        }
        if owner != user {
            try connection.execute("UPDATE _rho_client SET user_name = ?1 WHERE id = ?2", [.text(user), .text(id)])
            try connection.execute("DELETE FROM _rho_cd WHERE client = ?1", [.text(id)])
            try connection.execute("DELETE FROM _rho_state WHERE client = ?1", [.text(id)])
        }
        return id
    }

    /// Forgets what a client has of a source.
    static func flush(_ id: String, _ source: String, in connection: any StateConnection) throws {
        try connection.execute("DELETE FROM _rho_cd WHERE client = ?1 AND source = ?2", [.text(id), .text(source)])
        try connection.execute("DELETE FROM _rho_state WHERE client = ?1 AND source = ?2", [.text(id), .text(source)])
    }

    static func remove(_ id: String, in connection: any StateConnection) throws {
        for statement in [
            "DELETE FROM _rho_client WHERE id = ?1", "DELETE FROM _rho_cd WHERE client = ?1", "DELETE FROM _rho_state WHERE client = ?1",
        ] {
            try connection.execute(statement, [.text(id)])
        }
    }
}
