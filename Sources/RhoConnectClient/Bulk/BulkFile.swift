internal import MobileStore

/// The database file of a bulk synchronization: hostile until it was checked.
///
/// It is opened for reading only, with `trusted_schema` off; it must pass SQLite's check, and have tables and indexes alone, with exactly the expected columns.
/// Nothing in it can then run while it is read.
struct BulkFile {
    private let store: Database

    /// Opens a file.
    /// - Throws: `StoreError` for a file that is not a database.
    init(path: String) throws {
        var profile = ConnectionProfile(path: path, maxConnections: 1, journal: .unchanged, isReadOnly: true, createsFile: false)
        profile.memoryMapSize = 0
        store = try Database(profile)
    }

    /// Replaces the objects of sources by those of the file, in one transaction, and puts the waiting local changes over them. Ids of sources in the file do
    /// not count. A source that the file does not have, or has as not selected, keeps its objects.
    /// - Throws: ``RhoConnectErrorCode/unexpectedServerResponse`` for a file of another form; nothing was changed in that case.
    func merge(_ sources: [Source], of run: SyncRun) throws {
        defer { try? store.close() }
        try store.read(length: .long) { file in
            _ = try file.execute("PRAGMA trusted_schema = OFF")
            try check(file)
            let rows = try file.rows("SELECT source_id, name, sync_type, metadata FROM sources WHERE sync_type <> 'none' OR sync_type IS NULL")
            let selected = sources.compactMap { source in rows.first { $0[1].text == source.name }.map { (source, $0) } }
            for (source, _) in selected { try checkTable(of: source, file) }
            try run.write("bulk data") { connection in
                for (source, row) in selected {
                    let created = try source.createdObjects(in: connection)
                    try source.table.removeAll(in: connection)
                    try copy(source, fileID: row[0], from: file, to: connection)
                    for (object, attributes) in created { try source.table.put(attributes, of: object, in: connection) }
                    try source.reapply(in: connection)
                    if let metadata = row[3].text { try SourceRow.set("metadata = ?1", [.text(metadata)], of: source.id, in: connection) }
                }
            }
        }
    }

    // MARK: Checks

    private func check(_ file: Connection) throws {
        let result = try file.rows("PRAGMA quick_check(1)").first?.first?.text
        guard result == "ok" else { throw unexpected("is damaged: \(result ?? "")") }
        for row in try file.rows("SELECT type, name, sql FROM sqlite_schema") {
            let type = row[0].text ?? "", sql = (row[2].text ?? "").uppercased()
            guard type == "table" || type == "index", !sql.contains("VIRTUAL TABLE") else {
                throw unexpected("has a \(type.prefix(20)) \"\((row[1].text ?? "").prefix(80))\"; only tables and indexes are expected")
            }
        }
        try check(columns: ["source_id", "attrib", "object", "value"], of: "object_values", file)
        try check(columns: ["source_id", "name", "sync_type", "metadata"], of: "sources", file, areAll: false)
    }

    private func checkTable(of source: Source, _ file: Connection) throws {
        guard let columns = source.table.columns else { return }
        try check(columns: ["object"] + columns, of: source.name, file)
    }

    /// Checks that a table has these columns, none of them computed.
    private func check(columns: [String], of table: String, _ file: Connection, areAll: Bool = true) throws {
        let found = try file.rows("SELECT name, hidden FROM pragma_table_xinfo(?1)", [.text(table)])
        guard found.allSatisfy({ $0[1].integer == 0 }) else { throw unexpected("has computed columns in \"\(table.prefix(80))\"") }
        let names = Set(found.compactMap(\.first?.text))
        guard areAll ? names == Set(columns) : names.isSuperset(of: columns) else {
            throw unexpected("has other columns in \"\(table.prefix(80))\" than expected: \(names.sorted().joined(separator: ", ").prefix(200))")
        }
        let wrong = try columns.first { column in
            try file.first("SELECT 1 FROM \(table.quoted) WHERE typeof(\(column.quoted)) = 'blob' LIMIT 1") != nil
        }
        if let wrong { throw unexpected("has bytes in the column \(wrong.prefix(80)) of \"\(table.prefix(80))\"; texts are expected") }
    }

    private func unexpected(_ found: String) -> RhoConnectError { PageResponse.unexpected("the bulk file \(found)") }

    // MARK: Rows

    /// Copies the rows of a source by the core's export and import, without a value in Swift.
    private func copy(_ source: Source, fileID: Value, from file: Connection, to connection: Connection) throws {
        var options = ImportOptions()
        let exporter: BulkExporter, importer: BulkImporter
        if let columns = source.table.columns {
            let texts = columns.map { "CAST(\($0.quoted) AS TEXT)" }.joined(separator: ", ")
            let filled = columns.map { "\($0.quoted) IS NOT NULL" }.joined(separator: " OR ")
            exporter = try file.exporter(
                "SELECT CAST(object AS TEXT), \(texts) FROM \(source.name.quoted) WHERE object <> '' AND (\(filled)) ORDER BY object")
            options.keyColumns = ["object"]
            importer = try connection.importer(into: source.name, columns: ["object"] + columns, mode: .upsert, options: options)
        } else {
            exporter = try file.exporter(
                """
                SELECT \(source.id), CAST(object AS TEXT), CAST(attrib AS TEXT), CAST(value AS TEXT) FROM object_values
                WHERE source_id = ?1 AND value IS NOT NULL AND object <> '' AND attrib NOT IN (\(Self.reserved)) ORDER BY object, attrib
                """, [fileID])
            options.keyColumns = ["source_id", "object", "attrib"]
            importer = try connection.importer(
                into: "object_values", columns: ["source_id", "object", "attrib", "value"], mode: .upsert, options: options)
        }
        while let chunk = try exporter.nextChunk(maximum: 262_144) { try importer.push(chunk) }
        try importer.finish()
    }

    /// The reserved names as SQL.
    private static let reserved = ReservedNames.members.sorted().map { "'\($0)'" }.joined(separator: ", ")
}

extension Source {
    /// New objects whose values the server may not have, which are only in the table.
    func createdObjects(in connection: Connection) throws -> [(object: String, attributes: [String: String])] {
        let objects = try connection.rows(
            "SELECT object FROM changed_values WHERE source_id = ?1 AND update_type = 'create' AND sent < 3", [Value(id)]
        ).compactMap(\.first?.text)
        return try objects.compactMap { object in try table.attributes(of: object, in: connection).map { (object, $0) } }
    }

    /// Puts all waiting changes over data that the server has sent as a whole.
    fileprivate func reapply(in connection: Connection) throws {
        let rows = try connection.rows(
            "SELECT object, attrib, value, update_type FROM changed_values WHERE source_id = ?1 ORDER BY id", [Value(id)])
        for row in rows {
            let object = row[0].text ?? ""
            switch row[3].text {
            case "update": try table.put([row[1].text ?? "": row[2].text ?? ""], of: object, in: connection)
            case "delete": try table.remove(object, in: connection)
            default: break
            }
        }
    }
}
