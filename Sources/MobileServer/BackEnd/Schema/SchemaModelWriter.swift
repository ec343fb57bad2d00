internal import MobileModel

/// Makes the objects of a model from tables.
struct SchemaModelWriter {
    private let tables: [DescribedTable]
    /// The name of the package, which has a class as well.
    private let package: String
    private(set) var omissions: [String]
    var remarks: [String]

    /// Whether the database knows dates and times from texts.
    let hasTimes: Bool

    init(_ found: DescribedTables, package: String, hasTimes: Bool) {
        self.hasTimes = hasTimes
        (tables, self.package, remarks) = (found.tables, package, found.tables.flatMap(\.remarks))
        omissions = found.omissions + found.tables.flatMap(\.omissions)
    }

    /// An object in the making.
    private struct Draft {
        let table: DescribedTable
        /// The columns of the attributes, in their order.
        let columns: [DescribedTable.Column]
        var object: ObjectModel
        /// The attribute of each column.
        let names: [String: String]
        /// Names of attributes and relationships, in lower case.
        var used: Set<String>
    }

    /// The columns that a table of a device may have: SQLite's 2,000, without those that a device has in its table of original states.
    private static let deviceColumns = 1987

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
            let count = table.columns.count + table.references.count
            guard count <= Self.deviceColumns else {
                omissions.append(
                    "table \"\(table.name)\": a device has room for \(Self.deviceColumns) columns and references, the table has \(count)"
                )
                continue
            }
            drafts.append(draft(table, SchemaNames.unique(SchemaNames.type(table.name), &used, isReserved: SchemaNames.isReservedType)))
        }
        let ends = drafts.indices.flatMap { index in drafts[index].table.references.compactMap { self.ends(of: $0, from: index, drafts) } }
        agree(ends, &drafts)
        for end in ends where haveOneType(end, drafts) { add(end, to: &drafts) }
        // Last, because defaults and rules are those of the final type.
        for index in drafts.indices { complete(&drafts[index]) }
        return drafts.map(\.object)
    }

    private mutating func draft(_ table: DescribedTable, _ name: String) -> Draft {
        var used = Set<String>()
        let names = table.columns.map { SchemaNames.unique(SchemaNames.attribute($0.name), &used) }
        var columns: [DescribedTable.Column] = [], attributes: [AttributeModel] = []
        for (column, name) in zip(table.columns, names) {
            let attribute = attribute(column, name, in: table)
            guard !attribute.isGenerated || !attribute.isLarge else {
                omissions.append(
                    "table \"\(table.name)\", column \"\(column.name)\": the database computes values that are too large for the rows of a device")
                continue
            }
            columns.append(column)
            attributes.append(attribute)
        }
        let byColumn = Dictionary(uniqueKeysWithValues: zip(columns.map(\.name), attributes.map(\.name)))
        let checks = table.checks.filter { $0.columns.count != 1 }.map { "The database checks `\($0.sql)`." }
        let renamed = byColumn.filter { $0.key != $0.value }
        let object = ObjectModel(
            name: name, documentation: checks.isEmpty ? nil : checks.joined(separator: " "), attributes: attributes,
            primaryKey: table.primaryKey.compactMap { byColumn[$0] },
            operations: [.init(name: "create", kind: .create), .init(name: "update", kind: .update), .init(name: "delete", kind: .delete)],
            binding: BackEndBinding(
                backEnd: "enterprise", table: table.name, columns: Dictionary(uniqueKeysWithValues: renamed.map { ($0.value, $0.key) })))
        return Draft(table: table, columns: columns, object: object, names: byColumn, used: used)
    }

    /// Gives the attributes their defaults, rules and documentation.
    private func complete(_ draft: inout Draft) {
        for (place, column) in draft.columns.enumerated() {
            takeDefault(column, of: draft.table, into: &draft.object.attributes[place])
            let known = takeRules(column, of: draft.table, into: &draft.object.attributes[place])
            document(column, of: draft.table, without: known, in: &draft.object.attributes[place])
        }
    }

    /// Whether a column is part of a key, whose value cannot be large.
    static func isCompared(_ column: String, in table: DescribedTable) -> Bool {
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
        guard let target = drafts.firstIndex(where: { $0.table.name == reference.table }) else {
            leaveOut(reference, of: table, "leads to \"\(reference.table)\", which the model does not have")
            return nil
        }
        let key = drafts[target].table.primaryKey, targets = reference.targets.isEmpty ? key : reference.targets
        guard Set(targets) == Set(key), targets.count == reference.columns.count else {
            leaveOut(reference, of: table, "leads to other columns than the primary key")
            return nil
        }
        guard Set(reference.columns).count == reference.columns.count else {
            leaveOut(reference, of: table, "names a column twice")
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
        let siblings = table.references.filter { $0.table == reference.table }.count
        let name = SchemaNames.toOne(
            columns, target: drafts[target].object.name, isOnly: siblings == 1 && target != index, &drafts[index].used)
        var children = English.plural(SchemaNames.lowerCamel(drafts[index].object.name))
        // Those of "A" would be "as".
        if ReservedNames.keywords.contains(children) { children += "Objects" }
        let inverse = SchemaNames.unique(siblings == 1 ? children : children + "By" + SchemaNames.upperCamel(name), &drafts[target].used)
        drafts[index].object.relationships.append(
            RelationshipModel(name: name, target: drafts[target].object.name, cardinality: .manyToOne, inverse: inverse, mapping: mapping))
        drafts[target].object.relationships.append(
            RelationshipModel(
                name: inverse, target: drafts[index].object.name, cardinality: .oneToMany, inverse: name,
                mapping: mapping.map { RelationshipModel.Mapping(source: $0.target, target: $0.source) }))
    }
}
