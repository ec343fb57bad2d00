import Foundation
import MobileStore

/// The time at which a deferred operation is sent again.
///
/// The next synchronization sends it for the first time without a delay. After that the delay grows from ``initial`` seconds, twice as long each time,
/// up to ``maximum`` seconds. Half of it is random, so that devices that met the same busy back end do not return together.
enum RetryTime {
    static let initial = 2
    static let maximum = 300

    /// Returns the delay in seconds after an answer.
    /// - Parameters:
    ///   - attempts: the number of deferrals so far, the last one included.
    ///   - random: 64 random bits.
    static func delay(attempts: Int64, random: UInt64) -> Double {
        guard attempts > 1 else { return 0 }
        let longest = attempts > 9 ? maximum : min(maximum, initial << Int(attempts - 2))
        return Double(longest) * (1 - 0.5 * Double(random >> 11) / Double((1 << 53) - 1))
    }

    /// The stored form: milliseconds since 1970.
    static func stored(_ date: Date) -> Int64 { Int64((date.timeIntervalSince1970 * 1000).rounded()) }
    static func date(_ stored: Int64) -> Date { Date(timeIntervalSince1970: Double(stored) / 1000) }
}

/// The reason of a deferral.
package struct ReplayDeferral: Sendable, Equatable {
    /// 409 or 503.
    package var code: Int64
    package var message: String
    package init(code: Int64, message: String) { (self.code, self.message) = (code, message) }
}

// MARK: Answers

extension Transaction {
    /// Notes in the record of an operation that the server has deferred it. The marks of its row stay: it is still submitted.
    func note(_ deferral: ReplayDeferral, of operation: Int64) throws {
        let deferrals = try connection.optionalNumber("SELECT \"deferrals\" FROM \"_outbox\" WHERE \"id\" = ?1", [.integer(operation)]) ?? 0
        let delay = RetryTime.delay(attempts: deferrals + 1, random: database.environment.random())
        try connection.execute(
            """
            UPDATE "_outbox" SET "deferred_code" = ?2, "deferred_message" = ?3, "deferrals" = ?4, "next_try" = ?5 WHERE "id" = ?1
            """,
            [
                .integer(operation), .integer(deferral.code), .text(deferral.message), .integer(deferrals + 1),
                .integer(RetryTime.stored(database.environment.now().addingTimeInterval(delay))),
            ])
    }
}

// MARK: Sending

extension PackageDatabase {
    /// The id of the last operation that is to be sent now; 0 when there is none. An operation that waits for its next try holds back all that were
    /// submitted after it: they may need it. A batch is sent as a whole.
    package final var lastSendableID: Int64 { get throws { try lastSendableID(ofClient: "") } }

    /// The same of operations that wait under a former client id.
    package final func lastSendableID(ofClient client: String) throws -> Int64 {
        // A time further away than any delay comes from a clock that was set back since.
        let now = RetryTime.stored(environment.now()), latest = now + Int64(RetryTime.maximum) * 1000, own = Value.text(client)
        return try read { connection in
            let held = try connection.optionalNumber(
                "SELECT min(\"batch\") FROM \"_outbox\" WHERE \"next_try\" > ?1 AND \"next_try\" <= ?2 AND \"client\" = ?3",
                [.integer(now), .integer(latest), own])
            guard let held else { return try connection.optionalNumber("SELECT max(\"id\") FROM \"_outbox\" WHERE \"client\" = ?1", [own]) ?? 0 }
            return try connection.optionalNumber(
                "SELECT max(\"id\") FROM \"_outbox\" WHERE \"id\" < ?1 AND \"client\" = ?2", [.integer(held), own]) ?? 0
        }
    }

    /// Notes that the operations up to `id` are about to be sent. **Until they are answered they are in doubt**: whether the server has done them is not
    /// known, not even of those that it had deferred before.
    /// - Returns: the id up to which operations have been in doubt before, to be passed to ``Transaction/endDoubt(at:)`` with the answers.
    package final func beginDoubt(through id: Int64) throws -> Int64 {
        try write("send operations") { transaction in
            let settings = PackageSettings(transaction.connection), before = try settings.integer(.inDoubt) ?? 0
            if id > before { try settings.set(.inDoubt, .integer(id)) }
            return before
        }
    }
}

extension Transaction {
    /// Notes that all operations with greater ids than `id` are answered or were not sent.
    package func endDoubt(at id: Int64) throws { try PackageSettings(connection).set(.inDoubt, .integer(id)) }

    /// Takes the operations of a cancelled row out of the outbox if the server has certainly done none of them: it has deferred each one every time it
    /// was sent.
    func withdrawDeferred(of entity: EntityMetadata, _ key: Int64) throws {
        let waiting = try connection.storedRows(
            [OutboxColumn.id, .deferrals], "WHERE \"entity\" = ?1 AND \"sk\" = ?2", [.text(entity.name), .integer(key)])
        guard !waiting.isEmpty else { return }
        let inDoubt = try PackageSettings(connection).integer(.inDoubt) ?? 0
        guard try waiting.allSatisfy({ try $0.integer(.id) > inDoubt && $0.integer(.deferrals) > 0 }) else { return }
        try followOperation(before: waiting.map { try $0.integer(.id) }.min() ?? 0, of: entity, key)
        for row in waiting { try removeFromOutbox(try row.integer(.id), of: entity, key) }
    }
}
