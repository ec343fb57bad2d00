import FaultInjection
import MobileCore
import Testing

/// Runs `work` once per allocation, which fails once or permanently. Without a failure, `work` must always return the same bytes.
func failEachAllocation(_ work: () throws(CoreError) -> [UInt8]) throws {
    let expected = try work()
    for stays in [false, true] {
        var failures = 0
        for allocation in 0..<2000 {
            fault_memory_fail_after(Int64(allocation), stays)
            let result = Result { () throws(CoreError) in try work() }
            let failed = fault_memory_has_failed()
            fault_memory_fail_after(-1, false)
            switch result {
            case .success(let bytes): #expect(bytes == expected)
            case .failure(let error):
                #expect(error.code == MC_ERROR_NO_MEMORY, "allocation \(allocation): \(error.message)")
                failures += 1
            }
            guard failed else { break }
        }
        #expect(failures > 1)
    }
}
