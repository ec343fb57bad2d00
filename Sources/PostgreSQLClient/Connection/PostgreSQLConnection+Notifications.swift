/// A message on a channel of the database.
package struct PostgreSQLNotification: Sendable, Hashable {
    /// The channel.
    package let channel: String
    /// The sender's text; empty if it gave none.
    package let payload: String
    /// The process of the server that served the sender.
    package let processID: Int
}

extension PostgreSQLConnection {
    /// Subscribes to a channel, from the commit of the open transaction on, if there is one. A connection in a pool loses its subscriptions when it
    /// goes back.
    /// - Parameter channel: any name of 1 to 63 bytes.
    package func listen(_ channel: String, deadline: ContinuousClock.Instant? = nil) throws(PostgreSQLError) {
        try run(script: "LISTEN \(try name(ofChannel: channel))", deadline: deadline)
    }

    /// Ends the subscription of a channel.
    package func unlisten(_ channel: String, deadline: ContinuousClock.Instant? = nil) throws(PostgreSQLError) {
        try run(script: "UNLISTEN \(try name(ofChannel: channel))", deadline: deadline)
    }

    /// Sends a message to all subscribers of a channel, at the commit of the open transaction, if there is one. The server drops repetitions inside of one
    /// transaction.
    /// - Parameters:
    ///   - channel: any name of 1 to 63 bytes.
    ///   - payload: a text of fewer than 8000 bytes.
    package func notify(_ channel: String, _ payload: String = "", deadline: ContinuousClock.Instant? = nil) throws(PostgreSQLError) {
        _ = try name(ofChannel: channel)
        try execute("SELECT pg_notify(?1, ?2)", [.text(channel), .text(payload)], deadline: deadline)
    }

    /// Waits for the next message of the subscribed channels. Messages that arrive during other calls are kept in memory until they are read here.
    /// - Parameter deadline: the time until which it waits; one in the past reads the messages that have arrived.
    /// - Returns: nil when the deadline passes.
    /// - Throws: ``PostgreSQLError`` `.connectionLost`, `.shuttingDown`: messages may have been missed.
    package func waitForNotification(deadline: ContinuousClock.Instant) throws(PostgreSQLError) -> PostgreSQLNotification? {
        let session = try session()
        return try session.exchange(until: deadline) { () throws(PostgreSQLError) in
            while true {
                if let notification = session.wire.notification() { return notification }
                guard try session.wire.awaitInput(until: deadline) else { return nil }
            }
        }
    }

    /// PostgreSQL would cut longer names without a word.
    private func name(ofChannel channel: String) throws(PostgreSQLError) -> String {
        guard (1...63).contains(channel.utf8.count) else {
            throw PostgreSQLError(.misuse, "the name of a channel has \(channel.utf8.count) bytes: use 1 to 63")
        }
        return channel.quotedForPostgreSQL
    }
}
