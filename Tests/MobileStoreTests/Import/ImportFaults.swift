import FaultInjection
import MobileStore
import TestSupport

/// Runs an import over and over while one allocation, or one operation of the storage, after the other fails.
enum ImportFaults {
    /// What one run came to.
    struct Outcome {
        /// The number of the allocation or operation that was to fail, from 0 on.
        let number: Int64
        let error: (any Error)?
    }

    private struct Undo: Error {}

    /// `judge` sees what each run has left before it is undone; without memory SQLite sometimes takes the whole transaction back, then what
    /// is left is seen outside of it. The last run is the one that has fewer allocations.
    /// - Returns: how many runs threw an error.
    static func failEachAllocation(
        in database: Database, of importing: (Connection) throws -> Void, judge: (Outcome, Connection) throws -> Void
    ) throws -> Int {
        var failures = 0
        for allocation: Int64 in 0... {
            var hasFailed = false, isRolledBack = false, thrown: (any Error)?
            do {
                try database.write { connection in
                    fault_memory_fail_after(allocation, false)
                    do { try importing(connection) } catch { thrown = error }
                    hasFailed = fault_memory_has_failed()
                    fault_memory_fail_after(-1, false)
                    do { _ = try connection.rows("SELECT 1") } catch { isRolledBack = true }
                    if !isRolledBack { try judge(Outcome(number: allocation, error: thrown), connection) }
                    throw Undo()
                }
            } catch is Undo {}
            if isRolledBack { try database.read { try judge(Outcome(number: allocation, error: thrown), $0) } }
            failures += thrown == nil ? 0 : 1
            if !hasFailed { break }
        }
        return failures
    }

    /// Each run has a new database, which `prepare` fills while nothing fails. `judge` sees what the run has left, and whether the
    /// operation was reached: the last run is the one that has fewer.
    /// - Returns: how many runs threw an error.
    static func failEachOperation(
        in directory: TemporaryDirectory, _ change: (inout ConnectionProfile) -> Void = { _ in }, prepare: (Database) throws -> Void,
        of importing: (Connection) throws -> Void, judge: (Outcome, _ hasFailed: Bool, Database) throws -> Void
    ) throws -> Int {
        let storage = fault_storage_create(nil)!
        defer { fault_storage_free(storage) }
        let name = String(cString: fault_storage_name(storage))
        var failures = 0
        for operation: Int64 in 0... {
            var profile = ConnectionProfile(path: directory.file("faults-\(operation).db"))
            profile.storageLayers = [StorageLayer("faults") { _ in name }]
            change(&profile)
            let database = try Database(profile)
            try prepare(database)
            var thrown: (any Error)?
            fault_storage_fail_after(storage, operation, 10, false)  // SQLITE_IOERR
            do { try database.write { try importing($0) } } catch { thrown = error }
            let hasFailed = fault_storage_has_failed(storage)
            fault_storage_fail_after(storage, -1, 0, false)
            failures += thrown == nil ? 0 : 1
            try judge(Outcome(number: operation, error: thrown), hasFailed, database)
            try database.close()
            if !hasFailed { break }
        }
        return failures
    }
}
