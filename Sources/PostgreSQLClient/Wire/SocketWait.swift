#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#endif

/// The time until which a call waits.
typealias Deadline = ContinuousClock.Instant

/// Waits for a socket.
enum SocketWait {
    /// The directions in which a socket can be ready.
    struct Events: OptionSet {
        let rawValue: Int16
        static let read = Events(rawValue: Int16(POLLIN))
        static let write = Events(rawValue: Int16(POLLOUT))
    }

    /// Waits until a socket is ready, broken or at its end.
    /// - Returns: the directions in which it is ready, both where it is broken; empty when the deadline passes.
    static func wait(_ socket: Int32, for events: Events, until deadline: Deadline) -> Events {
        var waited = pollfd(fd: socket, events: events.rawValue, revents: 0)
        while true {
            // Rounded up, so that the wait does not end before the deadline; cut, so that any deadline fits.
            let left = max(.zero, deadline - .now), milliseconds = min((left / .milliseconds(1)).rounded(.up), 1_000_000)
            let count = unsafe poll(&waited, 1, Int32(milliseconds))
            if count > 0 {
                let ready = Events(rawValue: waited.revents).intersection([.read, .write])
                return ready.isEmpty ? [.read, .write] : ready
            }
            if count < 0 && errno != EINTR { return [.read, .write] }  // the caller's next call reports the failure
            if Deadline.now >= deadline { return [] }
        }
    }

    /// Ends the traffic of a socket in both directions, so that closing it sends nothing.
    static func cut(_ socket: Int32) { _ = shutdown(socket, Int32(SHUT_RDWR)) }
}
