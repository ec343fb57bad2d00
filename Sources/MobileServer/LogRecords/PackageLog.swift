internal import MobileProtocol
internal import MobileStore

/// The log records of one package in synchronizations: their upload, their delivery, and their expiry.
struct PackageLog: Sendable {
    let table: LogTable
    /// The epoch of the package's cache; tokens of another epoch do not count.
    let epoch: String
    let stateStore: any StateStore
    let configuration: ServerConfiguration
    /// The longest time for which any application needs the records of its clients, in milliseconds; nil for no limit.
    private let retention: Int64?

    init(_ package: DeployedPackage, cache: PackageCache, stateStore: any StateStore, configuration: ServerConfiguration) throws {
        (epoch, self.stateStore, self.configuration) = (cache.epoch, stateStore, configuration)
        let deployment = configuration.packages.first { $0.identifier == package.identifier }
        let retention = deployment?.logRetention.values.max().map { Int64($0 / .milliseconds(1)) }
        self.retention = retention
        table = try stateStore.write(label: "log records of \(package.identifier)") { connection in
            let table = try LogTable.open(package: cache.id, identifier: package.identifier, domain: configuration.domain, in: connection)
            // For administrators who work on the cache alone.
            try table.setRetention(retention, in: connection)
            return table
        }
        let table = table
        warn(before: 0, after: try stateStore.read { try table.rowCount(in: $0) })
    }

    // MARK: Uploads from clients

    /// Stores the log records of an upload that has been checked to its end, and the version that the client has.
    func receive(_ upload: UploadReader, _ header: SynchronizeHeader, user: String) throws {
        let now = configuration.clock()
        try upload.forEachLogRecordFrame { records in
            try store(records.filter { !$0.isDeleted }, .client, client: header.client, user: user, now: now) { connection in
                try table.markDeleted(records.filter(\.isDeleted).compactMap(\.messageId), client: header.client, in: connection)
            }
        }
        if let version = version(of: header.tokens[SystemGroup.name]),
            try stateStore.read({ try table.confirmed(by: header.client, in: $0) }) < version
        {
            try stateStore.write(label: "log records") { try table.confirm(version, by: header.client, in: $0) }
        }
        if let limit = retentionLimit(now) { try clean(.uploaded(before: limit, client: header.client)) }
    }

    /// Stores the log records about operations: rejections always, successes if they are logged.
    func store(_ outcomes: [OperationOutcome], client: String, user: String) throws {
        let records = outcomes.compactMap { $0.logRecord(logsSuccesses: configuration.logsSuccesses) }
        guard !records.isEmpty else { return }
        try store(records, .server, client: client, user: user, now: configuration.clock()) { _ in }
    }

    private func store(
        _ records: [LogRecordEntry], _ origin: LogTable.Origin, client: String, user: String, now: Int64, also: (any StateConnection) throws -> Void
    ) throws {
        let counts = try stateStore.write(label: "log records") { connection in
            let before = try table.rowCount(in: connection)
            try table.store(records, origin, client: client, user: user, now: now, in: connection)
            try also(connection)
            return (before: before, after: try table.rowCount(in: connection))
        }
        warn(before: counts.before, after: counts.after)
    }

    /// Logs once that the table has become too long. Logs it again after the table was shorter in between, and at each start.
    private func warn(before: Int64, after: Int64) {
        let guideline = Int64(configuration.logTableGuideline)
        guard before <= guideline, after > guideline else { return }
        configuration.log(
            "log records: table \(table.name) has \(after) rows, more than the guideline of \(guideline): clean it, because long tables slow synchronization"
        )
    }

    // MARK: Delivery to clients

    /// Returns the version in a token of the group `system`; nil without a token, or for one of another epoch.
    private func version(of token: Token?) -> Int64? {
        guard let token, token.json["e"]?.string == epoch else { return nil }
        return token.json["l"]?.integer
    }

    /// Returns the records that the client does not have, as frames of the group `system`.
    /// - Parameter outcomes: the outcomes of this upload; their records are included.
    func delivery(to header: SynchronizeHeader, _ outcomes: [OperationOutcome], in connection: any StateConnection) throws -> [FrameContent] {
        let answered = outcomes.compactMap { $0.logRecord(logsSuccesses: configuration.logsSuccesses)?.messageId }
        let entries = try table.delivery(
            to: header.client, since: version(of: header.tokens[SystemGroup.name]) ?? 0, including: answered, in: connection)
        let token = Token(["e": .string(epoch), "l": .integer(try table.version(in: connection))])
        return (entries.isEmpty ? [] : [.logRecords(entries)]) + [.groupEnd(GroupEnd(group: SystemGroup.name, token: token))]
    }

    // MARK: Expiry

    /// Returns the time before which stored records of clients are no longer needed; nil if they are kept.
    private func retentionLimit(_ now: Int64) -> Int64? { retention.map { now - $0 } }

    private func clean(_ expired: LogTable.Expired) throws {
        guard try stateStore.read({ try table.hasAny(expired, in: $0) }) else { return }
        _ = try LogCleaning(table: table, stateStore: stateStore, portion: configuration.cleaningPortion).mark(expired) { _ in }
    }

}
