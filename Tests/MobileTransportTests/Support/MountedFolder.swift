#if canImport(Glibc)
    import Foundation

    /// Threads that see another folder in place of the system's certificates. libcurl's search path is built in, and no variable changes it.
    enum MountedFolder {
        /// The reason why a thread did not get its own view.
        struct Failure: Error, CustomStringConvertible { let description: String }

        private typealias Unshare = @convention(c) (Int32) -> Int32
        private typealias Mount =
            @convention(c) (UnsafePointer<CChar>?, UnsafePointer<CChar>, UnsafePointer<CChar>?, UInt, UnsafeRawPointer?) -> Int32
        // Constants of <sched.h> and <sys/mount.h>, which Swift does not import.
        private static let newNamespace: Int32 = 0x0002_0000, bind: UInt = 4096, recursive: UInt = 16384, isPrivate: UInt = 1 << 18

        /// Whether this process has the permission: as root, outside of containers that forbid it.
        static let isAllowed = (try? view("/tmp", at: "/tmp") { true }) ?? false

        /// Runs work on a new thread, for which `folder` is mounted at `place`. The mount is invisible to other threads, and ends with the thread.
        static func view<Result: Sendable>(_ folder: String, at place: String, _ work: @escaping @Sendable () throws -> Result) throws -> Result {
            let box = Box<Result>()
            let thread = Thread {
                box.result = Swift.Result {
                    try enter(folder, place)
                    return try work()
                }
                box.done.signal()
            }
            thread.stackSize = 4 << 20
            thread.start()
            box.done.wait()
            guard let result = box.result else { throw Failure(description: "the thread has left nothing") }
            return try result.get()
        }

        private final class Box<Result>: @unchecked Sendable {  // written before the semaphore is signalled, read after
            var result: Swift.Result<Result, any Error>?
            let done = DispatchSemaphore(value: 0)
        }

        private static func enter(_ folder: String, _ place: String) throws {
            guard let unshare = dlsym(nil, "unshare"), let mount = dlsym(nil, "mount") else { throw Failure(description: "no namespaces") }
            let makeNamespace = unsafeBitCast(unshare, to: Unshare.self), mounted = unsafeBitCast(mount, to: Mount.self)
            guard makeNamespace(newNamespace) == 0 else { throw Failure(description: "unshare: \(String(cString: strerror(errno)))") }
            guard mounted("none", "/", nil, recursive | isPrivate, nil) == 0, mounted(folder, place, nil, bind, nil) == 0 else {
                throw Failure(description: "mount: \(String(cString: strerror(errno)))")
            }
        }
    }
#endif
