import Foundation
import MobileStore
import Synchronization

/// The last replay counter that was drawn: each change of a row here takes the next one, and each submission as its id.
///
/// **It is the greatest of those in the original-state tables and in the setting `replay_counter`, which takes it over before an original
/// state goes.** Why: each change leaves its counter in the original state of its row, so that nothing else must be written; a place of its
/// own would be one more page of the log for each object that is saved.
struct ReplayCounter: Sendable {
    var last: Int64
    /// What SQLite calls the version of the data: it changes when another process writes.
    let version: Int64
}

extension Transaction {
    /// A new replay counter: one more than the last, or the clock's seconds since 1970 if they are greater. Counters only grow, so that an
    /// operation's id is never used twice; and a row's counter grows although imports, which take the clock as it is, gave it the last one.
    /// The caller writes it to an original state, or calls ``keepCounter()``.
    func nextCounter(after counter: Int64 = 0) throws -> Int64 {
        var known = try replayCounter()
        known.last = max(known.last + 1, clockSeconds, counter + 1)
        remember(known)
        onRollback { [unowned self] in remember(nil) }
        return known.last
    }

    /// Writes the last counter where it stays. Before an original state goes, whose counter may be the last one.
    func keepCounter() throws {
        let last = try replayCounter().last
        guard last > keptCounter else { return }
        try PackageSettings(connection).set(.replayCounter, .integer(last))
        keptCounter = last
        onRollback { [unowned self] in keptCounter = 0 }
    }

    /// The clock's seconds since 1970, for rows that were not pending before.
    var clockSeconds: Int64 { Int64(database.environment.now().timeIntervalSince1970) }

    /// Nobody else writes while this transaction runs: so one look is enough.
    private func replayCounter() throws -> ReplayCounter {
        if let lastCounter { return lastCounter }
        let version = try connection.number("PRAGMA data_version")
        if let known = database.state.withLock({ $0.replayCounter }), known.version == version {
            lastCounter = known
            return known
        }
        let found = ReplayCounter(last: try connection.lastReplayCounter(metadata), version: version)
        remember(found)
        return found
    }

    private func remember(_ counter: ReplayCounter?) {
        lastCounter = counter
        database.state.withLock { $0.replayCounter = counter }
    }
}

extension Connection {
    /// The last replay counter that was drawn; 0 before the first.
    func lastReplayCounter(_ metadata: PackageMetadata) throws -> Int64 {
        var last = try PackageSettings(self).integer(.replayCounter) ?? 0
        for entity in metadata.storedEntities where !entity.isLocal {
            last = max(last, try optionalNumber("SELECT max(\"_rc\") FROM \(entity.sql.originalTable)") ?? 0)
        }
        return last
    }
}
