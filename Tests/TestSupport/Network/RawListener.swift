internal import Foundation

/// A port of the loopback interface that answers one connection with bytes of a test, or with none, and closes it.
public final class RawListener: Sendable {
    private let descriptor: Int32
    /// The port, which the system has chosen.
    public let port: UInt16

    /// Listens, and answers the first connection once it has sent its first bytes.
    public init(answering answer: String) throws {
        let listening = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in(), length = socklen_t(MemoryLayout<sockaddr_in>.size)
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let bound = withUnsafeBytes(of: &address) { bind(listening, $0.bindMemory(to: sockaddr.self).baseAddress, length) }
        let named = withUnsafeMutableBytes(of: &address) { getsockname(listening, $0.bindMemory(to: sockaddr.self).baseAddress, &length) }
        guard bound == 0, named == 0, listen(listening, 1) == 0 else {
            close(listening)
            throw POSIXError(.EADDRNOTAVAIL)
        }
        descriptor = listening
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread {
            let connection = accept(listening, nil, nil)
            guard connection >= 0 else { return }
            // All that was sent is read: closing with unread bytes would be a reset.
            var buffer = [UInt8](repeating: 0, count: 65_536)
            _ = recv(connection, &buffer, buffer.count, 0)
            let bytes = Array(answer.utf8)
            _ = bytes.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            close(connection)
        }
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }
}
