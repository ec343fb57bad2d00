internal import MobileStore

/// The resets of local data, and the parts of the client's row that they keep.
enum LocalReset {
    /// Forgets the client id as well. RhoConnect: `database_client_reset`.
    case client
    /// Has the server forget the client's state. RhoConnect: `database_full_reset`.
    case full
    /// Ends the session as well. RhoConnect: `database_full_reset_and_logout`.
    case fullAndLogout
    /// Ends the session and forgets the client id. RhoConnect: `database_fullclient_reset_and_logout`.
    case fullClientAndLogout

    /// Destroys objects and waiting changes, and applies the rest of the reset.
    func apply(in connection: Connection) throws {
        try connection.execute("DELETE FROM object_values WHERE source_id IN (SELECT source_id FROM sources WHERE partition <> 'local')")
        try connection.execute("DELETE FROM changed_values")
        let tables = try connection.rows("SELECT name FROM sources WHERE schema_version IS NOT NULL AND partition <> 'local'")
        for table in tables { try connection.execute("DELETE FROM \((table.first?.text ?? "").quoted)") }
        try connection.execute(
            """
            UPDATE sources SET \(SourceRow.withoutPages), metadata = NULL, errors = NULL, search = NULL, search_token = '', reset = 0, blob_attribs = ''
            """)
        try ClientInfo.set("bulksync_state = CASE WHEN bulksync_state IS NULL THEN NULL ELSE 0 END", in: connection)
        switch self {
        case .client: try ClientInfo.set("client_id = '', token = NULL, token_sent = 0, reset = 0", in: connection)
        case .full: try ClientInfo.set("reset = 1", in: connection)
        case .fullAndLogout: try ClientInfo.set("reset = 1, session = NULL", in: connection)
        case .fullClientAndLogout:
            try ClientInfo.set("client_id = '', token = NULL, token_sent = 0, reset = 0, session = NULL, user_name = NULL", in: connection)
        }
    }
}

extension RhoConnectClient {
    /// Destroys the local data and the waiting changes, and forgets the client id; the session stays. The next synchronization makes a new client and loads
    /// everything. Call it after ``RhoConnectNotify/isUnknownClientError``. Models of the partition `local` keep their data. RhoConnect:
    /// `database_client_reset`.
    /// - Throws: ``RhoConnectErrorCode/runtime``; nothing was changed in that case.
    public func databaseClientReset() throws(RhoConnectError) { try reset(.client) }

    /// Destroys the local data and the waiting changes; the server forgets what this client has, before the next synchronization.
    /// RhoConnect: `database_full_reset`.
    /// - Throws: as ``databaseClientReset()``.
    public func databaseFullReset() throws(RhoConnectError) { try reset(.full) }

    /// Does the same as ``databaseFullReset()``, and ends the session. RhoConnect: `database_full_reset_and_logout`.
    /// - Throws: as ``databaseClientReset()``.
    public func databaseFullResetAndLogout() throws(RhoConnectError) { try reset(.fullAndLogout) }

    /// Destroys the local data and the waiting changes, ends the session and forgets the client id. RhoConnect:
    /// `database_fullclient_reset_and_logout`.
    /// - Throws: as ``databaseClientReset()``.
    public func databaseFullClientResetAndLogout() throws(RhoConnectError) { try reset(.fullClientAndLogout) }

    private func reset(_ kind: LocalReset) throws(RhoConnectError) {
        stopSync()
        let files = core.database.replacedFiles, sources = core.withState(\.sources)
        try core.write("reset") { connection in
            for source in sources where source.model.partition != .local { try files.note(nil, of: source, in: connection) }
            try kind.apply(in: connection)
        }
        core.deleteReplacedFiles()
    }
}
