internal import MobileExecution
internal import MobileServer
internal import MobileTransport
internal import TestSupport

/// The network of one device: it breaks where a step says so, and can deliver an earlier request again.
final class WorldNetwork: Transport {
    private struct State {
        var uploads: [(url: String, headers: [(name: String, value: String)], body: [UInt8])] = []
    }

    private let transport: SimulatedTransport
    private let state = SystemLock(State())

    init(_ server: ServerBench, seed: UInt64, clock: VirtualClock) {
        transport = SimulatedTransport(server: { server.respond(to: $0) }, seed: seed, clock: clock)
    }

    func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
        guard case .stream(_, let next) = request.body else { return try transport.send(request, receive: receive) }
        var body: [UInt8] = []
        while let piece = try next() { body += piece }
        var request = request
        request.body = .bytes(body)
        state.withLock { state in
            state.uploads.append((request.url, request.headers, body))
            if state.uploads.count > 6 { state.uploads.removeFirst() }
        }
        return try transport.send(request, receive: receive)
    }

    /// Breaks all requests until ``repair()``.
    func fail(_ fault: NetworkFault) { transport.conditions.fault = { _, _ in fault } }
    func repair() { transport.conditions.fault = { _, _ in nil } }

    /// Delivers one of the last uploads again; the answer is dropped.
    /// - Returns: false if there was none.
    func sendAgain(_ pick: Int) -> Bool {
        let uploads = state.withLock { $0.uploads }
        guard !uploads.isEmpty else { return false }
        let upload = uploads[pick % uploads.count]
        _ = try? transport.send(TransportRequest(method: "POST", url: upload.url, headers: upload.headers, body: .bytes(upload.body))) { _ in }
        return true
    }
}
