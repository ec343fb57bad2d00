internal import MobileExecution
internal import MobileProtocol
internal import MobileStore

/// One client that listens: its groups, and the changes that it has not been notified of.
///
/// A set of groups waits to be sent, not a list of events: a client that reads slowly finds one event about everything that happened meanwhile.
/// So a listener needs a fixed amount of memory, however much changes.
///
/// The registry does not keep a listener alive, the response does: a listener whose connection has gone is forgotten.
final class EventListener: Sendable {
    /// The owner of the connection.
    struct Owner: Hashable, Sendable {
        let user: String
        let application: String
        let device: String
        /// The clients of the request, sorted.
        let clients: [String]
    }

    /// One group of one client.
    struct Topic: Sendable {
        let package: String
        let client: String
        let group: String
        /// The group's partitions, each with the position that the client has; nil for a partition that it does not have.
        let partitions: [Int64: PartitionPosition?]
    }

    private struct State {
        /// The positions that the client has, or was notified of.
        var heard: [Int64: PartitionPosition]
        /// The partitions with news, with their positions; nil for an unknown position.
        var news: [Int64: PartitionPosition?]
        /// The number of synchronizations of the client that are in progress: no event is sent about their own changes.
        var holds = 0
        var isGreeted = false
        var isEnding = false
        /// Makes the connection call ``take()``.
        var wake: (@Sendable () -> Void)?
    }

    let owner: Owner
    private let topics: [(package: String, client: String, group: String)]
    /// The topics by partition.
    private let places: [Int64: [Int]]
    private let state: SystemLock<State>
    private let ended: @Sendable (ObjectIdentifier) -> Void

    /// - Parameter ended: called when the listener is released.
    init(_ owner: Owner, _ topics: [Topic], ended: @escaping @Sendable (ObjectIdentifier) -> Void) {
        self.owner = owner
        self.ended = ended
        self.topics = topics.map { ($0.package, $0.client, $0.group) }
        var places: [Int64: [Int]] = [:], heard: [Int64: PartitionPosition] = [:], news: [Int64: PartitionPosition?] = [:]
        for (index, topic) in topics.enumerated() {
            for (partition, position) in topic.partitions {
                places[partition, default: []].append(index)
                // Of two clients, the earlier position counts.
                guard let position else {
                    news[partition] = .some(nil)
                    continue
                }
                if heard[partition].map({ position.isLater(than: $0) }) != true { heard[partition] = position }
            }
        }
        self.places = places
        state = SystemLock(State(heard: heard, news: news))
    }

    deinit { ended(ObjectIdentifier(self)) }

    /// The partitions of all groups.
    var partitions: Dictionary<Int64, [Int]>.Keys { places.keys }

    /// Notes the present positions of partitions, and wakes the connection if one of them is new to the client.
    /// - Parameter positions: nil for a partition that has changed to an unknown position.
    func note(_ positions: [(partition: Int64, position: PartitionPosition?)]) {
        wakeAfter { state in
            for (partition, position) in positions where places[partition] != nil {
                guard let position else {
                    state.news[partition] = .some(nil)
                    continue
                }
                // A position of another era is new.
                if let heard = state.heard[partition], heard == position || heard.isLater(than: position) { continue }
                state.heard[partition] = position
                state.news[partition] = .some(position)
            }
        }
    }

    // MARK: Own synchronizations

    /// A synchronization of a client has begun: nothing is sent until ``release()``.
    func hold() { state.withLock { $0.holds += 1 } }

    /// The synchronization has ended.
    func release() { wakeAfter { $0.holds -= 1 } }

    /// The answer to a synchronization contains these positions: no event follows about them.
    func note(delivered positions: [Int64: PartitionPosition]) {
        state.withLock { state in
            for (partition, position) in positions where places[partition] != nil {
                if state.heard[partition].map({ $0.isLater(than: position) }) != true { state.heard[partition] = position }
                if case .some(.some(let known)) = state.news[partition], known == position || position.isLater(than: known) {
                    state.news[partition] = nil
                }
                if case .some(.none) = state.news[partition] { state.news[partition] = nil }
            }
        }
    }

    // MARK: Connection

    /// Connects the listener. The first call of ``take()`` is not announced.
    func attach(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }

    /// Ends the stream after a last event, which says when to come again.
    func end() { wakeAfter { $0.isEnding = true } }

    private func wakeAfter(_ change: (inout State) -> Void) {
        let wake = state.withLock { state in
            change(&state)
            return state.isEnding || (!state.news.isEmpty && state.holds == 0) ? state.wake : nil
        }
        wake?()
    }

    /// The next part of the stream.
    enum Step: Equatable {
        case events([UInt8])
        case wait
        case end([UInt8])
    }

    /// Takes what is to be sent now.
    func take() -> Step {
        let (groups, isFirst, isEnding) = state.withLock { state -> (Set<Int>, Bool, Bool) in
            var groups = Set<Int>()
            if state.holds == 0 {
                for partition in state.news.keys { groups.formUnion(places[partition] ?? []) }
                state.news = [:]
            }
            defer { state.isGreeted = true }
            return (groups, !state.isGreeted, state.isEnding)
        }
        var text = isFirst ? "event: listening\ndata: {}\n\n" : ""
        for event in events(about: groups) { text += "event: news\ndata: \(event)\n\n" }
        if isEnding { return .end(Array((text + Self.farewell()).utf8)) }
        return text.isEmpty ? .wait : .events(Array(text.utf8))
    }

    private func events(about indices: Set<Int>) -> [String] {
        var clients: [(package: String, client: String, groups: [JSONValue])] = []
        for index in indices.sorted() {
            let topic = topics[index]
            if let known = clients.firstIndex(where: { $0.package == topic.package && $0.client == topic.client }) {
                clients[known].groups.append(.string(topic.group))
            } else {
                clients.append((topic.package, topic.client, [.string(topic.group)]))
            }
        }
        return clients.map { entry in
            let event: JSONValue = ["pkg": .string(entry.package), "cid": .string(entry.client), "groups": .array(entry.groups)]
            return event.description
        }
    }

    /// The last event of a stream that the server ends. Its clients come again spread over ten seconds.
    private static func farewell() -> String { "retry: \(Int.random(in: 500...10_000))\nevent: end\ndata: {}\n\n" }
}
