public import Foundation
package import MobileStore

/// How far each synchronization group has come: a token that the server made and only the server reads, written in the transaction of the
/// rows that it stands for.
extension PackageDatabase {
    /// The token of a group; nil before its first synchronization.
    package final func token(ofGroup group: String) throws -> String? {
        try read { try $0.storedRow([GroupColumn.token], "WHERE \"name\" = ?1", [.text(group)])?.optionalText(.token) }
    }

    /// When a group was last synchronized; nil before the first time.
    public final func lastSynchronization(ofGroup group: String) throws -> Date? {
        try read { connection in
            guard let row = try connection.storedRow([GroupColumn.synchronized], "WHERE \"name\" = ?1", [.text(group)]),
                let text = try row.optionalText(.synchronized)
            else { return nil }
            guard let time = ISO8601Text.dateTime(text) else { throw row.damaged(.synchronized, .text(text), "a date and time") }
            return time
        }
    }

    /// The GUID of this database: the namespace of its operation ids.
    package final var clientID: String {
        get throws { try read { try PackageSettings($0).text(.clientID) ?? "" } }
    }

    /// Whether the package is subscribed.
    package final var isSubscribedLocally: Bool {
        get throws { try read { try PackageSettings($0).integer(.subscribed) == 1 } }
    }

    /// All operations with smaller ids are settled: the server may forget them.
    package final var settledBelow: Int64 {
        get throws {
            try read { connection in
                if let first = try connection.optionalNumber("SELECT min(\"id\") FROM \"_outbox\"") { return first }
                return try connection.lastReplayCounter(metadata) + 1
            }
        }
    }

    /// The id of the operation that was submitted last of those that wait; 0 when none waits.
    package final var lastOutboxID: Int64 {
        get throws { try read { try $0.optionalNumber("SELECT max(\"id\") FROM \"_outbox\"") ?? 0 } }
    }

    /// A value that a module above keeps with the database, by a name of its own; nil where there is none.
    package final func setting(_ name: String) throws -> Value? {
        try read { try PackageSettings($0).value(named: "x." + name) }
    }
}

extension Transaction {
    package func setToken(_ token: String?, ofGroup group: String) throws {
        try connection.execute(
            "INSERT OR REPLACE INTO \"_group\" (\"name\", \"token\", \"synchronized\") VALUES (?1, ?2, ?3)",
            [.text(group), Value(token), .text(ISO8601Text.text(database.environment.now()))])
    }

    /// Forgets how far groups have come: the next synchronization brings everything.
    package func forgetTokens() throws { try connection.execute("DELETE FROM \"_group\" WHERE TRUE") }

    package func setSubscribed(_ isSubscribed: Bool) throws {
        try PackageSettings(connection).set(.subscribed, .integer(isSubscribed ? 1 : 0))
    }

    package func setSetting(_ name: String, _ value: Value) throws {
        try PackageSettings(connection).set(named: "x." + name, value)
    }

    /// Takes a range of surrogate keys that the server granted.
    package func grantKeyRange(first: Int64, last: Int64) throws {
        try database.keyGenerator.grant(first: first, last: last, in: self)
    }

    /// Empties the client data of the package: rows, pending changes, outbox, logs, tokens; the package is unsubscribed then. Keys, settings,
    /// personalization and local objects stay. SMP 2.3: `cleanAllData`.
    package func cleanAllData() throws {
        try keepCounter()
        for entity in metadata.storedEntities where !entity.isLocal {
            try connection.execute("DELETE FROM \(entity.sql.table)")
            try connection.execute("DELETE FROM \(entity.sql.originalTable)")
        }
        for table in ["_outbox", "_outbox_large", "_log_record", "_change_log", "_group", "_subscription"] {
            try connection.execute("DELETE FROM \(EntitySQL.quote(table))")
        }
        try setSubscribed(false)
        sweepsLargeValues = true
    }
}

extension PackageDatabase {
    /// Empties the client data of the package and leaves it unsubscribed. SMP 2.3: `cleanAllData`.
    /// - Throws: ``ObjectError/Code/store``.
    public final func cleanAllData() throws { try write("clean all data") { try $0.cleanAllData() } }

    /// The same without blocking a cooperative thread.
    public final func cleanAllData() async throws { try await write("clean all data") { try $0.cleanAllData() } }
}
