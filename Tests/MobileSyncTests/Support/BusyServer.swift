import MobileExecution
import MobileTransport

/// A transport that answers all requests with a status while it is switched on, like a busy server or a proxy in front of it.
final class BusyServer: Transport {
    private let transport: any Transport
    private let answer = SystemLock<(status: Int, headers: [(name: String, value: String)])?>(nil)

    init(_ transport: any Transport) { self.transport = transport }

    func answer(_ status: Int?, _ headers: [(name: String, value: String)] = []) {
        answer.withLock { $0 = status.map { ($0, headers) } }
    }

    func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
        guard let (status, headers) = answer.withLock({ $0 }) else { return try transport.send(request, receive: receive) }
        throw TransportError(.httpStatus, "\(request.urlWithoutQuery): status \(status)", status: status, headers: headers)
    }
}
