internal import MobileExecution
internal import MobileStore
internal import PostgreSQLClient

/// Messages between the processes that share one state in PostgreSQL. They only save time: a process that misses one finds the same in the tables.
enum StateNotifications {
    /// The channel of refreshed partitions: their numbers, or none if they are too many for a message.
    static let partitions = "mobile_partition"
    /// The channel of changes that a back end has reported: package and objects, as JSON.
    static let changes = "mobile_change"

    /// PostgreSQL takes fewer than 8000 bytes.
    static let messageBytes = 7000

    static func text(_ partitions: [Int64]) -> String {
        let text = partitions.map(String.init).joined(separator: ",")
        return text.utf8.count <= messageBytes ? text : ""
    }

    /// Returns the partitions of a message; nil for any.
    static func partitions(in text: String) -> [Int64]? { text.isEmpty ? nil : text.split(separator: ",").compactMap { Int64($0) } }
}

extension StateConnection {
    /// Sends a message to all processes at the commit; SQLite has one process and sends nothing.
    func notify(_ channel: String, _ text: String) throws { try (self as? PostgreSQLStateConnection)?.connection.notify(channel, text) }
}

/// Receives the messages of other processes on a connection and a thread of its own, while a client listens. Where messages cannot be received it
/// reads the versions at intervals.
final class NotificationReceiver: Sendable {
    private let thread = RestartableThread()
    private let configuration: PostgreSQLConfiguration
    private let news: VersionNews
    private let reported: @Sendable (String) -> Void

    /// The wait in one call, after which the thread looks whether it is still wanted.
    private static let slice: Duration = .milliseconds(250)
    /// The time between two looks at all versions while messages arrive: for a message that was lost.
    private let rest: Duration
    /// The time between two looks while they do not.
    static let pollingInterval: Duration = .seconds(2)

    /// - Parameter reported: takes a change that a back end has reported to another process.
    init(
        _ configuration: PostgreSQLConfiguration, _ news: VersionNews, rest: Duration = .seconds(10), reported: @escaping @Sendable (String) -> Void
    ) {
        (self.configuration, self.news, self.rest, self.reported) = (configuration, news, rest, reported)
    }

    func start() { thread.start { self.run() } }

    func stop() { thread.stop() }

    func close() { thread.close() }

    private func run() {
        while !thread.hasEnded() {
            do { try receive() } catch {
                news.log("events: messages of other processes cannot be received, versions are read instead: \(error)")
                while thread.isWanted {
                    thread.pause(Self.pollingInterval)
                    guard (try? news.lookAtAll()) == nil else { break }
                }
            }
        }
    }

    private func receive() throws {
        let connection = try PostgreSQLConnection(configuration, deadline: .now + configuration.connectionTimeout)
        defer { connection.close() }
        for channel in [StateNotifications.partitions, StateNotifications.changes] {
            try connection.listen(channel, deadline: .now + configuration.connectionTimeout)
        }
        // Changes that came before the subscription.
        var nextLook = ContinuousClock.now
        while thread.isWanted {
            if ContinuousClock.now >= nextLook {
                try news.lookAtAll()
                nextLook = .now + rest
            }
            guard let message = try connection.waitForNotification(deadline: .now + Self.slice) else { continue }
            if message.channel == StateNotifications.changes {
                reported(message.payload)
            } else if let partitions = StateNotifications.partitions(in: message.payload) {
                news.changed(partitions)
            } else {
                try news.lookAtAll()
            }
        }
    }
}
