#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#endif

/// A thread of the operating system that belongs to no pool.
package enum SystemThread {
    /// Runs `body` on a new detached thread.
    /// - Returns: false when the system cannot start one more thread; `body` does not run then.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let context = Unmanaged.passRetained(Body(body))
        #if canImport(Darwin)
            var thread: pthread_t?
        #else
            var thread = pthread_t()
        #endif
        let status = pthread_create(
            &thread, nil,
            { context in
                pthread_detach(pthread_self())
                Body.take(context).run()
                return nil
            }, context.toOpaque())
        if status != 0 { context.release() }
        return status == 0
    }

    /// Yields the processor to another runnable thread.
    package static func yield() { sched_yield() }

    /// A closure on its way through C.
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }

        /// - Parameter context: the argument of a thread's start, which is never nil; only some C libraries declare this.
        static func take(_ context: UnsafeMutableRawPointer?) -> Body { Unmanaged<Body>.fromOpaque(context!).takeRetainedValue() }
    }
}

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
