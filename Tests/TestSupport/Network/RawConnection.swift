internal import Foundation

/// A TCP connection that sends the bytes of a test and does not know HTTP: an attacker's view of a server.
public final class RawConnection: Sendable {
    private let descriptor: Int32
    /// The longest time that a test waits for the server.
    public static let patience: Duration = .seconds(15)

    /// Connects to a port of the loopback interface.
    /// - Parameter receiveBuffer: the bytes that the system keeps for a test that does not receive; nil for the system's default.
    public init(port: UInt16, receiveBuffer: Int32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if var receiveBuffer { setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size)) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafeBytes(of: &address) {
            connect(descriptor, $0.bindMemory(to: sockaddr.self).baseAddress, socklen_t($0.count))
        }
        // The end of the object closes the socket, also of one that was never returned. A second call of `close` would hit a descriptor of another thread.
        guard connected == 0 else { throw POSIXError(.ECONNREFUSED) }
    }

    deinit { close(descriptor) }

    /// Sends the bytes, or the part that the server accepts.
    /// - Returns: false when the server has closed the connection.
    @discardableResult
    public func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Sends the bytes, or the part that the server accepts.
    /// - Returns: false when the server has closed the connection.
    @discardableResult
    public func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Receives the next bytes of the server: empty when it closes, nil when nothing arrives in time.
    public func receive(within time: Duration = patience) -> [UInt8]? {
        var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&waited, 1, Int32(time / .milliseconds(1))) > 0 else { return nil }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Array(buffer[..<count]) : []
    }

    /// Receives all bytes until the server closes; nil when it does not.
    public func receiveAll(within time: Duration = patience) -> [UInt8]? {
        let end = ContinuousClock.now + time
        var bytes: [UInt8] = []
        while case let left = end - .now, left > .zero, let piece = receive(within: left) {
            guard !piece.isEmpty else { return bytes }
            bytes += piece
        }
        return nil
    }

    /// Receives all bytes until the server closes, as text; nil when it does not.
    public func receiveText(within time: Duration = patience) -> String? { receiveAll(within: time).map { String(decoding: $0, as: UTF8.self) } }

    /// Receives the first line of the next response and returns its status; nil without one.
    public func status(within time: Duration = patience) -> Int? {
        let end = ContinuousClock.now + time
        var bytes: [UInt8] = []
        while case let left = end - .now, left > .zero, let piece = receive(within: left), !piece.isEmpty {
            bytes += piece
            let words = String(decoding: bytes, as: UTF8.self).split(separator: " ", maxSplits: 2)
            if words.count > 2 { return Int(words[1]) }
        }
        return nil
    }

    /// Sends single bytes with a pause after each, until the server closes.
    /// - Returns: whether the server closed.
    public func dribble(_ byte: UInt8, pause: Duration, within time: Duration = patience) -> Bool {
        let end = ContinuousClock.now + time
        while ContinuousClock.now < end {
            guard send([byte]) else { return true }
            if receive(within: pause)?.isEmpty == true { return true }
        }
        return false
    }
}
