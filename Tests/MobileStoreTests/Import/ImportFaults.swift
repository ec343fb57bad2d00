import FaultInjection
import MobileStore
import TestSupport

/// Repeats an import; in each run another allocation, or another operation of the storage, fails.
enum ImportFaults {
    /// The result of one run.
    struct Outcome {
        /// The number of the allocation or operation that was to fail, from 0 on.
        let number: Int64
        let error: (any Error)?
    }

    private struct Undo: Error {}

    /// Calls `judge` with the content that each run has left, before it is undone. Without memory, SQLite sometimes rolls the whole
    /// transaction back; `judge` then sees the content outside of it. In the last run, fewer allocations take place.
    /// - Returns: the number of runs that threw an error.
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

    /// Makes a new database for each run, which `prepare` fills without failures. `judge` sees the content that the run has left, and
    /// whether it reached the operation: in the last run, fewer operations take place.
    /// - Returns: the number of runs that threw an error.
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
