import Foundation
import MobileExecution

/// A server that dies after it has executed a call: it reads the request and closes the connection without an answer. Afterwards it works again.
final class DyingServer: Sendable {
    let port: UInt16
    private let listener: Int32
    private let state = SystemLock((calls: [String](), dying: 0))

    /// The paths of all requests that arrived whole.
    var calls: [String] { state.withLock { $0.calls } }

    /// Makes the next requests that arrive the last of their connections.
    func die(times: Int = 1) { state.withLock { $0.dying = times } }

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isOpen = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 16) == 0 && getsockname(listener, address, &length) == 0
            }
        }
        guard isOpen else { throw POSIXError(.EADDRNOTAVAIL) }
        port = UInt16(bigEndian: address.sin_port)
        let state = state
        Thread.detachNewThread {
            while case let connection = accept(listener, nil, nil), connection >= 0 {
                Thread.detachNewThread {
                    Self.serve(connection, state)
                    close(connection)
                }
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    private static func serve(_ connection: Int32, _ state: SystemLock<(calls: [String], dying: Int)>) {
        while let path = readRequest(connection) {
            let dies = state.withLock { state in
                state.calls.append(path)
                guard state.dying > 0 else { return false }
                state.dying -= 1
                return true
            }
            if dies { return }
            let body = "{\"isSuccessful\":true}"
            let answer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            guard send(connection, answer, answer.utf8.count, Int32(MSG_NOSIGNAL)) == answer.utf8.count else { return }
        }
    }

    /// Reads one request with its body; nil when the client closes.
    /// - Returns: the last part of its path.
    private static func readRequest(_ connection: Int32) -> String? {
        var text = "", buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            text += String(decoding: buffer[..<count], as: UTF8.self)
            let parts = text.components(separatedBy: "\r\n\r\n")
            guard parts.count > 1 else { continue }
            let lines = parts[0].components(separatedBy: "\r\n")
            let length = lines.lazy.compactMap { $0.lowercased().hasPrefix("content-length:") ? Int($0.dropFirst(15).filter { $0 != " " }) : nil }
                .first
            guard parts[1].utf8.count >= length ?? 0 else { continue }
            return lines[0].split(separator: " ").dropFirst().first?.split(separator: "/").last.map(String.init)
        }
    }
}
