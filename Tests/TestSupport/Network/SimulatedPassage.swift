internal import MobileTransport

/// One request on its way through a simulated network and back.
final class SimulatedPassage {
    private let request: TransportRequest
    private let source: (any BodySource)?
    private let conditions: NetworkConditions
    private var random: SeededGenerator
    private let fault: NetworkFault?
    private let clock: VirtualClock
    private let began: Duration
    private var sent = 0
    private var received = 0
    /// The reason why the passage ended early; kept because a server may ignore an error thrown to it.
    private var failure: (any Error)?

    init(
        _ request: TransportRequest, _ source: (any BodySource)?, _ conditions: NetworkConditions, _ random: SeededGenerator,
        _ fault: NetworkFault?, _ clock: VirtualClock
    ) {
        self.request = request
        self.source = source
        self.conditions = conditions
        self.random = random
        self.fault = fault
        self.clock = clock
        began = clock.now
    }

    func send(to handler: SimulatedTransport.Handler, _ receive: (RawSpan) throws -> Void) throws -> TransportResponse {
        guard let (path, query) = target else { throw error(.badRequest, "the URL is not absolute") }
        try checkCancelled()
        if fault == .refuse { throw error(.cannotConnect, "no server listens") }
        try pass(conditions.latency, limit: request.connectTimeout)
        let arrived = SimulatedRequest(
            method: request.method, path: path, query: query, headers: request.headers, nextChunk: { try self.nextUpload() })
        let answer: Result<SimulatedResponse, any Error> = Result { try handler(arrived) }
        if let failure { throw failure }
        // A server may answer before it has read the whole body; a connection that breaks later still breaks.
        if case .cutUpload = fault { throw error(.interrupted, "the connection broke during the upload") }
        guard case .success(let response) = answer else { throw error(.interrupted, "the server cut the connection") }
        if case .delay(let duration) = fault { try pass(duration, limit: request.stallTimeout) }
        if fault == .cutResponse { throw error(.interrupted, "the connection broke before the response") }
        try pass(conditions.latency, limit: request.stallTimeout)
        return try takeResponse(response, receive)
    }

    private func takeResponse(
        _ response: SimulatedResponse, _ receive: (RawSpan) throws -> Void
    ) throws -> TransportResponse {
        let isExpected = request.expects == .any || (200..<300).contains(response.status)
        var unexpectedBody: [UInt8] = []
        while let chunk = try nextDownload(response) {
            for piece in pieces(of: chunk) {
                let piece = piece.prefix(try allowance(.download))
                try passBytes(piece.count)
                received += piece.count
                if isExpected {
                    try receive(Array(piece).span.bytes)
                } else {
                    unexpectedBody += piece.prefix(TransportError.keptBody - unexpectedBody.count)
                }
            }
        }
        if case .cutDownload = fault { throw error(.interrupted, "the connection broke at the end of the download") }
        guard isExpected else {
            throw TransportError(
                .httpStatus, "\(request.method) \(request.urlWithoutQuery): the server answered with status \(response.status)",
                status: response.status, headers: response.headers, body: unexpectedBody)
        }
        return TransportResponse(
            status: response.status, headers: response.headers, bytesSent: Int64(sent), bytesReceived: Int64(received))
    }

    private func nextDownload(_ response: SimulatedResponse) throws -> [UInt8]? {
        do {
            return try response.nextChunk()
        } catch {
            throw self.error(.interrupted, "the server cut the connection after \(received) bytes")
        }
    }

    /// Returns the next piece of the request's body, as the server reads it.
    private func nextUpload() throws -> [UInt8]? {
        if let failure { throw failure }
        do {
            guard let source else { return nil }
            let piece = try nextPiece(of: source, maximum: allowance(.upload))
            guard !piece.isEmpty else {
                if case .cutUpload = fault { throw error(.interrupted, "the connection broke at the end of the upload") }
                return nil
            }
            try passBytes(piece.count)
            sent += piece.count
            return piece
        } catch {
            failure = error
            throw error
        }
    }

    private func nextPiece(of source: any BodySource, maximum: Int) throws -> [UInt8] {
        let length = Int.random(in: 1...conditions.longestChunk, using: &random)
        var piece = [UInt8](repeating: 0, count: min(length, maximum))
        let count = try piece.withUnsafeMutableBytes { try source.read(into: $0) }
        piece.removeLast(piece.count - count)
        return piece
    }

    private func pieces(of chunk: [UInt8]) -> [ArraySlice<UInt8>] {
        var pieces: [ArraySlice<UInt8>] = []
        var start = 0
        while start < chunk.count {
            let end = min(start + .random(in: 1...conditions.longestChunk, using: &random), chunk.count)
            pieces.append(chunk[start..<end])
            start = end
        }
        return pieces
    }

    private enum Way { case upload, download }

    /// The number of further bytes that arrive. All bytes before the break arrive, so that a test can break at each byte.
    private func allowance(_ way: Way) throws -> Int {
        let left: Int
        switch (fault, way) {
        case (.cutUpload(let limit)?, .upload): left = limit - sent
        case (.cutDownload(let limit)?, .download): left = limit - received
        default: return .max
        }
        guard left > 0 else { throw error(.interrupted, "the connection broke during the \(way)") }
        return left
    }

    private func passBytes(_ count: Int) throws {
        try checkCancelled()
        guard let speed = conditions.bytesPerSecond else { return }
        try pass(.seconds(count) / speed, limit: request.stallTimeout)
    }

    /// Advances the time, up to a limit.
    private func pass(_ duration: Duration, limit: Duration?) throws {
        let left = request.totalTimeout.map { $0 - (clock.now - began) }
        let allowed = [limit, left].compactMap { $0 }.min()
        if let allowed, duration > allowed {
            clock.advance(by: max(allowed, .zero))
            throw error(.timeout, "nothing came from the network for the time allowed")
        }
        clock.advance(by: duration)
    }

    private func checkCancelled() throws {
        if request.cancellation?.isCancelled == true { throw error(.cancelled, "the request was cancelled") }
    }

    private func error(_ code: TransportError.Code, _ reason: String) -> TransportError {
        TransportError(code, "\(request.method) \(request.urlWithoutQuery): \(reason)")
    }

    /// The path and the query of the request's URL; nil for a URL that is not absolute.
    private var target: (path: String, query: String)? {
        guard let scheme = request.url.firstRange(of: "://") else { return nil }
        let rest = request.url[scheme.upperBound...].prefix { $0 != "#" }
        guard let start = rest.firstIndex(where: { $0 == "/" || $0 == "?" }) else { return ("/", "") }
        let parts = rest[start...].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        return (parts[0].isEmpty ? "/" : String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
    }
}
