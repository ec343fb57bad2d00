internal import MobileExecution
internal import MobileProtocol
internal import MobileServer
internal import MobileStore
internal import MobileTransport
internal import TestSupport

/// The network of one device to a server in this process.
final class WorldNetwork: DeviceNetwork {
    private let transport: SimulatedTransport, copies: DuplicatingTransport
    private let bytes = SystemLock(0)

    init(_ server: ServerBench, seed: UInt64, clock: VirtualClock) {
        transport = SimulatedTransport(server: { server.respond(to: $0) }, seed: seed, clock: clock)
        copies = DuplicatingTransport(transport)
    }

    func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
        try copies.send(request) { piece in
            bytes.withLock { $0 += piece.byteCount }
            try receive(piece)
        }
    }

    var received: Int { bytes.withLock { $0 } }

    func fail(_ fault: NetworkFault) { transport.conditions.fault = { _, _ in fault } }
    func repair() { transport.conditions.fault = { _, _ in nil } }

    func sendAgain(_ pick: Int) -> Bool {
        let last = min(copies.count, 6)
        guard last > 0 else { return false }
        copies.deliverAgain(copies.count - last + pick % last)
        return true
    }

    /// Whether the server has got an upload of this device under this client id.
    func hasSent(as client: String) throws -> Bool { try copies.last.flatMap(Self.header)?.client == client }

    private static func header(_ upload: DuplicatingTransport.Upload) throws -> SynchronizeHeader? {
        var reader = FrameReader(.upload)
        try reader.push(upload.body)
        guard case .header(let header)? = try reader.next()?.content else { return nil }
        return header
    }

    /// Sends the last upload of this device once more, as a user does who has changed what his program says: it names another client and package, says
    /// that all operations below a number are settled, and has one of its own, which changes a row that does not exist.
    /// - Returns: false if there was none.
    func impersonate(client: String, package: String, settledBelow: Int64) throws -> Bool {
        guard var upload = copies.last, var header = try Self.header(upload) else { return false }
        (header.client, header.package, header.settledBelow) = (client, package, settledBelow)
        (header.groups, header.tokens, header.receipts, header.seen) = ([], [:], [:], [:])
        var writer = FrameWriter(.upload)
        try writer.write(.header(header))
        try writer.write(
            .operation(
                OperationFrame(
                    id: settledBelow + 1, object: World.name(0), change: .update, key: .max - 1, attributes: ["stamp": "x"])))
        try writer.write(.streamEnd)
        upload.body = writer.take()
        copies.deliver(upload)
        return true
    }
}
