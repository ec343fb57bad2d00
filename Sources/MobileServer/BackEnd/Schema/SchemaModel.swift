internal import Foundation
public import MobileModel
internal import MobileStore

/// A package model made from the tables of a back end: one object for each table with a primary key, to be completed by hand.
///
/// Objects have the singular of the table's name, attributes and relationships names in Swift's manner. A foreign key to a primary key becomes a relationship
/// of both objects: `order.customer` and `customer.orders`. A text column without a length in its declaration is a string, or large where a row has a value
/// of more than 8,191 characters.
public struct SchemaModel: Sendable {
    /// The model. It has neither synchronization parameters nor groups: each object loads its whole table.
    public let model: PackageModel
    /// The schemas, tables, views and references that the model leaves out, each with the reason.
    public let omissions: [String]
    /// The columns whose rows need another type than the declared one, which the attribute has.
    public let remarks: [String]

    /// Reads the tables of a back end.
    /// - Parameters:
    ///   - place: the path of an SQLite file, or the address of a PostgreSQL database, as in ``PackageDeployment/backEnds``.
    ///   - name: the name of the package.
    ///   - schemas: the schemas of a PostgreSQL database to read; default: those of the search path.
    /// - Throws: ``ServerError`` if the back end cannot be read.
    public init(of place: String, name: String, schemas: [String] = []) throws {
        let isAddress = PostgreSQLPlace.isAddress(place), timeout = ServerConfiguration.defaultConnectionTimeout
        let engine: any SQLEngine =
            isAddress
            ? try PostgreSQLEngine(name: "enterprise", address: place, timeout: timeout)
            : try SQLiteEngine(name: "enterprise", path: place, timeout: timeout)
        let found: DescribedTables
        do { found = try engine.describedTables(schemas: schemas) } catch {
            try? engine.close()
            throw ServerError(.missingBackEnd, "the tables of \(place) cannot be read: \(error)", cause: error)
        }
        try engine.close()
        var writer = SchemaModelWriter(found, package: name, hasTimes: isAddress)
        let objects = writer.objects()
        model = PackageModel(
            name: name, backEnds: [BackEndModel(name: "enterprise", kind: isAddress ? .postgresql : .sqlite)], objects: objects)
        (omissions, remarks) = (writer.omissions, writer.remarks)
    }
}

private struct SchemaModelWriter {
    private let tables: [DescribedTable]
    /// The name of the package, which has a class as well.
    private let package: String
    private(set) var omissions: [String]
    private(set) var remarks: [String]

    /// Whether the database knows dates and times from texts.
    private let hasTimes: Bool

    init(_ found: DescribedTables, package: String, hasTimes: Bool) {
        self.hasTimes = hasTimes
        (tables, self.package, remarks) = (found.tables, package, found.tables.flatMap(\.remarks))
        omissions = found.omissions + found.tables.flatMap(\.omissions)
    }

    /// An object in the making.
    private struct Draft {
        let table: DescribedTable
        var object: ObjectModel
        /// The attribute of each column.
        let names: [String: String]
        /// Names of attributes and relationships, in lower case.
        var used: Set<String>
    }

    mutating func objects() -> [ObjectModel] {
        var used: Set = [package.lowercased()], drafts: [Draft] = []
        for table in tables {
            guard !table.primaryKey.isEmpty else {
                omissions.append("table \"\(table.name)\": it has no primary key")
                continue
            }
            guard table.primaryKey.allSatisfy({ key in table.columns.contains { $0.name == key } }) else {
                omissions.append("table \"\(table.name)\": a column of its primary key is left out")
                continue
            }
            guard !table.hasRowsWithoutKey else {
                omissions.append("table \"\(table.name)\": there are rows without a value in the primary key")
                continue
            }
            drafts.append(draft(table, SchemaNames.unique(SchemaNames.type(table.name), &used)))
        }
        let ends = drafts.indices.flatMap { index in drafts[index].table.references.compactMap { self.ends(of: $0, from: index, drafts) } }
        agree(ends, &drafts)
        for end in ends where haveOneType(end, drafts) { add(end, to: &drafts) }
        return drafts.map(\.object)
    }

    private mutating func draft(_ table: DescribedTable, _ name: String) -> Draft {
        var used = Set<String>()
        let names = table.columns.map { SchemaNames.unique(SchemaNames.attribute($0.name), &used) }
        let byColumn = Dictionary(uniqueKeysWithValues: zip(table.columns.map(\.name), names))
        let attributes = zip(table.columns, names).map { column, name in
            var attribute = attribute(column, name, in: table)
            takeDefault(column, of: table, into: &attribute)
            let known = takeRules(column, of: table, into: &attribute)
            document(column, of: table, without: known, in: &attribute)
            return attribute
        }
        let checks = table.checks.filter { $0.columns.count != 1 }.map { "The database checks `\($0.sql)`." }
        let columns = byColumn.filter { $0.key != $0.value }
        let object = ObjectModel(
            name: name, documentation: checks.isEmpty ? nil : checks.joined(separator: " "), attributes: attributes,
            primaryKey: table.primaryKey.compactMap { byColumn[$0] },
            operations: [.init(name: "create", kind: .create), .init(name: "update", kind: .update), .init(name: "delete", kind: .delete)],
            binding: BackEndBinding(
                backEnd: "enterprise", table: table.name, columns: Dictionary(uniqueKeysWithValues: columns.map { ($0.value, $0.key) })))
        return Draft(table: table, object: object, names: byColumn, used: used)
    }

    /// Whether a column is part of a key, whose value cannot be large.
    private static func isCompared(_ column: String, in table: DescribedTable) -> Bool {
        table.primaryKey.contains(column) || table.references.contains { $0.columns.contains(column) }
    }

    /// A foreign key that leads to a primary key.
    private struct Ends {
        let reference: DescribedTable.Reference
        let index: Int
        let target: Int
        /// Names of attributes.
        let mapping: [RelationshipModel.Mapping]
    }

    /// Finds the ends of a foreign key; nil for one that leads to no object, or to other columns than the primary key.
    private mutating func ends(of reference: DescribedTable.Reference, from index: Int, _ drafts: [Draft]) -> Ends? {
        let table = drafts[index].table
        guard let target = drafts.firstIndex(where: { $0.table.name.caseInsensitivelyEquals(reference.table) }) else {
            leaveOut(reference, of: table, "leads to \"\(reference.table)\", which the model does not have")
            return nil
        }
        let key = drafts[target].table.primaryKey, targets = reference.targets.isEmpty ? key : reference.targets
        guard Set(targets) == Set(key), targets.count == reference.columns.count else {
            leaveOut(reference, of: table, "leads to other columns than the primary key")
            return nil
        }
        let mapping = zip(reference.columns, targets).compactMap { column, other in
            drafts[index].names[column].flatMap { source in drafts[target].names[other].map { RelationshipModel.Mapping(source: source, target: $0) }
            }
        }
        guard mapping.count == reference.columns.count else {
            leaveOut(reference, of: table, "has a column that is left out")
            return nil
        }
        return Ends(reference: reference, index: index, target: target, mapping: mapping)
    }

    private mutating func leaveOut(_ reference: DescribedTable.Reference, of table: DescribedTable, _ reason: String) {
        omissions.append("table \"\(table.name)\": the reference by \(reference.columns.joined(separator: ", ")) \(reason)")
    }

    /// Whether the attributes at both ends can be compared; otherwise the reference is left out.
    private mutating func haveOneType(_ ends: Ends, _ drafts: [Draft]) -> Bool {
        let (here, there) = (drafts[ends.index], drafts[ends.target])
        for pair in ends.mapping {
            guard let first = here.object.attribute(named: pair.source)?.type, let second = there.object.attribute(named: pair.target)?.type,
                first != second
            else { continue }
            leaveOut(ends.reference, of: here.table, "compares \(first) with \(second) in \"\(there.table.name)\"")
            return false
        }
        return true
    }

    /// Gives the attributes at both ends of each reference one type, which takes the values of both. A change can lead to others.
    private func agree(_ ends: [Ends], _ drafts: inout [Draft]) {
        let widths: [AttributeType] = [.boolean, .short, .int, .long, .decimal, .double, .string]
        var isChanged = true
        while isChanged {
            isChanged = false
            for end in ends {
                for pair in end.mapping {
                    guard let here = drafts[end.index].object.attributes.firstIndex(where: { $0.name == pair.source }),
                        let there = drafts[end.target].object.attributes.firstIndex(where: { $0.name == pair.target })
                    else { continue }
                    let (first, second) = (drafts[end.index].object.attributes[here], drafts[end.target].object.attributes[there])
                    if first.type == .decimal, second.type == .decimal, (first.precision, first.scale) != (second.precision, second.scale) {
                        isChanged = true
                        let scale = max(first.scale ?? 2, second.scale ?? 2)
                        let precision = min(38, scale + max(first.digitsBeforePoint, second.digitsBeforePoint))
                        for (draft, attribute) in [(end.index, here), (end.target, there)] {
                            drafts[draft].object.attributes[attribute].scale = scale
                            drafts[draft].object.attributes[attribute].precision = precision
                        }
                    }
                    guard first.type != second.type, let one = widths.firstIndex(of: first.type), let other = widths.firstIndex(of: second.type)
                    else {
                        continue
                    }
                    isChanged = true
                    let wider = one > other ? first : second
                    func take(_ attribute: inout AttributeModel) {
                        (attribute.type, attribute.length) = (wider.type, wider.length)
                        (attribute.precision, attribute.scale) = (wider.precision, wider.scale)
                    }
                    take(&drafts[end.index].object.attributes[here])
                    take(&drafts[end.target].object.attributes[there])
                }
            }
        }
    }

    /// Makes the relationships of a foreign key, one for each end.
    private mutating func add(_ ends: Ends, to drafts: inout [Draft]) {
        let (reference, index, target, mapping) = (ends.reference, ends.index, ends.target, ends.mapping), table = drafts[index].table
        let columns = mapping.map(\.source)
        let siblings = table.references.filter { $0.table.caseInsensitivelyEquals(reference.table) }.count
        let name = SchemaNames.toOne(
            columns, target: drafts[target].object.name, isOnly: siblings == 1 && target != index, &drafts[index].used)
        let children = English.plural(SchemaNames.lowerCamel(drafts[index].object.name))
        let inverse = SchemaNames.unique(siblings == 1 ? children : children + "By" + SchemaNames.upperCamel(name), &drafts[target].used)
        drafts[index].object.relationships.append(
            RelationshipModel(name: name, target: drafts[target].object.name, cardinality: .manyToOne, inverse: inverse, mapping: mapping))
        drafts[target].object.relationships.append(
            RelationshipModel(
                name: inverse, target: drafts[index].object.name, cardinality: .oneToMany, inverse: name,
                mapping: mapping.map { RelationshipModel.Mapping(source: $0.target, target: $0.source) }))
    }

    private mutating func attribute(_ column: DescribedTable.Column, _ name: String, in table: DescribedTable) -> AttributeModel {
        var attribute = AttributeModel(name: name, type: .string, isNullable: column.isNullable, isGenerated: column.isGenerated)
        let numbers = Self.lengths(of: column.declaredType), isCompared = Self.isCompared(column.name, in: table)
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
            // numeric(5,-2) has no digits after the point, and zeros for its last two before it; numeric(3,5) has none before it.
            let declared = numbers.count > 1 && type.contains("-") ? -numbers[1] : numbers.count > 1 ? numbers[1] : numbers.isEmpty ? 4 : 0
            attribute.precision = min(max((numbers.first ?? 18) - min(declared, 0), declared), 38)
            attribute.scale = min(max(declared, 0), attribute.precision ?? 18)
            widen(&attribute, to: column, in: table)
        case .blob: attribute.type = isCompared ? .binary : .bigBinary
        case .text, .array:
            attribute.length = type == "uuid" ? 36 : numbers.first
            let longest = column.longestText ?? 0
            if let length = attribute.length, longest > length {
                remarks.append(
                    "table \"\(table.name)\", column \"\(column.name)\" of type \(column.declaredType): there are texts of \(longest) characters"
                )
                attribute.length = longest > LengthRules.longestString ? nil : longest
            }
            if attribute.length == nil, isCompared { attribute.length = max(100, 2 * longest) }
            if attribute.length == nil, longest > LengthRules.longestString { attribute.type = .bigString }
        }
        return attribute
    }

    /// The numbers in the parentheses at the end of a type; none where they have another meaning.
    private static func lengths(of type: String) -> [Int] {
        guard let numbers = type.wholeMatch(of: /[^"()]*\(\s*(-?[0-9]+)\s*(?:,\s*(-?[0-9]+)\s*)?\)/),
            !["interval", "time"].contains(where: { type.lowercased().hasPrefix($0) })
        else { return [] }
        return [Int(numbers.1), numbers.2.flatMap { Int($0) }].compactMap { $0 }
    }

    /// Takes a constant default of the database. Where the database makes the value, a new row need not have one.
    private func takeDefault(_ column: DescribedTable.Column, of table: DescribedTable, into attribute: inout AttributeModel) {
        guard !attribute.isGenerated, let sql = column.defaultSQL else { return }
        let constant = ColumnDefault(sql)
        if constant == .null { return }
        if let json = constant?.json(for: attribute, hasTimes: hasTimes) {
            attribute.defaultValue = json
        } else if table.primaryKey.contains(column.name) {
            attribute.isGenerated = !attribute.isLarge
        } else {
            attribute.isNullable = true
            attribute.documentation = "Without a value, a new row gets one from the database: `\(sql)`."
        }
    }

    /// Takes the values of an enumeration, or a simple condition, as a rule that devices check.
    /// - Returns: the conditions that are rules now.
    private func takeRules(_ column: DescribedTable.Column, of table: DescribedTable, into attribute: inout AttributeModel) -> Set<String> {
        // A reference is refused by its own constraint, and may wait for a key that the back end assigns.
        guard !table.references.contains(where: { $0.columns.contains(column.name) }), !attribute.isGenerated else { return [] }
        if attribute.type == .string, !column.values.isEmpty {
            var copy = attribute
            copy.values = column.values.map { JSONValue.string($0).description }
            if copy.isDefaultAllowed { attribute = copy }
        }
        guard table.checksWrittenValues else { return [] }
        let checks = table.checks.filter { $0.columns == [column.name] }.map(\.sql)
        return Set(
            checks.filter { ColumnRule($0, column: column.name)?.give(to: &attribute, of: column, comparesBytes: table.comparesBytes) == true })
    }

    /// Describes the values that the database allows.
    /// - Parameter rules: conditions that are rules of the attribute.
    private func document(_ column: DescribedTable.Column, of table: DescribedTable, without rules: Set<String>, in attribute: inout AttributeModel) {
        var sentences = [attribute.documentation].compactMap { $0 }
        if !column.values.isEmpty, attribute.values.isEmpty {
            sentences.append("One of " + column.values.map { "`\($0)`" }.joined(separator: ", ") + ".")
        }
        for check in table.checks where check.columns == [column.name] && !rules.contains(check.sql) {
            sentences.append("The database checks `\(check.sql)`.")
        }
        attribute.documentation = sentences.isEmpty ? nil : sentences.joined(separator: " ")
    }

    /// Gives a decimal the digits that the rows have.
    private mutating func widen(_ attribute: inout AttributeModel, to column: DescribedTable.Column, in table: DescribedTable) {
        guard let digits = column.digits, let precision = attribute.precision, let scale = attribute.scale else { return }
        let place = "table \"\(table.name)\", column \"\(column.name)\" of type \(column.declaredType)"
        let widerScale = max(scale, digits.scale), whole = max(digits.whole, min(precision - scale, 38 - widerScale))
        guard widerScale > scale || whole > precision - scale else { return }
        guard whole + widerScale <= 38 else {
            let fraction = digits.whole > 38 ? "" : " and \(digits.scale) after it"
            remarks.append("\(place): there are numbers of \(digits.whole) digits before the point\(fraction); the attribute is a string")
            (attribute.type, attribute.precision, attribute.scale) = (.string, nil, nil)
            attribute.length = Self.isCompared(column.name, in: table) ? 100 : nil
            return
        }
        (attribute.precision, attribute.scale) = (whole + widerScale, widerScale)
        remarks.append(
            """
            \(place): there are numbers of \(digits.whole) digits before the point and \(digits.scale) after it; the attribute is a decimal of \
            \(whole + widerScale) digits, \(widerScale) of them after the point
            """)
    }
}
