import FaultInjection
import MobileCore
import MobileSQLite
import Testing

/// Large values without memory or with a failing disk: each allocation and each operation on a file fails once.
@Suite struct BlobFaultTests {
    @Test("an allocation that fails is reported as that, the values are as they were, and no memory is lost", arguments: BlobWork.allCases)
    func memory(work: BlobWork) throws {
        let lost = try leftOver { try Self.failMemory(in: work) }
        #expect(lost == layerSize())
    }

    @Test("an operation on a file that fails, alone or for good, is reported as that, and the values are as they were", arguments: BlobWork.allCases)
    func storage(work: BlobWork) throws {
        for stays in [false, true] {
            let lost = try leftOver { try Self.failStorage(in: work, stays: stays) }
            #expect(lost == layerSize())
        }
    }

    private static func failStorage(in work: BlobWork, stays: Bool) throws {
        let blobs = try FaultyBlobs()
        var failures = 0
        for operations in Int64(0)... {
            try blobs.prepare(work)
            fault_storage_fail_after(blobs.storage, operations, SQLITE_IOERR, stays)
            let failure = try Self.failure { try blobs.perform(work) }
            let hasFailed = fault_storage_has_failed(blobs.storage)
            fault_storage_fail_after(blobs.storage, -1, 0, false)
            if let failure {
                failures += 1
                #expect(hasFailed && failure.code == MC_ERROR_IO, "\(work), operation \(operations): \(failure)")
            }
            try blobs.settle(work, isDone: failure == nil)
            if !hasFailed { break }
        }
        #expect(failures > 0)
        try blobs.checkIntegrity()
    }

    private static func failMemory(in work: BlobWork) throws {
        let blobs = try FaultyBlobs()
        var failures = 0
        for allocations in Int64(0)... {
            try blobs.prepare(work)
            fault_memory_fail_after(allocations, false)
            let failure = try Self.failure { try blobs.perform(work) }
            let hasFailed = fault_memory_has_failed()
            fault_memory_fail_after(-1, false)
            if let failure {
                failures += 1
                #expect(hasFailed && failure.code == MC_ERROR_NO_MEMORY, "\(work), allocation \(allocations): \(failure)")
            }
            try blobs.settle(work, isDone: failure == nil)
            if !hasFailed { break }
        }
        #expect(failures > 0)
        try blobs.checkIntegrity()
    }

    /// Returns the core's error; throws all other errors.
    private static func failure(_ body: () throws -> Void) throws -> CoreError? {
        do {
            try body()
            return nil
        } catch let error as CoreError {
            return error
        }
    }
}
