internal import MobileObjects
internal import MobileTransport

/// Records the requests to the server: in a running end-to-end trace, and in the figures of a running interaction.
struct RequestMonitor {
    /// The name of the sender: the package's or the application's.
    let component: String
    let traceService: E2ETraceService
    let performance: PerformanceAgent?

    /// One request in transit: its bytes, and the time that this side takes to produce and to process them.
    final class Count {
        var sent: Int64 = 0
        var received: Int64 = 0
        fileprivate(set) var localTime: Duration = .zero
        private let performance: PerformanceAgent?

        fileprivate init(measuring performance: PerformanceAgent?) { self.performance = performance }

        /// Runs work whose time does not count as the network's.
        func locally<R>(_ body: () throws -> R) rethrows -> R {
            guard let performance else { return try body() }
            let begin = performance.now()
            defer { localTime += performance.now() - begin }
            return try body()
        }
    }

    /// Sends a request, under a passport of its own if a trace runs, and records its result.
    /// - Parameter send: sends the given request, counts its bytes and returns the status of the answer.
    func observe(_ request: TransportRequest, _ send: (TransportRequest, Count) throws -> Int) throws {
        var request = request
        let interval = performance?.begin(.httpRequest)
        let count = Count(measuring: interval == nil ? nil : performance)
        let message = traceService.begin(request: "\(request.method) \(request.urlWithoutQuery)", component: component)
        if let message { request.headers.append((name: E2EPassport.headerName, value: message.passport.headerValue)) }
        defer { performance?.end(interval, sentBytes: count.sent, receivedBytes: count.received, localTime: count.localTime) }
        do {
            let status = try send(request, count)
            traceService.end(message, status: status, sentBytes: count.sent, receivedBytes: count.received)
        } catch {
            let status = (error as? TransportError)?.status
            traceService.end(message, status: status, sentBytes: count.sent, receivedBytes: count.received, failure: String(describing: error))
            throw error
        }
    }
}
