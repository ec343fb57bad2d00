/// The time for which the server keeps what grows with every device and every day. It removes the rest by itself, a little with a synchronization now
/// and then, and `mobile admin prune` removes all of it at once.
///
/// Sessions have their own limits, ``ServerConfiguration/sessionIdleLimit`` and ``ServerConfiguration/sessionLifetime``.
public struct Retention: Sendable, Hashable {
    /// The time without a request after which a partition is removed, with its rows; default 30 days, at least 2. A device that comes later gets the
    /// object from its start.
    public var partitions: Duration = .seconds(30 * 86_400)
    /// The number of deleted rows that a partition remembers; default 10,000. A device that has not seen older ones gets the object from its start.
    public var deletedRows = 10_000
    /// The time for which grants and claims of surrogate keys are kept; default 400 days. A row with an older key is accepted from any client, unless
    /// another row has the key.
    public var keyRanges: Duration = .seconds(400 * 86_400)
    /// The time without an operation after which a client's entry in the back end's replay guard goes, with the record of its operations; default 400
    /// days. Nothing that is under way arrives so late: the sessions have ended.
    public var processedOperations: Duration = .seconds(400 * 86_400)
    /// The time for which entries of the back ends' trigger logs are kept; default 7 days. A partition without a request for longer is compared as a
    /// whole.
    public var changes: Duration = .seconds(7 * 86_400)
    /// The time for which log records are kept; default 365 days. Devices delete them with their next synchronization; the record of a device that does
    /// not come goes after twice the time.
    public var logRecords: Duration = .seconds(365 * 86_400)
    /// The time for which traces, and the server's lines about their requests, are kept; default 90 days.
    public var traces: Duration = .seconds(90 * 86_400)
    /// The time for which logs of devices, and unanswered inquiries, are kept; default 90 days.
    public var domainLogs: Duration = .seconds(90 * 86_400)
    /// The time for which entries of the reconciliation report are kept; default 400 days.
    public var reconciliation: Duration = .seconds(400 * 86_400)

    /// The defaults.
    public init() {}

    /// - Throws: ``ServerError/Code/configuration`` for a time below its minimum, or of more than 100 years.
    func check() throws(ServerError) {
        let day = Duration.seconds(86_400)
        for (name, time, least) in [
            ("partitions", partitions, .seconds(2 * 86_400)), ("key ranges", keyRanges, day), ("processed operations", processedOperations, day),
            ("changes", changes, day),
            ("log records", logRecords, day), ("traces", traces, day), ("domain logs", domainLogs, day), ("reconciliation", reconciliation, day),
        ] where time < least || time > .seconds(100 * 366 * 86_400) {
            throw ServerError(.configuration, "retention of \(name): \(time) is not between \(least) and 100 years")
        }
        guard deletedRows >= 0 else { throw ServerError(.configuration, "retention of deleted rows \(deletedRows): use 0 or more") }
    }
}
