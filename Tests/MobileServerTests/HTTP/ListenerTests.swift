import Foundation
import MobileMicrohttpd
import Testing

/// The owner of the listening socket.
@Suite struct ListenerTests {
    /// A second `close` of a number that another thread has got meanwhile would end that thread's connection or file.
    @Test func `a daemon that cannot start leaves the listening socket to its owner, who closes it once`() throws {
        // The constant SOCK_STREAM has another type from system to system.
        let stream: Int32 = 1, listener = socket(AF_INET, stream, 0)
        defer { close(listener) }
        var before = stat(), after = stat()
        try #require(listen(listener, 1) == 0 && fstat(listener, &before) == 0)
        var options = mhs_options()
        options.listener = listener
        (options.maximum_connections, options.connection_memory) = (2, 4096)
        options.handler = { _, _, _, _, _, _, _, _ in mhs_no() }
        let daemon = "damaged".withCString { text in
            (options.certificate, options.private_key) = (text, text)
            return mhs_start(&options)
        }
        #expect(daemon == nil)
        #expect(fstat(listener, &after) == 0 && after.st_ino == before.st_ino && after.st_dev == before.st_dev)
    }
}
