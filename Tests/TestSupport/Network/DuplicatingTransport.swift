internal import MobileExecution
public import MobileTransport

/// A transport that keeps a copy of each upload, and delivers copies again at any later time, as a network or a process that was stopped may do.
public final class DuplicatingTransport: Transport {
    private struct Copy: Sendable {
        let url: String
        let headers: [(name: String, value: String)]
        let body: [UInt8]
    }

    private let transport: any Transport
    private let copies = SystemLock<[Copy]>([])

    /// Sends over this transport.
    public init(_ transport: any Transport) { self.transport = transport }

    public func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
        guard case .stream(_, let next) = request.body else { return try transport.send(request, receive: receive) }
        var body: [UInt8] = []
        while let piece = try next() { body += piece }
        var request = request
        request.body = .bytes(body)
        copies.withLock { $0.append(Copy(url: request.url, headers: request.headers, body: body)) }
        return try transport.send(request, receive: receive)
    }

    /// The number of copies.
    public var count: Int { copies.withLock { $0.count } }

    /// Delivers a copy again. No client waits for its answer.
    public func deliverAgain(_ index: Int) {
        let copy = copies.withLock { $0[index] }
        _ = try? transport.send(TransportRequest(method: "POST", url: copy.url, headers: copy.headers, body: .bytes(copy.body))) { _ in }
    }
}
