internal import MobileMicrohttpd  // brings in the system's socket addresses

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#endif

/// The functions of the system's sockets that this module uses. This file is the module's only one that knows the C library, whose constants
/// have other types and names on each system.
enum SystemSocket {
    /// The direction that is shut down.
    enum Direction {
        case receiving, both

        fileprivate var how: Int32 {
            switch self {
            case .receiving: Int32(SHUT_RD)
            case .both: Int32(SHUT_RDWR)
            }
        }
    }

    /// Shuts a socket down: a thread that waits on it wakes up and finds the end. A socket that the other end has closed need not be shut down.
    static func shut(_ descriptor: Int32, _ direction: Direction) { _ = shutdown(descriptor, direction.how) }

    static func giveBack(_ descriptor: Int32) { _ = close(descriptor) }

    /// Returns the address of a connection's other end as text, without port; empty for families other than IPv4 and IPv6.
    static func text(of address: UnsafePointer<sockaddr>?) -> String {
        guard let address else { return "" }
        let length: Int
        switch Int32(address.pointee.sa_family) {
        case AF_INET: length = MemoryLayout<sockaddr_in>.size
        case AF_INET6: length = MemoryLayout<sockaddr_in6>.size
        default: return ""
        }
        var host = [CChar](repeating: 0, count: 64)
        guard getnameinfo(address, socklen_t(length), &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST) == 0 else { return "" }
        return String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Returns the 16 bytes of an IPv6 address; nil for any other text.
    static func bytes(ofIPv6 address: String) -> [UInt8]? {
        var parts = in6_addr()
        guard address.contains(":"), inet_pton(AF_INET6, address, &parts) == 1 else { return nil }
        return withUnsafeBytes(of: &parts) { Array($0) }
    }
}

/// Wakes a thread that waits for a descriptor.
final class SystemBell: Sendable {
    private let reading: Int32
    private let writing: Int32

    /// - Throws: ``ServerError/Code/cannotStart`` if the process has no descriptor left.
    init() throws(ServerError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw ServerError(.cannotStart, "cannot serve: the process has no file descriptor left") }
        (reading, writing) = (ends[0], ends[1])
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
    }

    deinit {
        _ = close(reading)
        _ = close(writing)
    }

    func ring() {
        var byte: UInt8 = 1
        // A full pipe wakes the thread as well.
        _ = write(writing, &byte, 1)
    }

    /// Waits until the bell rings, the descriptor is readable, or the time has passed.
    func wait(or descriptor: Int32, milliseconds: Int64) {
        var waited = [
            pollfd(fd: reading, events: Int16(POLLIN), revents: 0), pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
        ]
        guard poll(&waited, 2, Int32(clamping: milliseconds)) > 0, waited[0].revents != 0 else { return }
        var rung = [UInt8](repeating: 0, count: 64)
        while read(reading, &rung, rung.count) == rung.count {}
    }
}

/// The number of files and connections that the process may have open.
package enum DescriptorLimit {
    #if canImport(Glibc)
        private static var resource: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_NOFILE.rawValue) }
    #else
        private static var resource: Int32 { RLIMIT_NOFILE }
    #endif

    /// The present limit.
    package static var current: Int {
        var limit = rlimit()
        return getrlimit(resource, &limit) == 0 ? Int(clamping: limit.rlim_cur) : .max
    }

    /// Raises the limit of the process to the one that the system allows it.
    package static func raise() {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(resource, &limit)
    }
}

/// A TCP socket on which the system already queues connections. Created here and not by the daemon, which would not report the reason of a failure.
struct ListeningSocket {
    let descriptor: Int32
    /// The bound port: the one that the system chose, if 0 was requested.
    let port: UInt16

    /// - Throws: ``ServerError/Code/portInUse``, ``ServerError/Code/cannotListen``.
    init(address: String, port: UInt16) throws(ServerError) {
        var hints = addrinfo()
        hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        #if canImport(Glibc)
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
            hints.ai_socktype = SOCK_STREAM
        #endif
        var found: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(address, String(port), &hints, &found)
        guard status == 0, let target = found?.pointee else {
            throw ServerError(.cannotListen, "cannot listen on address \(address.prefix(80)): it names no address of a machine")
        }
        defer { freeaddrinfo(found) }
        let descriptor = socket(target.ai_family, target.ai_socktype, target.ai_protocol)
        guard descriptor >= 0 else { throw ListeningSocket.refused(address, port, errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        // Accepting must not block the loop: a client may have gone before it is accepted.
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        // A killed server leaves connections in TIME_WAIT; without this option its successor could not bind the same port.
        var yes: Int32 = 1
        _ = setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard bind(descriptor, target.ai_addr, target.ai_addrlen) == 0, listen(descriptor, 1024) == 0 else {
            let reason = errno
            SystemSocket.giveBack(descriptor)
            throw ListeningSocket.refused(address, port, reason)
        }
        self.descriptor = descriptor
        self.port = ListeningSocket.port(of: descriptor)
    }

    private static func refused(_ address: String, _ port: UInt16, _ reason: Int32) -> ServerError {
        switch reason {
        case EADDRINUSE:
            return ServerError(
                .portInUse, "cannot listen on port \(port): another process uses it; choose one with --port, or 0 for any free port")
        case EACCES:
            return ServerError(
                .cannotListen, "cannot listen on port \(port): this user may not; choose one above 1023 with --port, or 0 for any free port")
        default:
            let text = strerror(reason).map { String(cString: $0) } ?? "error \(reason)"
            return ServerError(.cannotListen, "cannot listen on address \(address.prefix(80)), port \(port): \(text)")
        }
    }

    private static func port(of descriptor: Int32) -> UInt16 {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutableBytes(of: &storage) { bytes in
            guard getsockname(descriptor, bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self), &length) == 0 else { return 0 }
            // The port is at the same position in the addresses of both families.
            let address = bytes.loadUnaligned(as: sockaddr_in.self)
            return UInt16(bigEndian: address.sin_port)
        }
    }
}
