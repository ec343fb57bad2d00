import FaultInjection
import Foundation
import MobileSQLite
import TestSupport
import Testing

/// The database after a power cut at any moment of a load that was written through the coalescing layer.
/// `make simulate` cuts after every single change (`POWER_CUT_STEP=1` in the environment) instead of a sample of them.
@Suite struct PowerCutTests {
    private var step: Int { TestSetting.number("POWER_CUT_STEP") ?? 23 }

    @Test(
        "a power cut leaves a whole database: every committed transaction with FULL, with NORMAL those that a checkpoint had, and no gap behind them",
        arguments: ["FULL", "NORMAL"])
    func cut(synchronous: String) throws {
        let load = try RecordedLoad(synchronous: synchronous, transactions: 60)
        #expect(load.isCoalesced, "the load must be written in runs, or it shows nothing")
        let replay = try #require(fault_replay_create(load.storage))
        defer { fault_replay_free(replay) }
        let remains = load.directory.appending(path: "remains")
        try FileManager.default.createDirectory(at: remains, withIntermediateDirectories: true)

        var change = 0, cuts = 0, checkpointed: Int64 = -1, cutsBehindCheckpoints = 0
        while fault_replay_step(replay) {
            checkpointed = max(checkpointed, load.checkpointed(by: change))
            change += 1
            guard change % step == 0 else { continue }
            for variant in 0..<3 {
                #expect(fault_replay_write(replay, UInt64(change * 7 + variant), remains.path))
                let safe = synchronous == "FULL" ? fault_replay_mark(replay) - 1 : checkpointed
                try check(remains, of: load, safe: safe, change: change)
                cuts += 1
                cutsBehindCheckpoints += checkpointed > 0 ? 1 : 0
            }
        }
        #expect(cutsBehindCheckpoints > cuts / 2)
        #expect(Int64(change) == fault_storage_recorded(load.storage))
        #expect(cuts >= (step == 1 ? 2500 : 100))  // FULL and NORMAL together: 5,000 in the long run
        if step == 1 { print("synchronous=\(synchronous): the power was cut \(cuts) times in a load of \(change) changes") }
    }

    /// Checks the database after a cut. `safe`: the last transaction that the cut must not remove; -1 before the tables were made.
    private func check(_ remains: URL, of load: RecordedLoad, safe: Int64, change: Int) throws {
        try? FileManager.default.removeItem(at: remains.appending(path: "load.db-shm"))
        let database = try SQLiteHandle(remains.appending(path: "load.db").path)
        defer { database.close() }
        guard try database.first("SELECT count(*) FROM sqlite_master WHERE name = 'counter'") == ["1"] else {
            #expect(safe < 0, "cut after change \(change): the tables are gone")
            return
        }
        #expect(try database.first("PRAGMA integrity_check") == ["ok"], "cut after change \(change)")
        let state = try database.first("SELECT rows, bytes, batch FROM counter")
        guard state.count == 3, let batch = Int64(state[2]) else {
            #expect(safe < 0, "cut after change \(change): the counter is gone")
            return
        }
        #expect(try database.first("SELECT count(*), ifnull(sum(length(payload)), 0) FROM item") == Array(state[0...1]))
        #expect(load.committed.contains(batch), "cut after change \(change): transaction \(batch) was rolled back")
        #expect(batch >= safe, "cut after change \(change): transaction \(safe) is lost")
    }
}
