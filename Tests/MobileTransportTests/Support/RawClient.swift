import Foundation

/// A TCP client that sends what a test says, byte by byte, and knows nothing of HTTP.
final class RawClient: Sendable {
    private let descriptor: Int32

    init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafeBytes(of: &address) { bytes in
            connect(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress!, socklen_t(bytes.count))
        }
        guard connected == 0 else { throw POSIXError(POSIXError.Code(rawValue: errno) ?? .ECONNREFUSED) }
    }

    deinit { close(descriptor) }

    func write(_ text: String) { _ = send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL)) }

    /// Sends a request without a body.
    func get(_ path: String) { write("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n") }

    /// What the server has sent once it contains `mark`, or at the end of the connection.
    func read(until mark: String) -> String {
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !String(decoding: text, as: UTF8.self).contains(mark) {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            text += buffer[..<count]
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Whether the server closes the connection and says nothing before.
    var isClosed: Bool { read(until: "no text has this").isEmpty }
}
