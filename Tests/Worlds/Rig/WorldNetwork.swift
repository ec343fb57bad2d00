internal import MobileServer
internal import MobileTransport
internal import TestSupport

/// The network of one device: it breaks where a step says so, and can deliver an earlier request again.
final class WorldNetwork: Transport {
    private let transport: SimulatedTransport, copies: DuplicatingTransport

    init(_ server: ServerBench, seed: UInt64, clock: VirtualClock) {
        transport = SimulatedTransport(server: { server.respond(to: $0) }, seed: seed, clock: clock)
        copies = DuplicatingTransport(transport)
    }

    func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
        try copies.send(request, receive: receive)
    }

    /// Breaks all requests until ``repair()``.
    func fail(_ fault: NetworkFault) { transport.conditions.fault = { _, _ in fault } }
    func repair() { transport.conditions.fault = { _, _ in nil } }

    /// Delivers one of the last six uploads again; the answer is dropped.
    /// - Returns: false if there was none.
    func sendAgain(_ pick: Int) -> Bool {
        let last = min(copies.count, 6)
        guard last > 0 else { return false }
        copies.deliverAgain(copies.count - last + pick % last)
        return true
    }
}
