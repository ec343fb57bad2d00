#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#endif

/// A lock of the operating system around a state. Why not `Mutex`: jobs pass from thread to thread through the state, and the thread sanitizer cannot
/// see a contended `Mutex` on Linux, so it would report each job's contents as a race.
final class SystemLock<State>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var state: State

    init(_ state: State) {
        self.state = state
        let status = pthread_mutex_init(mutex, nil)
        precondition(status == 0, "no memory for a lock")
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` with the state, one thread at a time.
    func withLock<R>(_ body: (inout State) -> R) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&state)
    }
}

/// A thread of the operating system that belongs to no pool.
enum SystemThread {
    /// Runs `body` on a new detached thread.
    /// - Returns: false when the system cannot start one more thread; `body` does not run then.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
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

    /// A closure on its way through C.
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }

        /// - Parameter context: the argument of a thread's start, which is never nil; only some C libraries declare this.
        static func take(_ context: UnsafeMutableRawPointer?) -> Body { Unmanaged<Body>.fromOpaque(context!).takeRetainedValue() }
    }
}
