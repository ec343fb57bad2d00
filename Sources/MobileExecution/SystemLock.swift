#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#endif

/// A lock of the operating system around a state.
///
/// Why not `Mutex`: when it is contended on Linux, it waits in code that the thread sanitizer does not see, so the sanitizer would report two bodies of one
/// lock as a race. With this lock, the sanitizer checks what the state guards.
package final class SystemLock<State>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    /// The state, and a byte after it. Without the byte an empty state, `()`, has the address of the object's header, which every thread reads, so the
    /// sanitizer would report each use of the lock by two threads.
    private var content: (state: State, byte: UInt8)

    package init(_ state: sending State) {
        content = (state, 0)
        let status = pthread_mutex_init(mutex, nil)
        precondition(status == 0, "no memory for a lock")
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` with the state, one thread at a time. A body must not take the same lock again.
    package func withLock<Result, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&content.state)
    }
}
