internal import MobileStore

/// The database file of a bulk synchronization: hostile until it was checked. Its values are checked while they are copied: bytes, or a text with
/// damaged UTF-8, take back the whole copy.
///
/// It is first opened for reading only, with `trusted_schema` off; it must have tables and indexes alone, with exactly the expected columns, and pass SQLite's check.
/// Nothing in it can then run while it is read.
struct BulkFile {
    private let path: String

    init(path: String) { self.path = path }

    /// The name of the file's database next to the client's.
    private static let schema = "bulk_file"

    /// Replaces the objects of sources by those of the file, in one transaction, and puts the waiting local changes over them. Ids of sources in the file do
    /// not count. A source that the file does not have, or has as not selected, keeps its objects.
    /// - Throws: ``RhoConnectErrorCode/unexpectedServerResponse`` for a file of another form; nothing was changed in that case. `StoreError` for one that is
    ///   not a database.
    func merge(_ sources: [Source], of run: SyncRun) throws {
        let selected = try checked(sources)
        // Outside of a transaction on the file: SQLite detaches no database that one reads.
        try run.core.database.store.stage(label: "rhoconnect: attach") { connection in
            try connection.execute("ATTACH DATABASE ?1 AS \(Self.schema)", [.text(path)])
            try connection.execute("PRAGMA trusted_schema = OFF")
        }
        defer { try? run.core.database.store.stage(label: "rhoconnect: detach") { _ = try $0.execute("DETACH DATABASE \(Self.schema)") } }
        defer { run.deleteReplacedFiles() }
        try run.write("bulk data") { connection in
            do {
                try withDeferredIndex(selected, in: connection) {
                    for (source, row) in selected { try replace(source, row, run.core.database.replacedFiles, in: connection) }
                }
                for (source, _) in selected where source.table.columns == nil { try ReservedNames.remove(from: source, in: connection) }
            } catch let error as StoreError where error.code == .sqlite || error.code == .constraint {
                // Values that the columns or the check of texts refuse.
                throw RhoConnectError(.unexpectedServerResponse, "the bulk file cannot be read: \(error.message)", cause: error)
            }
        }
    }

    private func replace(_ source: Source, _ row: [Value], _ replaced: ReplacedFiles, in connection: Connection) throws {
        let created = try source.createdObjects(in: connection)
        try replaced.note(nil, of: source, in: connection)
        try source.table.removeAll(in: connection)
        try copy(source, fileID: row[0], in: connection)
        for (object, attributes) in created { try source.table.put(attributes, of: object, in: connection) }
        try source.reapply(in: connection)
        if let metadata = row[3].text { try SourceRow.set("metadata = ?1", [.text(metadata)], of: source.id, in: connection) }
    }

    /// Checks the file, and finds the rows of the selected sources.
    private func checked(_ sources: [Source]) throws -> [(Source, [Value])] {
        var profile = ConnectionProfile(path: path, maxConnections: 1, journal: .unchanged, isReadOnly: true, createsFile: false)
        (profile.memoryMapSize, profile.cacheSize) = (0, Self.cacheSize)
        let store = try Database(profile)
        defer { try? store.close() }
        return try store.read(length: .long) { file in
            _ = try file.execute("PRAGMA trusted_schema = OFF")
            try check(file)
            let rows = try file.rows(
                """
                SELECT source_id, name, sync_type, metadata FROM sources
                WHERE \(TextCheck.function)(name, sync_type, metadata) AND (sync_type <> 'none' OR sync_type IS NULL)
                """)
            let selected = sources.compactMap { source in rows.first { $0[1].text == source.name }.map { (source, $0) } }
            for (source, _) in selected { try checkTable(of: source, file) }
            return selected
        }
    }

    /// The memory for pages of the file, and for sorting an index.
    private static let cacheSize = ByteCount.megabytes(2)

    /// Runs `body` without the index of values, if the file has most of the rows: an index that is made at the end is sorted and written once.
    private func withDeferredIndex(_ selected: [(Source, [Value])], in connection: Connection, _ body: () throws -> Void) throws {
        let bags = selected.filter { $0.0.table.columns == nil }
        let incoming = try Self.lastRow(in: connection)
        let ids = bags.map { String($0.0.id) }.joined(separator: ", ")
        let others = try connection.first("SELECT count(*) FROM object_values WHERE source_id NOT IN (\(ids))")?.first?.integer ?? 0
        guard incoming > 4096, incoming > others else { return try body() }
        // Rows arrive in the order of the table: it needs few pages at a time, and sorting takes as much memory as pages may.
        let pages = try connection.first("PRAGMA cache_size")?.first ?? -10_000
        try connection.execute("PRAGMA cache_size = -\(Self.cacheSize.bytes / 1024)")
        defer { _ = try? connection.execute("PRAGMA cache_size = \(pages.integer ?? -10_000)") }
        try connection.execute("DROP INDEX object_values_value")
        try body()
        try connection.execute(RhomTables.valueIndex)
    }

    // MARK: Checks

    private func check(_ file: Connection) throws {
        // Before SQLite's check, which asks the modules of virtual tables about their content.
        for row in try file.rows("SELECT type, name, sql FROM sqlite_schema") {
            let type = row[0].text ?? ""
            // SQLite itself writes these words before the name of each table that is not virtual. Other words, or others between them, are a virtual table, or
            // not from SQLite.
            let isOrdinary = type == "index" || type == "table" && row[2].text?.hasPrefix("CREATE TABLE ") == true
            guard isOrdinary else {
                let kind = type == "table" ? "virtual table" : String(type.prefix(20))
                throw unexpected("has a \(kind) \"\((row[1].text ?? "").prefix(80))\"; only tables and indexes are expected")
            }
        }
        let result = try file.rows("PRAGMA quick_check(1)").first?.first?.text
        guard result == "ok" else { throw unexpected("is damaged: \(result ?? "")") }
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
    }

    private func unexpected(_ found: String) -> RhoConnectError { PageResponse.unexpected("the bulk file \(found)") }

    // MARK: Rows

    /// Copies the rows of a source inside of SQLite, without a value in Swift. The columns make texts of numbers.
    private func copy(_ source: Source, fileID: Value, in connection: Connection) throws(StoreError) {
        let file = Self.schema
        if let columns = source.table.columns {
            let names = columns.map(\.quoted).joined(separator: ", ")
            let filled = columns.map { "\($0.quoted) IS NOT NULL" }.joined(separator: " OR ")
            try connection.execute(
                """
                INSERT INTO main.\(source.name.quoted) (object, \(names)) SELECT object, \(names) FROM \(file).\(source.name.quoted)
                WHERE \(Self.check(["object"] + columns)) AND object <> '' AND (\(filled)) ORDER BY object
                """)
        } else {
            let isOrdered = try Self.isOrdered(in: connection)
            // The plus sign keeps SQLite from the index of sources: with it each row would be searched for. A list of reserved names would be searched for each
            // row as well; such rows are removed at the end.
            try connection.execute(
                """
                INSERT INTO main.object_values (source_id, object, attrib, value)
                SELECT ?1, object, attrib, value FROM \(file).object_values
                WHERE +source_id = ?2 AND \(Self.check(["object", "attrib", "value"])) AND value IS NOT NULL AND attrib IS NOT NULL AND object <> ''
                \(isOrdered ? "" : "ORDER BY object, attrib")
                """, [Value(source.id), fileID])
        }
    }

    /// The check of columns as an SQL condition. A function has at most 127 arguments.
    private static func check(_ columns: [String]) -> String {
        stride(from: 0, to: columns.count, by: 100).map { first in
            "\(TextCheck.function)(\(columns[first..<min(first + 100, columns.count)].map(\.quoted).joined(separator: ", ")))"
        }.joined(separator: " AND ")
    }

    /// The number of rows in a file whose rows were never deleted; any number in another one.
    private static func lastRow(in connection: Connection) throws(StoreError) -> Int64 {
        try connection.first("SELECT max(rowid) FROM \(schema).object_values")?.first?.integer ?? 0
    }

    /// Whether a sample of the file's rows is in the order of their objects: they are then read as they lie, without their index.
    private static func isOrdered(in connection: Connection) throws(StoreError) -> Bool {
        let step = try max(1, lastRow(in: connection) / 100)
        let places = (0..<100).map { String(1 + step * $0) }.joined(separator: ", ")
        let sample = try connection.rows("SELECT object FROM \(schema).object_values WHERE rowid IN (\(places)) ORDER BY rowid").compactMap(
            \.first?.text)
        return zip(sample, sample.dropFirst()).allSatisfy { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) || $0 == $1 }
    }
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
