internal import Foundation
internal import MobileExecution
package import PostgreSQLClient

/// A socket between clients and a server that passes bytes on, and cuts one connection: at the first message that contains a word.
package final class CuttingProxy: Sendable {
    /// The places at which the connection is cut.
    package enum Place: Sendable {
        /// The server does not receive the message.
        case beforeServer
        /// The server has received and answered it, and the client does not receive the answer.
        case beforeAnswer
    }

    private let listener: Int32
    /// The folder of the socket.
    package let folder: String
    /// The number in the socket's name.
    package let port: UInt16
    private let isArmed: SystemLock<Bool>

    /// Opens a socket.
    /// - Parameter isArmed: whether it cuts from the beginning on, rather than after a call of ``arm()``.
    package init(to server: PostgreSQLServer, cutAt word: String, _ place: Place, isArmed: Bool = true) throws {
        self.isArmed = SystemLock(isArmed)
        var name = Array("/tmp/pgp.XXXXXX".utf8CString)
        guard mkdtemp(&name) != nil else { throw POSIXError(.EACCES) }
        folder = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        port = server.port
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        let isBound = Self.withAddress("\(folder)/.s.PGSQL.\(port)") { bind(listener, $0, $1) == 0 && listen(listener, 4) == 0 }
        guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
        let target = "\(server.folder)/.s.PGSQL.\(port)"
        let armed = self.isArmed
        Thread.detachNewThread {
            while case let client = accept(listener, nil, nil), client >= 0 {
                Thread.detachNewThread {
                    let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
                    if Self.withAddress(target, { connect(server, $0, $1) == 0 }) { Self.pass(client, server, Array(word.utf8), place, armed) }
                    close(client)
                    close(server)
                }
            }
        }
    }

    /// Cuts the next connection that sends the word.
    package func arm() { isArmed.withLock { $0 = true } }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// The settings that lead through the proxy.
    package func configuration(_ database: PostgreSQLTestDatabase) -> PostgreSQLConfiguration {
        PostgreSQLConfiguration("host=\(folder) port=\(port) dbname=\(database.name) user=postgres")
    }

    private static func pass(_ client: Int32, _ server: Int32, _ word: [UInt8], _ place: Place, _ isArmed: SystemLock<Bool>) {
        var sockets = [pollfd(fd: client, events: Int16(POLLIN), revents: 0), pollfd(fd: server, events: Int16(POLLIN), revents: 0)]
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while poll(&sockets, 2, -1) >= 0 {
            for (index, from) in [client, server].enumerated() where sockets[index].revents != 0 {
                let count = recv(from, &buffer, buffer.count, 0)
                guard count > 0 else { return }
                let isCut =
                    from == client && contains(buffer[..<count], word)
                    && isArmed.withLock { armed in
                        defer { armed = false }
                        return armed
                    }
                if isCut && place == .beforeServer { return }
                _ = send(from == client ? server : client, buffer, count, Int32(MSG_NOSIGNAL))
                guard isCut else { continue }
                _ = recv(server, &buffer, buffer.count, 0)  // the answer
                return
            }
        }
    }

    private static func contains(_ bytes: ArraySlice<UInt8>, _ word: [UInt8]) -> Bool {
        bytes.indices.contains { bytes[$0...].starts(with: word) }
    }

    private static func withAddress<Result>(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }
}
