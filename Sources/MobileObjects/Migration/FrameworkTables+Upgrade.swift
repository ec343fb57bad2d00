import MobileStore

extension FrameworkTables {
    /// The values of records of older formats in columns that they did not have and that cannot be NULL.
    private static let values: [String: [String: String]] = [
        "_outbox": [
            "parameters": "{}", "changed": "", "imported": "0", "digest": "", "deferrals": "0", "original": "", "follows": "0", "client": "",
        ]
    ]

    /// Makes tables and indexes that a database of an older format lacks, and makes those that have another form again, with their rows.
    static func bringUpToDate(_ connection: Connection) throws {
        let present = Set(try connection.texts("SELECT \"sql\" FROM sqlite_schema WHERE \"sql\" IS NOT NULL"))
        for statement in statements where !present.contains(statement) && statement.hasPrefix("CREATE TABLE") {
            let name = String(statement.split(separator: "\"", maxSplits: 2)[1]), old = EntitySQL.quote(DatabaseUpgrade.aside + name)
            let before = try columns(of: name, connection)
            guard !before.isEmpty else {
                try connection.execute(statement)
                continue
            }
            for index in try connection.texts(
                "SELECT \"name\" FROM sqlite_schema WHERE \"type\" = 'index' AND \"tbl_name\" = ?1 AND \"sql\" IS NOT NULL", [.text(name)])
            { try connection.execute("DROP INDEX \(EntitySQL.quote(index))") }
            try connection.execute("ALTER TABLE \(EntitySQL.quote(name)) RENAME TO \(old)")
            try connection.execute(statement)
            let filled = try columns(of: name, connection).filter { before.contains($0) || values[name]?[$0] != nil }
            let list = filled.map(EntitySQL.quote).joined(separator: ", ")
            let from = filled.map { before.contains($0) ? EntitySQL.quote($0) : EntitySQL.literal(values[name]?[$0] ?? "") }
            try connection.execute("INSERT INTO \(EntitySQL.quote(name)) (\(list)) SELECT \(from.joined(separator: ", ")) FROM \(old)")
            try connection.execute("DROP TABLE \(old)")
        }
        let indexes = Set(try connection.texts("SELECT \"sql\" FROM sqlite_schema WHERE \"sql\" IS NOT NULL"))
        for statement in statements where !indexes.contains(statement) { try connection.execute(statement) }
    }

    private static func columns(of table: String, _ connection: Connection) throws -> [String] {
        try connection.texts("SELECT \"name\" FROM pragma_table_info(?1)", [.text(table)])
    }
}
