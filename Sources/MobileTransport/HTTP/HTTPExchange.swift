internal import CMobileTransport

/// One request in progress in libcurl: the callbacks from C, on the sending thread.
final class HTTPExchange {
    let source: BodySource?
    private let expects: TransportRequest.ExpectedStatus
    private let receive: (RawSpan) throws -> Void

    /// The status of the response; nil before it has begun.
    private(set) var status: Int?
    private var headers: [(name: String, value: String)] = []
    /// The body of a response with an unexpected status.
    private var unexpectedBody: [UInt8] = []
    /// The error of `receive` or of the source.
    private(set) var failure: (any Error)?

    init(_ source: BodySource?, expects: TransportRequest.ExpectedStatus, _ receive: @escaping (RawSpan) throws -> Void) {
        self.source = source
        self.expects = expects
        self.receive = receive
    }

    /// Returns the finished response.
    /// - Throws: ``TransportError/Code/httpStatus`` for an unexpected status.
    func response(to request: TransportRequest, _ summary: ct_summary) throws -> TransportResponse {
        let status = status ?? 0
        guard isExpected else {
            throw TransportError(
                .httpStatus, "\(request.method) \(request.urlWithoutQuery): the server answered with status \(status)",
                status: status, headers: headers, body: unexpectedBody)
        }
        return TransportResponse(
            status: status, headers: headers, bytesSent: summary.sent, bytesReceived: summary.received,
            reusedConnection: summary.reused)
    }

    private var isExpected: Bool { expects == .any || (200..<300).contains(status ?? 0) }

    private static func of(_ context: UnsafeMutableRawPointer?) -> HTTPExchange {
        Unmanaged<HTTPExchange>.fromOpaque(context!).takeUnretainedValue()  // set by the caller of libcurl
    }

    static let begin: ct_begin = { context, status in
        let exchange = of(context)
        exchange.status = Int(status)
        exchange.headers = []
    }

    static let field: ct_field = { context, name, nameLength, value, valueLength in
        func text(_ start: UnsafePointer<CChar>, _ length: Int) -> String {
            String(decoding: UnsafeRawBufferPointer(start: start, count: length), as: UTF8.self)
        }
        of(context).headers.append((text(name, nameLength), text(value, valueLength)))
    }

    static let write: ct_write = { context, bytes, length in
        let exchange = of(context)
        let chunk = UnsafeRawBufferPointer(start: bytes, count: length)
        guard exchange.isExpected else {
            exchange.unexpectedBody += chunk.prefix(TransportError.keptBody - exchange.unexpectedBody.count)
            return true
        }
        do {
            try exchange.receive(chunk.bytes)
            return true
        } catch {
            exchange.failure = error
            return false
        }
    }

    static let read: ct_read = { context, buffer, capacity in
        let exchange = of(context)
        do {
            return try exchange.source?.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: capacity)) ?? 0
        } catch {
            exchange.failure = error
            return ct_source_failed()
        }
    }

    static let rewind: ct_rewind = { context in
        of(context).source?.rewind() ?? false
    }
}

extension TransportError {
    /// Creates an error from an error of the C layer.
    init(_ error: ct_error, _ action: String, status: Int? = nil, isConnected: Bool = true) {
        let code: Code =
            switch error.code {
            case CT_ERROR_CONNECT: .cannotConnect
            case CT_ERROR_TIMEOUT: .timeout
            case CT_ERROR_INTERRUPTED: .interrupted
            case CT_ERROR_CANCELLED: .cancelled
            case CT_ERROR_TLS: .tls
            case CT_ERROR_REQUEST: .badRequest
            default: .other
            }
        var reason = withUnsafeBytes(of: error.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        // OpenSSL's words for an answer without TLS, and for an end of the connection where TLS begins: a server without TLS that closes it before it has
        // read the client's first message.
        let remedy = "does not speak TLS on this port: use http, or the port of its https"
        if code == .tls, reason.contains("wrong version number") {
            reason = "the server \(remedy)"
        } else if code == .tls, ["SSL_ERROR_SYSCALL", "unexpected eof", "Connection reset by peer"].contains(where: reason.contains) {
            reason = "the server closed the connection where TLS begins; most probably it \(remedy) (\(reason))"
        }
        self.init(code, "\(action): \(reason)", status: status, isBeforeConnection: !isConnected)
    }
}
