/// The next step of a client that wants to be notified of changes, as a value: it listens, or polls where no connection lasts.
///
///     listen --ended, lost--> delay --> listen
///        |                                 ^
///        +-- refused, or short or busy three times in a row --> poll, poll, ... (ten times) --+
struct ListeningPlan: Sendable {
    /// The end of a connection.
    enum End: Equatable, Sendable {
        /// The server has ended it, and may have named the time to come again.
        case left(retry: Duration?)
        /// It lasted, then broke.
        case lost
        /// It broke soon, or no event came over it: something on the way does not let streams through.
        case short
        /// The server, or a proxy, does not give one.
        case refused(retryAfter: Duration?)
        /// There was no server.
        case unreachable(retryAfter: Duration?)
    }

    enum Step: Equatable, Sendable {
        case listen(after: Duration)
        case poll(after: Duration)
    }

    /// The number of short and refused connections in a row after which the client polls.
    static let shortConnections = 3
    /// The number of polls before the next attempt to listen.
    static let polls = 10

    private var failures = 0
    private var short = 0
    private var pollsLeft = 0

    /// Returns the step after a connection.
    mutating func ended(_ end: End, _ policy: RetryPolicy, pollingInterval: Duration, _ random: inout RandomNumberSource) -> Step {
        switch end {
        case .left(let retry):
            (failures, short) = (0, 0)
            return .listen(after: retry ?? policy.delay(failures: 0, using: &random))
        case .lost:
            (failures, short) = (0, 0)
            return .listen(after: policy.delay(failures: 0, using: &random))
        case .short:
            short += 1
            guard short >= Self.shortConnections else { return .listen(after: delay(policy, nil, &random)) }
            pollsLeft = Self.polls
            return poll(pollingInterval, nil, &random)
        case .refused(let retryAfter):
            short += 1
            // A server that names a time is busy for a moment, as after its restart.
            if retryAfter != nil, short < Self.shortConnections { return .listen(after: delay(policy, retryAfter, &random)) }
            pollsLeft = Self.polls
            return poll(pollingInterval, retryAfter, &random)
        case .unreachable(let retryAfter):
            return .listen(after: delay(policy, retryAfter, &random))
        }
    }

    /// Returns the step after a poll.
    mutating func polled(pollingInterval: Duration, _ random: inout RandomNumberSource) -> Step {
        pollsLeft -= 1
        guard pollsLeft > 0 else {
            (failures, short) = (0, 0)
            return .listen(after: .zero)
        }
        return poll(pollingInterval, nil, &random)
    }

    private mutating func delay(_ policy: RetryPolicy, _ retryAfter: Duration?, _ random: inout RandomNumberSource) -> Duration {
        defer { failures += 1 }
        return policy.delay(failures: failures, retryAfter: retryAfter, using: &random)
    }

    /// Polls are spread, so that the devices behind one proxy do not come together.
    private func poll(_ interval: Duration, _ retryAfter: Duration?, _ random: inout RandomNumberSource) -> Step {
        let policy = RetryPolicy(initialDelay: interval, maximumDelay: interval)
        return .poll(after: policy.delay(failures: 0, retryAfter: retryAfter, using: &random))
    }
}
