/// The names of objects, attributes and columns, and the columns of a table.
extension World {
    static func name(_ object: Int) -> String { "Thing\(object)" }
    static func table(_ object: Int) -> String { "thing\(object)" }
    static func reference(_ index: Int) -> String { "ref\(index)" }

    /// The number of key columns.
    func keyTypes(_ object: Int) -> [ValueType] { objects[object].key.types }

    /// The columns of the key.
    func keyColumns(_ object: Int) -> [String] { objects[object].key.types.count == 1 ? ["id"] : ["id", "part"] }

    /// The columns that a reference may have.
    static func referenceColumns(_ index: Int) -> [String] { ["r\(index)", "r\(index)part"] }

    /// The columns with the key of the row that a reference leads to, and their types.
    func columns(ofReference index: Int, _ object: Int) -> [(name: String, type: ValueType)] {
        let types = keyTypes(objects[object].references[index].target)
        return types.enumerated().map { place, type in (Self.referenceColumns(index)[place], type) }
    }

    /// All columns that a device of a version sees, with their types; the attribute of a column has the column's name, or ``renamed(_:)``.
    func columns(_ object: Int, version: Int) -> [(name: String, type: ValueType)] {
        let model = objects[object]
        var columns = zip(keyColumns(object), keyTypes(object)).map { (name: $0, type: $1) }
        columns += [("tag", .string), ("stamp", .string)]
        if model.hasRegion { columns.append(("region", .string)) }
        if model.triggers.contains(.compute) { columns.append(("made", .string)) }
        if model.hasText { columns.append((LongText.column, .string)) }
        for (index, attribute) in model.attributes.enumerated() where attribute.isIn(version: version) {
            columns.append(("a\(index)", attribute.type(version: version)))
        }
        for index in model.references.indices { columns += self.columns(ofReference: index, object) }
        return columns
    }

    /// The columns of both versions.
    func allColumns(_ object: Int) -> [(name: String, type: ValueType)] {
        let first = columns(object, version: 1)
        return first + columns(object, version: 2).filter { column in !first.contains { $0.name == column.name } }
    }

    /// The attribute of a column.
    func attribute(ofColumn column: String, _ object: Int, version: Int) -> String {
        guard version == 2, column.first == "a", let index = Int(column.dropFirst()), objects[object].attributes[index].inVersionTwo == .renamed
        else {
            return column
        }
        return "b\(index)"
    }

    /// References to an object, with the objects that have them.
    func references(to target: Int) -> [(object: Int, index: Int, reference: WorldReference)] {
        objects.enumerated().flatMap { object, model in
            model.references.enumerated().filter { $0.element.target == target }.map { (object, $0.offset, $0.element) }
        }
    }
}

extension WorldObject {
    var hasRegion: Bool { partition == .region || partition == .bound }
}

extension WorldObject.Key {
    var types: [ValueType] {
        switch self {
        case .generated, .long: [.long]
        case .string: [.string]
        case .decimal: [.decimal]
        case .dateTime: [.dateTime]
        case .composite: [.string, .int]
        }
    }

    /// The n-th key, in canonical form.
    func values(_ number: Int) -> [String] {
        switch self {
        case .generated, .long: ["\(number + 1)"]
        case .string: ["key \(number)"]
        case .decimal: [ValueType.decimal.canonical("\(number / 4).\(["125", "25", "5", "75"][number % 4])")]
        case .dateTime: ["2024-03-\(number % 28 < 9 ? "0" : "")\(number % 28 + 1) 10:\(10 + number / 28 % 50):00.\(100 + number / 1400)"]
        case .composite: ["k\(number / 3)", "\(number % 3)"]
        }
    }
}

extension WorldAttribute {
    /// Its type in a version: a retyped one has more digits in the second.
    func type(version: Int) -> ValueType {
        guard inVersionTwo == .retyped, version == 2 else { return type }
        return [.int: .long, .decimal: .longDecimal][type] ?? type
    }

    /// The types that a later version may widen.
    static let retypable: [ValueType] = [.int, .decimal]

    func isIn(version: Int) -> Bool {
        switch inVersionTwo {
        case .same, .renamed, .retyped: true
        case .added: version == 2
        case .removed: version == 1
        }
    }
}
