internal import MobileExecution
public import MobileTransport

/// A transport that keeps a copy of each upload, and delivers copies again at any later time, as a network or a process that was stopped may do.
public final class DuplicatingTransport: Transport {
    /// A copy of an upload.
    public struct Upload: Sendable {
        let url: String
        let headers: [(name: String, value: String)]
        /// Its content, which a test may change before it delivers the copy.
        public var body: [UInt8]
    }

    private let transport: any Transport
    private let copies = SystemLock<[Upload]>([])

    /// Sends over this transport.
    public init(_ transport: any Transport) { self.transport = transport }

    public func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
        guard case .stream(_, let next) = request.body else { return try transport.send(request, receive: receive) }
        var body: [UInt8] = []
        while let piece = try next() { body += piece }
        var request = request
        request.body = .bytes(body)
        copies.withLock { $0.append(Upload(url: request.url, headers: request.headers, body: body)) }
        return try transport.send(request, receive: receive)
    }

    /// The number of copies.
    public var count: Int { copies.withLock { $0.count } }

    /// The last copy.
    public var last: Upload? { copies.withLock { $0.last } }

    /// Delivers a copy again. No client waits for its answer.
    public func deliverAgain(_ index: Int) { deliver(copies.withLock { $0[index] }) }

    /// Delivers an upload.
    public func deliver(_ upload: Upload) {
        _ = try? transport.send(TransportRequest(method: "POST", url: upload.url, headers: upload.headers, body: .bytes(upload.body))) { _ in }
    }
}
