internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// Determines the data that a client does not have, from one snapshot of the cache, and writes its rows into a spool.
///
/// Rows are written while the snapshot is open, at the speed of the database and the disk; the client then reads at its own pace. Large values are
/// not written but listed: the download reads each from the back end when its turn comes.
struct DownloadComposer {
    let package: DeployedPackage
    let cache: PackageCache
    let partitions: [Partition]
    /// The objects whose rows are sent as to a client that has none of them.
    let reread: Set<String>
    let connection: any StateConnection
    let logsSuccesses: Bool
    let log: @Sendable (String) -> Void

    /// - Parameter system: the frames of the group `system`; nil if it was not requested. In that case only the log records of the outcomes are sent.
    func compose(
        answer: SynchronizeAnswer, groups: [RequestedGroups.Group], keys: KeyRange?, outcomes: [OperationOutcome], system: [FrameContent]?
    ) throws -> Download {
        let rows = Spool(), largeValues = LargeValueList()
        var steps: [Download.Step] = [.frame(.answer(answer))]
        if let keys { steps.append(.frame(.keyRange(keys))) }
        steps += (system ?? []).map { .frame($0) }
        for group in groups { try compose(group, rows, largeValues, &steps) }
        let records = system == nil ? outcomes.compactMap { $0.logRecord(logsSuccesses: logsSuccesses) } : []
        if !records.isEmpty { steps.append(.frame(.logRecords(records))) }
        if !outcomes.isEmpty { steps.append(.frame(.replayResults(outcomes.map(\.result)))) }
        steps.append(.frame(.streamEnd))
        rows.rewind()
        try largeValues.finish()
        return Download(steps: steps, rows: rows, largeValues: largeValues, log: log)
    }

    private func compose(
        _ group: RequestedGroups.Group, _ rows: Spool, _ largeValues: LargeValueList, _ steps: inout [Download.Step]
    ) throws {
        let reading = TokenReading(delivered: group.token.flatMap { DeliveredState($0, epoch: cache.epoch) }, connection: connection)
        var next = DeliveredState(epoch: cache.epoch)
        let current = Dictionary(grouping: partitions, by: \.object)
        for object in group.objects {
            let current = try (current[object.name] ?? []).map { (partition: $0, state: try $0.state(in: connection)) }
            let delivered = try reread.contains(object.name) ? nil : reading.versions(of: object, current)
            let delta = ObjectDelta(
                object: object, objectID: cache.id(of: object), current: current.map(\.partition.id),
                delivered: delivered, connection: connection)
            try delta.compose(backEnd: package.backEnd(of: object), rows, largeValues, &steps)
            next.objects[object.name] = Dictionary(current.map { ($0.partition.digest, $0.state.position) }) { $1 }
        }
        steps.append(.frame(.groupEnd(GroupEnd(group: group.name, token: next.token))))
    }
}

/// The data of one object that a client does not have.
struct ObjectDelta {
    let object: ObjectPlan
    let objectID: Int64
    /// The partitions that the client requests now.
    let current: [Int64]
    /// The partitions that the client has, each with the version up to which it was sent; nil for a client of unknown state.
    let delivered: [Int64: Int64]?
    let connection: any StateConnection

    func compose(backEnd: BackEnd, _ rows: Spool, _ largeValues: LargeValueList, _ steps: inout [Download.Step]) throws {
        if let delivered {
            try addRemovals(delivered, rows, &steps)
        } else {
            steps.append(.frame(.table(TablePart(object: object.name, columns: ["_sk"], mode: .reset, compression: .none))))
            steps.append(.frame(.partEnd(.rows(0))))
        }
        for partition in Set(current).sorted() {
            let since = delivered?[partition]
            try addRows(of: partition, since: since, rows, &steps)
            guard !object.largeAttributes.isEmpty else { continue }
            let count = try listLargeValues(of: partition, since: since, largeValues)
            if count > 0 { steps.append(.largeValues(count: count, of: object, in: backEnd)) }
        }
    }

    // MARK: Rows

    private func addRows(of partition: Int64, since: Int64?, _ rows: Spool, _ steps: inout [Download.Step]) throws {
        let changed = since == nil ? "" : " AND version > ?2"
        let sql = "SELECT body FROM _row WHERE partition = ?1 AND deleted = 0\(changed)"
        let part = TablePart(object: object.name, columns: ["_sk"] + object.rowColumns, mode: .upsert)
        try add(part, sql, [.integer(partition)] + (since.map { [.integer($0)] } ?? []), rows, &steps) { $0.bytes(0) }
    }

    /// Adds the deletions of rows that were in a partition of the client and are in no requested one: deleted in the back end, moved to another
    /// partition, or in a partition that the client has left. The partitions are values of one statement, regardless of their number.
    private func addRemovals(_ delivered: [Int64: Int64], _ rows: Spool, _ steps: inout [Download.Step]) throws {
        guard !delivered.isEmpty else { return }
        let asked = Set(current), had = delivered.sorted { $0.key < $1.key }
        let kept = had.filter { asked.contains($0.key) }.map { JSONValue.array([.integer($0.key), .integer($0.value)]) }
        let left = had.filter { !asked.contains($0.key) }.map { JSONValue.integer($0.key) }
        let dialect = connection.dialect
        let isNowhere = """
            NOT EXISTS (
                SELECT 1 FROM _row AS k\(dialect.index("_row_sk"))
                WHERE k.sk = r.sk AND k.deleted = 0 AND k.partition IN (\(dialect.numbers("?3"))))
            """
        let sql = """
            SELECT r.sk FROM (\(dialect.pairs("?1"))) AS d \(dialect.outerJoin) _row AS r\(dialect.index("_row_version"))
                ON r.partition = d.key AND r.version > d.value
            WHERE r.deleted = 1 AND \(isNowhere)
            UNION
            SELECT r.sk FROM (\(dialect.numbers("?2"))) AS d \(dialect.outerJoin) _row AS r ON r.partition = d.value WHERE \(isNowhere)
            """
        let lists = [kept, left, asked.sorted().map { .integer($0) }].map { Value.text(JSONValue.array($0).description) }
        try add(TablePart(object: object.name, columns: ["_sk"], mode: .delete), sql, lists, rows, &steps) { Array("[\($0.integer(0))]".utf8) }
    }

    /// - Parameter text: returns a row as it travels.
    private func add(
        _ part: TablePart, _ sql: String, _ values: [Value], _ rows: Spool, _ steps: inout [Download.Step], text: (any StateRow) -> [UInt8]
    ) throws {
        let start = rows.length
        var data = try RowData(part, rows)
        try connection.forEachRow(sql, values) { try data.add(text($0)) }
        guard try data.finish() else { return }
        steps.append(.frame(.table(part)))
        steps.append(.rows(bytes: rows.length - start))
        steps.append(.frame(.partEnd(.rows(data.count))))
    }

    // MARK: Large values

    /// Lists the values that are new, changed, or of rows that are new to the client. A value that is NULL is not sent to a client that has no data
    /// of the partition yet.
    /// - Returns: the number of listed values.
    private func listLargeValues(of partition: Int64, since: Int64?, _ list: LargeValueList) throws -> Int {
        let isNew = since == nil ? "l.digest IS NOT NULL" : "(l.version > ?3 OR r.since > ?3)"
        let join = connection.dialect.outerJoin
        let sql = """
            SELECT l.sk, l.attribute, m.k, CASE WHEN l.digest IS NULL THEN 1 ELSE 0 END FROM _row AS r
            \(join) _large AS l ON l.partition = r.partition AND l.sk = r.sk \(join) _key AS m ON m.object = ?1 AND m.sk = r.sk
            WHERE r.partition = ?2 AND r.deleted = 0 AND \(isNew)
            """
        var count = 0
        try connection.forEachRow(sql, [.integer(objectID), .integer(partition)] + (since.map { [.integer($0)] } ?? [])) { row in
            // A key that cannot be read belongs to no row of the back end.
            guard let attribute = Int(exactly: row.integer(1)), let key = KeyText(text: row.value(2).text ?? "").value else { return }
            try list.append(
                LargeValueList.Entry(surrogateKey: row.integer(0), attribute: attribute, key: key, isNull: row.integer(3) == 1))
            count += 1
        }
        return count
    }
}

/// Writes rows as the data of one table part: a JSON array of their texts, compressed. Writes nothing without a row.
private struct RowData {
    private let spool: Spool
    private let deflater: Deflater?
    private var text: [UInt8] = []
    private(set) var count: Int64 = 0

    private static let pieceBytes = 65_536

    init(_ part: TablePart, _ spool: Spool) throws {
        self.spool = spool
        deflater = part.compression == .zlib ? try Deflater() : nil
    }

    mutating func add(_ row: [UInt8]) throws {
        text.append(count == 0 ? UInt8(ascii: "[") : UInt8(ascii: ","))
        text += row
        count += 1
        if text.count >= Self.pieceBytes { try write() }
    }

    /// - Returns: whether there were rows.
    mutating func finish() throws -> Bool {
        guard count > 0 else { return false }
        text.append(UInt8(ascii: "]"))
        try write()
        try deflater?.finish { try spool.append($0) }
        return true
    }

    private mutating func write() throws {
        if let deflater {
            try deflater.compress(text) { try spool.append($0) }
        } else {
            try spool.append(text)
        }
        text.removeAll(keepingCapacity: true)
    }
}
