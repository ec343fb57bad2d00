internal import Foundation
public import MobileModel
internal import MobileStore

/// A package model made from the tables of a back end: one object for each table with a primary key, to be completed by hand.
public struct SchemaModel: Sendable {
    /// The model. It has neither synchronization parameters nor groups: each object loads its whole table.
    public let model: PackageModel
    /// The tables and columns that the model leaves out, each with the reason.
    public let omissions: [String]

    /// Reads the tables of a back end.
    /// - Parameters:
    ///   - place: the path of an SQLite file, or the address of a PostgreSQL database, as in ``PackageDeployment/backEnds``.
    ///   - name: the name of the package.
    /// - Throws: ``ServerError`` if the back end cannot be read.
    public init(of place: String, name: String) throws {
        let isAddress = PostgreSQLPlace.isAddress(place), timeout = ServerConfiguration.defaultConnectionTimeout
        let engine: any SQLEngine =
            isAddress
            ? try PostgreSQLEngine(name: "enterprise", address: place, timeout: timeout)
            : try SQLiteEngine(name: "enterprise", path: place, timeout: timeout)
        let tables: [DescribedTable]
        do { tables = try engine.describedTables() } catch {
            try? engine.close()
            throw ServerError(.missingBackEnd, "the tables of \(place) cannot be read: \(error)", cause: error)
        }
        try engine.close()
        var writer = SchemaModelWriter(tables)
        let objects = writer.objects()
        model = PackageModel(
            name: name, backEnds: [BackEndModel(name: "enterprise", kind: isAddress ? .postgresql : .sqlite)], objects: objects)
        omissions = writer.omissions
    }
}

private struct SchemaModelWriter {
    private let tables: [DescribedTable]
    private(set) var omissions: [String] = []

    init(_ tables: [DescribedTable]) { self.tables = tables }

    mutating func objects() -> [ObjectModel] {
        var used = Set<String>(), named: [(table: DescribedTable, name: String)] = []
        for table in tables {
            guard !table.primaryKey.isEmpty else {
                omissions.append("table \"\(table.name)\": it has no primary key")
                continue
            }
            named.append((table, Self.unique(Self.identifier(table.name, isType: true), &used)))
        }
        return named.map { object($0.table, $0.name, named) }
    }

    private func object(_ table: DescribedTable, _ name: String, _ objects: [(table: DescribedTable, name: String)]) -> ObjectModel {
        var used = Set<String>()
        let names = table.columns.map { Self.unique(Self.identifier($0.name, isType: false), &used) }
        let byColumn = Dictionary(uniqueKeysWithValues: zip(table.columns.map(\.name), names))
        let attributes = zip(table.columns, names).map { attribute($0, $1, isCompared: Self.isCompared($0.name, in: table)) }
        let columns = byColumn.filter { $0.key != $0.value }
        return ObjectModel(
            name: name, attributes: attributes, primaryKey: table.primaryKey.compactMap { byColumn[$0] },
            relationships: relationships(of: table, objects, &used),
            operations: [.init(name: "create", kind: .create), .init(name: "update", kind: .update), .init(name: "delete", kind: .delete)],
            binding: BackEndBinding(
                backEnd: "enterprise", table: table.name, columns: Dictionary(uniqueKeysWithValues: columns.map { ($0.value, $0.key) })))
    }

    /// Whether a column is part of a key, whose value cannot be large.
    private static func isCompared(_ column: String, in table: DescribedTable) -> Bool {
        table.primaryKey.contains(column) || table.references.contains { $0.columns.contains(column) }
    }

    /// A reference to the primary key of another object becomes a relationship. Its name is that of its only column without `id` at the end, otherwise
    /// that of the target.
    private func relationships(
        of table: DescribedTable, _ objects: [(table: DescribedTable, name: String)], _ used: inout Set<String>
    ) -> [RelationshipModel] {
        table.references.compactMap { reference in
            guard let target = objects.first(where: { $0.table.name.caseInsensitivelyEquals(reference.table) }) else { return nil }
            let key = target.table.primaryKey, targets = reference.targets.isEmpty ? key : reference.targets
            guard Set(targets) == Set(key), targets.count == reference.columns.count else { return nil }
            var other = Set<String>()
            let names = Dictionary(
                uniqueKeysWithValues: target.table.columns.map { ($0.name, Self.unique(Self.identifier($0.name, isType: false), &other)) })
            var own = Set<String>()
            let here = Dictionary(
                uniqueKeysWithValues: table.columns.map { ($0.name, Self.unique(Self.identifier($0.name, isType: false), &own)) })
            let mapping = zip(reference.columns, targets).compactMap { source, target in
                here[source].flatMap { source in names[target].map { RelationshipModel.Mapping(source: source, target: $0) } }
            }
            var name = Self.identifier(target.name, isType: false)
            if reference.columns.count == 1, let column = here[reference.columns[0]], column.hasSuffix("Id"), column.count > 2 {
                name = String(column.dropLast(2))
            }
            return RelationshipModel(name: Self.unique(name, &used), target: target.name, cardinality: .manyToOne, mapping: mapping)
        }
    }

    private func attribute(_ column: DescribedTable.Column, _ name: String, isCompared: Bool) -> AttributeModel {
        var attribute = AttributeModel(name: name, type: .string, isNullable: column.isNullable, isGenerated: column.isGenerated)
        let numbers = column.declaredType.split { !$0.isNumber }.compactMap { Int($0) }
        let type = column.declaredType.lowercased()
        switch column.affinity {
        case .boolean: attribute.type = .boolean
        case .integer where type.contains("bool"): attribute.type = .boolean
        // SQLite has 64 bits in each integer; PostgreSQL's types are in small letters.
        case .integer: attribute.type = ["smallint": .short, "integer": .int][column.declaredType] ?? .long
        case .real, .single: attribute.type = .double
        case .date: attribute.type = .date
        case .time: attribute.type = .time
        case .timestamp, .timestampWithTimeZone: attribute.type = .dateTime
        case .numeric where type.contains("bool"): attribute.type = .boolean
        case .numeric where type.contains("datetime") || type.contains("timestamp"): attribute.type = .dateTime
        case .numeric where type.contains("date"): attribute.type = .date
        case .numeric where type.contains("time"): attribute.type = .time
        case .numeric:
            attribute.type = .decimal
            attribute.precision = min(numbers.first ?? 18, 38)
            attribute.scale = min(numbers.count > 1 ? numbers[1] : numbers.isEmpty ? 4 : 0, attribute.precision ?? 18)
        case .blob: attribute.type = isCompared ? .binary : .bigBinary
        case .text:
            attribute.length = type == "uuid" ? 36 : numbers.first
            if attribute.length == nil, isCompared { attribute.length = 100 }
            // A text without a limit can be too long for a row.
            if attribute.length == nil { attribute.type = .bigString }
        }
        return attribute
    }

    // MARK: Names

    /// Makes a name of a model from words that are separated by other characters than letters and digits, or by case.
    static func identifier(_ name: String, isType: Bool) -> String {
        let words = name.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }.map { word in
            word.contains(where: \.isLowercase) ? String(word) : word.lowercased()
        }
        var text = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        if text.first.map({ !$0.isLetter }) ?? true { text = "N" + text }
        return isType ? text : text.prefix(1).lowercased() + text.dropFirst()
    }

    /// Adds a number to a name that is in use.
    static func unique(_ name: String, _ used: inout Set<String>) -> String {
        var result = name, number = 2
        while !used.insert(result.lowercased()).inserted {
            result = "\(name)\(number)"
            number += 1
        }
        return result
    }
}
