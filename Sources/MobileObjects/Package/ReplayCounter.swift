import Foundation
import MobileExecution
import MobileStore

/// The last replay counter that was drawn. Each change of a row here takes the next one, and each submission takes one as its id.
///
/// **It is the greatest of those in the original-state tables and in the setting `replay_counter`, which stores it before an original
/// state is removed.** Why: each change leaves its counter in the original state of its row, so that nothing else must be written. A
/// separate place would add one page to the log for each object that is saved.
struct ReplayCounter: Sendable {
    var last: Int64
    /// SQLite's version of the data, which changes when another process writes.
    let version: Int64
}

extension Transaction {
    /// Draws a new replay counter: one more than the last, or the clock's seconds since 1970 if they are greater. Counters only grow, so that an
    /// operation's id is never used twice: also not after a rollback, where objects may have seen it. A row's counter also grows after an
    /// import, which sets it to the clock's seconds.
    /// The caller writes it to an original state, or calls ``keepCounter()``.
    func nextCounter(after counter: Int64 = 0) throws -> Int64 {
        var known = try replayCounter()
        known.last = max(known.last + 1, clockSeconds, counter + 1, database.state.withLock { $0.lastSeenCounter } + 1)
        remember(known)
        onRollback { [unowned self] in remember(nil) }
        return known.last
    }

    /// Notes that objects may have been read with the counters drawn so far, although the transaction may be rolled back. An object that is
    /// not read again would otherwise pass for the version of another change.
    func noteSeenCounters() {
        guard let last = lastCounter?.last else { return }
        database.state.withLock { $0.lastSeenCounter = max($0.lastSeenCounter, last) }
    }

    /// Stores the last counter in the settings. Called before an original state is removed, because its counter may be the last one.
    func keepCounter() throws {
        let last = try replayCounter().last
        guard last > keptCounter else { return }
        try PackageSettings(connection).set(.replayCounter, .integer(last))
        keptCounter = last
        onRollback { [unowned self] in keptCounter = 0 }
    }

    /// The clock's seconds since 1970, for rows that were not pending before.
    var clockSeconds: Int64 { Int64(database.environment.now().timeIntervalSince1970) }

    /// Other writers wait while this transaction runs, so one read is enough.
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
    /// Returns the last replay counter that was drawn; 0 before the first.
    func lastReplayCounter(_ metadata: PackageMetadata) throws -> Int64 {
        var last = try PackageSettings(self).integer(.replayCounter) ?? 0
        for entity in metadata.storedEntities where !entity.isLocal {
            last = max(last, try optionalNumber("SELECT max(\"_rc\") FROM \(entity.sql.originalTable)") ?? 0)
        }
        return last
    }
}
