import Foundation
import MobileExecution
import PostgreSQLClient
import PostgreSQLTestSupport

/// A socket between a client and a server that passes bytes on, and cuts the connection at the first message that contains a word.
final class CuttingProxy: Sendable {
    /// The places at which the connection is cut.
    enum Place {
        /// The server does not receive the message.
        case beforeServer
        /// The server has received and answered it, and the client does not receive the answer.
        case beforeAnswer
    }

    private let listener: Int32
    private let folder: String
    private let port: UInt16

    init(to server: PostgreSQLServer, cutAt word: String, _ place: Place) throws {
        var name = Array("/tmp/pgp.XXXXXX".utf8CString)
        guard mkdtemp(&name) != nil else { throw POSIXError(.EACCES) }
        folder = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        port = server.port
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        let isBound = Self.withAddress("\(folder)/.s.PGSQL.\(port)") { bind(listener, $0, $1) == 0 && listen(listener, 4) == 0 }
        guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
        let target = "\(server.folder)/.s.PGSQL.\(port)"
        Thread.detachNewThread {
            let client = accept(listener, nil, nil)
            guard client >= 0 else { return }
            let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            if Self.withAddress(target, { connect(server, $0, $1) == 0 }) { Self.pass(client, server, Array(word.utf8), place) }
            close(client)
            close(server)
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// The settings that lead through the proxy.
    func configuration(_ database: PostgreSQLTestDatabase) -> PostgreSQLConfiguration {
        PostgreSQLConfiguration("host=\(folder) port=\(port) dbname=\(database.name) user=postgres")
    }

    private static func pass(_ client: Int32, _ server: Int32, _ word: [UInt8], _ place: Place) {
        var sockets = [pollfd(fd: client, events: Int16(POLLIN), revents: 0), pollfd(fd: server, events: Int16(POLLIN), revents: 0)]
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while poll(&sockets, 2, -1) >= 0 {
            for (index, from) in [client, server].enumerated() where sockets[index].revents != 0 {
                let count = recv(from, &buffer, buffer.count, 0)
                guard count > 0 else { return }
                let isCut = from == client && contains(buffer[..<count], word)
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
