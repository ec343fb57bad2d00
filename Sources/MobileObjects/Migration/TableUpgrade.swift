import MobileModel
import MobileStore

/// Moves the rows of one object, and their original states, from tables of the old model to tables of the new one.
struct TableUpgrade {
    private let entity: EntityUpgrade
    private let connection: Connection
    private var ownIndexes: [OwnIndex] = []

    init(_ entity: EntityUpgrade, _ connection: Connection) { (self.entity, self.connection) = (entity, connection) }

    /// Renames the old tables and drops their indexes, whose names the new ones need.
    mutating func putAside() throws {
        ownIndexes = try ownIndexes(of: entity.old.name)
        try connection.dropSearchIndex(of: entity.old)
        for (table, aside) in zip(oldTables, entity.tables.map(\.aside)) {
            let indexes = try connection.texts(
                "SELECT \"name\" FROM sqlite_schema WHERE \"type\" = 'index' AND \"tbl_name\" = ?1 AND \"sql\" IS NOT NULL", [.text(table)])
            for index in indexes { try connection.execute("DROP INDEX \(EntitySQL.quote(index))") }
            try connection.execute("ALTER TABLE \(EntitySQL.quote(table)) RENAME TO \(EntitySQL.quote(aside))")
        }
    }

    /// Copies all rows. Values that SQL cannot convert are left out: see ``ValueUpgrade``.
    func fill() throws {
        for (index, pair) in entity.tables.enumerated() { try fill(pair.table, from: pair.aside, isOriginal: index == 1) }
        try remapChangedValues()
        try restoreIndexes()
    }

    func dropAside() throws {
        for pair in entity.tables { try connection.execute("DROP TABLE \(EntitySQL.quote(pair.aside))") }
    }

    private var oldTables: [String] { entity.old.isLocal ? [entity.old.name] : [entity.old.name, entity.old.name + "_os"] }

    // MARK: Rows

    private func fill(_ table: String, from aside: String, isOriginal: Bool) throws {
        let content = Set(entity.new.sql.content)
        let before = Set(try columns(of: aside))
        // The key, the marks and the bookkeeping: columns that an older format did not have get their default.
        var into = try columns(of: table).map(EntitySQL.quote).filter { !content.contains($0) }.filter { name in
            before.contains { EntitySQL.quote($0) == name }
        }
        var values: [Value] = [], from = into
        for (position, column) in entity.new.sql.content.enumerated() {
            guard let expression = expression(position, isOriginal: isOriginal, &values) else { continue }
            into.append(column)
            from.append(expression)
        }
        try connection.execute(
            "INSERT INTO \(EntitySQL.quote(table)) (\(into.joined(separator: ", "))) SELECT \(from.joined(separator: ", ")) FROM \(EntitySQL.quote(aside))",
            values)
    }

    /// Returns the value at a current position as an expression of the former row; nil where it has none, or none that SQL can make.
    private func expression(_ position: Int, isOriginal: Bool, _ values: inout [Value]) -> String? {
        if let former = entity.formerPositions[position] {
            let column = entity.old.sql.content[former]
            guard position < entity.new.attributes.count else { return column }
            switch entity.object.attributes[position].conversion {
            case .none: return column
            case .rescaled(let digits): return "\(column) * \((0..<digits).reduce(Int64(1)) { power, _ in power * 10 })"
            case .decimalText, .outOfRow, .intoRow: return nil
            }
        }
        guard position < entity.new.attributes.count, !entity.new.attributes[position].storedDefault.isNull else { return nil }
        values.append(entity.new.attributes[position].storedDefault)
        // Where the server has no version of a row, its original state has no values; but a row that was deleted here keeps its own.
        return isOriginal ? "CASE WHEN \"_sv\" = 0 AND \"_pc\" <> 3 THEN NULL ELSE ?\(values.count) END" : "?\(values.count)"
    }

    private func columns(of table: String) throws -> [String] {
        try connection.texts("SELECT \"name\" FROM pragma_table_info(?1)", [.text(table)])
    }

    /// Rewrites the positions of the values that a pending update has changed. None of the values is gone: see ``UpgradeCheck``.
    private func remapChangedValues() throws {
        guard !entity.new.isLocal else { return }
        let table = entity.new.sql.originalTable
        for row in try connection.rows("SELECT \"_sk\", \"_ch\" FROM \(table) WHERE \"_ch\" <> ''") {
            let changed = try StoredRow([StateColumn.key, .changed], row, of: table).changedValues(.changed)
            try connection.execute("UPDATE \(table) SET \"_ch\" = ?2 WHERE \"_sk\" = ?1", [row[0], entity.moved(changed).stored])
        }
    }

    // MARK: Indexes that the application made

    private struct OwnIndex {
        let name: String
        let isUnique: Bool
        let columns: [String]
    }

    private var ownPrefix: String { "index:\(entity.old.name):" }

    private func ownIndexes(of table: String) throws -> [OwnIndex] {
        try connection.rows("SELECT \"name\", \"unique\" FROM pragma_index_list(?1) ORDER BY \"name\"", [.text(table)]).compactMap { index in
            guard let name = index[0].text, name.hasPrefix(ownPrefix) else { return nil }
            let columns = try connection.texts("SELECT \"name\" FROM pragma_index_info(?1) ORDER BY \"seqno\"", [.text(name)])
            return OwnIndex(
                name: String(name.dropFirst(ownPrefix.count)), isUnique: index[1] == .integer(1), columns: columns)
        }
    }

    /// Makes the indexes again whose attributes all still exist and can have an index.
    private func restoreIndexes() throws {
        for index in ownIndexes {
            let kept = index.columns.compactMap { column in
                entity.keptAttributes.first { $0.old.name == column && !QueryType($0.new).isOpaque }?.new
            }
            guard kept.count == index.columns.count else { continue }
            let name = EntitySQL.quote("index:\(entity.new.name):\(index.name)")
            let columns = kept.map { entity.new.sql.attributeColumns[$0.index] }.joined(separator: ", ")
            try connection.execute("CREATE \(index.isUnique ? "UNIQUE " : "")INDEX \(name) ON \(entity.new.sql.table) (\(columns))")
        }
    }
}
