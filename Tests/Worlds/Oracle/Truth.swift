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
    }

    /// By tag.
    var rows: [String: Row] = [:]

    init(_ database: EnterpriseDatabase, _ world: World) throws {
        for object in world.objects.indices {
            var columns = world.columns(object, version: 1)
            for column in world.columns(object, version: 2) where !columns.contains(where: { $0.name == column.name }) { columns.append(column) }
            for line in try database.rows("SELECT \(columns.map(\.name).joined(separator: ", ")) FROM \(World.table(object))") {
                var values: [String: String] = [:]
                for (column, value) in zip(columns, line) { values[column.name] = value.map(column.type.canonical) }
                let tag = values["tag"] ?? ""
                rows[tag] = Row(object: object, tag: tag, values: values)
            }
        }
    }

    static func ledger(_ database: EnterpriseDatabase, after sequence: Int = 0) throws -> [Entry] {
        try database.rows("SELECT seq, object, change, tag, before, after FROM ledger WHERE seq > \(sequence) ORDER BY seq").map { line in
            Entry(
                sequence: Int(line[0] ?? "") ?? 0, object: Int(line[1] ?? "") ?? 0, change: line[2] ?? "", tag: line[3] ?? "", before: line[4],
                after: line[5])
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

    /// Whether the attributes of the model can hold the row; if not, the server holds it back.
    func fits(_ row: Row, _ world: World) -> Bool {
        func isTooLong(_ text: String?) -> Bool { text?.split(separator: ".").dropFirst().first.map { $0.count > 3 } ?? false }
        if world.objects[row.object].key == .decimal, isTooLong(row.values["id"]) { return false }
        return !world.objects[row.object].references.indices.contains { index in
            world.columns(ofReference: index, row.object).contains { $0.type == .decimal && isTooLong(row.values[$0.name]) }
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
