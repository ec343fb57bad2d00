internal import MobileCrypto
internal import MobileModel
internal import MobileStore

/// The rows of one partition, or some of them, whose sums are read.
struct BucketQuery {
    let object: SQLObject
    /// The tables of the rows in SQL.
    let tables: String
    /// The values of the load's parameters, and of those of the condition.
    var values: [Value]
    /// A condition on the rows; empty for all of them.
    var condition = ""
    /// The columns whose values are hashed.
    var columns: [SQLColumn] = []

    /// All rows of a partition, with their keys alone.
    init(_ object: SQLObject, _ parameters: [String: Value], tables: String? = nil) {
        (self.object, self.tables, values) = (object, tables ?? object.source, object.loadParameters(parameters))
    }

    var key: String { object.keyExpression { object.sourceColumn($0) } }

    /// The name of the query in marks: sums of another query say nothing about this one.
    var name: String {
        get throws {
            let parts = [tables, key, condition, "\(object.plan.keyType)"] + columns.map { "\($0.sql) \($0.affinity)" }
            return try SHA256.digest(of: parts.joined(separator: "\n")).prefix(8).hexadecimal
        }
    }
}

/// The sums of rows in the functions of one engine.
protocol BucketReading {
    /// Reads the sums of a query's rows, in one pass.
    func sums(of query: BucketQuery, seed: [UInt8]) throws -> BucketSums

    /// Returns the keys of a query's rows.
    /// - Parameters:
    ///   - buckets: the buckets of these keys; nil for all.
    ///   - limit: the maximum number of keys.
    func keys(of query: BucketQuery, in buckets: BucketSet?, seed: [UInt8], limit: Int) throws -> [Value]

    /// Returns a function that finds the bucket of a key as the back end does.
    func bucket(seed: [UInt8]) -> @Sendable (RowKey) -> Int

    /// Returns the greatest value of a version column among a query's rows, in the form that ``isReached(_:place:)`` compares; nil without one.
    func newest(_ column: VersionColumn, of query: BucketQuery) throws -> Value?

    /// Returns the condition that a version column has reached the value of a parameter, or has none.
    func isReached(_ column: VersionColumn, place: Int) -> String

    /// Returns whether values of a column have an order that versions can have.
    func isOrdered(_ column: VersionColumn) -> Bool

    /// Returns the transactions that this read sees.
    func snapshot() throws -> VersionSnapshot
}

extension BucketReading {
    /// Whether a query has a number of rows.
    func hasRows(_ count: Int64, _ query: BucketQuery, _ connection: any SQLConnection) throws -> Bool {
        guard count > 0 else { return true }
        return try connection.number(
            "SELECT count(*) FROM (SELECT 1 FROM \(query.tables) LIMIT \(count)) AS found", query.values) >= count
    }
}

/// The sums of rows in SQLite, by the functions that each connection has.
struct SQLiteBuckets: BucketReading {
    let connection: SQLiteBackEndConnection

    /// A function has at most 127 arguments.
    static let argumentLimit = 100

    func sums(of query: BucketQuery, seed: [UInt8]) throws -> BucketSums {
        let place = "?\(query.values.count + 1)", arguments = [place] + Self.arguments(of: query, seed: place)
        let row = try connection.first(
            "SELECT \(RowDigest.sums)(\(arguments.joined(separator: ", "))) FROM \(query.tables)\(query.condition)", query.values + [.blob(seed)])
        guard let sums = row?[0].blob.flatMap(BucketSums.init) else { throw StoreError(.corrupt, "the sums of rows are not those of buckets") }
        return sums
    }

    /// Returns the key and the values that are hashed of each row.
    /// - Parameter seed: the place of the seed among the parameters.
    static func arguments(of query: BucketQuery, seed: String) -> [String] {
        var columns = query.columns.map(\.sql)
        while columns.count > argumentLimit {
            columns = stride(from: 0, to: columns.count, by: argumentLimit).map { start in
                let part = columns[start..<min(start + argumentLimit, columns.count)]
                return "\(RowDigest.hash)(\(([seed] + part).joined(separator: ", ")))"
            }
        }
        return [query.key] + columns
    }

    func keys(of query: BucketQuery, in buckets: BucketSet?, seed: [UInt8], limit: Int) throws -> [Value] {
        let next = query.values.count + 1
        var condition = query.condition, values = query.values
        if let buckets {
            condition += (condition.isEmpty ? " WHERE " : " AND ") + "\(RowDigest.has)(?\(next), ?\(next + 1), \(query.key))"
            values += [.blob(seed), .blob(buckets.bits)]
        }
        return try connection.rows("SELECT \(query.key) FROM \(query.tables)\(condition) LIMIT \(limit)", values).map { $0[0] }
    }

    func bucket(seed: [UInt8]) -> @Sendable (RowKey) -> Int { { RowDigest.bucket(of: $0.value, seed: seed) } }

    func newest(_ column: VersionColumn, of query: BucketQuery) throws -> Value? {
        let found = try connection.first("SELECT max(\(column.column.sql)) FROM \(query.tables)\(query.condition)", query.values)?[0]
        return found == .null ? nil : found
    }

    func isReached(_ column: VersionColumn, place: Int) -> String { "(\(column.column.sql) >= ?\(place) OR \(column.column.sql) IS NULL)" }

    /// SQLite has an order of all values.
    func isOrdered(_ column: VersionColumn) -> Bool { true }

    /// There is one writer at a time. Nothing shows that a file was restored, for which the server is stopped: so versions are known for its life only.
    func snapshot() throws -> VersionSnapshot { VersionSnapshot(life: connection.life, running: nil) }
}

/// The sums of rows in PostgreSQL, by its own functions: `hashtextextended` with a seed for the sums, and for buckets what the server can compute as well.
struct PostgreSQLBuckets: BucketReading {
    let connection: PostgreSQLBackEndConnection

    private static let bucketCount = Int64(RowDigest.bucketCount)
    /// Neighbours share a bucket, because they are often changed together.
    private static let neighbourBits: Int64 = 6

    /// The sums are exact numbers; their last 63 bits and their sign are kept.
    func sums(of query: BucketQuery, seed: [UInt8]) throws -> BucketSums {
        let place = "CAST(?\(query.values.count + 1) AS BIGINT)"
        func hash(_ text: String) -> String { "hashtextextended(CAST(\(text) AS TEXT) COLLATE \"C\", \(place))" }
        func sum(_ column: String) -> String { "CAST(sum(\(column)) % 9223372036854775808 AS BIGINT)" }
        // A row as text has its values in quotes where they need them, and nothing at all for NULL.
        let row = "ROW(" + ([query.key] + query.columns.map(\.sql)).joined(separator: ", ") + ")"
        let rows = try connection.rows(
            """
            SELECT b, \(sum("h")), \(sum("k")), count(*)
            FROM (SELECT \(bucket(query)) AS b, \(hash(row)) AS h, \(hash(query.key)) AS k FROM \(query.tables)\(query.condition)) AS hashed GROUP BY b
            """, query.values + [.integer(Self.number(seed))])
        var sums = BucketSums()
        for row in rows {
            guard let bucket = row[0].integer.map(Int.init), sums.rows.indices.contains(bucket) else { continue }
            sums.rows[bucket] = UInt64(bitPattern: row[1].integer ?? 0)
            sums.keys[bucket] = UInt64(bitPattern: row[2].integer ?? 0)
            sums.count += row[3].integer ?? 0
        }
        return sums
    }

    func keys(of query: BucketQuery, in buckets: BucketSet?, seed: [UInt8], limit: Int) throws -> [Value] {
        var condition = query.condition, values = query.values
        if let buckets {
            condition += (condition.isEmpty ? " WHERE " : " AND ")
            condition += "get_bit(CAST(?\(values.count + 1) AS BYTEA), CAST(\(bucket(query)) AS INTEGER)) = 1"
            values.append(.blob(buckets.bits))
        }
        return try connection.rows("SELECT \(query.key) FROM \(query.tables)\(condition) LIMIT \(limit)", values).map { $0[0] }
    }

    /// The bucket of a row's key in SQL. Rows whose attributes cannot hold the key, which is NULL then, are in the first one.
    private func bucket(_ query: BucketQuery) -> String { "coalesce(\(keyBucket(query)), 0)" }

    private func keyBucket(_ query: BucketQuery) -> String {
        let key = query.key, count = Self.bucketCount
        guard query.object.plan.keyType != .integer else { return "((((\(key)) >> \(Self.neighbourBits)) % \(count) + \(count)) % \(count))" }
        return "(CAST(CAST('x' || encode(substring(sha256(convert_to(\(key), 'UTF8')) FROM 1 FOR 4), 'hex') AS BIT(32)) AS BIGINT) % \(count))"
    }

    func bucket(seed: [UInt8]) -> @Sendable (RowKey) -> Int { { Self.bucket(of: $0.value) } }

    private static func bucket(of key: Value) -> Int {
        if let number = key.integer { return Int(((number >> neighbourBits) % bucketCount + bucketCount) % bucketCount) }
        let digest = (try? SHA256.digest(of: key.text ?? "")) ?? []
        return Int(digest.prefix(4).reduce(0) { $0 << 8 | Int64($1) } % bucketCount)
    }

    private static func number(_ seed: [UInt8]) -> Int64 { seed.prefix(8).reduce(0) { $0 << 8 | Int64($1) } }

    // MARK: Versions

    func newest(_ column: VersionColumn, of query: BucketQuery) throws -> Value? {
        let found = try connection.first("SELECT CAST(max(\(column.column.sql)) AS TEXT) FROM \(query.tables)\(query.condition)", query.values)?[0]
        return found == .null ? nil : found
    }

    func isReached(_ column: VersionColumn, place: Int) -> String {
        "(\(column.column.sql) >= CAST(CAST(?\(place) AS TEXT) AS \(Self.type(column) ?? "TEXT")) OR \(column.column.sql) IS NULL)"
    }

    func isOrdered(_ column: VersionColumn) -> Bool { Self.type(column) != nil }

    private static func type(_ column: VersionColumn) -> String? {
        switch column.column.affinity {
        case .integer: "BIGINT"
        case .numeric: "NUMERIC"
        case .real: "DOUBLE PRECISION"
        case .single: "REAL"
        case .date: "DATE"
        case .timestamp: "TIMESTAMP"
        case .timestampWithTimeZone: "TIMESTAMPTZ"
        case .text, .blob, .boolean, .time, .array: nil
        }
    }

    func snapshot() throws -> VersionSnapshot {
        guard let position = try connection.position() else { return VersionSnapshot(life: "", running: nil) }
        let numbers = position.state.split(separator: ":").compactMap { Int64($0) }
        guard numbers.count >= 2 else { throw StoreError(.corrupt, "the snapshot \"\(position.state)\" has no limits") }
        return VersionSnapshot(life: position.historyID, running: numbers[0]..<max(numbers[0], numbers[1]))
    }
}
