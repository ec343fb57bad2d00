/// The rows of the back end at one moment, and the lines of its ledger.
struct Truth {
    /// A row: its values in canonical form by column, without those that are NULL.
    struct Row {
        let object: Int, tag: String
        var values: [String: String]
    }

    /// A line of the ledger.
    struct Entry {
        let sequence: Int, object: Int
        let change: String, tag: String
        let before: String?, after: String?
        let beforeRegion: String?, afterRegion: String?
        /// The columns that an update changed.
        let columns: [String]
    }

    /// By tag.
    var rows: [String: Row] = [:]

    init(_ database: any EnterpriseDatabase, _ world: World) throws {
        for object in world.objects.indices {
            let columns = world.allColumns(object)
            for line in try database.rows(
                "SELECT \(columns.map { $0.name == LongText.column ? LongText.expression : $0.name }.joined(separator: ", ")) FROM \(World.table(object))"
            ) {
                var values: [String: String] = [:]
                for (column, value) in zip(columns, line) { values[column.name] = value.map(column.type.canonical) }
                let tag = values["tag"] ?? ""
                guard rows.updateValue(Row(object: object, tag: tag, values: values), forKey: tag) == nil else {
                    throw EnterpriseFailure(description: "two rows of the back end have the tag \(tag)")
                }
            }
        }
    }

    static func ledger(_ database: any EnterpriseDatabase, after sequence: Int = 0) throws -> [Entry] {
        try database.rows(
            """
            SELECT seq, object, change, tag, before, after, before_region, after_region, columns FROM ledger WHERE seq > \(sequence) ORDER BY seq
            """
        ).map { line in
            Entry(
                sequence: Int(line[0] ?? "") ?? 0, object: Int(line[1] ?? "") ?? 0, change: line[2] ?? "", tag: line[3] ?? "", before: line[4],
                after: line[5],
                beforeRegion: line[6], afterRegion: line[7], columns: (line[8] ?? "").split(separator: " ").map(String.init))
        }
    }

    /// The key of the row that a reference of a row leads to; nil without one.
    func key(_ row: Row, _ reference: Int, _ world: World) -> [String]? {
        let columns = world.columns(ofReference: reference, row.object)
        let values = columns.compactMap { row.values[$0.name] }
        return values.count == columns.count ? values : nil
    }

    /// The row of an object with a key.
    func row(_ object: Int, key: [String], _ world: World) -> Row? {
        rows.values.first { $0.object == object && $0.key(world) == key }
    }

    /// Whether the attributes of both versions can hold the row.
    func fits(_ row: Row, _ world: World) -> Bool { [1, 2].allSatisfy { fits(row, world, version: $0) } }

    /// Whether the attributes of the model can hold the row; if not, the server holds it back.
    func fits(_ row: Row, _ world: World, version: Int) -> Bool {
        world.columns(row.object, version: version).allSatisfy { column, type in
            row.values[column].map(type.canHold) ?? world.isNullable(column, row.object)
        }
    }

    /// Whether a device whose user has these regions has the row.
    func isSeen(_ row: Row, subscribed: Set<Region>, bound: Set<Region>, _ world: World) -> Bool {
        func region(_ row: Row) -> Region? { row.values["region"].flatMap { Region(rawValue: $0) } }
        switch world.objects[row.object].partition {
        case .all: return true
        case .region: return region(row).map(subscribed.contains) ?? false
        case .bound: return region(row).map(bound.contains) ?? false
        case .parent(let index):
            guard let key = key(row, index, world) else { return false }
            return self.row(world.objects[row.object].references[index].target, key: key, world).flatMap(region).map(subscribed.contains) ?? false
        }
    }
}

extension Truth.Row {
    func key(_ world: World) -> [String] { world.keyColumns(object).map { values[$0] ?? "" } }
}
