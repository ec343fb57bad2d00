internal import MobileStore

/// The one row about this client as a whole.
struct ClientInfo: Sendable {
    var clientID = ""
    var session: String?
    var userName: String?
    var server: String?
    var pushPin: String?
    var isPushSent = false
    var needsReset = false
    var bulkState: RhoConnectClient.BulkSyncState?

    init(in connection: Connection) throws(StoreError) {
        guard
            let row = try connection.first(
                "SELECT client_id, session, user_name, server, token, token_sent, reset, bulksync_state FROM client_info")
        else { throw StoreError(.corrupt, "client_info has no row") }
        clientID = row[0].text ?? ""
        session = row[1].text
        userName = row[2].text
        server = row[3].text
        pushPin = row[4].text
        isPushSent = row[5].integer == 1
        needsReset = row[6].integer == 1
        bulkState = row[7].integer.flatMap { RhoConnectClient.BulkSyncState(rawValue: Int($0)) }
    }

    /// Sets columns of the row.
    static func set(_ assignments: String, _ values: [Value] = [], in connection: Connection) throws(StoreError) {
        try connection.execute("UPDATE client_info SET \(assignments)", values)
    }

    /// Stores a session that the server has issued again. A logout meanwhile wins.
    static func renew(session: String, in connection: Connection) throws(StoreError) {
        try set("session = ?1 WHERE session IS NOT NULL", [.text(session)], in: connection)
    }
}

/// The bookkeeping of one model.
struct SourceRow: Sendable {
    var token = ""
    var schemaToken = ""
    /// Whether the server may have a page for this client that was not committed here. It sends that page again, as the data was at its first time.
    var awaitsPage = false
    var lastSearch = ""
    var metadata: String?
    var errors: String?
    var search: String?
    var searchToken = ""

    init(_ sourceID: Int, in connection: Connection) throws(StoreError) {
        guard
            let row = try connection.first(
                "SELECT token, schema_token, metadata, errors, search, search_token, awaits_page, last_search FROM sources WHERE source_id = ?1",
                [Value(sourceID)])
        else { throw StoreError(.notFound, "there is no source \(sourceID)") }
        token = row[0].text ?? ""
        schemaToken = row[1].text ?? ""
        metadata = row[2].text
        errors = row[3].text
        search = row[4].text
        searchToken = row[5].text ?? ""
        awaitsPage = row[6].integer == 1
        lastSearch = row[7].text ?? ""
    }

    /// The assignments for a model whose pages the server has forgotten.
    static let withoutPages = "token = '', schema_token = '', awaits_page = 0"

    /// Sets columns of the row.
    static func set(_ assignments: String, _ values: [Value] = [], of sourceID: Int, in connection: Connection) throws(StoreError) {
        try connection.execute("UPDATE sources SET \(assignments) WHERE source_id = ?\(values.count + 1)", values + [Value(sourceID)])
    }
}
