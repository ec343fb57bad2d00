import Foundation

/// The memory of this process.
enum ResidentMemory {
    /// The largest resident memory so far, in bytes. Other tests run at the same time, so limits are far above what these take.
    static var largest: Int {
        var usage = rusage()
        // RUSAGE_SELF is 0 everywhere, but its type differs between C libraries.
        getrusage(.init(0), &usage)
        #if canImport(Darwin)
            return usage.ru_maxrss
        #else
            return usage.ru_maxrss * 1024
        #endif
    }
}
