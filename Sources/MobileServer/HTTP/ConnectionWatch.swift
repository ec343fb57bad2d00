internal import Dispatch
internal import MobileExecution

/// Cuts connections whose requests arrive too slowly. The daemon's own time limit starts again with each byte: a client that sends a byte now and
/// then would occupy a thread forever.
///
///     header ----> body ----> answering ----> header ...
///     (deadline)   (deadline,  (none)         (deadline after a pause)
///                   rate)
///
/// A connection is known from the moment of its acceptance until just before its descriptor is closed. The cut and the end of a connection use the
/// same lock. So the cut never affects another connection with the same descriptor.
final class ConnectionWatch: Sendable {
    private struct Watched {
        /// The time by which the awaited header or body must be complete; nil while the server is at work.
        var deadline: ContinuousClock.Instant?
        /// The limits of the incoming body.
        var body: (limits: BodyLimits, began: ContinuousClock.Instant, bytes: Int)?

        func isLate(_ now: ContinuousClock.Instant) -> Bool {
            if let deadline, now >= deadline { return true }
            guard let (limits, began, bytes) = body, case let late = now - began - limits.grace, late > .zero else { return false }
            return Double(bytes) < Double(limits.leastRate) * (late / .seconds(1))
        }
    }

    private struct State {
        var watched: [Int32: Watched] = [:]
        var isStopped = false
    }

    private let state = SystemLock(State())
    private let headerTime: Duration
    private let pause: Duration

    /// - Parameters:
    ///   - headerTime: the time limit of a header.
    ///   - pause: the time that a connection may rest between two requests.
    init(headerTime: Duration, pause: Duration) {
        self.headerTime = headerTime
        self.pause = pause
    }

    /// Begins to check: once a second, or as often as a short time limit requires.
    func start() {
        let interval = max(20, min(1000, Int(min(headerTime, .seconds(10)) / .milliseconds(4))))
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .milliseconds(interval)) { [weak self] in
            guard let self, !state.withLock({ $0.isStopped }) else { return }
            cutLate()
            start()
        }
    }

    func stop() { state.withLock { $0.isStopped = true } }

    // MARK: Phases

    /// Begins to wait for a header: the connection is new, or has answered a request.
    func awaitsHeader(_ descriptor: Int32, isNew: Bool) {
        set(descriptor, Watched(deadline: ContinuousClock.now + headerTime + (isNew ? .zero : pause)))
    }

    func awaitsBody(_ descriptor: Int32, _ limits: BodyLimits) {
        set(descriptor, Watched(deadline: ContinuousClock.now + limits.time, body: (limits, ContinuousClock.now, 0)))
    }

    func received(_ count: Int, on descriptor: Int32) {
        state.withLock { $0.watched[descriptor]?.body?.bytes += count }
    }

    /// Ends the limits of the request, which is complete: now the client waits.
    func answers(_ descriptor: Int32) { set(descriptor, Watched()) }

    private func set(_ descriptor: Int32, _ watched: Watched) {
        state.withLock { $0.watched[descriptor] = watched }
    }

    /// Forgets a connection that ends; its descriptor is still open.
    func ended(_ descriptor: Int32) {
        state.withLock { _ = $0.watched.removeValue(forKey: descriptor) }
    }

    private func cutLate() {
        let now = ContinuousClock.now
        state.withLock { state in
            for (descriptor, watched) in state.watched where watched.isLate(now) {
                // The daemon's thread wakes up, finds the end, and closes the descriptor.
                SystemSocket.shut(descriptor, .both)
                state.watched[descriptor] = Watched()
            }
        }
    }
}
