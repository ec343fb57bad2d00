import FaultInjection
import MobileCore
import Testing

/// The second thread of an import, without memory.
@Suite struct ImportThreadFaultTests {
    private let core: CorePool

    init() throws {
        core = try CorePool()
        try core.with(writer: true) { try exec($0, "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT); INSERT INTO t VALUES (1, 'before')") }
    }

    /// The number of the thread's allocation that fails, and whether it has failed.
    private struct Plan {
        var allocation: Int64
        let hasFailed: UnsafeMutablePointer<Bool>
    }

    /// Texts that have escapes and are carried from one piece of input to the next, and an object with named columns.
    private static let input: String = {
        let rows = (1...1500).map { row in
            "[\(row),\"\\u00e9\(String(repeating: "x", count: row % 100 == 0 ? 40_000 : row % 50))\"]"
        }
        return "[" + rows.joined(separator: ",") + "]"
    }()

    @Test func `without memory for any one allocation of the second thread an import says so, and leaves everything as it was`() throws {
        let plan = UnsafeMutablePointer<Plan>.allocate(capacity: 1), hasFailed = UnsafeMutablePointer<Bool>.allocate(capacity: 1)
        defer {
            plan.deallocate()
            hasFailed.deallocate()
        }
        hasFailed.initialize(to: false)
        plan.initialize(to: Plan(allocation: 0, hasFailed: hasFailed))
        var failures = 0
        while true {
            hasFailed.pointee = false
            let result = Result {
                try core.with(writer: true) { connection in
                    let rows = try CoreImport(connection, into: "t", [("id", MC_COLUMN_INTEGER), ("name", MC_COLUMN_TEXT)]) { options, _ in
                        options.threads = MC_IMPORT_THREADS_ON
                        options.thread_begins = {
                            let plan = $0!.assumingMemoryBound(to: Plan.self).pointee
                            fault_memory_tell(plan.hasFailed)
                            fault_memory_fail_after(plan.allocation, false)
                        }
                        options.thread_context = UnsafeMutableRawPointer(plan)
                    }
                    try rows.push(Self.input)
                    _ = try rows.finish()
                }
            }
            // The thread has ended with the import.
            if case .failure(let error) = result {
                #expect((error as? CoreError)?.code == MC_ERROR_NO_MEMORY, "allocation \(plan.pointee.allocation): \(error)")
                #expect(hasFailed.pointee)
                failures += 1
            }
            let count = try core.integer("SELECT count(*) FROM t")
            let name = try core.with(writer: true) { try texts($0, "SELECT substr(name, 1, 6) FROM t WHERE id = 1") }
            if case .failure = result {
                #expect(count == 1 && name == ["before"], "allocation \(plan.pointee.allocation)")
            } else {
                #expect(count == 1500 && name == ["éx"], "allocation \(plan.pointee.allocation)")
                if !hasFailed.pointee { break }
                try core.with(writer: true) { try exec($0, "DELETE FROM t; INSERT INTO t VALUES (1, 'before')") }
            }
            plan.pointee.allocation += 1
        }
        #expect(failures > 3)
    }
}
