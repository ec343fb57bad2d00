internal import MobileStore

/// Writes the database file of a bulk synchronization, with the tables of the original clients.
final class BulkFileWriter {
    /// A source of the file.
    struct SourceRow {
        let source: RhoConnectSource
        /// Whether its objects are in the file.
        var isSelected = false
        var metadata: String?
        /// The time of its next refresh, in seconds since 1970.
        var refresh: Int64 = 0
        var objects: Int64 = 0

        init(_ source: RhoConnectSource) { self.source = source }
    }

    private let database: Database

    init(path: String) throws {
        var profile = ConnectionProfile(path: path, maxConnections: 1, journal: .unchanged)
        profile.synchronous = .off
        database = try Database(profile)
    }

    func close() throws { try database.close() }

    /// Writes all tables.
    /// - Parameter objects: calls its second argument with each object of a source.
    func write(_ rows: [SourceRow], objects: (_ source: String, _ visit: (String, [String: String]) throws -> Void) throws -> Void) throws {
        try database.write(label: "bulk file") { connection in
            for statement in Self.tables { try connection.execute(statement) }
            for (index, row) in rows.enumerated() {
                let number = index + 1
                var counts: [String: Int] = [:]
                if let schema = row.source.schema {
                    try create(row.source.name, schema, in: connection)
                    if row.isSelected { try fill(row.source.name, schema, objects, in: connection) }
                } else if row.isSelected {
                    let insert = try connection.statement("INSERT INTO object_values (source_id, attrib, object, value) VALUES (?1, ?2, ?3, ?4)")
                    try objects(row.source.name) { object, attributes in
                        for (name, value) in attributes {
                            counts[name, default: 0] += 1
                            try insert.run([Value(number), .text(name), .text(object), .text(value)])
                        }
                    }
                }
                try add(row, number: number, counts, dependents: Self.dependents(of: row.source, in: rows), in: connection)
            }
            // After the rows: an index over all of them is made faster than it grows.
            for statement in Self.indexes { try connection.execute(statement) }
            try createIndexes(rows.map(\.source), in: connection)
        }
    }

    /// The sources and attributes that refer to a source, in pairs.
    private static func dependents(of source: RhoConnectSource, in rows: [SourceRow]) -> String? {
        let pairs = rows.flatMap { row in row.source.belongsTo.filter { $0.value == source.name }.keys.sorted().map { "\(row.source.name),\($0)" } }
        return pairs.isEmpty ? nil : pairs.joined(separator: ",")
    }

    private func add(_ row: SourceRow, number: Int, _ counts: [String: Int], dependents: String?, in connection: Connection) throws {
        let source = row.source
        let attributes = counts.sorted { $0.key < $1.key }.map { "\($0.key),\($0.value)" }.joined(separator: ",")
        try connection.execute(
            """
            INSERT INTO sources (source_id, name, sync_priority, partition, sync_type, metadata, source_attribs, schema, associations, blob_attribs,
                backend_refresh_time, last_inserted_size, last_updated, last_deleted_size, last_sync_duration, last_sync_success)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, 0, 0, 0, 0)
            """,
            [
                Value(number), .text(source.name), Value(source.priority), .text(source.partition.rawValue),
                .text(row.isSelected ? source.syncType.rawValue : "none"), Value(row.metadata), .text(attributes), Value(source.schema?.text),
                Value(dependents), .text(source.schema?.blobAttributes ?? ""), .integer(row.refresh), .integer(row.objects),
            ])
    }

    // MARK: Fixed schemas

    private func create(_ name: String, _ schema: RhoConnectSchema, in connection: Connection) throws {
        let columns = schema.properties.map { "\(quoted($0.name)) varchar" }
        try connection.execute("CREATE TABLE \(quoted(name)) (\((["object varchar(255) PRIMARY KEY"] + columns).joined(separator: ", ")))")
    }

    private func fill(
        _ name: String, _ schema: RhoConnectSchema, _ objects: (String, (String, [String: String]) throws -> Void) throws -> Void,
        in connection: Connection
    ) throws {
        let columns = schema.properties.map(\.name)
        let insert = try connection.statement(
            "INSERT INTO \(quoted(name)) VALUES (\((0...columns.count).map { "?\($0 + 1)" }.joined(separator: ", ")))")
        // A client does not know an object without any of the columns.
        try objects(name) { object, attributes in
            let values = columns.map { Value(attributes[$0]) }
            if values.contains(where: { $0 != .null }) { try insert.run([.text(object)] + values) }
        }
    }

    /// Makes the indexes of the schemas. One whose name an earlier source has gets that of its source before it.
    private func createIndexes(_ sources: [RhoConnectSource], in connection: Connection) throws {
        var names: Set<String> = []
        for source in sources {
            guard let schema = source.schema else { continue }
            for (kind, indexes) in [("INDEX", schema.indexes), ("UNIQUE INDEX", schema.uniqueIndexes)] {
                for (name, columns) in indexes.sorted(by: { $0.key < $1.key }) {
                    let own = names.insert(name).inserted ? name : "\(source.name)_\(name)"
                    try connection.execute(
                        "CREATE \(kind) \(quoted(own)) ON \(quoted(source.name)) (\(columns.map(quoted).joined(separator: ", ")))")
                }
            }
        }
    }

    private func quoted(_ name: String) -> String {
        "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }

    // MARK: Tables

    private static let tables = [
        """
        CREATE TABLE client_info (client_id VARCHAR(255), session VARCHAR(255), token VARCHAR(255), token_sent INT DEFAULT 0, reset BIGINT DEFAULT 0,
            port VARCHAR(10), last_sync_success VARCHAR(100))
        """,
        "CREATE TABLE object_values (source_id BIGINT, attrib VARCHAR(255), object VARCHAR(255), value VARCHAR)",
        """
        CREATE TABLE changed_values (source_id BIGINT, attrib VARCHAR(255), object VARCHAR(255), value VARCHAR, attrib_type VARCHAR(255),
            update_type VARCHAR(255), sent BIGINT DEFAULT 0)
        """,
        """
        CREATE TABLE sources (source_id BIGINT PRIMARY KEY, name VARCHAR(255), token BIGINT, sync_priority BIGINT, partition VARCHAR(255),
            sync_type VARCHAR(255), metadata VARCHAR, source_attribs VARCHAR, schema VARCHAR, schema_version VARCHAR(255), associations VARCHAR,
            blob_attribs VARCHAR, backend_refresh_time BIGINT, last_updated BIGINT, last_inserted_size BIGINT, last_deleted_size BIGINT,
            last_sync_duration BIGINT, last_sync_success BIGINT)
        """,
    ]

    private static let indexes = [
        "CREATE UNIQUE INDEX by_src_object ON object_values (object, attrib, source_id)", "CREATE INDEX by_src ON object_values (source_id)",
        "CREATE INDEX by_src_value ON object_values (attrib, source_id, value)",
    ]
}
