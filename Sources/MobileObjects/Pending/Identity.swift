import MobileExecution
import MobileStore

/// The identity of this database towards servers: its client id, the namespace of operation ids and of granted surrogate keys.
///
/// A copy of a database has the identity of its original, and must not continue under it: two operations would get one id, and two rows one key. So a copy
/// that finds out about itself takes a new identity. **Operations that it inherited keep the former client id**, with their ids and digests: the server
/// knows by these which ones the original has sent already. Only later operations, and rows that were not submitted yet, belong to the new identity.
extension Transaction {
    /// Takes a new identity while the database is open, see ``changeIdentity(renaming:)``. Objects of renumbered rows are stale afterwards.
    package func takeNewIdentity(renaming renamed: [Int64]) throws {
        try changeIdentity(renaming: renamed)
        database.hasRenumberedRows = true
    }

    /// Takes a new identity: another client id, no granted keys, no ranges of keys of the former one.
    /// - Parameter renamed: operations that are certainly this database's own, and get new ids: the server has others under theirs.
    func changeIdentity(renaming renamed: [Int64] = []) throws {
        let settings = PackageSettings(connection)
        let former = try settings.text(.clientID) ?? "", client = database.environment.randomGUID()
        // The claims stay with the operations of the former client: its rows may have keys of these ranges.
        let claims = try connection.keys(
            "SELECT \"first\" FROM \"_key_range\" WHERE \"first\" >= ?1 AND \"next\" > \"first\" ORDER BY \"first\"", [.integer(OwnKeyRange.lowest)])
        try connection.execute("UPDATE \"_outbox\" SET \"client\" = ?1 WHERE \"client\" = ''", [.text(former)])
        try connection.execute("UPDATE \"_accepted\" SET \"client\" = ?1 WHERE \"client\" = ''", [.text(former)])
        try settings.set(named: Self.claimsPrefix + former, .text(JSONValue.array(claims.map { .integer($0) }).description))
        try settings.set(.clientID, .text(client))
        try rename(renamed)
        let rows = try renumberUnsent(keepingOperationsOf: former)
        // Tokens hold for any client. Log records belong to the former one.
        let waiting = try connection.number("SELECT count(*) FROM \"_outbox\" WHERE \"client\" <> ''")
        database.environment.console.warn(
            "this database is a copy of that of client \(former), or was restored from a backup: it continues as client \(client), offers \(waiting) operations under the former id, and has renumbered \(rows) rows"
        )
    }

    private static let claimsPrefix = "claims."

    /// Gives new ids to operations that the server has certainly not done, in their order. They belong to the present client id from then on.
    package func rename(_ operations: [Int64]) throws {
        var names: [Int64: Int64] = [:]
        for id in operations.sorted() {
            let row = try connection.storedRow([OutboxColumn.entity, .key, .batch], "WHERE \"id\" = ?1", [.integer(id)])
            guard let row else { continue }
            let entity = try metadata.entity(named: row.text(.entity)), key = try row.integer(.key), batch = try row.integer(.batch)
            let new = try nextCounter()
            names[id] = new
            try connection.execute(
                "UPDATE \"_outbox\" SET \"id\" = ?2, \"batch\" = ?3, \"client\" = '' WHERE \"id\" = ?1",
                [.integer(id), .integer(new), .integer(names[batch] ?? new)])
            try connection.execute("UPDATE \"_outbox_large\" SET \"operation\" = ?2 WHERE \"operation\" = ?1", [.integer(id), .integer(new)])
            for table in ["_outbox", "_basis"] {
                try connection.execute("UPDATE \"\(table)\" SET \"follows\" = ?2 WHERE \"follows\" = ?1", [.integer(id), .integer(new)])
            }
            for table in entity.isLocal ? [] : [entity.sql.table, entity.sql.originalTable] {
                try connection.execute(
                    "UPDATE \(table) SET \"_rp\" = ?3, \"_rc\" = max(\"_rc\", ?3) WHERE \"_sk\" = ?1 AND \"_rp\" = ?2",
                    [.integer(key), .integer(id), .integer(new)])
            }
        }
        if !names.isEmpty { try keepCounter() }
    }

    /// Gives up all ranges of surrogate keys, and gives other keys to the rows of them that the server can only get from this database.
    /// - Returns: the number of rows.
    private func renumberUnsent(keepingOperationsOf former: String) throws -> Int {
        let ranges = try connection.storedRows([KeyRangeColumn.first, .last]).map { (first: try $0.integer(.first), last: try $0.integer(.last)) }
        try connection.execute("DELETE FROM \"_key_range\" WHERE TRUE")
        let inherited = Set(
            try connection.keys("SELECT \"sk\" FROM \"_outbox\" WHERE \"client\" = ?1 AND \"change\" = 'C'", [.text(former)]))
        let keys = try ranges.flatMap { try unsentKeys(from: $0.first, through: $0.last) }.filter { !inherited.contains($0) }
        return try renumber(keys)
    }
}

extension PackageDatabase {
    /// The client ids under which inherited operations wait, in the order of their oldest operations.
    package final var formerClients: [String] {
        get throws {
            try read {
                try $0.texts("SELECT \"client\" FROM \"_outbox\" WHERE \"client\" <> '' GROUP BY \"client\" ORDER BY min(\"id\")")
            }
        }
    }

    /// The claims of a former client, for uploads of its operations.
    package final func keyClaims(ofFormerClient client: String) throws -> [Int64] {
        let text = try read { try PackageSettings($0).value(named: "claims." + client)?.text }
        return try text.flatMap { try JSONValue(parsing: $0).array?.compactMap(\.integer) } ?? []
    }
}
