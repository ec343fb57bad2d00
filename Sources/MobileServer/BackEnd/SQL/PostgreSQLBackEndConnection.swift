internal import MobileModel
internal import MobileStore
internal import PostgreSQLClient

/// A transaction on a back end in PostgreSQL.
struct PostgreSQLBackEndConnection: BackEndConnection {
    let connection: PostgreSQLConnection

    private let sql = PostgreSQLExpressions()
    var expressions: any SQLExpressions { sql }

    init(connection: PostgreSQLConnection) { self.connection = connection }

    // MARK: Statements

    @discardableResult
    func execute(_ sql: String, _ values: [Value]) throws -> Int {
        try PostgreSQLBackEndError.marking(sql) { try connection.execute(sql, values.map(PostgreSQLValue.exactly)) }
    }

    func rows(_ sql: String, _ values: [Value]) throws -> [[Value]] {
        try PostgreSQLBackEndError.marking(sql) { try connection.rows(sql, values.map(PostgreSQLValue.exactly)).map { $0.map(Value.init) } }
    }

    func forEachRow(_ sql: String, _ values: [Value], _ visit: (any StateRow) throws -> Void) throws {
        try forEach(sql, values) { try visit(PostgreSQLStateRow(row: $0)) }
    }

    /// Visits rows. An error of `visit` stays as it is: it may be one of the server's own state.
    private func forEach(_ sql: String, _ values: [Value], _ visit: (PostgreSQLRow) throws -> Void) throws {
        var failure: (any Error)?
        do {
            try connection.forEachRow(sql, values.map(PostgreSQLValue.exactly)) { row in
                do { try visit(row) } catch {
                    failure = error
                    throw error
                }
            }
        } catch {
            if let failure { throw failure }
            try PostgreSQLBackEndError.marking(sql) { throw error }
        }
    }

    func columns(of sql: String) throws -> [BackEndTable.Column] {
        let columns = try PostgreSQLBackEndError.marking(sql) { try connection.columns(of: sql) }
        let arrays = try arrayTypes(among: Set(columns.map(\.typeID)))
        return columns.map {
            BackEndTable.Column(
                name: $0.name, affinity: arrays.contains($0.typeID) ? .array : BackEndTable.Affinity(typeID: $0.typeID), isGenerated: false)
        }
    }

    /// A statement of a model names the row that it inserts by returning the key's columns.
    func run(_ sql: String, _ values: [Value], of object: SQLObject) throws -> (changed: Int, inserted: InsertedRow?) {
        let keyColumns = object.plan.keyAttributes.map { object.tableColumn($0.name)?.name ?? $0.name }
        var first: [Value]?
        guard try PostgreSQLBackEndError.marking(sql, { try connection.columns(of: sql) }).isEmpty else {
            var changed = 0
            try forEach(sql, values) { row in
                changed += 1
                guard first == nil else { return }
                let places = keyColumns.map { row.columnNames.firstIndex(of: $0) }
                if !places.contains(nil) { first = places.compactMap { $0 }.map { Value(row[$0]) } }
            }
            let terms = keyColumns.enumerated().map { "\(SQLText.quoted($0.element)) = ?\($0.offset + 1)" }.joined(separator: " AND ")
            return (changed, first.map { InsertedRow(condition: terms, values: $0) })
        }
        return (try execute(sql, values), nil)
    }

    var triggerLog: any TriggerLog { PostgreSQLTriggerLog(connection: self) }

    var rowLock: String? { "FOR UPDATE" }

    var buckets: any BucketReading { PostgreSQLBuckets(connection: self) }

    var pieces: SQLitePieces? { nil }

    func ping() throws { _ = try first("SELECT 1") }

    // MARK: Reading

    /// Two transactions with equal snapshots see equal data.
    func position() throws -> BackEndPosition? {
        try PostgreSQLBackEndError.marking {
            let state = try connection.first("SELECT CAST(txid_current_snapshot() AS TEXT)")?.first?.text, history = try connection.historyID()
            return state.map { BackEndPosition(historyID: history, state: $0) }
        }
    }

    /// The database writes rows in the form of the wire.
    func forEachRow(of object: SQLObject, _ parameters: [String: Value], _ keys: [RowKey]?, _ visit: (BackEndRow) throws -> Void) throws {
        let plan = object.plan, bound = object.loadParameters(parameters)
        let values = [object.keyExpression { object.sourceColumn($0) }] + plan.references.map { object.keyExpression(of: $0) } + [sql.row(object)]
        let restriction = object.restriction(to: keys, first: bound.count + 1)
        let statement = "SELECT " + values.joined(separator: ", ") + " FROM \(object.source)\(restriction.sql)"
        try forEach(statement, bound + restriction.values) { row in
            let keys = row.values.dropLast().map { value in value.isNull ? nil : KeyText(Value(value)) }, attributes = row[keys.count].text ?? ""
            guard attributes.first != PostgreSQLExpressions.unfitMark else {
                return try visit(BackEndRow(sql.unfitRow(attributes, key: keys[0], of: plan)))
            }
            guard let key = keys[0] else { throw plan.loadError("a row without key") }
            try visit(BackEndRow(LoadedRow(key: key, references: Array(keys.dropFirst()), attributes: attributes)))
        }
    }

    /// The database computes the digests, so that no value travels.
    func forEachLargeValue(
        of object: SQLObject, _ parameters: [String: Value], _ keys: [RowKey]?, _ visit: (LargeValueDigest) throws -> Void
    ) throws {
        let attributes = object.plan.largeAttributes, bound = object.loadParameters(parameters)
        let restriction = object.contentRestriction(to: keys, first: bound.count + 1)
        let values = attributes.map { attribute in
            let bytes = bytes(of: attribute, object, prefix: "content.")
            return "sha256(\(bytes)), CAST(octet_length(\(bytes)) AS BIGINT)"
        }
        let statement =
            "SELECT " + ([object.largeValueKey] + values).joined(separator: ", ")
            + " FROM \(object.largeValueTables) WHERE (\(object.hasLargeValue))\(restriction.sql)"
        try forEach(statement, bound + restriction.values) { row in
            guard let key = RowKey(Value(row[0]), of: object.plan) else { return }
            for (index, attribute) in attributes.enumerated() {
                guard case .blob(let digest) = row[1 + 2 * index], let length = row[2 + 2 * index].integer else { continue }
                try visit(LargeValueDigest(key: key, attribute: attribute.name, digest: digest, length: length))
            }
        }
    }

    /// Reads a value in pieces of at least 1 MB, and in 16 pieces at most: for each piece of a compressed value the database unpacks all of it.
    func value(of attribute: AttributeModel, in key: RowKey, of object: SQLObject, _ receive: ([UInt8]) throws -> Void) throws -> BackEndValue {
        let bytes = bytes(of: attribute, object, prefix: ""), condition = object.condition(key)
        let place = "FROM \(object.table.sql) WHERE \(condition.sql)", next = condition.values.count + 1
        guard let row = try first("SELECT octet_length(\(bytes)) \(place)", condition.values) else { return .noRow }
        guard let length = row[0].integer else { return .null }
        let size = max(1 << 20, length / 16 + 1)
        for start in stride(from: 0, to: length, by: Int(size)) {
            let piece = try first(
                "SELECT substring(\(bytes) FROM CAST(?\(next) AS INTEGER) FOR CAST(?\(next + 1) AS INTEGER)) \(place)",
                condition.values + [.integer(start + 1), .integer(size)])
            try receive(piece?[0].blob ?? [])
        }
        if length == 0 { try receive([]) }
        return .content
    }

    private func bytes(of attribute: AttributeModel, _ object: SQLObject, prefix: String) -> String {
        let value = sql.value(of: attribute, object.column(attribute.name, prefix: prefix))
        return attribute.type == .bigString ? "convert_to(\(value), 'UTF8')" : value
    }

    // MARK: Records of operations

    func hasTable(_ name: String) throws -> Bool {
        try first("SELECT CAST(to_regclass(CAST(?1 AS TEXT)) IS NOT NULL AS INTEGER)", [.text(name)])?[0].integer == 1
    }

    /// Numbers are given at the end of each transaction, from a row that it locks until its commit. So they are committed in their order, and a reader
    /// who has seen a number has seen all lower ones. A sequence would give a low number to a transaction that commits late.
    var recordTables: [(name: String, statements: [String])] {
        [
            (
                SQLOperationRecords.table,
                [
                    """
                    CREATE TABLE mobile_processed_operation (
                        seq BIGINT UNIQUE, client TEXT NOT NULL, operation BIGINT NOT NULL, outcome TEXT NOT NULL, PRIMARY KEY (client, operation))
                    """
                ]
            ), (SQLOperationRecords.guardTable, [SQLOperationRecords.guardTableStatement]),
            (SQLOperationRecords.eraTable, [SQLOperationRecords.eraTableStatement]), (RecordEnds.table, [RecordEnds.tableStatement]),
            (
                "mobile_operation_number",
                ["CREATE TABLE mobile_operation_number (last BIGINT NOT NULL)", "INSERT INTO mobile_operation_number (last) VALUES (0)"]
            ),
        ]
    }

    func numberRecords(of client: String, count: Int) throws {
        let last = try first("UPDATE mobile_operation_number SET last = last + CAST(?1 AS BIGINT) RETURNING last", [.integer(Int64(count))])
        guard let last = last?[0].integer else { throw StoreError(.corrupt, "table mobile_operation_number: there is no row") }
        try execute(
            """
            UPDATE mobile_processed_operation AS p SET seq = CAST(?2 AS BIGINT) + o.place
            FROM (SELECT operation, row_number() OVER (ORDER BY operation) AS place
                FROM mobile_processed_operation WHERE client = ?1 AND seq IS NULL) AS o
            WHERE p.client = ?1 AND p.operation = o.operation
            """, [.text(client), .integer(last - Int64(count))])
    }

    func lockRecordNumbers() throws { _ = try first("SELECT last FROM mobile_operation_number FOR UPDATE") }

    func lastRecordNumber() throws -> Int64 { try optionalNumber("SELECT last FROM mobile_operation_number") ?? 0 }
}

extension PostgreSQLValue {
    /// Converts a value without changing it. PostgreSQL refuses a text that contains U+0000.
    static func exactly(_ value: Value) -> PostgreSQLValue {
        if case .text(let text) = value { .text(text) } else { PostgreSQLValue(value) }
    }
}
