internal import MobileStore

/// Which rows a client wanted to create and could not: what refers to one of them later is rejected like it.
///
/// A row is remembered until it is created after all, until its client unsubscribes, or until ``limit`` later ones of the same client
/// were rejected. The record of the decision is the back end's; from there rows come here as the keys of new rows do (see ``KeyMap``).
struct RejectedRows {
    let cache: PackageCache

    /// Rows of one client that are remembered.
    static let limit: Int64 = 10_000

    func contains(_ surrogateKey: Int64, of client: String, in connection: Connection) throws -> Bool {
        try connection.first(
            "SELECT 1 FROM _rejected_row WHERE package = ?1 AND client = ?2 AND _sk = ?3", row(surrogateKey, client)) != nil
    }

    func add(_ surrogateKey: Int64, operation: Int64, of client: String, in connection: Connection) throws {
        _ = try connection.execute(
            """
            INSERT INTO _rejected_row (package, client, _sk, operation) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (package, client, _sk) DO UPDATE SET operation = max(operation, excluded.operation)
            """, row(surrogateKey, client) + [.integer(operation)])
    }

    /// The row was created after all.
    func remove(_ surrogateKey: Int64, of client: String, in connection: Connection) throws {
        _ = try connection.execute("DELETE FROM _rejected_row WHERE package = ?1 AND client = ?2 AND _sk = ?3", row(surrogateKey, client))
    }

    /// Forgets what is too much; the newest stay.
    func prune(_ client: String, in connection: Connection) throws {
        _ = try connection.execute(
            """
            DELETE FROM _rejected_row WHERE package = ?1 AND client = ?2 AND operation <= (
                SELECT operation FROM _rejected_row WHERE package = ?1 AND client = ?2 ORDER BY operation DESC LIMIT 1 OFFSET ?3)
            """, [.integer(cache.id), .text(client), .integer(Self.limit)])
    }

    func forget(_ client: String, in connection: Connection) throws {
        _ = try connection.execute("DELETE FROM _rejected_row WHERE package = ?1 AND client = ?2", [.integer(cache.id), .text(client)])
    }

    private func row(_ surrogateKey: Int64, _ client: String) -> [Value] { [.integer(cache.id), .text(client), .integer(surrogateKey)] }
}
