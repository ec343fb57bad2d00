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

extension PackageDatabase {
    /// The surrogate keys of rows that are earlier versions, by the names of their objects, as of the last synchronization of their groups: the server holds the
    /// present versions back, because a value in the back end does not fit its attribute. They come as soon as they fit. At most 1,000 of a group.
    ///
    ///     for (object, keys) in try crm.staleRows { print("\(object): \(keys.count) rows are not up to date") }
    ///
    /// - Throws: ``ObjectError/Code/store``.
    public final var staleRows: [String: [Int64]] {
        get throws { try read { try PackageSettings($0).staleRows } }
    }
}

extension Transaction {
    /// Notes the rows of a group that the server holds back, in place of those that it held back before.
    package func setStaleRows(_ rows: [String: [Int64]], ofGroup group: String) throws {
        try PackageSettings(connection).setStaleRows(rows, ofGroup: group)
    }

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
    package func forgetTokens() throws {
        try connection.execute("UPDATE \"_group\" SET \"token\" = NULL, \"synchronized\" = NULL WHERE TRUE")
        try PackageSettings(connection).forgetStaleRows()
    }
}
