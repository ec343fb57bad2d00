import Foundation
import MobileExecution
import MobileTransport

/// A transport that selects the destination of each request.
final class SwitchedTransport: Transport {
    private let current: @Sendable () -> any Transport

    init(_ current: @escaping @Sendable () -> any Transport) { self.current = current }

    func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
        try current().send(request, receive: receive)
    }
}

/// A transport that reports the destination of each request.
final class ObservedTransport: Transport {
    private let transport: any Transport
    private let observe: @Sendable (String) -> Void

    init(_ transport: any Transport, _ observe: @escaping @Sendable (String) -> Void) { (self.transport, self.observe) = (transport, observe) }

    func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
        observe(request.url)
        // The server answers under its own paths; a relay server would remove its suffix.
        var request = request
        if let start = request.url.range(of: "/mobile/v1") { request.url = "http://mobile.example" + request.url[start.lowerBound...] }
        return try transport.send(request, receive: receive)
    }
}

/// Runs an action during a request, after the server has answered and before the client gets the answer.
final class InterruptedTransport: Transport {
    private let transport: any Transport
    private let action = SystemLock<(@Sendable () -> Void)?>(nil)

    init(_ transport: any Transport) { self.transport = transport }

    /// Sets the action that runs during the next request.
    func interrupt(_ action: @escaping @Sendable () -> Void) { self.action.withLock { $0 = action } }

    func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
        let response = try transport.send(request, receive: receive)
        let action = action.withLock { action in
            defer { action = nil }
            return action
        }
        action?()
        return response
    }
}
