import MobileTransport

/// Asks for each request where it goes.
final class SwitchedTransport: Transport {
    private let current: @Sendable () -> any Transport

    init(_ current: @escaping @Sendable () -> any Transport) { self.current = current }

    func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
        try current().send(request, receive: receive)
    }
}
