/// Cuts connections whose requests arrive too slowly. The daemon's own time limit starts again with each byte: a client that sends a byte now and
/// then would occupy a connection forever.
///
///     header ----> body ----> answering ----> header ...
///     (deadline)   (deadline,  (none)         (deadline after a pause)
///                   rate)
///
/// A connection with a limit is known until just before its descriptor is closed. The loop's thread closes it and does the cut, so the cut never affects
/// another connection with the same descriptor. One without a limit takes no memory: thousands listen for events.
struct ConnectionWatch {
    private struct Watched {
        /// The time by which the awaited header or body must be complete.
        let deadline: ContinuousClock.Instant
        /// The limits of the incoming body.
        var body: (limits: BodyLimits, began: ContinuousClock.Instant, bytes: Int)?

        func isLate(_ now: ContinuousClock.Instant) -> Bool {
            if now >= deadline { return true }
            guard let (limits, began, bytes) = body, case let late = now - began - limits.grace, late > .zero else { return false }
            return Double(bytes) < Double(limits.leastRate) * (late / .seconds(1))
        }
    }

    private var watched: [Int32: Watched] = [:]
    private let headerTime: Duration
    private let pause: Duration

    /// - Parameters:
    ///   - headerTime: the time limit of a header.
    ///   - pause: the time that a connection may rest between two requests.
    init(headerTime: Duration, pause: Duration) {
        self.headerTime = headerTime
        self.pause = pause
    }

    // MARK: Phases

    /// Begins to wait for a header: the connection is new, or has answered a request.
    mutating func awaitsHeader(_ descriptor: Int32, isNew: Bool) {
        watched[descriptor] = Watched(deadline: ContinuousClock.now + headerTime + (isNew ? .zero : pause))
    }

    mutating func awaitsBody(_ descriptor: Int32, _ limits: BodyLimits) {
        watched[descriptor] = Watched(deadline: ContinuousClock.now + limits.time, body: (limits, ContinuousClock.now, 0))
    }

    mutating func received(_ count: Int, on descriptor: Int32) { watched[descriptor]?.body?.bytes += count }

    /// Ends the limits of the request, which is complete: now the client waits.
    mutating func answers(_ descriptor: Int32) { watched[descriptor] = nil }

    /// Forgets a connection that ends; its descriptor is still open.
    mutating func ended(_ descriptor: Int32) { watched[descriptor] = nil }

    // MARK: Cut

    /// Cuts the connections that are late.
    mutating func cutLate() {
        let now = ContinuousClock.now
        for (descriptor, connection) in watched where connection.isLate(now) {
            // The daemon finds the end, and closes the descriptor.
            SystemSocket.shut(descriptor, .both)
            watched[descriptor] = nil
        }
    }
}
