internal import MobileServer

/// The tables of the face in the state store. Times are milliseconds since 1970, UTC.
enum WorklightTables {
    static func statements(_ dialect: FaceState.Dialect) -> [String] {
        let ordered = dialect.ordered
        return [
            // id: the SHA-256 of the cookie. content: JSON (see SessionContent). used: the last use, to a twentieth of the idle limit.
            "CREATE TABLE IF NOT EXISTS _wl_session (id \(dialect.bytes) PRIMARY KEY, content TEXT NOT NULL, used BIGINT NOT NULL)\(ordered)",
            "CREATE INDEX IF NOT EXISTS _wl_session_used ON _wl_session (used)",
            // state: active, notify or disabled. version empty: all versions without a row of their own.
            """
            CREATE TABLE IF NOT EXISTS _wl_rule (
                application TEXT NOT NULL, environment TEXT NOT NULL, version TEXT NOT NULL, state TEXT NOT NULL, message TEXT NOT NULL,
                message_id TEXT NOT NULL, link TEXT, PRIMARY KEY (application, environment, version))\(ordered)
            """,
            // organization: the entity in certificates. time: seconds since 1970; certificates that are valid from then on or earlier are withdrawn.
            """
            CREATE TABLE IF NOT EXISTS _wl_withdrawal (
                organization TEXT NOT NULL, device TEXT NOT NULL, time BIGINT NOT NULL, readmitted BIGINT NOT NULL,
                PRIMARY KEY (organization, device))\(ordered)
            """,
            """
            CREATE TABLE IF NOT EXISTS _wl_preference (
                application TEXT NOT NULL, owner TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (application, owner, name))\(ordered)
            """,
            """
            CREATE TABLE IF NOT EXISTS _wl_token (
                application TEXT NOT NULL, owner TEXT NOT NULL, device TEXT NOT NULL, token TEXT NOT NULL, PRIMARY KEY (application, owner, device))\(ordered)
            """,
            """
            CREATE TABLE IF NOT EXISTS _wl_subscription (
                application TEXT NOT NULL, owner TEXT NOT NULL, device TEXT NOT NULL, alias TEXT NOT NULL, adapter TEXT NOT NULL,
                source TEXT NOT NULL, options TEXT NOT NULL, PRIMARY KEY (application, owner, device, alias))\(ordered)
            """,
            """
            CREATE TABLE IF NOT EXISTS _wl_activity (
                id \(dialect.id), application TEXT NOT NULL, environment TEXT NOT NULL, version TEXT NOT NULL, owner TEXT NOT NULL, device TEXT NOT NULL,
                activity TEXT NOT NULL, happened BIGINT NOT NULL)
            """,
            """
            CREATE TABLE IF NOT EXISTS _wl_log (
                id \(dialect.id), device TEXT NOT NULL, application TEXT NOT NULL, version TEXT NOT NULL, description TEXT NOT NULL, entry TEXT NOT NULL,
                received BIGINT NOT NULL)
            """,
        ]
    }
}
