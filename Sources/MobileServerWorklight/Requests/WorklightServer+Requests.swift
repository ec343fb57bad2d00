internal import MobileServer
internal import MobileStore

/// The requests of an application, after its security test.
extension WorklightServer {
    func perform(
        _ name: String, _ request: WireRequest, _ application: WorklightApplication, _ environment: String, _ session: inout SessionStore.Session
    ) throws -> Answer {
        switch name {
        case "init": return try connect(application, environment, session)
        case "query": return try invoke(request, &session)
        case let path where path.hasPrefix("query/"):
            let parts = path.split(separator: "/").map(String.init)
            return parts.count == 3 ? try invoke(request, &session, adapter: parts[1], procedure: parts[2]) : .failure(404, "there is nothing here")
        case "login": return login(request, session)
        case "logout": return try logout(request, &session)
        case "getuserinfo": return .json(session.content.identities)
        case "authenticate", "heartbeat", "events": return .json([:])
        case "logactivity": return try takeActivity(request, application, environment, session)
        case "notifications": return try takeNotifications(request, application, session)
        case "setup": return try setPreferences(request, application, session)
        case "deleteup": return try removePreference(request, application, session)
        case "updates", "appversionaccess": return .json(["response": [:]])
        case "composite": return composite(request)
        default: return .failure(404, "there is nothing here")
        }
    }

    /// The answer to `init`: all that the client keeps.
    private func connect(_ application: WorklightApplication, _ environment: String, _ session: SessionStore.Session) throws -> Answer {
        var properties = application.properties
        properties["ENVIRONMENT"] = .string(environment)
        // An empty object means that there are no updates of web resources.
        if environment != "iOSnative", environment != "Androidnative", properties["directUpdate"] == nil { properties["directUpdate"] = [:] }
        return .json([
            "userInfo": .object(session.content.identities), "gadgetProps": .object(properties),
            "userPrefs": .object(try preferences(application, session.content.owner)),
            "notificationSubscriptionState": .object(try subscriptionState(application, session.content)),
        ])
    }

    // MARK: Identities

    /// Logs in to a realm on demand: the request for the login, or the identities if there is one already.
    private func login(_ request: WireRequest, _ session: SessionStore.Session) -> Answer {
        guard let realm = request.fields.text("realm"), hasRealm(realm) else { return .json(session.content.identities) }
        return session.content.identities[realm] == nil ? challenge(realm, error: "") : .json(session.content.identities)
    }

    private func logout(_ request: WireRequest, _ session: inout SessionStore.Session) throws -> Answer {
        // The platform's own realms stay: the session keeps its value and its device.
        if let realm = request.fields.text("realm"), hasRealm(realm) {
            _ = try changing(&session) { $0.remove(realm) }
        }
        return .json([:])
    }

    /// One member for each name that was requested.
    private func composite(_ request: WireRequest) -> Answer {
        var object = JSONObject()
        let names = request.fields.text("requests").map { text in
            (try? JSONValue(parsing: text).array?.compactMap(\.string)) ?? text.split(separator: ",").map(String.init)
        }
        for name in (names ?? []).prefix(20) { object[name.filter { $0 != " " }] = ["response": [:]] }
        return .json(object)
    }

    // MARK: Procedures

    func invoke(
        _ request: WireRequest, _ session: inout SessionStore.Session, adapter: String? = nil, procedure: String? = nil
    ) throws -> Answer {
        let adapter = adapter ?? request.fields.text("adapter") ?? "", name = procedure ?? request.fields.text("procedure") ?? ""
        guard let parameters = Self.parameters(request) else { return Self.failure("the parameters are not a JSON array") }
        if adapter == "WLClientLogReceiver", name == "log", self.procedure(adapter, name) == nil {
            return try takeAdapterLog(parameters, session)
        }
        guard let procedure = self.procedure(adapter, name) else {
            return Self.failure("there is no procedure \(name.prefix(80)) of adapter \(adapter.prefix(80))")
        }
        if let realm = procedure.realm, session.content.identities[realm] == nil { return challenge(realm, error: "") }
        let invocation = WorklightInvocation(parameters, session.content.identities)
        let value: JSONValue
        do { value = try procedure.run(invocation) } catch let error as WorklightProcedureError {
            return Self.failure(error.message)
        } catch { return Self.failure("\(error)") }
        if !invocation.changes.isEmpty {
            let changes = invocation.changes
            _ = try changing(&session) { content in
                for (realm, identity) in changes where hasRealm(realm) {
                    if let identity { content.satisfy(realm, identity) } else { content.remove(realm) }
                }
            }
        }
        guard var object = value.object else { return .json(["isSuccessful": true, "result": value]) }
        if object["isSuccessful"] == nil { object["isSuccessful"] = true }
        return .json(object)
    }

    /// The parameters of a call; none if the field is missing, nil if it is not an array.
    private static func parameters(_ request: WireRequest) -> [JSONValue]? {
        guard let text = request.fields.text("parameters") else { return [] }
        let document = try? JSONDocument(parsing: Array(text.utf8), duplicateKeys: .lastWins)
        return document.flatMap { JSONValue(lastMembersOf: $0.root).array }
    }

    private static func failure(_ text: String) -> Answer {
        .json(["isSuccessful": false, "errors": [.string(text)], "warnings": [], "info": []])
    }

    // MARK: Preferences

    func preferences(_ application: WorklightApplication, _ owner: String) throws -> JSONObject {
        var object = JSONObject()
        let rows = try state.read {
            try $0.rows(
                "SELECT name, value FROM _wl_preference WHERE application = ?1 AND owner = ?2 ORDER BY name", [.text(application.id), .text(owner)])
        }
        for row in rows { object[row[0].text ?? ""] = .string(row[1].text ?? "") }
        return object
    }

    /// Adds preferences, all or none.
    private func setPreferences(_ request: WireRequest, _ application: WorklightApplication, _ session: SessionStore.Session) throws -> Answer {
        let document = request.fields.text("userprefs").flatMap { try? JSONDocument(parsing: Array($0.utf8), duplicateKeys: .lastWins) }
        guard let new = document.flatMap({ JSONValue(lastMembersOf: $0.root).object }) else { return .failure(400, "userprefs is not a JSON object") }
        for member in new {
            let value = member.value.string ?? member.value.description
            guard member.key.count <= WorklightConfiguration.maximumPreferenceKey, value.count <= WorklightConfiguration.maximumPreferenceValue,
                !member.key.isEmpty, !member.key.contains("\0"), !value.contains("\0")
            else { return .failure(400, "a preference is too long") }
        }
        let owner = session.content.owner
        let isStored = try state.write(label: "preferences") { transaction in
            let known = try transaction.rows(
                "SELECT name FROM _wl_preference WHERE application = ?1 AND owner = ?2", [.text(application.id), .text(owner)])
            let names = Set(known.compactMap { $0[0].text }).union(new.keys)
            guard names.count <= WorklightConfiguration.maximumPreferences else { return false }
            for member in new {
                let value = member.value.string ?? member.value.description
                try transaction.execute(
                    """
                    INSERT INTO _wl_preference (application, owner, name, value) VALUES (?1, ?2, ?3, ?4)
                    ON CONFLICT (application, owner, name) DO UPDATE SET value = excluded.value
                    """, [.text(application.id), .text(owner), .text(member.key), .text(value)])
            }
            return true
        }
        return isStored ? .json([:]) : .failure(400, "there are more than \(WorklightConfiguration.maximumPreferences) preferences")
    }

    private func removePreference(_ request: WireRequest, _ application: WorklightApplication, _ session: SessionStore.Session) throws -> Answer {
        let key = request.fields.text("userprefkey") ?? "", owner = session.content.owner
        try state.write(label: "preferences") {
            try $0.execute(
                "DELETE FROM _wl_preference WHERE application = ?1 AND owner = ?2 AND name = ?3", [.text(application.id), .text(owner), .text(key)])
        }
        return .json([:])
    }
}
