public import Foundation
import MobileStore

/// The progress of each synchronization group: a token that the server makes and only the server reads, written in the transaction of the rows that
/// it stands for.
extension PackageDatabase {
    /// Returns the token of a group; nil before its first synchronization.
    package final func token(ofGroup group: String) throws -> String? {
        try read { try $0.storedRow([GroupColumn.token], "WHERE \"name\" = ?1", [.text(group)])?.optionalText(.token) }
    }

    /// Returns the time when a group was last synchronized; nil before the first time.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func lastSynchronization(ofGroup group: String) throws -> Date? {
        try read { try Self.lastSynchronization(of: group, $0) }
    }

    /// The same without blocking a cooperative thread.
    public final func lastSynchronization(ofGroup group: String) async throws -> Date? {
        try await read { try Self.lastSynchronization(of: group, $0) }
    }

    private static func lastSynchronization(of group: String, _ connection: Connection) throws -> Date? {
        guard let row = try connection.storedRow([GroupColumn.synchronized], "WHERE \"name\" = ?1", [.text(group)]),
            let text = try row.optionalText(.synchronized)
        else { return nil }
        guard let time = ISO8601Text.dateTime(text) else { throw row.damaged(.synchronized, .text(text), "a date and time") }
        return time
    }
}

extension Transaction {
    /// Stores the progress of a group whose rows were imported in this transaction.
    /// - Parameter records: by era of a back end, how far its record had come when the rows were read; empty (default) where nothing has changed.
    package func setToken(_ token: String?, ofGroup group: String, records: [String: Int64] = [:]) throws {
        try dropBasesOfUnchangedRows(inGroup: group)
        try noteSeenAttributes(inGroup: group)
        let seen = try SeenRecords(ofGroup: group, connection).seeing(records) { try database.hasPendingOperations(connection) }
        try connection.execute(
            "INSERT OR REPLACE INTO \"_group\" (\"name\", \"token\", \"synchronized\", \"records\") VALUES (?1, ?2, ?3, ?4)",
            [.text(group), Value(token), .text(ISO8601Text.text(database.environment.now())), seen.stored])
    }

    /// Forgets the progress of one group: its next synchronization brings everything.
    package func forgetToken(ofGroup group: String) throws {
        try connection.execute("UPDATE \"_group\" SET \"token\" = NULL WHERE \"name\" = ?1", [.text(group)])
    }

    /// Forgets the progress of all groups: the next synchronization brings everything. Pending changes stay, and with them what the groups have seen.
    package func forgetTokens() throws { try connection.execute("UPDATE \"_group\" SET \"token\" = NULL, \"synchronized\" = NULL WHERE TRUE") }
}
