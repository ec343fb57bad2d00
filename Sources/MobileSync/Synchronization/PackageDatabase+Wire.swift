internal import Foundation
internal import MobileCrypto
internal import MobileObjects
internal import MobileProtocol
internal import MobileStore

extension PackageDatabase {
    /// Name and version in the form of messages: `CRM:1.0`.
    var wireName: String { "\(metadata.name):\(metadata.version)" }

    /// The folder of the database file, so that temporary files are on the same disk; the system's temporary one for a database in memory.
    var databaseDirectory: String {
        guard let databaseFile else { return NSTemporaryDirectory() }
        let directory = (databaseFile as NSString).deletingLastPathComponent
        return directory.isEmpty ? "." : directory
    }

    /// Returns the parameter sets of all objects in the form of the protocol.
    func wireSubscriptions() throws -> Subscriptions {
        var subscriptions = Subscriptions()
        for (entity, sets) in try subscriptionSets { subscriptions[entity] = sets.compactMap(\.object) }
        return subscriptions
    }

    /// Returns the first frame of an upload: the client, its groups and parameters, and the state of this database.
    func synchronizeHeader(groups: [String]) throws -> SynchronizeHeader {
        var tokens: [String: Token] = [:]
        for group in groups {
            if let text = try token(ofGroup: group) { tokens[group] = try Token(json: JSONValue(parsing: text)) }
        }
        var header = SynchronizeHeader(
            client: try clientID, package: wireName, groups: groups, tokens: tokens, subscriptions: try wireSubscriptions(),
            personalization: try personalizationValues, settledBelow: try settledBelow, keysLeft: try keyGenerator.keysLeft,
            keyClaims: try keyClaims)
        header.receipts = try receipts
        header.seen = try seenRecords
        header.unconfirmed = try unconfirmedRows(inGroups: groups, limit: SynchronizeHeader.unconfirmedLimit)
        header.removed = try unconfirmedRows(inGroups: groups, areHere: false, limit: SynchronizeHeader.unconfirmedLimit)
        header.held = try heldValues(header.unconfirmed)
        return header
    }

    /// Returns the large values of unconfirmed rows, with their digests.
    private func heldValues(_ rows: [String: [Int64]]) throws -> [String: [HeldValue]] {
        let known = synchronizer.state.withLock { $0.digests }
        var digests: [Int64: String] = [:], held: [String: [HeldValue]] = [:]
        for value in try largeValues(ofUnconfirmed: rows, limit: SynchronizeHeader.heldLimit) {
            let digest = try known[value.id] ?? digest(of: value.id)
            digests[value.id] = digest
            held[value.object, default: []].append(HeldValue(key: value.key, attribute: value.attribute, digest: digest))
        }
        synchronizer.state.withLock { [digests] in $0.digests = digests }
        return held
    }

    private func digest(of value: Int64) throws -> String {
        let reader = try LargeValueReader(value, in: store)
        var digest = try SHA256()
        while true {
            let piece = try reader.bytes(upTo: 1 << 18)
            guard !piece.isEmpty else { return try digest.finish().hexadecimal }
            try digest.update(piece)
        }
    }

    /// Returns the first frame of an upload of the operations that this database inherited from another client. It settles nothing: the original may wait
    /// for the same results.
    func inheritedHeader(ofClient client: String) throws -> SynchronizeHeader {
        var header = SynchronizeHeader(client: client, package: wireName, keysLeft: .max, keyClaims: try keyClaims(ofFormerClient: client))
        header.successor = try clientID
        // An object that refuses conflicts compares with the rows of the device's partitions.
        (header.subscriptions, header.personalization) = (try wireSubscriptions(), try personalizationValues)
        // Original and copy have seen the same up to the copy.
        header.seen = try seenRecords
        return header
    }

    /// The lost operations to report, in the form of the protocol.
    static func report(_ operations: [LostOperation]) -> [ReportedOperation] {
        operations.map { ReportedOperation(client: $0.client, id: $0.id, object: $0.entity, key: $0.surrogateKey) }
    }

    /// Converts a received log record to one of this database. A record about an answered operation names the operation's row.
    func logRecord(_ entry: LogRecordEntry, _ answers: [ReplayResult] = []) -> LogRecord {
        let answer = answers.first { String($0.id) == entry.requestId }
        let timestamp = try? Date(entry.timestamp, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        return makeLogRecord(
            messageID: entry.messageId ?? 0, level: LogLevel(entry.level), code: Int(entry.code),
            eisCode: entry.eisCode.isEmpty ? nil : entry.eisCode, message: entry.message, component: entry.component,
            entityKey: answer.map { String($0.key) } ?? entry.entityKey, operation: entry.operation, requestID: entry.requestId,
            timestamp: timestamp ?? environment.now())
    }
}

extension LogLevel {
    /// The level in the form of the protocol.
    var onWire: LogRecordEntry.Level {
        switch self {
        case .trace: .trace
        case .debug: .debug
        case .info: .info
        case .warn: .warn
        case .error: .error
        case .fatal: .fatal
        case .off: .off
        }
    }

    init(_ level: LogRecordEntry.Level) {
        // Each level of the protocol is one of these.
        self = LogLevel.allCases.first { $0.onWire == level } ?? .error
    }
}
