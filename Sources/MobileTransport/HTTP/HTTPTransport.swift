internal import CMobileTransport
internal import MobileExecution

/// Requests over HTTP and HTTPS (HTTP/1.1, by libcurl).
///
/// Connections stay open between requests: each request borrows an idle client, and a returned client keeps its connection.
/// Simultaneous requests use different clients. Environment variables, such as `http_proxy`, have no influence.
public final class HTTPTransport: Transport {
    /// The access to servers, and the trust in them.
    public struct Configuration: Sendable {
        /// Certificates to trust instead of the system's, as PEM text; nil (default) for the system's. A ``proxy`` over HTTPS is checked
        /// against them too. The certificate's name must match the host in every case.
        public var trustedCertificates: String?
        /// The client's own certificate with its private key, as PEM text; nil (default) for none.
        public var identity: String?
        /// The password of the private key in ``identity``; nil (default) if it is not encrypted.
        public var identityPassword: String?
        /// The URL of a proxy; nil (default) for none.
        public var proxy: String?
        /// The `User-Agent` field; default `MobileObjects`.
        public var userAgent = "MobileObjects"
        /// The maximum number of idle clients that are kept with their open connections; default 4.
        public var maximumIdleClients = 4

        /// Creates a configuration with the defaults.
        public init() {}
    }

    /// The configuration of the transport.
    public let configuration: Configuration
    private let idle = SystemLock<[HTTPClient]>([])

    /// Creates a transport; its requests open connections, which are kept for the next ones.
    public init(_ configuration: Configuration = Configuration()) { self.configuration = configuration }

    public func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
        let client = try idle.withLock { $0.popLast() } ?? HTTPClient(configuration)
        defer {
            idle.withLock { idle in
                if idle.count < configuration.maximumIdleClients { idle.append(client) }
            }
        }
        // A cancellation stays in effect in a client until `rearm`, and may arrive after its request is over. The next request that borrows
        // the client must not inherit it, even if that request cannot be cancelled itself.
        client.rearm()
        guard let cancellation = request.cancellation else { return try client.perform(request, receive) }
        return try cancellation.whileCalling({ client.cancel() }) { try client.perform(request, receive) }
    }
}

/// One libcurl client. Sound as Sendable because one thread at a time borrows it from the pool, and any thread may call `cancel`.
final class HTTPClient: @unchecked Sendable {
    private let handle: OpaquePointer

    init(_ configuration: HTTPTransport.Configuration) throws {
        var handle: OpaquePointer?
        var error = ct_error()
        var texts = CStrings()
        for text in [
            configuration.trustedCertificates, configuration.identity, configuration.identityPassword, configuration.proxy, configuration.userAgent,
        ] { texts.append(text) }
        let status = texts.with { texts in
            var options = ct_options(
                trusted_pem: texts[0], identity_pem: texts[1], identity_password: texts[2], proxy: texts[3], user_agent: texts[4],
                maximum_connections: 1)
            return ct_client_create(&options, &handle, &error)
        }
        guard status == CT_OK, let handle else { throw TransportError(error, "make an HTTP client") }
        self.handle = handle
    }

    deinit { ct_client_free(handle) }

    func cancel() { ct_client_cancel(handle) }
    func rearm() { ct_client_rearm(handle) }

    /// Performs one request.
    func perform(_ request: TransportRequest, _ receive: (RawSpan) throws -> Void) throws -> TransportResponse {
        for (name, value) in request.headers where name.utf8.contains(where: Self.isControl) || value.utf8.contains(where: Self.isControl) {
            throw TransportError(.badRequest, "header field \"\(name.prefix(80))\": control characters are not allowed")
        }
        let shortBody = request.shortBody, source = shortBody == nil ? try request.body.makeSource() : nil
        return try withoutActuallyEscaping(receive) { receive in
            let exchange = HTTPExchange(source, expects: request.expects, receive)
            var summary = ct_summary()
            var error = ct_error()
            let status =
                if let shortBody {
                    shortBody.withUnsafeBytes { perform(request, exchange, $0, &summary, &error) }
                } else {
                    perform(request, exchange, nil, &summary, &error)
                }
            if let failure = exchange.failure { throw failure }
            guard status == CT_OK else {
                throw TransportError(
                    error, "\(request.method) \(request.urlWithoutQuery)", status: exchange.status, isConnected: summary.connected)
            }
            return try exchange.response(to: request, summary)
        }
    }

    private static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 && byte != 0x09 || byte == 0x7F }

    private func perform(
        _ request: TransportRequest, _ exchange: HTTPExchange, _ shortBody: UnsafeRawBufferPointer?, _ summary: inout ct_summary,
        _ error: inout ct_error
    ) -> ct_status {
        var texts = CStrings()
        texts.append(request.method)
        texts.append(request.url)
        for (name, value) in request.headers {
            // libcurl's form of an empty field is "Name;"; "Expect:" has it leave out the field that it adds to a request with a body.
            texts.append(name, value.isEmpty ? (name.isField("expect") ? ":" : ";") : ": ", value)
        }
        let count = request.headers.count
        return texts.with { texts in
            texts.withUnsafeBufferPointer { texts in
                guard let method = texts[0], let url = texts[1], let start = texts.baseAddress else { return CT_ERROR_REQUEST }
                // No line is nil, so none of the pointers is null.
                return (start + 2).withMemoryRebound(to: UnsafePointer<CChar>.self, capacity: count) { headerLines in
                    var raw = ct_request(
                        method: method, url: url, header_lines: count == 0 ? nil : headerLines, header_count: count,
                        context: Unmanaged.passUnretained(exchange).toOpaque(),
                        read: exchange.source == nil ? nil : HTTPExchange.read,
                        rewind: exchange.source?.canRewind == true ? HTTPExchange.rewind : nil,
                        length: (shortBody?.count ?? exchange.source?.length).map { Int64($0) } ?? -1,
                        short_body: shortBody?.baseAddress, sent_once: request.isSentOnce,
                        begin: HTTPExchange.begin, field: HTTPExchange.field, write: HTTPExchange.write,
                        connect_milliseconds: request.connectTimeout.wholeMilliseconds,
                        stall_milliseconds: request.stallTimeout?.wholeMilliseconds ?? 0,
                        total_milliseconds: request.totalTimeout?.wholeMilliseconds ?? 0)
                    return ct_client_perform(handle, &raw, &summary, &error)
                }
            }
        }
    }
}

extension TransportRequest {
    /// The length up to which a body in memory leaves together with the header fields.
    private static let shortestUpload = 32 * 1024

    /// The body if it is short; nil for others.
    fileprivate var shortBody: [UInt8]? {
        // An empty array may have no address.
        guard case .bytes(let bytes) = body, !bytes.isEmpty, bytes.count <= Self.shortestUpload else { return nil }
        return bytes
    }
}

extension Duration {
    /// Whole milliseconds, at least 1 for a duration above zero.
    fileprivate var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        return max(seconds * 1000 + attoseconds / 1_000_000_000_000_000, self > .zero ? 1 : 0)
    }
}

/// C strings of several texts, one after the other in memory.
struct CStrings {
    private var bytes: [UInt8] = []
    /// Where each text begins; nil for a missing one.
    private var starts: [Int?] = []

    /// Adds a text, or none.
    mutating func append(_ text: String?) {
        guard let text else { return starts.append(nil) }
        append(text, "", "")
    }

    /// Adds three texts as one.
    mutating func append(_ first: String, _ second: String, _ third: String) {
        starts.append(bytes.count)
        bytes += first.utf8
        bytes += second.utf8
        bytes += third.utf8
        bytes.append(0)
    }

    /// Calls `body` with the texts in their order. The pointers are valid during the call.
    func with<Result>(_ body: ([UnsafePointer<CChar>?]) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBufferPointer { bytes in
            try bytes.withMemoryRebound(to: CChar.self) { buffer in
                try body(starts.map { start in start.flatMap { start in buffer.baseAddress.map { $0 + start } } })
            }
        }
    }
}
