internal import MobileCrypto
internal import MobileServer
internal import MobileStore

/// The sessions in the state store. The cookie's value is random; only its SHA-256 is kept.
struct SessionStore: Sendable {
    let state: FaceState
    let idleLimit: Int64
    let clock: @Sendable () -> Int64
    let random: @Sendable (Int) -> [UInt8]

    /// A session with the value of its cookie.
    struct Session {
        let cookie: String
        var content: SessionContent
        /// Whether this request began it.
        let isNew: Bool
    }

    func text() -> String { random(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }

    /// Returns the session of a cookie; nil if there is none or it has ended. A use extends it.
    func session(_ cookie: String?) throws -> Session? {
        guard let cookie, !cookie.isEmpty, cookie.utf8.count <= 128 else { return nil }
        let id = Value.blob(try SHA256.digest(of: cookie)), now = clock()
        let row = try state.read { try $0.rows("SELECT content, used FROM _wl_session WHERE id = ?1", [id]).first }
        guard let text = row?[0].text, let used = row?[1].integer, used > now - idleLimit, let content = SessionContent(text) else { return nil }
        // Not on each request, because each update is a write.
        if used <= now - idleLimit / 20 {
            try state.write(label: "Worklight session") { try $0.execute("UPDATE _wl_session SET used = ?2 WHERE id = ?1", [id, .integer(now)]) }
        }
        return Session(cookie: cookie, content: content, isNew: false)
    }

    /// Begins a session, and removes those that have ended.
    func begin() throws -> Session {
        let cookie = text(), content = SessionContent(instance: text(), token: text()), now = clock()
        try state.write(label: "Worklight session") { transaction in
            try transaction.execute("DELETE FROM _wl_session WHERE used <= ?1", [.integer(now - idleLimit)])
            try transaction.execute(
                "INSERT INTO _wl_session (id, content, used) VALUES (?1, ?2, ?3)",
                [.blob(try SHA256.digest(of: cookie)), .text(content.text), .integer(now)])
        }
        return Session(cookie: cookie, content: content, isNew: true)
    }

    /// Changes a session: `change` is applied to its newest content, which another request may have changed meanwhile.
    /// - Parameter change: may run again; returns what it found.
    /// - Returns: the result of `change`, and the content after it; nil if the session has ended.
    func change<R>(_ cookie: String, _ change: (inout SessionContent) throws -> R) throws -> (result: R, content: SessionContent)? {
        let id = Value.blob(try SHA256.digest(of: cookie))
        return try state.write(label: "Worklight session") { transaction in
            guard let text = try transaction.rows("SELECT content FROM _wl_session WHERE id = ?1", [id]).first?[0].text,
                var content = SessionContent(text)
            else { return nil }
            let before = content
            let result = try change(&content)
            if content != before {
                try transaction.execute("UPDATE _wl_session SET content = ?2 WHERE id = ?1", [id, .text(content.text)])
            }
            return (result, content)
        }
    }
}
