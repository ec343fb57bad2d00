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
    let connection: Connection
    let logsSuccesses: Bool
    let log: @Sendable (String) -> Void

    /// - Parameter system: the frames of the group `system`; nil if it was not requested. In that case only the log records of the outcomes are sent.
    func compose(
        answer: SynchronizeAnswer, groups: [RequestedGroups.Group], keys: KeyRange?, outcomes: [OperationOutcome], system: [FrameContent]?
    ) throws -> Download {
        let rows = Spool(), largeValues = LargeValueList()
        let version = try cache.version(in: connection)
        var steps: [Download.Step] = [.frame(.answer(answer))]
        if let keys { steps.append(.frame(.keyRange(keys))) }
        steps += (system ?? []).map { .frame($0) }
        for group in groups { try compose(group, version, rows, largeValues, &steps) }
        let records = system == nil ? outcomes.compactMap { $0.logRecord(logsSuccesses: logsSuccesses) } : []
        if !records.isEmpty { steps.append(.frame(.logRecords(records))) }
        if !outcomes.isEmpty { steps.append(.frame(.replayResults(outcomes.map(\.result)))) }
        steps.append(.frame(.streamEnd))
        rows.rewind()
        try largeValues.finish()
        return Download(steps: steps, rows: rows, largeValues: largeValues, log: log)
    }

    private func compose(
        _ group: RequestedGroups.Group, _ version: Int64, _ rows: Spool, _ largeValues: LargeValueList, _ steps: inout [Download.Step]
    ) throws {
        let delivered = group.token.flatMap { DeliveredState($0, epoch: cache.epoch) }
        var next = DeliveredState(epoch: cache.epoch)
        let current = Dictionary(grouping: partitions, by: \.object).mapValues { $0.map(\.id) }
        for object in group.objects {
            let current = current[object.name] ?? []
            let delta = ObjectDelta(
                object: object, objectID: cache.objectIDs[object.name] ?? 0, current: current, delivered: delivered?.objects[object.name],
                connection: connection)
            try delta.compose(backEnd: package.backEnd(of: object), rows, largeValues, &steps)
            next.objects[object.name] = Dictionary(uniqueKeysWithValues: Set(current).map { ($0, version) })
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
    let connection: Connection

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
        let columns = ["_sk"] + object.rowColumns
        let changed = since == nil ? "" : " AND _version > ?2"
        let sql =
            "SELECT \(columns.map(SQLText.quoted).joined(separator: ", ")) FROM \(object.rowTable) WHERE _partition = ?1 AND _deleted = 0\(changed)"
        let part = TablePart(object: object.name, columns: columns, mode: .upsert)
        try add(part, sql, [.integer(partition)] + (since.map { [.integer($0)] } ?? []), rows, &steps)
    }

    /// Adds the deletions of rows that were in a partition of the client and are in no requested one: deleted in the back end, moved to another
    /// partition, or in a partition that the client has left. The partitions are values of one statement, regardless of their number.
    private func addRemovals(_ delivered: [Int64: Int64], _ rows: Spool, _ steps: inout [Download.Step]) throws {
        guard !delivered.isEmpty else { return }
        let asked = Set(current), had = delivered.sorted { $0.key < $1.key }
        let kept = had.filter { asked.contains($0.key) }.map { JSONValue.array([.integer($0.key), .integer($0.value)]) }
        let left = had.filter { !asked.contains($0.key) }.map { JSONValue.integer($0.key) }
        let isNowhere = """
            NOT EXISTS (
                SELECT 1 FROM \(object.rowTable) AS k INDEXED BY \(object.rowKeyIndex)
                WHERE k._sk = r._sk AND k._deleted = 0 AND k._partition IN (SELECT value FROM json_each(?3)))
            """
        let sql = """
            SELECT r._sk FROM json_each(?1) AS d CROSS JOIN \(object.rowTable) AS r INDEXED BY \(object.rowVersionIndex)
                ON r._partition = json_extract(d.value, '$[0]') AND r._version > json_extract(d.value, '$[1]')
            WHERE r._deleted = 1 AND \(isNowhere)
            UNION
            SELECT r._sk FROM json_each(?2) AS d CROSS JOIN \(object.rowTable) AS r ON r._partition = d.value WHERE \(isNowhere)
            """
        let lists = [kept, left, asked.sorted().map { .integer($0) }].map { Value.text(JSONValue.array($0).description) }
        try add(TablePart(object: object.name, columns: ["_sk"], mode: .delete), sql, lists, rows, &steps)
    }

    private func add(_ part: TablePart, _ sql: String, _ values: [Value], _ rows: Spool, _ steps: inout [Download.Step]) throws {
        let start = rows.length
        guard let count = try RowExport(object: object, connection: connection).write(part, sql, values, to: rows) else { return }
        steps.append(.frame(.table(part)))
        steps.append(.rows(bytes: rows.length - start))
        steps.append(.frame(.partEnd(.rows(count))))
    }

    // MARK: Large values

    /// Lists the values that are new, changed, or of rows that are new to the client. A value that is NULL is not sent to a client that has no data
    /// of the partition yet.
    /// - Returns: the number of listed values.
    private func listLargeValues(of partition: Int64, since: Int64?, _ list: LargeValueList) throws -> Int {
        let isNew = since == nil ? "l.digest IS NOT NULL" : "(l.version > ?3 OR r._since > ?3)"
        let found = try connection.statement(
            """
            SELECT l._sk, l.attribute, m.k, l.digest IS NULL FROM \(object.rowTable) AS r
            CROSS JOIN _large AS l ON l.object = ?1 AND l._sk = r._sk CROSS JOIN \(object.keyTable) AS m ON m._sk = r._sk
            WHERE r._partition = ?2 AND r._deleted = 0 AND \(isNew)
            """)
        try found.bind([.integer(objectID), .integer(partition)] + (since.map { [.integer($0)] } ?? []))
        var count = 0
        while try found.step() {
            guard let attribute = Int(exactly: found.integer(1)) else { continue }
            try list.append(
                LargeValueList.Entry(
                    surrogateKey: found.integer(0), attribute: attribute, key: found.value(2), isNull: found.integer(3) == 1))
            count += 1
        }
        return count
    }
}

/// Writes the rows of a query as the data of one table part, deflated. No value is inspected on the way.
private struct RowExport {
    let object: ObjectPlan
    let connection: Connection

    /// - Returns: the number of rows; nil if there are none. Nothing is written in that case.
    func write(_ part: TablePart, _ sql: String, _ values: [Value], to spool: Spool) throws -> Int64? {
        guard try connection.first("SELECT EXISTS (\(sql))", values)?[0].integer == 1 else { return nil }
        let types = part.columns.map { object.model.attribute(named: $0)?.wireType ?? .integer }
        let rows = try connection.exporter(sql, values, compression: part.compression == .zlib ? .zlib : .none, types: types)
        while let piece = try rows.nextChunk() { try spool.append(piece) }
        return Int64(rows.rows)
    }
}
