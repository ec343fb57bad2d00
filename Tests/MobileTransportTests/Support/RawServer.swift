import Foundation

/// A TCP server that runs the script of a test, and does not know HTTP. It serves one connection.
final class RawServer: @unchecked Sendable {  // the thread and the test take turns: the test joins through `finished`
    let port: UInt16
    private let finished = DispatchSemaphore(value: 0)

    /// One accepted connection.
    struct Connection {
        let descriptor: Int32

        /// Reads until the bytes so far contain `mark`; nil when the client closes before.
        func read(until mark: String) -> String? {
            var text: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            while !String(decoding: text, as: UTF8.self).contains(mark) {
                let count = recv(descriptor, &buffer, buffer.count, 0)
                guard count > 0 else { return nil }
                text += buffer[..<count]
            }
            return String(decoding: text, as: UTF8.self)
        }

        func write(_ text: String) { _ = send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL)) }

        /// Waits until the client closes.
        func waitForClose() {
            var byte: UInt8 = 0
            while recv(descriptor, &byte, 1, 0) > 0 {}
        }

        /// Closes so that the client sees a reset instead of an end.
        func reset() {
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
        }
    }

    init(_ script: @escaping @Sendable (Connection) -> Void) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let port = RawServer.withLoopback(port: 0) { address, length -> UInt16? in
            guard bind(listener, address, length) == 0, listen(listener, 8) == 0 else { return nil }
            var length = length
            guard getsockname(listener, address, &length) == 0 else { return nil }
            return UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in.self).sin_port
        }
        guard let port else { throw POSIXError(.EADDRNOTAVAIL) }
        self.port = UInt16(bigEndian: port)
        let finished = finished
        Thread.detachNewThread {
            let accepted = accept(listener, nil, nil)
            if accepted >= 0 {
                script(Connection(descriptor: accepted))
                close(accepted)
            }
            close(listener)
            finished.signal()
        }
    }

    /// Returns whether a server listens on a port of the loopback interface.
    static func canConnect(to port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        return withLoopback(port: port) { address, length in connect(descriptor, address, length) == 0 }
    }

    private static func withLoopback<Result>(port: UInt16, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Result) -> Result {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafeMutableBytes(of: &address) { bytes in
            body(bytes.assumingMemoryBound(to: sockaddr.self).baseAddress!, socklen_t(bytes.count))
        }
    }

    /// Waits until the script is done.
    func join() { finished.wait() }
}
