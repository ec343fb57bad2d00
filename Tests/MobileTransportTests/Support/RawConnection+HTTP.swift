import TestSupport

/// Handmade HTTP.
extension RawConnection {
    /// Sends a request without a body.
    func get(_ path: String) { send("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n") }

    /// Reads until the server's bytes contain `mark`, or to the end of the connection.
    func read(until mark: String) -> String {
        var text: [UInt8] = []
        while !String(decoding: text, as: UTF8.self).contains(mark), let piece = receive(), !piece.isEmpty { text += piece }
        return String(decoding: text, as: UTF8.self)
    }

    /// Whether the server closes the connection without sending any byte.
    var isClosed: Bool { receive()?.isEmpty == true }
}
