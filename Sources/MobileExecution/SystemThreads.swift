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

    /// A closure on its way through C.
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }

        /// - Parameter context: the argument of a thread's start, which is never nil; only some C libraries declare this.
        static func take(_ context: UnsafeMutableRawPointer?) -> Body { Unmanaged<Body>.fromOpaque(context!).takeRetainedValue() }
    }
}
