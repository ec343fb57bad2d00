internal import Dispatch
internal import MobileExecution

/// The threads that answer requests, in lanes: each kind of work has threads of its own, so that one kind never waits for another.
///
///     start --free thread--> running --> ended
///       |                       ^
///       +--> waiting -----------+
///       |       +-- its time has passed --> refused
///       +-- too many wait --> refused
///
/// A thread that ends a job takes the next one of its lane.
final class WorkLanes: Sendable {
    typealias Job = @Sendable () -> Void

    /// A kind of work.
    enum Lane: Hashable, CaseIterable {
        /// Checks of a header, before its body is read.
        case admissions
        /// Requests of clients without a session: registrations and logins.
        case strangers
        /// Short requests of clients with a session.
        case messages
        case synchronizations
        /// Requests for segments and large values, which may be read from a slow back end.
        case contents
        /// Requests to a server that is a function alone.
        case requests
        /// Next pieces of bodies whose request has a place: they are never refused, since each connection has one at most.
        case pieces
    }

    /// The limits of a lane.
    struct Limits: Sendable {
        /// The maximum number of jobs at a time.
        var running: Int
        /// The maximum number of jobs that wait.
        var waiting = Int.max
        /// The time that a job waits; nil for any time.
        var patience: Duration?
    }

    private struct Waiting {
        let deadline: ContinuousClock.Instant?
        let job: Job
        let refusal: Job
    }

    private struct Traffic {
        var limits: Limits
        var running = 0
        var waiting: [Waiting] = []
    }

    private let lanes: SystemLock<[Lane: Traffic]>
    private let threads: BlockingWork
    private let jobs = DispatchGroup()

    /// - Parameter limits: the lanes; others have no thread.
    init(_ limits: [Lane: Limits]) {
        lanes = SystemLock(limits.mapValues { Traffic(limits: $0) })
        threads = BlockingWork(threads: limits.values.reduce(0) { $0 + $1.running })
    }

    /// Runs `job` on a thread of the lane, at once or when its turn comes. If that is not in time, `refusal` runs instead: on the calling thread if
    /// too many jobs wait, otherwise on any thread.
    func start(_ lane: Lane, _ job: @escaping Job, orRefuse refusal: @escaping Job = {}) {
        enum Place { case thread, queue, none }
        let place = lanes.withLock { lanes -> Place in
            guard var traffic = lanes[lane] else { return .none }
            lanes[lane] = nil  // so that the array of those that wait is not copied
            defer { lanes[lane] = traffic }
            if traffic.running < traffic.limits.running {
                traffic.running += 1
                return .thread
            }
            guard traffic.waiting.count < traffic.limits.waiting else { return .none }
            traffic.waiting.append(Waiting(deadline: traffic.limits.patience.map { .now + $0 }, job: job, refusal: refusal))
            return .queue
        }
        switch place {
        case .thread:
            jobs.enter()
            threads.start { [self] in
                job()
                continueLane(lane)
                jobs.leave()
            }
        case .queue: break
        case .none: refusal()
        }
    }

    /// Runs the jobs of a lane that wait, on the calling thread, which has ended one.
    private func continueLane(_ lane: Lane) {
        while let next = next(in: lane) {
            if let deadline = next.deadline, deadline <= .now { next.refusal() } else { next.job() }
        }
    }

    private func next(in lane: Lane) -> Waiting? {
        lanes.withLock { lanes in
            guard lanes[lane]?.waiting.isEmpty == false else {
                lanes[lane]?.running -= 1
                return nil
            }
            return lanes[lane]?.waiting.removeFirst()
        }
    }

    /// Refuses the jobs that have waited too long.
    func refuseLate() {
        let now = ContinuousClock.now
        let late = lanes.withLock { lanes in
            var late: [Waiting] = []
            for lane in lanes.keys {
                // The order of arrival is the order of the deadlines.
                let count = lanes[lane]?.waiting.prefix { $0.deadline.map { $0 <= now } ?? false }.count ?? 0
                guard count > 0 else { continue }
                late += lanes[lane]?.waiting.prefix(count) ?? []
                lanes[lane]?.waiting.removeFirst(count)
            }
            return late
        }
        for waiting in late { waiting.refusal() }
    }

    /// Drops the jobs that wait, and waits for those that run.
    func stop() {
        let dropped = lanes.withLock { lanes in
            let dropped = lanes.values.map(\.waiting)
            for lane in lanes.keys {
                lanes[lane]?.limits.waiting = 0
                lanes[lane]?.waiting = []
            }
            return dropped
        }
        withExtendedLifetime(dropped) {}
        jobs.wait()
    }

    /// The number of jobs that wait in a lane.
    func waitingCount(in lane: Lane) -> Int { lanes.withLock { $0[lane]?.waiting.count ?? 0 } }
}
