internal import MobileServer
internal import MobileStore

/// Tokens and subscriptions. They belong to user, device and application.
extension WorklightServer {
    func subscriptionState(_ application: WorklightApplication, _ session: SessionContent) throws -> JSONObject {
        let key: [Value] = [.text(application.id), .text(session.owner), .text(session.device)]
        let (token, sources) = try state.read { transaction in
            (
                try transaction.rows("SELECT token FROM _wl_token WHERE application = ?1 AND owner = ?2 AND device = ?3", key).first?[0].text,
                try transaction.rows(
                    """
                    SELECT alias, adapter, source FROM _wl_subscription WHERE application = ?1 AND owner = ?2 AND device = ?3 ORDER BY alias
                    """, key)
            )
        }
        let list = sources.map { row -> JSONValue in
            ["alias": .string(row[0].text ?? ""), "adapter": .string(row[1].text ?? ""), "eventSource": .string(row[2].text ?? "")]
        }
        return ["token": .string(token ?? ""), "eventSources": .array(list)]
    }

    func takeNotifications(_ request: WireRequest, _ application: WorklightApplication, _ session: SessionStore.Session) throws -> Answer {
        let fields = request.fields, content = session.content
        let key: [Value] = [.text(application.id), .text(content.owner), .text(content.device)]
        if let token = fields.text("updateToken") {
            guard token.utf8.count <= Self.longestToken, !token.contains("\0") else { return .failure(400, "the token is too long") }
            try state.write(label: "token of a device") {
                try $0.execute(
                    """
                    INSERT INTO _wl_token (application, owner, device, token) VALUES (?1, ?2, ?3, ?4)
                    ON CONFLICT (application, owner, device) DO UPDATE SET token = excluded.token
                    """, key + [.text(token)])
            }
            return .json([:])
        }
        guard let alias = fields.text("alias"), alias.utf8.count <= Self.longestToken, !alias.contains("\0") else {
            return .failure(400, "a subscription needs an alias")
        }
        // The name of the field decides, not its value: scripts send it empty.
        if fields.has("unsubscribe") {
            try state.write(label: "subscription") {
                try $0.execute(
                    "DELETE FROM _wl_subscription WHERE application = ?1 AND owner = ?2 AND device = ?3 AND alias = ?4", key + [.text(alias)])
            }
            return .json([:])
        }
        guard fields.has("subscribe"), let adapter = fields.text("adapter"), let source = fields.text("eventSource"), hasEventSource(adapter, source)
        else { return .failure(400, "there is no such event source") }
        // Old clients write the options without escapes: broken ones count as none.
        let document = fields.text("subscribe").flatMap { try? JSONDocument(parsing: Array($0.utf8), duplicateKeys: .lastWins) }
        let options = document.flatMap { JSONValue(lastMembersOf: $0.root).object } ?? [:]
        try state.write(label: "subscription") {
            try $0.execute(
                """
                INSERT INTO _wl_subscription (application, owner, device, alias, adapter, source, options) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                ON CONFLICT (application, owner, device, alias)
                DO UPDATE SET adapter = excluded.adapter, source = excluded.source, options = excluded.options
                """, key + [.text(alias), .text(adapter), .text(source), .text(JSONValue.object(options).description)])
        }
        return .json([:])
    }

    /// The longest token and the longest alias, in bytes.
    private static let longestToken = 4096
}
