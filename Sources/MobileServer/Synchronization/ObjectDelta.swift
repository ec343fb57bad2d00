internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// The data of one object that a client does not have.
struct ObjectDelta {
    let object: ObjectPlan
    let keySpace: Int64
    private let backEnd: any BackEnd
    /// The partitions that the client requests now, with their versions.
    let current: [Int64: Int64]
    /// The partitions that the client has, each with the version up to which it was sent; nil for a client of unknown state.
    let delivered: [Int64: Int64]?
    /// Whether the client finds its rows by their surrogate keys alone, see ``TablePart/keepsKeys``.
    private let keepsKeys: Bool
    /// Rows that the client may have, although no partition had them.
    private let gone: [Int64]
    /// Rows that the client has removed, although a partition may have them.
    private let removed: Set<Int64>
    /// Large values that the client has made.
    private let own: OwnLargeValues
    let connection: any StateConnection
    private let grants: SessionGrants
    /// The way of the rows of each partition that has changed.
    let plans: [PartitionPlan]

    /// - Parameter delivered: the partitions that the client has, each with the version up to which it was sent; nil for a client of unknown state.
    init(
        object: ObjectPlan, keySpace: Int64, backEnd: any BackEnd, current: [Int64: Int64], delivered: [Int64: Int64]?, keepsKeys: Bool,
        gone: [Int64], removed: Set<Int64>, own: OwnLargeValues,
        _ segments: SegmentRules, _ grants: SessionGrants, _ connection: any StateConnection
    ) throws {
        self.object = object
        self.keySpace = keySpace
        self.backEnd = backEnd
        self.current = current
        (self.keepsKeys, self.gone, self.removed, self.own) = (keepsKeys, gone, removed, own)
        self.connection = connection
        self.grants = grants
        // Without the tombstones that it lacks, the client would keep deleted rows.
        let delivered = try delivered.flatMap { try TombstoneHorizon.isAbove($0, in: connection) ? nil : $0 }
        self.delivered = delivered
        // A user who has just got a partition must not see the rows that were in it before.
        let isBound = object.model.synchronizationParameters.contains { $0.userAttribute != nil }
        plans = try current.filter { $0.value != delivered?[$0.key] }.keys.sorted().map {
            try PartitionPlan($0, since: delivered?[$0], shape: object.shape, isExact: isBound, segments, in: connection)
        }
    }

    func compose(_ rows: Spool, _ largeValues: LargeValueList, _ steps: inout [Download.Step]) throws {
        let hasSegments = plans.contains { $0.chain != nil }
        if delivered == nil {
            var reset = TablePart(object: object.name, columns: ["_sk"], mode: .reset, compression: .none)
            reset.keepsKeys = keepsKeys
            steps.append(.frame(.table(reset)))
            steps.append(.frame(.partEnd(.rows(0))))
        }
        // After a reset, the client may still have pending rows.
        if !hasSegments { try addRemovals(rows, &steps) }
        for plan in plans {
            try addSegments(of: plan, &steps)
            try addRows(of: plan.partition, since: plan.liveSince, rows, &steps)
            guard !object.largeAttributes.isEmpty else { continue }
            let count = try listLargeValues(of: plan.partition, since: plan.since, largeValues) + listLostValues(of: plan.partition, largeValues)
            if count > 0 { steps.append(.largeValues(count: count, of: object, partition: plan.partition, in: backEnd)) }
        }
        try addKeptRows(rows, largeValues, &steps)
        guard hasSegments else { return }
        // Segments bring rows as they were: those that have left their partition since, and rows of one partition that another one has newer. The last
        // word is that of the snapshot.
        try addSecondPuts(rows, &steps)
        try addRemovals(rows, &steps)
    }

    // MARK: Segments

    private func addSegments(of plan: PartitionPlan, _ steps: inout [Download.Step]) throws {
        guard let chain = plan.chain else { return }
        let directory = SegmentDirectory(partition: plan.partition, connection: connection)
        for run in chain.runs {
            for segment in try directory.segments(of: run) {
                steps.append(
                    .frame(
                        .segment(
                            SegmentPart(
                                object: object.name, columns: columns, content: try grants.content(segment.name, of: plan.partition),
                                length: segment.length, rows: segment.rows))))
            }
        }
    }

    /// Adds the rows once more that were deleted from a partition of the client, and live in another one of them.
    private func addSecondPuts(_ rows: Spool, _ steps: inout [Download.Step]) throws {
        guard current.count > 1 else { return }
        let dialect = connection.dialect
        let sql = """
            SELECT k.body FROM (
                SELECT DISTINCT r.sk FROM (\(dialect.pairs("?1"))) AS d \(dialect.outerJoin) _row AS r\(dialect.index("_row_changed"))
                    ON r.partition = d.key AND \(PartitionChanges.isChanged("r")) AND r.version > d.value AND r.deleted = 1) AS t
            \(dialect.outerJoin) _row AS k\(dialect.index("_row_sk")) ON k.sk = t.sk
            WHERE k.deleted = 0 AND k.partition IN (\(dialect.numbers("?2")))
            """
        let lists = [deletedPairs, current.keys.sorted().map { .integer($0) }].map { Value.text(JSONValue.array($0).description) }
        try add(TablePart(object: object.name, columns: columns, mode: .upsert), sql, lists, rows, &steps) { $0.bytes(0) }
    }

    /// The requested partitions whose deleted rows the client may still have, each with the version from which on.
    private var deletedPairs: [JSONValue] {
        plans.compactMap { plan in plan.deletionsSince.map { .array([.integer(plan.partition), .integer($0)]) } }
    }

    private var columns: [String] { ["_sk"] + object.rowColumns }

    // MARK: Rows

    private func addRows(of partition: Int64, since: Int64?, _ rows: Spool, _ steps: inout [Download.Step]) throws {
        let changed = since.map { " AND " + PartitionChanges.after($0, "?2") } ?? ""
        let sql = "SELECT body FROM _row WHERE partition = ?1 AND deleted = 0\(changed)"
        let part = TablePart(object: object.name, columns: columns, mode: .upsert)
        try add(part, sql, [.integer(partition)] + (since.map { [.integer($0)] } ?? []), rows, &steps) { $0.bytes(0) }
    }

    /// Adds the deletions of rows that were in a partition of the client and are in no requested one: deleted in the back end, moved to another
    /// partition, in a partition that the client has left, or of an operation of the client alone. The partitions are values of one statement, regardless of their number.
    private func addRemovals(_ rows: Spool, _ steps: inout [Download.Step]) throws {
        let asked = Set(current.keys), kept = deletedPairs
        let left = (delivered ?? [:]).keys.sorted().filter { !asked.contains($0) }.map { JSONValue.integer($0) }
        guard !kept.isEmpty || !left.isEmpty || !gone.isEmpty else { return }
        let dialect = connection.dialect
        let isNowhere = """
            NOT EXISTS (
                SELECT 1 FROM _row AS k\(dialect.index("_row_sk"))
                WHERE k.sk = r.sk AND k.deleted = 0 AND k.partition IN (\(dialect.numbers("?3"))))
            """
        let sql = """
            SELECT r.sk FROM (\(dialect.pairs("?1"))) AS d \(dialect.outerJoin) _row AS r\(dialect.index("_row_changed"))
                ON r.partition = d.key AND \(PartitionChanges.isChanged("r")) AND r.version > d.value
            WHERE r.deleted = 1 AND \(isNowhere)
            UNION
            SELECT r.sk FROM (\(dialect.numbers("?2"))) AS d \(dialect.outerJoin) _row AS r ON r.partition = d.value WHERE \(isNowhere)
            UNION
            SELECT r.sk FROM (SELECT value AS sk FROM (\(dialect.numbers("?4"))) AS d) AS r WHERE \(isNowhere)
            """
        let lists = [kept, left, asked.sorted().map { .integer($0) }, gone.map { .integer($0) }].map { Value.text(JSONValue.array($0).description) }
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

    /// Adds the rows that the client has removed, and that are in one of its partitions: their deletes were accepted, and the back end has kept them.
    private func addKeptRows(_ rows: Spool, _ largeValues: LargeValueList, _ steps: inout [Download.Step]) throws {
        guard !removed.isEmpty else { return }
        let dialect = connection.dialect, index = dialect.index("_row_sk")
        let lists = [removed.sorted(), current.keys.sorted()].map { Value.text(JSONValue.array($0.map { .integer($0) }).description) }
        let isKept = "r.sk IN (\(dialect.numbers("?1"))) AND r.deleted = 0 AND r.partition IN (\(dialect.numbers("?2")))"
        try add(
            TablePart(object: object.name, columns: columns, mode: .upsert), "SELECT r.body FROM _row AS r\(index) WHERE \(isKept)", lists, rows,
            &steps
        ) { $0.bytes(0) }
        guard !object.largeAttributes.isEmpty else { return }
        let places = try connection.rows("SELECT DISTINCT r.partition, r.sk FROM _row AS r\(index) WHERE \(isKept) ORDER BY 1, 2", lists)
        for (partition, rows) in Dictionary(grouping: places, by: { $0[0].integer ?? 0 }).sorted(by: { $0.key < $1.key }) {
            let count = try listLargeValues(of: partition, since: nil, rows: rows.compactMap { $0[1].integer }, largeValues)
            if count > 0 { steps.append(.largeValues(count: count, of: object, partition: partition, in: backEnd)) }
        }
    }

    // MARK: Large values

    /// Lists the values that are NULL now, of rows that the client has in another partition: there they may have been another.
    private func listLostValues(of partition: Int64, _ list: LargeValueList) throws -> Int {
        guard let delivered, delivered.keys.contains(where: { $0 != partition }) else { return 0 }
        let dialect = connection.dialect, left = delivered.keys.sorted().filter { current[$0] == nil }
        let moved = """
            SELECT r.sk FROM (\(dialect.pairs("?2"))) AS d \(dialect.outerJoin) _row AS k\(dialect.index("_row_changed"))
                ON k.partition = d.key AND \(PartitionChanges.isChanged("k")) AND k.version > d.value AND k.deleted = 1
            \(dialect.outerJoin) _row AS r ON r.partition = ?3 AND r.sk = k.sk AND r.deleted = 0
            UNION
            SELECT r.sk FROM (\(dialect.numbers("?4"))) AS d \(dialect.outerJoin) _row AS k ON k.partition = d.value
            \(dialect.outerJoin) _row AS r ON r.partition = ?3 AND r.sk = k.sk AND r.deleted = 0
            """
        let kept = delivered.filter { current[$0.key] != nil && $0.key != partition }.sorted { $0.key < $1.key }
        let lists = [kept.map { JSONValue.array([.integer($0.key), .integer($0.value)]) }, left.map { .integer($0) }].map {
            Value.text(JSONValue.array($0).description)
        }
        let rows = try connection.rows(
            "SELECT m.sk, CAST(m.k AS TEXT) FROM (\(moved)) AS r \(dialect.outerJoin) _key AS m ON m.object = ?1 AND m.sk = r.sk",
            [.integer(keySpace), lists[0], .integer(partition), lists[1]])
        var count = 0
        for row in rows {
            guard let surrogateKey = row[0].integer, let key = row[1].text.flatMap({ KeyText(text: $0).value }) else { continue }
            let present = try connection.rows(
                "SELECT attribute FROM _large WHERE partition = ?1 AND sk = ?2", [.integer(partition), row[0]])
            for attribute in object.largeAttributes.indices where !present.contains([.integer(Int64(attribute))]) {
                try list.append(
                    LargeValueList.Entry(surrogateKey: surrogateKey, attribute: attribute, key: key, isNull: true, digest: [], length: 0))
                count += 1
            }
        }
        return count
    }

    /// Lists the values that are new, changed, or of rows that are new to the client. A value that is NULL is not sent to a client that has no data
    /// of the partition yet.
    /// - Parameter rows: lists values of these rows alone; nil for all.
    /// - Returns: the number of listed values.
    private func listLargeValues(of partition: Int64, since: Int64?, rows: [Int64]? = nil, _ list: LargeValueList) throws -> Int {
        let isOne = rows == nil ? "" : " AND r.sk IN (\(connection.dialect.numbers("?3")))"
        let isNew = (since == nil ? "l.digest IS NOT NULL" : "(l.version > ?3 OR r.since > ?3)") + isOne
        let join = connection.dialect.outerJoin
        let sql = """
            SELECT l.sk, l.attribute, CAST(m.k AS TEXT), CASE WHEN l.digest IS NULL THEN 1 ELSE 0 END, l.digest, l.length FROM _row AS r
            \(join) _large AS l ON l.partition = r.partition AND l.sk = r.sk \(join) _key AS m ON m.object = ?1 AND m.sk = r.sk
            WHERE r.partition = ?2 AND r.deleted = 0 AND \(isNew)
            """
        var count = 0
        let values = since.map { [Value.integer($0)] } ?? rows.map { [.text(JSONValue.array($0.map { .integer($0) }).description)] } ?? []
        try connection.forEachRow(sql, [.integer(keySpace), .integer(partition)] + values) { row in
            // A key that cannot be read belongs to no row of the back end.
            guard let attribute = Int(exactly: row.integer(1)), let key = KeyText(text: row.value(2).text ?? "").value else { return }
            var entry = LargeValueList.Entry(
                surrogateKey: row.integer(0), attribute: attribute, key: key, isNull: row.integer(3) == 1, digest: row.bytes(4),
                length: row.integer(5))
            switch own.origin(of: entry, object, isReset: delivered == nil) {
            case .row: return
            case .operation(let id): entry.operation = id
            case .elsewhere: break
            }
            try list.append(entry)
            count += 1
        }
        return count
    }
}
