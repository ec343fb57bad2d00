internal import MobileStore

/// The rows that a client tried to create and that were rejected, and those whose primary key another row has got. Later operations that refer to one of them are rejected as well.
///
/// A row is remembered until it is created after all, until its client unsubscribes, or until ``limit`` later rows of the same client were rejected.
/// The back end holds the record of the decision. From there, rejected rows are imported like the keys of new rows (see ``KeyMap``).
struct RejectedRows: Hashable {
    /// The package's row in `_package`.
    let package: Int64

    /// The maximum number of remembered rows per client.
    static let limit: Int64 = 10_000

    /// In place of a client: the rows whose primary key another row has got. The back end was restored and gave the key again, or it gives keys of
    /// deleted rows again. Devices may still know these rows by that key.
    static let displaced = ""

    func contains(_ surrogateKey: Int64, of client: String, in connection: any StateConnection) throws -> Bool {
        try connection.first(
            "SELECT 1 FROM _rejected_row WHERE package = ?1 AND client = ?2 AND _sk = ?3", row(surrogateKey, client)) != nil
    }

    func add(_ surrogateKey: Int64, operation: Int64, of client: String, in connection: any StateConnection) throws {
        _ = try connection.execute(
            """
            INSERT INTO _rejected_row (package, client, _sk, operation) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (package, client, _sk) DO UPDATE SET operation = excluded.operation WHERE _rejected_row.operation < excluded.operation
            """, row(surrogateKey, client) + [.integer(operation)])
    }

    /// Removes a row that was created after all, or once more.
    func remove(_ surrogateKey: Int64, of client: String, in connection: any StateConnection) throws {
        _ = try connection.execute(
            "DELETE FROM _rejected_row WHERE package = ?1 AND client IN (?2, ?4) AND _sk = ?3", row(surrogateKey, client) + [.text(Self.displaced)])
    }

    /// Removes the rows beyond ``limit``; the newest stay.
    func prune(_ client: String, in connection: any StateConnection) throws {
        _ = try connection.execute(
            """
            DELETE FROM _rejected_row WHERE package = ?1 AND client = ?2 AND operation <= (
                SELECT operation FROM _rejected_row WHERE package = ?1 AND client = ?2 ORDER BY operation DESC LIMIT 1 OFFSET ?3)
            """, [.integer(package), .text(client), .integer(Self.limit)])
    }

    func forget(_ client: String, in connection: any StateConnection) throws {
        _ = try connection.execute("DELETE FROM _rejected_row WHERE package = ?1 AND client = ?2", [.integer(package), .text(client)])
    }

    private func row(_ surrogateKey: Int64, _ client: String) -> [Value] { [.integer(package), .text(client), .integer(surrogateKey)] }
}
