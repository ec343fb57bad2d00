internal import MobileObjects
internal import MobileTransport

/// What is noted of the requests to the server: their records in a running end-to-end trace, and the figures of a running interaction.
struct RequestMonitor {
    /// Who sends: the package's name, or the application's.
    let component: String
    let traceService: E2ETraceService
    let performance: PerformanceAgent?

    /// One request while it travels: its bytes, and the time that this side takes to make and to use them.
    final class Count {
        var sent: Int64 = 0
        var received: Int64 = 0
        fileprivate(set) var localTime: Duration = .zero
        private let performance: PerformanceAgent?

        fileprivate init(measuring performance: PerformanceAgent?) { self.performance = performance }

        /// Runs what is no part of the network's time.
        func locally<R>(_ body: () throws -> R) rethrows -> R {
            guard let performance else { return try body() }
            let begin = performance.now()
            defer { localTime += performance.now() - begin }
            return try body()
        }
    }

    /// Sends a request under a passport of its own where a trace runs, and notes how it went.
    /// - Parameter send: sends what it is given, counts its bytes and returns the status of the answer.
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
