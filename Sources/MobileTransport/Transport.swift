internal import MobileExecution

/// Sends a request to the other end and returns its response: over HTTP (``HTTPTransport``), or through a network that exists only
/// in memory, as tests do.
///
/// A transport may be used from several threads at once.
public protocol Transport: Sendable {
    /// Sends a request and waits for the end of its response. Blocks; never call it on one of Swift's cooperative threads.
    /// - Parameters:
    ///   - request: the request to send.
    ///   - receive: takes the body of the response, chunk by chunk as it arrives, on the calling thread. No more data is fetched while
    ///     it runs, so it sets the pace. An error that it throws ends the request and is thrown by `send`.
    /// - Returns: the response without its body.
    /// - Throws: ``TransportError``, and any error of `receive` or of the request's body.
    func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse
}

extension Transport {
    /// Sends a request and waits for its response, whose body is kept in memory.
    /// - Parameters:
    ///   - request: the request to send.
    ///   - maximumLength: the longest body in bytes; a longer one ends the request with ``TransportError/Code/responseTooLong``.
    /// - Throws: as ``send(_:receive:)``.
    public func send(
        _ request: TransportRequest, maximumLength: Int = 16 << 20
    ) throws -> (response: TransportResponse, body: [UInt8]) {
        var body: [UInt8] = []
        let response = try send(request) { chunk in
            guard chunk.byteCount <= maximumLength - body.count else {
                throw TransportError(
                    .responseTooLong, "\(request.method) \(request.urlWithoutQuery): the response is longer than \(maximumLength) bytes")
            }
            chunk.withUnsafeBytes { body.append(contentsOf: $0) }
        }
        return (response, body)
    }

    /// Sends a request on a separate thread, so that no cooperative thread is blocked. Cancelling the task ends the request with
    /// ``TransportError/Code/cancelled``.
    /// - Throws: as the blocking twin.
    public func send(
        _ request: sending TransportRequest, receive: sending @escaping (RawSpan) throws -> Void
    ) async throws -> TransportResponse {
        let cancellation = request.cancellation ?? TransportCancellation()
        request.cancellation = cancellation
        let work = BlockingSend(transport: self, request: request, receive: receive)
        return try await withTaskCancellationHandler {
            try await requestThreads.run { try work.run() }
        } onCancel: {
            cancellation.cancel()
        }
    }

    /// Sends a request on a separate thread and keeps the response's body in memory.
    /// - Throws: as the blocking twin.
    public func send(
        _ request: sending TransportRequest, maximumLength: Int = 16 << 20
    ) async throws -> (response: TransportResponse, body: [UInt8]) {
        let collected = CollectedBody()
        let name = "\(request.method) \(request.urlWithoutQuery)"
        let response = try await send(request) { chunk in
            guard collected.append(chunk, upTo: maximumLength) else {
                throw TransportError(.responseTooLong, "\(name): the response is longer than \(maximumLength) bytes")
            }
        }
        return (response, collected.bytes)
    }
}

/// Apart from the threads of other work, which slow servers must not hold up.
private let requestThreads = BlockingWork(threads: 64)

/// One request on its way to another thread. Sound because everything in it was sent here and is used by that thread alone.
private struct BlockingSend: @unchecked Sendable {
    let transport: any Transport
    let request: TransportRequest
    let receive: (RawSpan) throws -> Void

    func run() throws -> TransportResponse { try transport.send(request, receive: receive) }
}

/// A body that one thread collects for another.
private final class CollectedBody: Sendable {
    private let content = SystemLock<[UInt8]>([])

    var bytes: [UInt8] { content.withLock { $0 } }

    /// Adds a chunk; returns false, without adding it, if the body would become too long.
    func append(_ chunk: RawSpan, upTo maximumLength: Int) -> Bool {
        let chunk = chunk.withUnsafeBytes { Array($0) }
        return content.withLock { content in
            guard chunk.count <= maximumLength - content.count else { return false }
            content += chunk
            return true
        }
    }
}
